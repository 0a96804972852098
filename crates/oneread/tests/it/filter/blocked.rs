//! The blocked Bloom filter against a set of bits, placed as its documentation says.

use oneread::filter::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedView, BuildError, MergeError};
use oneread::hash::{Digester, Domain, Portable};
use oneread::layout::{BlockedLayout, LayoutError, Quantity};
use proptest::prelude::*;

use super::bit_model::{self, BitModel, KEYS, Step, does_what_bits_do};
use super::{BATCH_LENGTHS, payload};

/// The multiplier between a key's block and its bits, as in `docs/format.md`.
const SPREAD: u128 = 0xd134_2543_de82_ef95;

/// The bits of a key, counted through all blocks.
fn bits_of(layout: BlockedLayout, digester: &Portable, key: u64) -> [u64; 8] {
    let word = u128::from(digester.digest(&key).word(Domain::BLOCKED, 0));
    let block = ((word * u128::from(layout.blocks())) >> 64) as u64;
    let numbers = (word * SPREAD % (1 << 64)) as u64 >> 16;
    std::array::from_fn(|j| 512 * block + 64 * j as u64 + (numbers >> (6 * j)) % 64)
}

fn model(layout: BlockedLayout, seed: u64) -> BitModel {
    let digester = Portable::with_seed(seed);
    BitModel::new(8 * layout.blocks(), move |key| bits_of(layout, &digester, key).to_vec())
}

/// The probability that an absent key is found: the average over all blocks that each word has the
/// key's bit.
fn rate(layout: BlockedLayout, model: &BitModel) -> f64 {
    let fill = |word: u64| model.ones.range(64 * word..64 * (word + 1)).count() as f64 / 64.0;
    let block = |block: u64| (8 * block..8 * (block + 1)).map(fill).product::<f64>();
    (0..layout.blocks()).map(block).sum::<f64>() / layout.blocks() as f64
}

fn filled(layout: BlockedLayout, seed: u64, keys: &[u64]) -> (BlockedBloomFilter, BitModel) {
    let (mut filter, mut model) = (BlockedBloomFilter::with_seed(layout, seed).unwrap(), model(layout, seed));
    keys.iter().for_each(|&key| _ = (filter.insert(&key), model.insert(key)));
    (filter, model)
}

proptest! {
    #[test]
    fn a_blocked_filter_does_what_a_set_of_bits_does(blocks in 1u64..6, seed: u64, steps in bit_model::steps()) {
        let layout = BlockedLayout::new(blocks).unwrap();
        let filled = |keys: &[u64]| filled(layout, seed, keys);
        let check = |filter: &BlockedBloomFilter, model: &BitModel| {
            let expected = rate(layout, model);
            (filter.false_positive_rate() - expected).abs() <= 1e-12 * expected
        };
        does_what_bits_do!(BlockedBloomFilter, AtomicBlockedBloomFilter, BlockedView, steps, filled, check);
    }
}

#[test]
fn never_forgets_an_inserted_key_whatever_the_load() {
    let mut filter = BlockedBloomFilter::with_seed(BlockedLayout::new(3).unwrap(), 3).unwrap();
    for key in 0..10_000u64 {
        filter.insert(&key);
        assert!(filter.contains(&key), "key {key}");
    }
    assert!((0..10_000u64).all(|key| filter.contains(&key)));
    // 10000 keys miss a bit of a block with probability (1 − 1/192)^10000 = 2e-23: all bits are
    // set.
    assert_eq!((filter.ones(), filter.false_positive_rate()), (1536, 1.0));
    assert_eq!(filter.estimated_items(), f64::INFINITY);
    assert!(filter.insert(&u64::MAX), "a full filter finds everything");
}

#[test]
fn an_empty_filter_contains_nothing_and_one_key_has_a_bit_in_each_word() {
    let (mut filter, mut model) = filled(BlockedLayout::new(20).unwrap(), 1, &[]);
    assert!(filter.is_empty() && (0..10_000u64).all(|key| !filter.contains(&key)));
    assert_eq!((filter.ones(), filter.false_positive_rate(), filter.estimated_items()), (0, 0.0, 0.0));
    assert!(!filter.insert(&7u64) && !model.insert(7));
    assert_eq!((payload(&filter), filter.ones()), (model.payload(), 8));
    let once = filter.clone();
    assert!(filter.insert(&7u64), "it was there");
    assert!(filter == once, "a duplicate changes nothing");
}

#[test]
fn many_keys_at_once_are_as_one_after_the_other() {
    // In more than 6 MiB, 98304 blocks, lines are prefetched.
    for (blocks, length) in BATCH_LENGTHS.into_iter().flat_map(|length| [(20, length), (100_000, length)]) {
        let layout = BlockedLayout::new(blocks).unwrap();
        let keys: Vec<u64> = (0..length).collect();
        let queries: Vec<u64> = (length / 2..length + length / 2).collect();
        let (one_by_one, _) = filled(layout, 9, &keys);
        let mut at_once = BlockedBloomFilter::with_seed(layout, 9).unwrap();
        at_once.insert_many(&keys);
        let atomic = AtomicBlockedBloomFilter::from(BlockedBloomFilter::with_seed(layout, 9).unwrap());
        atomic.insert_many(&keys);
        assert!(at_once == one_by_one && atomic == one_by_one, "{length} keys, {blocks} blocks");
        let expected: Vec<bool> = queries.iter().map(|key| one_by_one.contains(key)).collect();
        let (mut found, mut found_in_view) = (Vec::new(), Vec::new());
        at_once.contains_many(&queries, |answer| found.push(answer));
        let bytes = at_once.to_bytes();
        <BlockedView<'_>>::open(&bytes).unwrap().contains_many(&queries, |answer| found_in_view.push(answer));
        assert_eq!((found, found_in_view), (expected.clone(), expected), "{length} keys");
    }
}

#[test]
fn a_view_need_not_lie_at_the_start_of_a_cache_line() {
    let (filter, _) = filled(BlockedLayout::new(5).unwrap(), 2, &[1, 2, 3, 4, 5]);
    for offset in 0..65 {
        let shifted = [vec![0; offset], filter.to_bytes()].concat();
        let view = <BlockedView<'_>>::open(&shifted[offset..]).unwrap();
        assert!((0..200u64).all(|key| view.contains(&key) == filter.contains(&key)), "offset {offset}");
    }
}

#[test]
fn constructors_take_layouts_or_rates() {
    assert_eq!(
        BlockedBloomFilter::with_rate(1000, 1.0).unwrap_err(),
        BuildError::Layout(LayoutError::Fraction { what: Quantity::Rate, found: 1.0 })
    );
    // Σ over j of Bin(100000, 1/B; j)·(1 − (63/64)^j)^8, summed by another program: 0.010012 for B
    // = 1972, 0.009987 for 1973.
    assert_eq!(BlockedBloomFilter::with_rate(100_000, 0.01).unwrap().layout().blocks(), 1973);
    let new = || BlockedBloomFilter::new(BlockedLayout::new(1).unwrap()).unwrap();
    assert_ne!(new().digester().seed(), new().digester().seed(), "random seeds");
}

#[test]
fn filters_are_equal_if_layout_seed_and_bits_are() {
    let layout = BlockedLayout::new(3).unwrap();
    let (mut one, _) = filled(layout, 1, &[1, 2, 3]);
    let (other, _) = filled(layout, 1, &[3, 1, 2]);
    let shared = AtomicBlockedBloomFilter::from(other.clone());
    assert!(one == other && one == shared);
    one.insert(&4u64);
    assert!(one != other);
    assert!(filled(layout, 1, &[]).0 != filled(layout, 2, &[]).0, "different seeds");
    assert!(filled(layout, 1, &[]).0 != filled(BlockedLayout::new(4).unwrap(), 1, &[]).0);
}

#[test]
fn debug_tells_bits_hashes_and_fill() {
    // One key sets eight of 1024 bits: 8/1024 = 0.0078125.
    let (filter, _) = filled(BlockedLayout::new(2).unwrap(), 1, &[1]);
    assert_eq!(format!("{filter:?}"), "Blocked { blocks: 2, bits: 1024, hashes: 8, fill: 0.0078125, .. }");
}

#[test]
fn filters_that_do_not_match_are_not_joined_and_not_changed() {
    let layout = BlockedLayout::new(3).unwrap();
    let (mut filter, _) = filled(layout, 1, &[1, 2, 3]);
    let others = [
        (filled(BlockedLayout::new(4).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(layout, 2, &[9]).0, MergeError::Digesters),
    ];
    for (other, error) in others {
        let before = (filter.to_bytes(), other.to_bytes());
        assert_eq!(filter.union(&other), Err(error));
        assert_eq!(filter.intersect(&other), Err(error));
        assert!((filter.to_bytes(), other.to_bytes()) == before, "{error}");
    }
}
