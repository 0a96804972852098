//! Batches of keys: the cache lines of a whole batch are prefetched before the first is read.
//!
//! Batches do this by default, with [`BATCH`] keys at a time and no memory of their own. Where it
//! pays, [`partition`] sorts very large batches by cache block first.

pub(super) mod partition;

use crate::hash::Digest;
use crate::hash::probes::AnyScheme;

/// Keys in flight. More do not help: a core has about this many outstanding cache misses. The
/// digests of a batch fit the first-level cache.
pub(crate) const BATCH: usize = 32;

/// Structures below this size fit a second-level cache, where prefetching costs more than waiting.
pub(crate) const CACHED_BYTES: usize = 1 << 19;

/// Like [`CACHED_BYTES`], but for filters with many lines per key, and for those that hardly
/// compute. Below this size most lines come from a third-level cache, and a processor waits for
/// several of them at once, prefetched or not.
pub(crate) const THIRD_LEVEL_BYTES: usize = 6 << 20;

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

/// Like [`in_batches_of`], for digests.
#[inline(always)]
pub(crate) fn in_batches(digests: impl Iterator<Item = Digest>, work: impl FnMut(&[Digest])) {
    in_batches_of(digests, Digest::from_halves(0, 0), work);
}

/// Looks digests up in a filter that needs all locations to pass a test. `prefetch` prefetches a
/// location; `answer` gets the answers in order.
#[inline(always)]
pub(crate) fn contains_in_batches(
    scheme: &AnyScheme,
    digests: impl Iterator<Item = Digest>,
    prefetch: impl Fn(u64),
    test: impl Fn(u64) -> bool,
    mut answer: impl FnMut(bool),
) {
    // Most absent keys fail at one of the first two locations. So these are prefetched for all
    // keys, the others only for keys that pass.
    let prefetch_first = |digest| {
        let (mut first, mut at) = ([0; 2], 0);
        scheme.all(digest, |location| {
            // If there is only one location, it is prefetched twice.
            first = [if at == 0 { location } else { first[1] }, location];
            prefetch(location);
            at += 1;
            at < 2
        });
        first
    };
    let prefetch_others = |digest| {
        let mut at = 0;
        scheme.all(digest, |location| {
            if at >= 2 {
                prefetch(location);
            }
            at += 1;
            true
        });
    };
    let others_pass = |digest| {
        let mut at = 0;
        scheme.all(digest, |location| {
            at += 1;
            at <= 2 || test(location)
        })
    };
    in_batches(digests, |digests| {
        let mut first = [[0; 2]; BATCH];
        for (first, &digest) in first.iter_mut().zip(digests) {
            *first = prefetch_first(digest);
        }
        // No branch here: one key in four would take it.
        let (mut left, mut count) = ([0u8; BATCH], 0);
        for (key, &[one, other]) in first[..digests.len()].iter().enumerate() {
            left[count] = key as u8;
            count += usize::from(test(one) & test(other));
        }
        let left = &left[..count];
        left.iter().for_each(|&key| prefetch_others(digests[usize::from(key)]));
        const { assert!(BATCH <= u32::BITS as usize) };
        let mut found = 0u32;
        for &key in left {
            found |= u32::from(others_pass(digests[usize::from(key)])) << key;
        }
        (0..digests.len()).for_each(|key| answer(found >> key & 1 == 1));
    });
}
