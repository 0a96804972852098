//! Keys and values that count themselves, and can be made to panic.

use std::cell::Cell;
use std::rc::Rc;

use oneread::hash::{Digest, Digester, Portable};

/// The number of tracked values alive, and the next panic.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) alive: Cell<i64>,
    /// Calls until the panic; 0 for never.
    pub(crate) fuse: Cell<u32>,
}

impl Ledger {
    pub(crate) fn call(&self) {
        if self.fuse.get() > 0 {
            self.fuse.set(self.fuse.get() - 1);
            assert!(self.fuse.get() > 0, "the fuse");
        }
    }
}

/// A number whose comparisons, digests and drops may panic.
pub(crate) struct Tracked {
    pub(crate) number: u64,
    pub(crate) panics_on_drop: bool,
    pub(crate) ledger: Rc<Ledger>,
}

impl Tracked {
    pub(crate) fn new(number: u64, ledger: &Rc<Ledger>) -> Self {
        ledger.alive.set(ledger.alive.get() + 1);
        Self { number, panics_on_drop: false, ledger: Rc::clone(ledger) }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.ledger.alive.set(self.ledger.alive.get() - 1);
        if self.panics_on_drop {
            self.ledger.call();
        }
    }
}

impl PartialEq for Tracked {
    fn eq(&self, other: &Self) -> bool {
        self.ledger.call();
        self.number == other.number
    }
}

impl Eq for Tracked {}

pub(crate) struct Digests;

impl Digester<Tracked> for Digests {
    fn digest(&self, key: &Tracked) -> Digest {
        key.ledger.call();
        Portable::with_seed(1).digest(&key.number)
    }
}
