//! Keys and values that panic: nothing is lost or dropped twice, and the table stays valid.

use std::rc::Rc;

use oneread::table::MultilevelTable;

use super::maps::quietly;
use super::tracked::{Digests, Ledger, Tracked};
use super::{halving, policies};

type Table = MultilevelTable<Tracked, Tracked, Digests>;

fn table(moves: oneread::layout::Moves) -> Table {
    MultilevelTable::with_digester(halving(16, 3, moves).with_stash(3).unwrap(), Digests).unwrap()
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
            // Every remaining item can be found and removed; every other one was dropped.
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
