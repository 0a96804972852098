//! Keys and values that panic: nothing is lost or dropped twice, and the map stays valid.

use std::cell::Cell;
use std::rc::Rc;

use oneread::hash::{Digest, Digester, Portable, Std};
use oneread::layout::BoundedLayout;
use oneread::table::BoundedMap;

use crate::table::Liar;
use crate::table::maps::quietly;
use crate::table::tracked::{Digests, Ledger, Tracked};

type Table = BoundedMap<Tracked, Tracked, Digests>;

/// A map whose one home line is soon full, so that keys are out.
fn table() -> Table {
    BoundedMap::with_digester(BoundedLayout::new(70, 1, 1).unwrap(), Digests).unwrap()
}

#[test]
fn a_panic_in_a_comparison_or_a_digest_leaves_a_map_that_works() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for fuse in (1..150).step_by(if cfg!(miri) { 29 } else { 1 }) {
        let ledger = Rc::new(Ledger::default());
        let mut table = table();
        for number in 0..60 {
            assert!(table.insert(Tracked::new(number, &ledger), Tracked::new(number, &ledger)).is_ok());
        }
        assert!(table.last_level_len() > 0);
        ledger.fuse.set(fuse);
        quietly(|| {
            for number in 0..30 {
                table.remove(&Tracked::new(number, &ledger));
                _ = table.insert(Tracked::new(number + 60, &ledger), Tracked::new(0, &ledger));
                table.retain(|key, _| key.number % 7 != number % 7);
                _ = table.grow_into(100 + number as usize);
            }
        });
        ledger.fuse.set(0);
        // Every remaining item can be found and removed; every other one was dropped.
        assert_eq!(ledger.alive.get(), 2 * table.len() as i64, "{fuse}");
        let numbers: Vec<_> = table.keys().map(|key| key.number).collect();
        assert_eq!(numbers.len(), table.len(), "{fuse}");
        for number in numbers {
            assert!(table.remove(&Tracked::new(number, &ledger)).is_some(), "{fuse}");
        }
        assert!(table.is_empty(), "{fuse}");
        assert_eq!(ledger.alive.get(), 0, "{fuse}");
    }
    std::panic::set_hook(hook);
}

#[test]
fn a_panic_in_a_clone_leaves_nothing_behind() {
    /// A clone counts down to a panic.
    struct Cloned(Rc<Ledger>);
    impl Clone for Cloned {
        fn clone(&self) -> Self {
            self.0.call();
            self.0.alive.set(self.0.alive.get() + 1);
            Self(Rc::clone(&self.0))
        }
    }
    impl Drop for Cloned {
        fn drop(&mut self) {
            self.0.alive.set(self.0.alive.get() - 1);
        }
    }
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let ledger = Rc::new(Ledger::default());
    let mut map = BoundedMap::with_seed(BoundedLayout::for_capacity(50).unwrap(), 1).unwrap();
    for key in 0..50u64 {
        ledger.alive.set(ledger.alive.get() + 1);
        assert!(map.insert(key, Cloned(Rc::clone(&ledger))).is_ok());
    }
    for fuse in [1, 20, 50] {
        ledger.fuse.set(fuse);
        quietly(|| drop(map.clone()));
        assert_eq!((ledger.alive.get(), ledger.fuse.get()), (50, 0));
    }
    let clone = map.clone();
    assert_eq!((ledger.alive.get(), clone.len()), (100, 50));
    drop((map, clone));
    assert_eq!(ledger.alive.get(), 0);
    std::panic::set_hook(hook);
}

#[test]
fn digests_that_contradict_each_other_cost_answers_and_nothing_else() {
    /// Makes another digest every time.
    struct Fickle(Cell<u64>);
    impl Digester<u64> for Fickle {
        fn digest(&self, key: &u64) -> Digest {
            self.0.set(self.0.get() + 1);
            Portable::with_seed(self.0.get() % 5).digest(key)
        }
    }
    let layout = BoundedLayout::for_capacity(200).unwrap();
    let mut map = BoundedMap::with_digester(layout, Fickle(Cell::new(0))).unwrap();
    for step in 0..if cfg!(miri) { 500u64 } else { 100_000 } {
        let key = step * 0x9e37 % 251;
        match step % 3 {
            0 => drop(map.insert(key, Box::new(key))),
            1 => drop(map.remove(&key)),
            _ => drop(map.get(&key).map(|value| assert_eq!(**value, key))),
        }
        assert!(map.len() <= 200);
        if step % 1000 == 999 {
            map.retain(|key, value| **value == *key && key % 5 > 0);
            _ = map.grow_into(200);
            assert_eq!(map.iter().count(), map.len());
        }
    }
}

#[test]
fn keys_that_lie_about_equality_are_kept_or_found_and_dropped_once() {
    for equal in [false, true] {
        let layout = BoundedLayout::for_capacity(100).unwrap();
        let mut map = BoundedMap::with_digester(layout, Std::<std::hash::RandomState>::default()).unwrap();
        for number in 0..300 {
            _ = map.insert(Liar(number % 50, equal), Box::new(number));
            _ = map.remove(&Liar(number % 30, equal));
        }
        assert_eq!(map.iter().count(), map.len());
        // Keys that equal nothing are never removed, so the map fills up. With the others, some
        // keys match the wrong items.
        assert!(if equal { map.len() <= 50 } else { map.len() == 100 }, "{equal} {}", map.len());
    }
}
