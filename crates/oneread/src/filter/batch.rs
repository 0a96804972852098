//! Many keys at once: ask for all their memory before waiting for any of it.

use crate::hash::Digest;

/// Keys in flight. More do not help (a core has about this many outstanding cache misses), and these
/// digests still lie in the first-level cache.
pub(crate) const BATCH: usize = 32;

/// A structure below this size lies in a second-level cache, where asking costs more than waiting.
pub(crate) const CACHED_BYTES: usize = 1 << 19;

/// Calls `work` with the items, at most [`BATCH`] at a time, in order; `filler` may be any value.
#[inline(always)]
pub(crate) fn in_batches_of<T: Copy>(items: impl Iterator<Item = T>, filler: T, mut work: impl FnMut(&[T])) {
    let mut batch = [filler; BATCH];
    let mut filled = 0;
    for item in items {
        batch[filled] = item;
        filled += 1;
        if filled == BATCH {
            work(&batch);
            filled = 0;
        }
    }
    if filled > 0 {
        work(&batch[..filled]);
    }
}

/// The same for digests.
#[inline(always)]
pub(crate) fn in_batches(digests: impl Iterator<Item = Digest>, work: impl FnMut(&[Digest])) {
    in_batches_of(digests, Digest::from_halves(0, 0), work);
}
