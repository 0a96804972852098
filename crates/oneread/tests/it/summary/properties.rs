//! The promises of every summary, under random operations: the answer has the level of the key, and
//! errors change nothing.

use std::collections::HashMap;

use oneread::hash::{Digest, Digester};
use oneread::layout::{Counting, CountingFiltersLayout, MultipleFiltersLayout, SingleFilterLayout};
use oneread::summary::{
    ChangeError, CountingMultiFilterSummary, CountingSingleFilterSummary, LevelSet, MultiFilterSummary,
    SingleFilterSummary, Summary,
};
use oneread_study::hash::Ideal;
use proptest::prelude::*;

use super::counting_cells;

const LEVELS: usize = 4;

fn digest(key: u64) -> Digest {
    Ideal::with_seed(1).digest(&key)
}

/// Random insertions, moves and removals of keys, with a model of their levels.
fn keeps_every_level<S: Summary>(summary: &mut S, operations: &[(u64, u64, usize)]) {
    let mut levels: HashMap<u64, usize> = HashMap::new();
    for &(operation, key, level) in operations {
        let present = levels.get(&key).copied();
        match present {
            None => {
                summary.insert(digest(key), level).unwrap();
                levels.insert(key, level);
            }
            Some(from) if operation == 0 => {
                if summary.can_remove() || level >= from {
                    summary.relocate(digest(key), from, level).unwrap();
                    levels.insert(key, level);
                } else {
                    let error = summary.relocate(digest(key), from, level);
                    assert_eq!(error, Err(ChangeError::InsertOnly));
                }
            }
            Some(from) if summary.can_remove() => {
                summary.remove(digest(key), from).unwrap();
                levels.remove(&key);
            }
            Some(from) => assert_eq!(summary.remove(digest(key), from), Err(ChangeError::InsertOnly)),
        }
        let no_level = ChangeError::Level { levels: LEVELS, found: LEVELS };
        assert_eq!(summary.insert(digest(key), LEVELS), Err(no_level));
        assert!(summary.relocate(digest(key), 0, LEVELS).is_err());
        for (&key, &level) in &levels {
            let answer = summary.lookup(digest(key));
            assert!(answer.contains(level), "key {key} is at level {level}, and the answer {answer:?}");
        }
    }
    summary.reset();
    assert!(levels.keys().all(|&key| summary.lookup(digest(key)).is_empty()));
}

fn operations() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
    let length = if cfg!(miri) { 1..10 } else { 1..300 };
    prop::collection::vec((0..3u64, 0..40u64, 0..LEVELS), length)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }) })]

    #[test]
    fn multiple_filters_keep_every_level(operations in operations(), bits in 1..200u64) {
        let layout = MultipleFiltersLayout::new([(bits, 3), (bits, 5), (bits / 2 + 1, 5), (1, 64)]).unwrap();
        keeps_every_level(&mut MultiFilterSummary::with_seed(layout, 1).unwrap(), &operations);
    }

    #[test]
    fn counting_filters_keep_every_level(operations in operations(), bits in 1..200u64, width in 1..5u32) {
        // Few and narrow counters, most of which saturate.
        let layout = MultipleFiltersLayout::new([(bits, 3), (bits, 5), (bits / 2 + 1, 5), (1, 64)]).unwrap();
        let counters =
            [(width, Counting::EachProbe), (3, Counting::OncePerItem), (width, Counting::OncePerItem), (2, Counting::EachProbe)];
        let layout = CountingFiltersLayout::new(layout, counters).unwrap();
        keeps_every_level(&mut CountingMultiFilterSummary::with_seed(layout, 1).unwrap(), &operations);
    }

    #[test]
    fn single_filters_keep_every_level(operations in operations(), cells in 5..300u64) {
        let layout = SingleFilterLayout::new(cells, 5).unwrap();
        keeps_every_level(&mut SingleFilterSummary::with_seed(layout, LEVELS, 1).unwrap(), &operations);
    }

    #[test]
    fn counting_cells_keep_every_level(operations in operations(), cells in 5..300u64, width in 1..5u32) {
        let layout = counting_cells(cells, 5, &[width, 3, 2, 1]);
        keeps_every_level(&mut CountingSingleFilterSummary::with_seed(layout, 1).unwrap(), &operations);
    }

    #[test]
    fn level_sets_are_read_in_order(mask in any::<u64>()) {
        let levels: Vec<usize> = (0..64).filter(|level| mask >> level & 1 == 1).collect();
        let shallow = LevelSet::shallowest_first(levels.iter().copied());
        prop_assert!(shallow.eq(levels.iter().copied()));
        let deep = LevelSet::deepest_first(levels.iter().copied());
        prop_assert!(deep.eq(levels.iter().rev().copied()));
        prop_assert_eq!((deep.len(), deep.is_empty()), (levels.len(), levels.is_empty()));
        prop_assert_eq!((deep.first(), shallow.first()), (levels.last().copied(), levels.first().copied()));
        prop_assert!((0..70).all(|level| deep.contains(level) == levels.contains(&level)));
    }
}
