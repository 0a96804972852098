//! Keys and values that panic: nothing is lost, nothing is dropped twice, and the table goes on working.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use oneread::table::MultilevelTable;

use super::tracked::{Digests, Ledger, Tracked};
use super::{halving, policies};

type Table = MultilevelTable<Tracked, Tracked, Digests>;

fn table(moves: oneread::layout::Moves) -> Table {
    MultilevelTable::with_digester(halving(16, 3, moves).with_stash(3).unwrap(), Digests).unwrap()
}

/// Silences the messages of panics that are expected.
fn quietly(work: impl FnOnce()) {
    _ = catch_unwind(AssertUnwindSafe(work));
}

#[test]
fn a_panic_in_a_comparison_or_a_digest_leaves_a_table_that_works() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for (name, moves) in policies() {
        for fuse in (1..40).step_by(if cfg!(miri) { 13 } else { 1 }) {
            let ledger = Rc::new(Ledger::default());
            let mut table = table(moves);
            for number in 0..20 {
                _ = table.insert(Tracked::new(number, &ledger), Tracked::new(number, &ledger));
            }
            ledger.fuse.set(fuse);
            quietly(|| {
                for number in 0..20 {
                    table.remove(&Tracked::new(number, &ledger));
                    _ = table.insert(Tracked::new(number + 20, &ledger), Tracked::new(0, &ledger));
                }
            });
            ledger.fuse.set(0);
            // What is there can be found and removed; what is gone was dropped.
            assert_eq!(ledger.alive.get(), 2 * table.len() as i64, "{name}, {fuse}");
            let numbers: Vec<_> = table.keys().map(|key| key.number).collect();
            assert_eq!(numbers.len(), table.len(), "{name}, {fuse}");
            for number in numbers {
                assert!(table.remove(&Tracked::new(number, &ledger)).is_some(), "{name}, {fuse}");
            }
            assert!(table.is_empty(), "{name}, {fuse}");
            assert_eq!(ledger.alive.get(), 0, "{name}, {fuse}");
        }
    }
    std::panic::set_hook(hook);
}

#[test]
fn a_panic_in_a_drop_loses_nothing_else() {
    type Act = fn(&mut Table);
    let acts: [Act; 4] = [
        |table| table.clear(),
        |table| drop(table.drain()),
        |table| table.retain(|_, _| false),
        |table| drop(std::mem::replace(table, self::table(oneread::layout::Moves::None))),
    ];
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for act in acts {
        for fuse in (1..12).step_by(if cfg!(miri) { 5 } else { 1 }) {
            let ledger = Rc::new(Ledger::default());
            let mut table = table(oneread::layout::Moves::None);
            for number in 0..10 {
                let mut value = Tracked::new(number, &ledger);
                value.panics_on_drop = true;
                assert!(table.insert(Tracked::new(number, &ledger), value).is_ok());
            }
            ledger.fuse.set(fuse);
            quietly(|| act(&mut table));
            ledger.fuse.set(0);
            assert_eq!(ledger.alive.get(), 2 * table.len() as i64, "fuse {fuse}");
            assert_eq!(table.iter().count(), table.len());
            let found = table.keys().map(|key| key.number).collect::<Vec<_>>();
            assert!(found.iter().all(|&number| table.contains_key(&Tracked::new(number, &ledger))));
            drop(table);
            assert_eq!(ledger.alive.get(), 0, "fuse {fuse}");
        }
    }
    std::panic::set_hook(hook);
}

#[test]
fn a_drain_that_is_forgotten_keeps_what_it_did_not_give() {
    let mut table = MultilevelTable::with_seed(halving(16, 3, oneread::layout::Moves::None), 1).unwrap();
    table.try_extend((0..10u64).map(|key| (key, key))).unwrap();
    let mut drain = table.drain();
    let given: Vec<_> = drain.by_ref().take(4).collect();
    std::mem::forget(drain);
    assert_eq!(table.len(), 6);
    for key in 0..10 {
        assert_eq!(table.contains_key(&key), !given.contains(&(key, key)));
    }
}

#[test]
fn a_test_that_panics_in_retain_leaves_a_table_that_works() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for (name, moves) in policies() {
        let mut table = MultilevelTable::with_seed(halving(64, 3, moves), 1).unwrap();
        table.try_extend((0..50u64).map(|key| (key, key))).unwrap();
        let mut seen = 0;
        quietly(|| {
            table.retain(|_, _| {
                seen += 1;
                assert!(seen < 30, "enough");
                seen % 2 == 0
            });
        });
        assert_eq!(table.len(), 35, "{name}");
        let keys: Vec<_> = table.keys().copied().collect();
        assert!(keys.iter().all(|key| table.remove(key) == Some(*key)), "{name}");
        assert!(table.is_empty(), "{name}");
    }
    std::panic::set_hook(hook);
}
