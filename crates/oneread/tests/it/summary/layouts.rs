//! Layouts of summaries in serde formats: complete and checked.

use oneread::layout::{Counting, CountingCellsLayout, CountingFiltersLayout, MultipleFiltersLayout};

use super::counting_cells;

#[test]
fn layouts_of_summaries_with_counters_come_back_as_they_were() {
    let filters = MultipleFiltersLayout::new([(100, 5), (50, 3)]).unwrap();
    let counters = [(4, Counting::EachProbe), (1, Counting::OncePerItem)];
    let filters = CountingFiltersLayout::new(filters, counters).unwrap();
    let json = serde_json::to_string(&filters).unwrap();
    assert_eq!(
        json,
        r#"{"filters":[{"counters":100,"hashes":5,"counter_bits":4,"counting":"each-probe"},{"counters":50,"hashes":3,"counter_bits":1,"counting":"once-per-item"}],"list":null}"#
    );
    assert_eq!(serde_json::from_str::<CountingFiltersLayout>(&json).unwrap(), filters);
    assert!(serde_json::from_str::<CountingFiltersLayout>(&json.replace("50", "0")).is_err());
    assert!(serde_json::from_str::<CountingFiltersLayout>(r#"{"filters":[]}"#).is_err());

    let cells = counting_cells(100, 5, &[4, 2]);
    let json = serde_json::to_string(&cells).unwrap();
    assert_eq!(json, r#"{"cells":100,"hashes":5,"counter_bits":[4,2]}"#);
    assert_eq!(serde_json::from_str::<CountingCellsLayout>(&json).unwrap(), cells);
    assert!(serde_json::from_str::<CountingCellsLayout>(&json.replace("[4,2]", "[4,9]")).is_err());
}
