//! Many keys at once: ask for all their memory before waiting for any of it.

use crate::hash::Digest;

/// Keys in flight. More do not help (a core has about this many outstanding cache misses), and these
/// digests still lie in the first-level cache.
pub(super) const BATCH: usize = 32;

/// A structure below this size lies in a second-level cache, where asking costs more than waiting.
pub(super) const CACHED_BYTES: usize = 1 << 19;

/// Calls `work` with the digests, at most [`BATCH`] at a time, in order.
#[inline(always)]
pub(super) fn in_batches(digests: impl Iterator<Item = Digest>, mut work: impl FnMut(&[Digest])) {
    let mut batch = [Digest::from_halves(0, 0); BATCH];
    let mut filled = 0;
    for digest in digests {
        batch[filled] = digest;
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
