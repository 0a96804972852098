//! Summaries and tables that cannot be joined or changed: a clear error, and nothing changes.

use oneread::bytes::Saved;
use oneread::hash::Digester;
use oneread::layout::{
    CountingFiltersLayout, InterpolationLayout, LayoutError, Moves, MultilevelLayout, MultipleFiltersLayout,
    Quantity, SingleFilterLayout,
};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{
    BuildError, ChangeError, CountingMultiFilterSummary, CountingSingleFilterSummary, InterpolationSummary,
    JoinError, MultiFilterSummary, SingleFilterSummary, Summarized, Summary,
};
use oneread::table::MultilevelTable;

use super::{counting_cells, halving, paper_cells, paper_counters, paper_filters, paper_table};

type Table = MultilevelTable<u64, u64>;

fn table(seed: u64) -> Table {
    Table::with_seed(paper_table(), seed).unwrap()
}

/// Every kind of summary for the paper's table.
macro_rules! with_each_summary {
    ($seed:expr, $check:ident) => {
        $check(MultiFilterSummary::with_seed(paper_filters(), $seed).unwrap());
        $check(SingleFilterSummary::with_seed(paper_cells(), 5, $seed).unwrap());
        $check(CountingMultiFilterSummary::with_seed(paper_counters(), $seed).unwrap());
        let cells = counting_cells(1200, 15, &[4; 5]);
        $check(CountingSingleFilterSummary::with_seed(cells, $seed).unwrap());
        let strings = InterpolationLayout::new(55).unwrap();
        $check(InterpolationSummary::with_seed(strings, 5, $seed).unwrap());
    };
}

#[test]
fn another_seed_is_refused_for_every_summary() {
    fn check<S: Summary<Digester = oneread::hash::Portable> + Clone>(summary: S) {
        let wrong = JoinError::Digesters;
        assert_eq!(Summarized::new(table(2), summary.clone()).err(), Some(wrong));
        assert_eq!(Summarized::rejoin(table(2), summary.clone()).err(), Some(wrong));
        assert!(Summarized::new(table(1), summary.clone()).is_ok());
        assert!(wrong.to_string().contains("same seed"));
    }
    with_each_summary!(1, check);
}

#[test]
fn another_number_of_levels_is_refused_for_every_summary() {
    fn check<S: Summary<Digester = oneread::hash::Portable> + Clone>(summary: S) {
        let four = || Table::with_seed(halving(64, 4, Moves::None), 1).unwrap();
        let wrong = JoinError::Levels { expected: 4, found: 5 };
        assert_eq!(Summarized::new(four(), summary.clone()).err(), Some(wrong));
        assert_eq!(Summarized::rejoin(four(), summary.clone()).err(), Some(wrong));
    }
    with_each_summary!(1, check);
}

#[test]
fn levels_that_there_are_not_change_nothing() {
    fn check<S: Summary<Digester = oneread::hash::Portable>>(mut summary: S) {
        let digest = summary.digester().digest(&7u64);
        let wrong = ChangeError::Level { levels: 5, found: 5 };
        assert_eq!(summary.insert(digest, 5), Err(wrong));
        assert!(summary.lookup(digest).is_empty());
        let removed = if summary.can_remove() { wrong } else { ChangeError::InsertOnly };
        assert_eq!(summary.remove(digest, 5), Err(removed));
        let absent = if summary.can_remove() { ChangeError::NotPresent } else { ChangeError::InsertOnly };
        assert_eq!(summary.remove(digest, 4), Err(absent));
        summary.insert(digest, 1).unwrap();
        let named = summary.lookup(digest);
        assert_eq!(summary.relocate(digest, 1, 5), Err(wrong));
        assert_eq!(summary.lookup(digest), named);
    }
    with_each_summary!(1, check);
}

#[test]
fn duplicates_and_absent_keys_change_nothing_with_any_summary() {
    fn check<S: Summary<Digester = oneread::hash::Portable> + Clone>(summary: S) {
        let mut map = Summarized::new(table(1), summary.clone()).unwrap();
        map.insert(7, 1).unwrap();
        let digest = map.table().digester().digest(&7u64);
        let (place, named) = (map.table().locate(&7), map.summary().lookup(digest));
        // A blind second insertion would put a copy at a deeper level.
        assert_eq!((map.insert(7, 2), map.len()), (Ok(Some(1)), 1));
        assert_eq!((map.table().locate(&7), map.summary().lookup(digest)), (place, named));
        match map.remove(&8) {
            Ok(removed) => assert_eq!(removed, None),
            Err(error) => assert_eq!((error, map.summary().can_remove()), (ChangeError::InsertOnly, false)),
        }
        assert_eq!((map.get(&7), map.summary().lookup(digest)), (Some(&2), named));
    }
    with_each_summary!(1, check);
}

#[test]
fn what_has_no_layout_is_an_error() {
    assert_eq!(MultipleFiltersLayout::new([(0, 7)]), Err(LayoutError::Zero { what: Quantity::Bits }));
    assert!(MultipleFiltersLayout::new([(100, 0)]).is_err());
    assert!(SingleFilterLayout::new(0, 1).is_err());
    // A cell holds 64 levels at most, as a table does.
    for levels in [0, 65] {
        let cells = SingleFilterSummary::with_seed(paper_cells(), levels, 1);
        assert!(matches!(cells, Err(BuildError::Layout(_))), "{levels} levels");
        let strings = InterpolationSummary::with_seed(InterpolationLayout::new(20).unwrap(), levels, 1);
        assert!(matches!(strings, Err(BuildError::Layout(_))), "{levels} levels");
    }
    assert!(MultilevelLayout::new(vec![1; 65]).is_err());
}

#[test]
fn a_map_is_saved_by_its_parts_and_joined_again_without_a_rebuild() {
    let strings = InterpolationSummary::with_seed(InterpolationLayout::new(20).unwrap(), 5, 1).unwrap();
    let mut map = Summarized::new(table(1), strings).unwrap();
    (0..500).for_each(|key| _ = map.insert(key, key).unwrap());
    let bytes = map.table().to_bytes();
    let summary = map.summary().clone();
    let loaded = || Table::from_bytes(&bytes).unwrap();
    let mut map = Summarized::rejoin(loaded(), summary.clone()).unwrap();
    assert_eq!((map.len(), map.stats().rebuilds), (500, 0));
    assert!((0..1000).all(|key| map.get(&key).is_some() == (key < 500)));
    assert_eq!((map.remove(&3), map.insert(1000, 1)), (Ok(Some(3)), Ok(None)));

    // Without a key that the table has.
    let mut less = summary.clone();
    let level = map.table().locate(&4).location.unwrap().level;
    less.remove(map.table().digester().digest(&4u64), level).unwrap();
    let error = Summarized::rejoin(loaded(), less).err();
    assert_eq!(error, Some(JoinError::Items { level }));
    assert!(error.unwrap().to_string().contains("Summarized::new"));
    // With a key that the table lacks, which does no harm.
    let mut more = summary;
    more.insert(map.table().digester().digest(&2000u64), 0).unwrap();
    assert!(Summarized::rejoin(loaded(), more).unwrap().get(&2000).is_none());
}

#[test]
fn a_summary_with_counters_stands_beside_the_plan_of_the_one_without() {
    let plan = SummaryPlan::new(&paper_table(), 10_000, &paper_filters().into()).unwrap();
    let counters = CountingFiltersLayout::usual(paper_filters());
    let summary = CountingMultiFilterSummary::with_seed(counters, 1).unwrap();
    let map = Summarized::new(table(1), summary).unwrap();
    assert_eq!(map.stats().planned, None);
    assert_eq!(map.with_plan(&plan).stats().planned.unwrap().items, 10_000);
}
