//! The sizes printed in the paper: Table III and section XI-B.

use oneread::layout::{
    Counting, CountingCellsLayout, CountingFiltersLayout, LayoutError, MultipleFiltersLayout, Quantity,
    SingleFilterLayout,
};
use oneread::summary::{
    BuildError, CountingMultiFilterSummary, CountingSingleFilterSummary, MultiFilterSummary,
    SingleFilterSummary, Summary,
};

use super::{counting_cells, paper_cells, paper_counters, paper_filters, paper_table};

#[test]
fn summaries_without_counters_are_as_large_as_the_paper_says() {
    assert_eq!(MultiFilterSummary::with_seed(paper_filters(), 1).unwrap().byte_len(), 24_950);
    assert_eq!(SingleFilterSummary::with_seed(paper_cells(), 5, 1).unwrap().byte_len(), 40_000);
    let large = SingleFilterLayout::new(1_200_000, 15).unwrap();
    assert_eq!(SingleFilterSummary::with_seed(large, 6, 1).unwrap().byte_len(), 450_000);
    // With the occupancy bits: 32,450 and 47,500.
    assert_eq!(paper_table().occupancy_bytes(), 7_500);
}

#[test]
fn summaries_with_counters_are_as_large_as_the_paper_says() {
    assert_eq!(CountingMultiFilterSummary::with_seed(paper_counters(), 1).unwrap().byte_len(), 99_775);
    let (each, once) = (Counting::EachProbe, Counting::OncePerItem);
    let narrow = [(4, each), (4, each), (4, each), (3, once), (1, once)];
    let narrow = CountingFiltersLayout::new(paper_filters(), narrow).unwrap();
    assert_eq!(CountingMultiFilterSummary::with_seed(narrow, 1).unwrap().byte_len(), 99_700);
    let cells = counting_cells(120_000, 15, &[4, 4, 3, 2, 1]);
    assert_eq!(CountingSingleFilterSummary::with_seed(cells, 1).unwrap().byte_len(), 210_000);
    // The usual layout counts once per item in the same filters as the paper.
    let usual = CountingFiltersLayout::usual(paper_filters());
    assert!(usual.counters().iter().zip(paper_counters().counters()).all(|(ours, paper)| ours.1 == paper.1));
}

#[test]
fn cells_of_every_number_of_levels_take_the_bytes_of_their_layout() {
    for levels in 1..=64 {
        let table = oneread::layout::MultilevelLayout::new(vec![10; levels]).unwrap();
        let layout = SingleFilterLayout::new(1000, 10).unwrap();
        let summary = SingleFilterSummary::with_seed(layout, levels, 1).unwrap();
        assert_eq!(summary.byte_len(), layout.byte_len(&table), "{levels} levels");
    }
}

#[test]
fn what_cannot_be_built_is_an_error() {
    assert!(matches!(MultipleFiltersLayout::new([(0, 7)]), Err(LayoutError::Zero { what: Quantity::Bits })));
    let counters = |bits| CountingFiltersLayout::new(paper_filters(), [(bits, Counting::EachProbe); 5]);
    for bits in [0, 9] {
        let error = LayoutError::CounterBits { at_least: 1, at_most: 8, found: bits };
        assert_eq!(counters(bits), Err(error));
        assert_eq!(CountingCellsLayout::new(paper_cells(), [4, bits]), Err(error));
    }
    let one = CountingFiltersLayout::new(paper_filters(), [(4, Counting::EachProbe)]);
    assert_eq!(one, Err(LayoutError::FilterForEachLevel { expected: 5, found: 1 }));
    assert!(matches!(CountingCellsLayout::new(paper_cells(), []), Err(LayoutError::Zero { .. })));
    assert!(matches!(CountingCellsLayout::new(paper_cells(), [1; 65]), Err(LayoutError::TooLarge { .. })));
    for levels in [0, 65] {
        let summary = SingleFilterSummary::with_seed(paper_cells(), levels, 1);
        assert!(matches!(summary, Err(BuildError::Layout(_))), "{levels} levels");
    }
    // 2^46 cells of four bits are 32 TiB.
    let huge = SingleFilterLayout::new(1 << 46, 1).unwrap();
    assert!(matches!(SingleFilterSummary::with_seed(huge, 9, 1), Err(BuildError::OutOfMemory(_))));
}
