//! Memory that lookups use again.

use std::cell::Cell;

/// A buffer that a thread keeps for the next lookup. Lookups inside of lookups get a new one.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    thread_local! {
        static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    /// What a large value needed is given back.
    const KEPT: usize = 1 << 20;
    let mut scratch = SCRATCH.take();
    let done = work(&mut scratch);
    if scratch.capacity() <= KEPT {
        SCRATCH.set(scratch);
    }
    done
}
