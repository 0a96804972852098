//! Tests of both maps: the methods of a `HashMap`, the same answers, and keys that panic.
//!
//! Macros, since the maps share no trait; each module below has what its tests need.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use oneread::hash::{Canonical, Key};

use super::tracked::{Digests, Ledger, Tracked};

/// Runs `work`, and catches its panic.
pub(super) fn quietly(work: impl FnOnce()) {
    _ = catch_unwind(AssertUnwindSafe(work));
}

/// Runs `work` without printing messages of panics.
pub(super) fn without_messages(work: impl FnOnce()) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    work();
    std::panic::set_hook(hook);
}

/// Equal by number, different by name.
#[derive(Clone, Copy, Debug)]
struct Named(u64, &'static str);

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Named {}

impl Key for Named {
    fn canonical(&self) -> Canonical<'_> {
        self.0.canonical()
    }
}

/// Applies a random operation to a map and its model; returns whether the map had no room.
macro_rules! one_operation {
    ($map:expr, $model:expr, $random:expr, $keys:expr) => {{
        let (key, value) = ($random.below($keys), $random.word());
        let mut refused = false;
        match $random.below(100) {
            0..50 => match $map.insert(key, value) {
                Ok(before) => assert_eq!(before, $model.insert(key, value)),
                Err(full) => {
                    refused = true;
                    assert_eq!((full.key, full.value), (key, value));
                    assert!(!$model.contains_key(&key) && !$map.contains_key(&key));
                }
            },
            50..75 => assert_eq!($map.remove(&key), $model.remove(&key)),
            75..85 => match $map.entry(key) {
                Entry::Occupied(mut entry) => {
                    assert_eq!((entry.key(), Some(entry.get())), (&key, $model.get(&key)));
                    if value % 2 == 0 {
                        assert_eq!(Some(entry.insert(value)), $model.insert(key, value));
                    } else {
                        assert_eq!(Some(entry.remove()), $model.remove(&key));
                    }
                }
                Entry::Vacant(entry) => {
                    assert!(!$model.contains_key(entry.key()));
                    match entry.try_insert(value) {
                        Ok(placed) => {
                            assert_eq!(*placed, value);
                            $model.insert(key, value);
                        }
                        Err(full) => assert_eq!((full.key, full.value), (key, value)),
                    }
                }
            },
            85..90 => {
                if let Some(value) = $map.get_mut(&key) {
                    *value ^= 1;
                    *$model.get_mut(&key).unwrap() ^= 1;
                }
            }
            _ => {
                assert_eq!($map.get(&key), $model.get(&key));
                assert_eq!($map.locate(&key).location.is_some(), $model.contains_key(&key));
            }
        }
        assert_eq!($map.len(), $model.len());
        refused
    }};
}
pub(super) use one_operation;

/// Applies an operation on all items now and then, and compares the rest. Takes time proportional
/// to the map.
macro_rules! whole_map {
    ($map:expr, $model:expr, $random:expr) => {
        match $random.below(16) {
            0 => {
                let threshold = $random.word();
                $map.retain(|_, value| *value < threshold);
                $model.retain(|_, value| *value < threshold);
            }
            1 => {
                let drained: HashMap<_, _> = $map.drain().collect();
                assert_eq!(drained, $model);
                $model.clear();
            }
            2 => {
                $map.clear();
                $model.clear();
            }
            3 => {
                $map.values_mut().for_each(|value| *value ^= 2);
                $model.values_mut().for_each(|value| *value ^= 2);
            }
            _ => {}
        }
        assert_eq!($map.iter().map(|(&key, &value)| (key, value)).collect::<HashMap<_, _>>(), $model);
        assert_eq!($map.iter().len(), $model.len());
    };
}
pub(super) use whole_map;

/// Generates the tests of a map from three strings, a larger map, an empty one, one of keys that
/// panic, and numbers from 0 to 49.
macro_rules! map_tests {
    () => {
        #[test]
        fn keys_are_found_in_borrowed_form() {
            let mut map = three_strings();
            assert_eq!((map.get("two"), map.get("four")), (Some(&2), None));
            assert_eq!(map.get_key_value("two"), Some((&"two".to_owned(), &2)));
            assert!(map.contains_key("three") && !map.contains_key("four"));
            *map.get_mut("two").unwrap() += 10;
            assert_eq!(map["two"], 12);
            assert_eq!(map.remove_entry("two"), Some(("two".to_owned(), 12)));
            assert_eq!((map.remove("two"), map.len()), (None, 2));
        }

        #[test]
        #[should_panic(expected = "the key is in the table")]
        fn indexing_an_absent_key_panics() {
            _ = three_strings()["four"];
        }

        #[test]
        fn an_inserted_key_stays_the_one_that_came_first() {
            let mut map = empty();
            assert_eq!(map.insert(Named(1, "first"), 1), Ok(None));
            assert_eq!(map.insert(Named(1, "second"), 2), Ok(Some(1)));
            let found = map.get_key_value(&Named(1, "")).map(|(key, value)| (key.1, *value));
            assert_eq!(found, Some(("first", 2)));
        }

        #[test]
        fn iterators_know_their_length_and_give_everything_once() {
            let mut map = three_strings();
            let mut keys: Vec<_> = map.keys().cloned().collect();
            keys.sort();
            assert_eq!(keys, ["one", "three", "two"]);
            assert_eq!((map.keys().len(), map.values().len(), map.iter().len()), (3, 3, 3));
            assert_eq!(map.values().sum::<u32>(), 6);
            for (_, value) in &mut map {
                *value *= 2;
            }
            map.iter_mut().for_each(|(_, value)| *value += 1);
            assert_eq!(map.clone().into_values().sum::<u32>(), 15);
            assert_eq!(map.clone().into_keys().len(), 3);
            let mut items: Vec<_> = (&map).into_iter().map(|(key, value)| (key.as_str(), *value)).collect();
            items.sort_unstable();
            assert_eq!(items, [("one", 3), ("three", 7), ("two", 5)]);
            let mut iter = map.into_iter();
            assert_eq!((iter.by_ref().count(), iter.next(), iter.len()), (3, None, 0));
        }

        #[test]
        fn equality_is_that_of_the_items() {
            let (one, mut other) = (three_strings(), larger());
            assert!(one != other);
            other.try_extend(one.clone()).unwrap();
            assert_eq!(one, other);
            other.insert("two".to_owned(), 3).unwrap();
            assert_ne!(one, other);
            assert_eq!(one.clone(), one);
        }

        #[test]
        fn it_shows_itself_as_a_map() {
            let mut map = empty();
            assert_eq!(format!("{map:?}"), "{}");
            map.insert("a", 1).unwrap();
            assert_eq!(format!("{map:?}"), r#"{"a": 1}"#);
            let entry = r#"Entry(OccupiedEntry { key: "a", value: 1, .. })"#;
            assert_eq!(format!("{:?}", map.entry("a")), entry);
            assert_eq!(format!("{:?}", map.entry("b")), r#"Entry(VacantEntry("b"))"#);
        }

        #[test]
        fn entries_are_filled_changed_and_removed() {
            let mut map = three_strings();
            *map.entry("one".to_owned()).and_modify(|value| *value += 10).or_try_default().unwrap() += 1;
            assert_eq!(map["one"], 12);
            *map.entry("nine".to_owned()).and_modify(|value| *value += 10).or_try_default().unwrap() += 1;
            assert_eq!(map["nine"], 1);
            let Entry::Occupied(entry) = map.entry("nine".to_owned()) else { panic!("it is there") };
            assert_eq!(entry.remove_entry(), ("nine".to_owned(), 1));
            let Entry::Vacant(entry) = map.entry("nine".to_owned()) else { panic!("it is gone") };
            assert_eq!(entry.into_key(), "nine");
            assert_eq!(map.entry("ten".to_owned()).key(), "ten");
            assert_eq!(map.len(), 3);
        }

        #[test]
        fn the_same_seed_places_alike() {
            let order = |seed| numbers(seed).keys().copied().collect::<Vec<_>>();
            assert_ne!(order(1), order(2));
            assert_eq!(order(1), order(1));
        }

        #[test]
        fn a_panic_in_a_drop_loses_nothing_else() {
            type Act = fn(&mut Panicking);
            let acts: [Act; 5] = [
                |map| map.clear(),
                |map| drop(map.drain()),
                |map| map.retain(|_, _| false),
                |map| drop(std::mem::replace(map, panicking())),
                |map| std::mem::replace(map, panicking()).into_iter().take(2).for_each(drop),
            ];
            without_messages(|| {
                for act in acts {
                    for fuse in (1..12).step_by(if cfg!(miri) { 5 } else { 1 }) {
                        let ledger = Rc::new(Ledger::default());
                        let mut map = panicking();
                        for number in 0..10 {
                            let mut value = Tracked::new(number, &ledger);
                            value.panics_on_drop = true;
                            assert!(map.insert(Tracked::new(number, &ledger), value).is_ok());
                        }
                        ledger.fuse.set(fuse);
                        quietly(|| act(&mut map));
                        ledger.fuse.set(0);
                        assert_eq!(ledger.alive.get(), 2 * map.len() as i64, "fuse {fuse}");
                        assert_eq!(map.iter().count(), map.len());
                        let found = map.keys().map(|key| key.number).collect::<Vec<_>>();
                        assert!(found.iter().all(|&number| map.contains_key(&Tracked::new(number, &ledger))));
                        drop(map);
                        assert_eq!(ledger.alive.get(), 0, "fuse {fuse}");
                    }
                }
            });
        }

        #[test]
        fn a_drain_that_is_forgotten_keeps_what_it_did_not_give() {
            let mut map = numbers(1);
            let mut drain = map.drain();
            let given: Vec<_> = drain.by_ref().take(30).collect();
            std::mem::forget(drain);
            assert_eq!(map.len(), 20);
            (0..50).for_each(|key| assert_eq!(map.contains_key(&key), !given.contains(&(key, key))));
            // The map repairs the leaked state as it is used.
            (0..50).for_each(|key| assert!(map.insert(key, key).is_ok()));
            (0..50).for_each(|key| assert_eq!(map.remove(&key), Some(key)));
            assert!(map.is_empty());
        }
    };
}

/// Generates a test that panics in `retain` and leaves a valid map.
macro_rules! panic_in_retain {
    ($map:expr, $name:expr) => {{
        let (mut map, mut seen) = ($map, 0);
        quietly(|| {
            map.retain(|_, _| {
                seen += 1;
                assert!(seen < 30, "enough");
                seen % 2 == 0
            });
        });
        assert_eq!(map.len(), 35, "{}", $name);
        let keys: Vec<_> = map.keys().copied().collect();
        assert!(keys.iter().all(|key| map.remove(key) == Some(*key)), "{}", $name);
        assert!(map.is_empty(), "{}", $name);
    }};
}

mod multilevel {
    use oneread::layout::{Moves, MultilevelLayout};
    use oneread::table::{Entry, MultilevelTable};

    use super::super::{halving, policies};
    use super::*;

    type Panicking = MultilevelTable<Tracked, Tracked, Digests>;

    fn empty<K, V>() -> MultilevelTable<K, V> {
        MultilevelTable::with_seed(halving(16, 3, Moves::None), 1).unwrap()
    }

    fn three_strings() -> MultilevelTable<String, u32> {
        let mut table = empty();
        table.try_extend(["one", "two", "three"].map(str::to_owned).into_iter().zip(1..)).unwrap();
        table
    }

    fn larger() -> MultilevelTable<String, u32> {
        MultilevelTable::with_seed(MultilevelLayout::new([40, 30]).unwrap(), 99).unwrap()
    }

    fn numbers_under(moves: Moves, seed: u64) -> MultilevelTable<u64, u64> {
        let mut table = MultilevelTable::with_seed(halving(64, 3, moves), seed).unwrap();
        table.try_extend((0..50).map(|key| (key, key))).unwrap();
        table
    }

    fn numbers(seed: u64) -> MultilevelTable<u64, u64> {
        numbers_under(Moves::None, seed)
    }

    fn panicking() -> Panicking {
        let layout = halving(16, 3, Moves::None).with_stash(3).unwrap();
        MultilevelTable::with_digester(layout, Digests).unwrap()
    }

    map_tests!();

    #[test]
    fn a_test_that_panics_in_retain_leaves_a_table_that_works() {
        without_messages(|| {
            for (name, moves) in policies() {
                panic_in_retain!(numbers_under(moves, 1), name);
            }
        });
    }
}

mod bounded {
    use oneread::layout::BoundedLayout;
    use oneread::table::BoundedMap;
    use oneread::table::bounded::Entry;

    use super::*;

    type Panicking = BoundedMap<Tracked, Tracked, Digests>;

    fn of_capacity<K, V>(capacity: u64, seed: u64) -> BoundedMap<K, V> {
        BoundedMap::with_seed(BoundedLayout::for_capacity(capacity).unwrap(), seed).unwrap()
    }

    fn empty<K, V>() -> BoundedMap<K, V> {
        of_capacity(5, 1)
    }

    fn three_strings() -> BoundedMap<String, u32> {
        let mut map = of_capacity(10, 1);
        map.try_extend(["one", "two", "three"].map(str::to_owned).into_iter().zip(1..)).unwrap();
        map
    }

    fn larger() -> BoundedMap<String, u32> {
        of_capacity(500, 99)
    }

    /// The one home line is full, so some keys are out.
    fn numbers(seed: u64) -> BoundedMap<u64, u64> {
        let mut map = BoundedMap::with_seed(BoundedLayout::new(70, 1, 1).unwrap(), seed).unwrap();
        map.try_extend((0..50).map(|key| (key, key))).unwrap();
        map
    }

    fn panicking() -> Panicking {
        BoundedMap::with_digester(BoundedLayout::new(70, 1, 1).unwrap(), Digests).unwrap()
    }

    map_tests!();

    #[test]
    fn a_test_that_panics_in_retain_leaves_a_map_that_works() {
        without_messages(|| panic_in_retain!(numbers(1), "bounded"));
    }
}
