//! Which tables and summaries can be joined, and what happens when user code panics in a change.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{InterpolationLayout, MultilevelLayout};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{
    AnySummary, ChangeError, InterpolationSummary, JoinError, MultiFilterSummary, SingleFilterSummary,
    Summarized, Summary,
};
use oneread::table::MultilevelTable;

use super::{paper_cells, paper_filters, paper_table, policies};

type Table<D = Portable> = MultilevelTable<u64, u64, D>;

#[test]
fn different_seeds_or_levels_are_refused() {
    let table = |seed| Table::with_seed(paper_table(), seed).unwrap();
    let filters = |seed| MultiFilterSummary::with_seed(paper_filters(), seed).unwrap();
    assert_eq!(Summarized::new(table(1), filters(2)).err(), Some(JoinError::Digesters));
    assert!(Summarized::new(table(1), filters(1)).is_ok());
    let six = SingleFilterSummary::with_seed(paper_cells(), 6, 1).unwrap();
    assert_eq!(Summarized::new(table(1), six).err(), Some(JoinError::Levels { expected: 5, found: 6 }));
}

#[test]
fn a_summary_without_counters_goes_with_tables_that_never_move_items_up() {
    for (name, moves) in policies() {
        let up = moves.hints().is_some() || moves.restriction().is_some();
        let layout = MultilevelLayout::new([64, 32, 16, 8, 4]).unwrap().with_moves(moves).unwrap();
        let table = || Table::with_seed(layout.clone(), 1).unwrap();
        let filters = MultiFilterSummary::with_seed(paper_filters(), 1).unwrap();
        assert_eq!(Summarized::new(table(), filters).err(), up.then_some(JoinError::Moves), "{name}");
        let cells = SingleFilterSummary::with_seed(paper_cells(), 5, 1).unwrap();
        assert_eq!(Summarized::new(table(), cells).err(), up.then_some(JoinError::Moves), "{name}");
        let strings = InterpolationSummary::with_seed(InterpolationLayout::new(20).unwrap(), 5, 1).unwrap();
        assert!(Summarized::new(table(), strings).is_ok(), "{name}");
    }
}

#[test]
fn a_table_with_items_gets_a_summary_of_them() {
    let layout = MultilevelLayout::new([64, 32, 16, 8, 4]).unwrap();
    let mut table = Table::with_seed(layout, 1).unwrap();
    (0..60).for_each(|key| _ = table.insert(key, key).unwrap());
    let mut summary = MultiFilterSummary::with_seed(paper_filters(), 1).unwrap();
    // A key that the summary had before is forgotten.
    let stale = summary.digester().digest(&1000u64);
    summary.insert(stale, 4).unwrap();
    let map = Summarized::new(table, summary).unwrap();
    assert!(map.summary().lookup(stale).is_empty());
    assert!((0..60).all(|key| map.get(&key) == Some(&key)) && (60..120).all(|key| map.get(&key).is_none()));
    let (table, summary) = map.into_parts();
    assert_eq!((table.len(), summary.byte_len()), (60, 24_950));
}

#[test]
fn duplicates_and_absent_keys_change_nothing() {
    let table = Table::with_seed(paper_table(), 1).unwrap();
    let strings = InterpolationSummary::with_seed(InterpolationLayout::new(55).unwrap(), 5, 1).unwrap();
    let mut map = Summarized::new(table, strings).unwrap();
    assert_eq!(map.insert(7, 1).unwrap(), None);
    assert_eq!(map.insert(7, 2).unwrap(), Some(1));
    assert_eq!((map.len(), map.summary().len(), map.get(&7)), (1, 1, Some(&2)));
    assert_eq!(map.remove(&8), Ok(None));
    assert_eq!(map.remove(&7), Ok(Some(2)));
    assert_eq!((map.remove(&7), map.len(), map.summary().len()), (Ok(None), 0, 0));

    let mut plain = Summarized::new(
        Table::with_seed(paper_table(), 1).unwrap(),
        MultiFilterSummary::with_seed(paper_filters(), 1).unwrap(),
    )
    .unwrap();
    plain.insert(7, 1).unwrap();
    assert_eq!(plain.remove(&7), Err(ChangeError::InsertOnly));
    assert_eq!(plain.get(&7), Some(&1));
    plain.clear();
    assert_eq!((plain.get(&7), plain.is_empty()), (None, true));
}

#[test]
fn full_tables_give_the_item_back_and_stay_exact() {
    let table = Table::with_seed(MultilevelLayout::new([2, 1]).unwrap().with_stash(1).unwrap(), 1).unwrap();
    let strings = InterpolationSummary::with_seed(InterpolationLayout::new(55).unwrap(), 2, 1).unwrap();
    let mut map = Summarized::new(table, strings).unwrap();
    let inserted: Vec<u64> = (0..20).filter(|&key| map.insert(key, key).is_ok()).collect();
    assert!((3..=4).contains(&inserted.len()));
    assert!((0..20).all(|key| map.get(&key).is_some() == inserted.contains(&key)));
    // The item in the stash is not in the summary, and is found without a read.
    assert_eq!((map.table().stash_len(), map.summary().len()), (1, inserted.len() - 1));
    assert_eq!(map.stats().measured.hits - map.stats().measured.reads_of_hits, 1);
}

#[test]
fn plans_of_every_kind_become_maps() {
    let layouts =
        [paper_filters().into(), paper_cells().into(), InterpolationLayout::new(30).unwrap().into()];
    for layout in layouts {
        let table = MultilevelLayout::new([400, 100, 50, 25, 25]).unwrap();
        let plan = SummaryPlan::new(&table, 100, &layout).unwrap();
        let mut map: Summarized<Table, AnySummary> = Summarized::from_plan_with_seed(&plan, 1).unwrap();
        (0..100).for_each(|key| _ = map.insert(key, key).unwrap());
        assert!((0..200).all(|key| map.get(&key).is_some() == (key < 100)));
        let stats = map.stats();
        let planned = stats.planned.unwrap();
        assert_eq!((planned.items, stats.items, stats.occupancy_bytes), (100, 100, 75));
        assert_eq!(stats.summary_bytes, plan.byte_len());
        assert_eq!(planned.reads_per_miss, plan.reads_per_miss());
    }
}

/// A digester that panics after a given number of calls.
#[derive(Clone, Debug)]
struct Fragile<'a>(&'a Cell<u32>);

impl PartialEq for Fragile<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Digester<u64> for Fragile<'_> {
    fn digest(&self, key: &u64) -> Digest {
        if self.0.get() > 0 {
            self.0.set(self.0.get() - 1);
            assert!(self.0.get() != 0, "the digester gives up");
        }
        Portable::with_seed(1).digest(key)
    }
}

#[test]
fn a_panic_in_the_middle_of_a_change_leaves_an_exact_map() {
    for (name, moves) in policies() {
        let fuse = Cell::new(0);
        let layout = MultilevelLayout::new([40, 20, 10]).unwrap().with_moves(moves).unwrap();
        let table = MultilevelTable::with_digester(layout, Fragile(&fuse)).unwrap();
        let strings = InterpolationLayout::new(40).unwrap();
        let strings = InterpolationSummary::with_digester(strings, 3, Fragile(&fuse)).unwrap();
        let mut map = Summarized::new(table, strings).unwrap();
        let mut panics = 0;
        for round in 0..if cfg!(miri) { 20u64 } else { 600 } {
            let key = round * 7 % 61;
            fuse.set((round % 7) as u32);
            let change = catch_unwind(AssertUnwindSafe(|| {
                if round % 3 == 2 { map.remove(&key).map(drop).unwrap() } else { _ = map.insert(key, round) }
            }));
            panics += u32::from(change.is_err());
            fuse.set(0);
            // The map answers with whatever the table has by now.
            for key in 0..61 {
                assert_eq!(map.get(&key), map.table().get(&key), "{name}, round {round}");
            }
        }
        assert!(panics > 0, "{name}");
    }
}
