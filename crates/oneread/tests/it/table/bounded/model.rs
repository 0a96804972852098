//! The map against a `HashMap`: the same operations, the same answers.

use std::collections::HashMap;
use std::hash::RandomState;

use oneread::hash::{Digest, Digester, Std};
use oneread::layout::BoundedLayout;
use oneread::table::BoundedMap;
use oneread::table::bounded::Entry;
use oneread_study::hash::Ideal;

use crate::table::maps::{one_operation, whole_map};
use crate::table::{Constant, Random};

/// Dozens of keys share a digest.
#[derive(Clone, Copy)]
struct Colliding;

impl Digester<u64> for Colliding {
    fn digest(&self, key: &u64) -> Digest {
        Ideal::with_seed(1).digest(&(key / 12))
    }
}

/// Few digests in all: tags are equal, and groups full.
#[derive(Clone, Copy)]
struct Few {
    digests: u64,
}

impl Digester<u64> for Few {
    fn digest(&self, key: &u64) -> Digest {
        Ideal::with_seed(3).digest(&(key % self.digests))
    }
}

/// Applies random operations on keys below `keys` to a map that may become full; returns the number
/// of refused insertions.
fn compare<D: Digester<u64> + Clone>(
    map: &mut BoundedMap<u64, u64, D>,
    keys: u64,
    operations: u64,
    seed: u64,
) -> u64 {
    let mut model: HashMap<u64, u64> = HashMap::new();
    let mut random = Random::new(seed);
    let mut refused = 0;
    let bytes = map.byte_len();
    for operation in 0..operations {
        refused += u64::from(one_operation!(map, model, random, keys));
        assert_eq!(map.byte_len(), bytes);
        if operation % 4096 == 4095 {
            match random.below(16) {
                0 => {
                    let mut few = map.drain();
                    few.by_ref().take(3).for_each(|(key, value)| assert_eq!(model.remove(&key), Some(value)));
                    std::mem::forget(few);
                }
                1 => {
                    let capacity = map.capacity();
                    map.grow_into(2 * capacity).unwrap();
                    map.grow_into(capacity).unwrap();
                }
                2 => *map = map.clone(),
                _ => {}
            }
            whole_map!(map, model, random);
            let looked: Vec<_> = (0..keys.min(500)).collect();
            let mut answers = looked.iter();
            map.get_many(&looked, |value| assert_eq!(value, model.get(answers.next().unwrap())));
            assert_eq!(answers.len(), 0);
        }
    }
    refused
}

fn scaled(operations: u64) -> u64 {
    if cfg!(miri) { operations / 1000 } else { operations }
}

#[test]
fn does_what_a_hash_map_does() {
    for (capacity, keys) in [(1, 3), (5, 20), (30, 60), (200, 300), (3000, 4000), (3000, 3000)] {
        let layout = BoundedLayout::for_capacity(capacity).unwrap();
        let mut map = BoundedMap::with_seed(layout, capacity).unwrap();
        let refused = compare(&mut map, keys, scaled(500_000), keys);
        // Two thirds of the keys are present at a time: only maps for fewer are ever full.
        assert!(cfg!(miri) || (refused > 0) == (keys >= capacity * 3 / 2), "{capacity} {refused}");
    }
}

#[test]
fn does_what_a_hash_map_does_with_digests_that_collide() {
    let layout = BoundedLayout::for_capacity(2000).unwrap();
    let mut map = BoundedMap::with_digester(layout, Colliding).unwrap();
    compare(&mut map, 3500, scaled(1_000_000), 7);
}

#[test]
fn does_what_a_hash_map_does_with_one_digest_for_all() {
    // One route has room for 192, unless some of its lines coincide.
    let layout = BoundedLayout::for_capacity(2000).unwrap();
    let mut map = BoundedMap::with_digester(layout, Constant).unwrap();
    let refused = compare(&mut map, 500, scaled(200_000), 8);
    assert!(cfg!(miri) || refused > 0);
}

#[test]
fn does_what_a_hash_map_does_through_the_standard_library() {
    let layout = BoundedLayout::for_capacity(2000).unwrap();
    let mut map = BoundedMap::with_digester(layout, Std::<RandomState>::default()).unwrap();
    compare(&mut map, 3000, scaled(500_000), 9);
}

/// The values are so large that a map of a thousand is not cache-resident: its lookups are batched.
#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn keys_in_batches_are_found_as_one_after_the_other() {
    // From a digest per key to full routes, so that keys are at home, out, and in the stash.
    for digests in [1, 3, 50, 5000] {
        let layout = BoundedLayout::new(1000, 100, 3).unwrap();
        let mut map = BoundedMap::with_digester(layout, Few { digests }).unwrap();
        for key in 0..1000 {
            // With few digests, not all find room.
            _ = map.insert(key, [key + 1; 200]);
        }
        assert!(map.byte_len() > 4 << 20);
        for asked in [0, 1, 31, 32, 33, 64, 2000] {
            let keys: Vec<u64> = (0..asked).map(|key| key * 7 % 2000).collect();
            let mut found = Vec::new();
            map.get_many(&keys, |value| found.push(value));
            let expected: Vec<_> = keys.iter().map(|key| map.get(key)).collect();
            assert!(found == expected, "{digests} digests, {asked} keys");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn a_large_map_is_looked_up_in_batches() {
    let len = 200_000;
    let mut map = BoundedMap::with_seed(BoundedLayout::for_capacity(len).unwrap(), 1).unwrap();
    for key in 0..len {
        map.insert(key, 3 * key).unwrap();
    }
    let keys: Vec<u64> = (0..2 * len).step_by(3).collect();
    let mut expected = keys.iter().map(|&key| (key < len).then_some(3 * key));
    map.get_many(&keys, |value| assert_eq!(Some(value.copied()), expected.next()));
    assert!(expected.next().is_none());
}
