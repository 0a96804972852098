//! Tests of the sorted strings.

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{InterpolationLayout, MultilevelLayout};
use oneread::summary::{ChangeError, InterpolationSummary, LevelSet, Summary};
use oneread_study::hash::Ideal;

fn digest(key: u64) -> Digest {
    Ideal::with_seed(1).digest(&key)
}

fn layout(bits: u32) -> InterpolationLayout {
    InterpolationLayout::new(bits).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "ten thousand keys")]
fn takes_the_papers_bytes_and_names_the_level_of_every_key() {
    let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).unwrap();
    let mut summary = InterpolationSummary::with_seed(layout(55), 5, 1).unwrap();
    let mut blocks = InterpolationSummary::in_blocks(layout(55), 5, 10_000, Portable::with_seed(1)).unwrap();
    for key in 0..10_000 {
        summary.insert(digest(key), key as usize % 5).unwrap();
        blocks.insert(digest(key), key as usize % 5).unwrap();
    }
    assert_eq!((summary.byte_len(), layout(55).byte_len(10_000, &table)), (72_500, 72_500));
    // Plus 128 blocks of 32 bytes.
    assert_eq!(blocks.byte_len(), 72_500 + 128 * 32);
    for key in 0..20_000 {
        // Strings of 55 bits: an absent key is named once in 3.6e12.
        let expected = (key < 10_000).then_some(key as usize % 5);
        assert_eq!(summary.lookup(digest(key)), LevelSet::deepest_first(expected));
        assert_eq!(blocks.lookup(digest(key)), LevelSet::deepest_first(expected));
    }
    for key in 0..10_000 {
        summary.remove(digest(key), key as usize % 5).unwrap();
        blocks.remove(digest(key), key as usize % 5).unwrap();
    }
    assert!(summary.is_empty() && blocks.is_empty() && summary.byte_len() == 0);
}

#[test]
fn keys_with_equal_strings_are_told_apart_by_their_levels() {
    // Strings of one bit: half of all keys are equal.
    for blocks in [1, 1000] {
        let mut summary =
            InterpolationSummary::in_blocks(layout(1), 6, blocks, Portable::with_seed(1)).unwrap();
        let same: Vec<u64> = (0..40)
            .filter(|&key| {
                let mut one = InterpolationSummary::with_seed(layout(1), 6, 1).unwrap();
                one.insert(digest(key), 0).unwrap();
                !one.lookup(digest(0)).is_empty()
            })
            .collect();
        let (first, second, third) = (digest(same[0]), digest(same[1]), digest(same[2]));
        summary.insert(first, 1).unwrap();
        summary.insert(second, 4).unwrap();
        summary.insert(third, 4).unwrap();
        assert_eq!(summary.lookup(first).into_iter().collect::<Vec<_>>(), [4, 1], "deepest first");
        assert_eq!(summary.remove(first, 2), Err(ChangeError::NotPresent));
        summary.remove(second, 4).unwrap();
        assert_eq!(summary.lookup(third), LevelSet::deepest_first([4, 1]), "the third is still there");
        summary.relocate(third, 4, 0).unwrap();
        assert_eq!(summary.lookup(third), LevelSet::deepest_first([1, 0]));
        assert_eq!(summary.relocate(third, 4, 0), Err(ChangeError::NotPresent));
        summary.remove(first, 1).unwrap();
        assert_eq!((summary.lookup(first), summary.len()), (LevelSet::deepest_first([0]), 1));
    }
}

#[test]
fn strings_that_are_not_random_are_found_too() {
    // Digests whose words share their leading bits do not occur, but many equal strings do: 3000
    // keys with strings of 8 bits.
    let mut summary = InterpolationSummary::with_seed(layout(8), 64, 1).unwrap();
    let keys = if cfg!(miri) { 50 } else { 3000 };
    (0..keys).for_each(|key| summary.insert(digest(key), key as usize % 64).unwrap());
    assert!((0..keys).all(|key| summary.lookup(digest(key)).contains(key as usize % 64)));
    (0..keys).for_each(|key| summary.remove(digest(key), key as usize % 64).unwrap());
    assert!(summary.is_empty());
}

#[test]
fn bad_levels_are_errors() {
    assert!(InterpolationSummary::with_seed(layout(8), 0, 1).is_err());
    assert!(InterpolationSummary::with_seed(layout(8), 65, 1).is_err());
    let mut summary = InterpolationSummary::with_seed(layout(8), 2, 1).unwrap();
    assert_eq!(summary.insert(digest(1), 2), Err(ChangeError::Level { levels: 2, found: 2 }));
    assert_eq!(summary.remove(digest(1), 2), Err(ChangeError::Level { levels: 2, found: 2 }));
    assert_eq!(summary.remove(digest(1), 1), Err(ChangeError::NotPresent));
    // One level takes no bits.
    let mut one = InterpolationSummary::with_seed(layout(16), 1, 1).unwrap();
    (0..4).for_each(|key| one.insert(digest(key), 0).unwrap());
    assert_eq!((one.byte_len(), one.lookup(digest(3))), (8, LevelSet::up_to(0)));
}
