//! The map beside a `HashMap`: the same operations, the same answers.

use std::collections::HashMap;
use std::hash::RandomState;

use oneread::hash::{Digest, Digester, Std};
use oneread::layout::BoundedLayout;
use oneread::table::BoundedMap;
use oneread::table::bounded::Entry;
use oneread_study::hash::Ideal;

use crate::table::{Constant, Random};

/// Keys share digests by the dozen.
#[derive(Clone, Copy)]
struct Colliding;

impl Digester<u64> for Colliding {
    fn digest(&self, key: &u64) -> Digest {
        Ideal::with_seed(1).digest(&(key / 12))
    }
}

/// Random operations on keys below `keys`, in a map that may become full; gives how many insertions were refused.
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
        let (key, value) = (random.below(keys), random.word());
        match random.below(100) {
            0..50 => match map.insert(key, value) {
                Ok(before) => assert_eq!(before, model.insert(key, value)),
                Err(full) => {
                    refused += 1;
                    assert_eq!((full.key, full.value), (key, value));
                    assert!(!model.contains_key(&key) && !map.contains_key(&key));
                }
            },
            50..75 => assert_eq!(map.remove(&key), model.remove(&key)),
            75..85 => match map.entry(key) {
                Entry::Occupied(mut entry) => {
                    assert_eq!((entry.key(), Some(entry.get())), (&key, model.get(&key)));
                    if value % 2 == 0 {
                        assert_eq!(Some(entry.insert(value)), model.insert(key, value));
                    } else {
                        assert_eq!(Some(entry.remove()), model.remove(&key));
                    }
                }
                Entry::Vacant(entry) => {
                    assert!(!model.contains_key(entry.key()));
                    match entry.try_insert(value) {
                        Ok(placed) => {
                            assert_eq!(*placed, value);
                            model.insert(key, value);
                        }
                        Err(full) => assert_eq!((full.key, full.value), (key, value)),
                    }
                }
            },
            85..90 => {
                if let Some(value) = map.get_mut(&key) {
                    *value ^= 1;
                    *model.get_mut(&key).unwrap() ^= 1;
                }
            }
            _ => {
                assert_eq!(map.get(&key), model.get(&key));
                assert_eq!(map.locate(&key).location.is_some(), model.contains_key(&key));
            }
        }
        assert_eq!((map.len(), map.byte_len()), (model.len(), bytes));
        // Rarely, since it takes time in proportion to the map.
        if operation % 4096 == 4095 {
            match random.below(16) {
                0 => {
                    let threshold = random.word();
                    map.retain(|_, value| *value < threshold);
                    model.retain(|_, value| *value < threshold);
                }
                1 => {
                    let drained: HashMap<_, _> = map.drain().collect();
                    assert_eq!(drained, model);
                    model.clear();
                }
                2 => {
                    map.clear();
                    model.clear();
                }
                3 => {
                    map.values_mut().for_each(|value| *value ^= 2);
                    model.values_mut().for_each(|value| *value ^= 2);
                }
                4 => {
                    let mut few = map.drain();
                    few.by_ref().take(3).for_each(|(key, value)| assert_eq!(model.remove(&key), Some(value)));
                    std::mem::forget(few);
                }
                5 => {
                    let capacity = map.capacity();
                    map.grow_into(2 * capacity).unwrap();
                    map.grow_into(capacity).unwrap();
                }
                6 => *map = map.clone(),
                _ => {}
            }
            assert_eq!(map.iter().map(|(&key, &value)| (key, value)).collect::<HashMap<_, _>>(), model);
            assert_eq!(map.iter().len(), model.len());
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
        // Two thirds of the keys are there at a time: only maps for fewer are ever full.
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
    // Room on one route is for 192, unless its lines are the same.
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
