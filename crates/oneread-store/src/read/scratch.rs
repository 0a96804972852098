//! Reusable memory for lookups.

use std::cell::Cell;

/// Lends a buffer that the thread keeps for the next lookup. Nested lookups get a new one.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    thread_local! {
        static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    /// Larger buffers, from large values, are freed.
    const KEPT: usize = 1 << 20;
    let mut scratch = SCRATCH.take();
    let done = work(&mut scratch);
    if scratch.capacity() <= KEPT {
        SCRATCH.set(scratch);
    }
    done
}
