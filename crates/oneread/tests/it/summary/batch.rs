//! Batched lookups answer like single ones.

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{
    CountingCellsLayout, CountingFiltersLayout, InterpolationLayout, ListLayout, MultilevelLayout,
    MultipleFiltersLayout, SingleFilterLayout,
};
use oneread::summary::{
    AnySummary, CountingMultiFilterSummary, CountingSingleFilterSummary, InterpolationSummary, LevelSet,
    MultiFilterSummary, MultiFilterView, SingleFilterSummary, Summary,
};

/// Batching begins at half a megabyte: all forms of this size exceed it, and the small ones do not.
const LARGE: u64 = 1 << 23;
const SMALL: u64 = 1 << 10;
const KEYS: u64 = 400;

fn digest(key: u64) -> Digest {
    Portable::with_seed(1).digest(&key)
}

/// Checks key counts of whole batches, one more, one, and none.
fn check<S: Summary>(mut summary: S) -> S {
    for key in 0..KEYS {
        _ = summary.insert(digest(key), (key % 7).min(3) as usize % summary.level_count());
    }
    for count in [0, 1, 7, 8, 9, 31, 32, 33, 64, 511, 512, 513, 2 * KEYS, 1025] {
        let digests: Vec<_> = (0..count).map(|key| digest(key * 7 % (2 * KEYS))).collect();
        let mut answers = Vec::new();
        summary.lookup_many(&digests, &mut |levels| answers.push(levels));
        let expected: Vec<LevelSet> = digests.iter().map(|&digest| summary.lookup(digest)).collect();
        assert_eq!(answers, expected, "{count} keys");
    }
    summary
}

#[test]
#[cfg_attr(miri, ignore = "megabytes")]
fn batches_answer_as_single_lookups_do() {
    for size in [SMALL, LARGE] {
        // More or fewer levels than stages, and filters with fewer probes than the first stages.
        for filters in
            [vec![(size, 1)], vec![(size, 7), (size, 1)], vec![(size, 2), (size, 49), (100, 64), (10, 9)]]
        {
            let layout = MultipleFiltersLayout::new(filters).unwrap();
            check(MultiFilterSummary::with_seed(layout.clone(), 1).unwrap());
            check(CountingMultiFilterSummary::with_seed(CountingFiltersLayout::usual(layout), 1).unwrap());
        }
        let list = ListLayout::new(3, 100, 50).unwrap();
        let layout = MultipleFiltersLayout::new([(size, 5)]).unwrap().with_list(list).unwrap();
        let summary = check(MultiFilterSummary::with_seed(layout, 1).unwrap());
        let bytes = summary.to_bytes();
        let view = <MultiFilterView<'_>>::open(&bytes).unwrap();
        let keys: Vec<u64> = (0..2 * KEYS).collect();
        let mut at = 0;
        view.levels_of_many(&keys, |levels| {
            assert_eq!(levels, summary.lookup(digest(keys[at])));
            at += 1;
        });
        assert_eq!(at, keys.len());
        // More probes than are in flight at once, in several passes.
        for hashes in [1, 2, 15, 64] {
            for levels in [1, 5, 9] {
                let layout = SingleFilterLayout::new(size, hashes).unwrap();
                check(SingleFilterSummary::with_seed(layout, levels, 1).unwrap());
            }
        }
        let table = MultilevelLayout::new([size / 4, size / 16, 9, 9]).unwrap().with_slots(3).unwrap();
        let strings = InterpolationLayout::new(50).unwrap();
        // Most of the blocks are empty, and exceed the cache.
        check(InterpolationSummary::in_blocks(strings, 4, size / 8, Portable::with_seed(1)).unwrap());
        let cells =
            CountingCellsLayout::new(SingleFilterLayout::new(size, 5).unwrap(), [4, 3, 2, 1]).unwrap();
        check(CountingSingleFilterSummary::with_seed(cells, 1).unwrap());
        let layout = strings.into();
        check(AnySummary::with_digester(&layout, &table, Portable::with_seed(1)).unwrap());
    }
}
