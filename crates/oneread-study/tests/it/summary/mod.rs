//! Lazy deletion: against a `HashMap`, against the paper's numbers, and its errors.

mod lazy;
mod model;
// The paper's whole tables.
#[cfg(not(miri))]
mod pollution;

use oneread::hash::{Digester, Portable};
use oneread::layout::{
    Counting, CountingCellsLayout, CountingFiltersLayout, InterpolationLayout, Moves, MultilevelLayout,
    MultipleFiltersLayout, SingleFilterLayout,
};
use oneread::summary::{
    CountingMultiFilterSummary, CountingSingleFilterSummary, InterpolationSummary, JoinError,
    MultiFilterSummary, SingleFilterSummary, Summary,
};
use oneread::table::MultilevelTable;
use oneread_study::summary::{LazilyDeleting, Rebuild};

use crate::fixtures::{Random, halving};

/// The paper's table for 10,000 items (section IX).
fn paper_table() -> MultilevelLayout {
    MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).unwrap()
}

/// The filters of that table.
fn paper_filters() -> MultipleFiltersLayout {
    MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)]).unwrap()
}

/// A single filter with counters.
fn counting_cells(cells: u64, hashes: u32, counter_bits: &[u32]) -> CountingCellsLayout {
    CountingCellsLayout::new(SingleFilterLayout::new(cells, hashes).unwrap(), counter_bits).unwrap()
}

/// Filters so small that every kind of error is common.
fn small_filters(levels: usize) -> MultipleFiltersLayout {
    let filters = [(150, 2), (40, 3), (20, 3), (9, 5), (5, 5)];
    MultipleFiltersLayout::new(&filters[..levels]).unwrap()
}

/// Counters so narrow that many saturate.
fn small_counters(levels: usize) -> CountingFiltersLayout {
    let (each, once) = (Counting::EachProbe, Counting::OncePerItem);
    let counters = [(3, each), (2, once), (3, each), (1, once), (2, once)];
    CountingFiltersLayout::new(small_filters(levels), &counters[..levels]).unwrap()
}

type Table = MultilevelTable<u64, u64>;

fn table(seed: u64) -> Table {
    Table::with_seed(paper_table(), seed).unwrap()
}

/// Checks the errors, and that they change nothing.
fn refuses_what_does_not_fit<S: Summary<Digester = Portable> + Clone>(summary: S) {
    let when = Rebuild::when_asked();
    let (digesters, levels) = (JoinError::Digesters, JoinError::Levels { expected: 4, found: 5 });
    let four = || Table::with_seed(halving(64, 4, Moves::None), 1).unwrap();
    assert_eq!(LazilyDeleting::new(table(2), summary.clone(), when).err(), Some(digesters));
    assert_eq!(LazilyDeleting::rejoin(table(2), summary.clone(), when).err(), Some(digesters));
    assert_eq!(LazilyDeleting::new(four(), summary.clone(), when).err(), Some(levels));
    let mut map = LazilyDeleting::new(table(1), summary, when).unwrap();
    map.insert(7, 1).unwrap();
    assert_eq!((map.insert(7, 2), map.remove(&8), map.len(), map.deleted()), (Ok(Some(1)), None, 1, 0));
    assert_eq!((map.remove(&7), map.remove(&7), map.deleted()), (Some(2), None, 1));
}

#[test]
fn what_does_not_fit_is_refused_with_every_summary() {
    refuses_what_does_not_fit(MultiFilterSummary::with_seed(paper_filters(), 1).unwrap());
    let cells = SingleFilterLayout::new(120_000, 15).unwrap();
    refuses_what_does_not_fit(SingleFilterSummary::with_seed(cells, 5, 1).unwrap());
    let counters = CountingFiltersLayout::usual(paper_filters());
    refuses_what_does_not_fit(CountingMultiFilterSummary::with_seed(counters, 1).unwrap());
    let cells = counting_cells(1200, 15, &[4; 5]);
    refuses_what_does_not_fit(CountingSingleFilterSummary::with_seed(cells, 1).unwrap());
    let strings = InterpolationLayout::new(55).unwrap();
    refuses_what_does_not_fit(InterpolationSummary::with_seed(strings, 5, 1).unwrap());
}

/// A table with holes and hash functions of a later generation: its items stay where they are.
#[test]
fn a_table_with_items_is_taken_as_it_is_and_given_back() {
    let layout = halving(64, 3, Moves::None).with_stash(2).unwrap();
    let layout = layout.with_crisis(oneread::layout::OnCrisis::Rebuild { attempts: 100 }).unwrap();
    let mut table = Table::with_seed(layout, 3).unwrap();
    let items = (0..1000).take_while(|&key| table.insert(key, key).is_ok()).count() as u64;
    (0..items).step_by(3).for_each(|key| _ = table.remove(&key).unwrap());
    assert!(table.generation() > 0);
    let places: Vec<_> = (0..items).map(|key| table.locate(&key).location).collect();
    let summary = MultiFilterSummary::with_seed(small_filters(3), 1).unwrap();
    let other = LazilyDeleting::new(table.clone(), summary, Rebuild::when_asked());
    assert_eq!(other.err(), Some(JoinError::Digesters));
    let summary = MultiFilterSummary::with_seed(small_filters(3), 3).unwrap();
    let map = LazilyDeleting::new(table, summary, Rebuild::when_asked()).unwrap();
    assert!((0..items).all(|key| map.location(&key) == places[key as usize]));
    let (table, summary) = map.into_parts().unwrap();
    assert!((0..items).all(|key| table.contains_key(&key) == (key % 3 > 0)));
    for key in (0..items).filter(|key| key % 3 > 0) {
        let level = table.locate(&key).location.unwrap().level;
        assert!(level == 3 || summary.lookup(table.digester().digest(&key)).contains(level));
    }
}
