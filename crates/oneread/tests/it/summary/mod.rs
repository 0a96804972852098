//! Summaries: each against a model of what it must not forget, and all against the paper's sizes
//! and odds.

mod bad_input;
mod batch;
mod interpolation;
mod joined;
#[cfg(feature = "serde")]
mod layouts;
mod lists;
mod model;
mod multiple;
mod properties;
pub(crate) mod saved;
mod single;
mod sizes;
// The paper's whole tables.
#[cfg(not(miri))]
mod promises;
#[cfg(not(miri))]
mod reads;

use oneread::layout::{
    Counting, CountingCellsLayout, CountingFiltersLayout, MultilevelLayout, MultipleFiltersLayout,
    SingleFilterLayout,
};

use crate::table::{Random, halving, policies};

/// The paper's table for 10,000 items (section IX).
fn paper_table() -> MultilevelLayout {
    MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).unwrap()
}

/// The filters of that table.
fn paper_filters() -> MultipleFiltersLayout {
    MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)]).unwrap()
}

/// The counters of these filters (section XI-B), the conservative choice.
fn paper_counters() -> CountingFiltersLayout {
    let (each, once) = (Counting::EachProbe, Counting::OncePerItem);
    let counters = [(4, each), (4, each), (4, each), (4, once), (2, once)];
    CountingFiltersLayout::new(paper_filters(), counters).unwrap()
}

/// The single filter of that table.
fn paper_cells() -> SingleFilterLayout {
    SingleFilterLayout::new(120_000, 15).unwrap()
}

/// A single filter with counters.
fn counting_cells(cells: u64, hashes: u32, counter_bits: &[u32]) -> CountingCellsLayout {
    CountingCellsLayout::new(SingleFilterLayout::new(cells, hashes).unwrap(), counter_bits).unwrap()
}
