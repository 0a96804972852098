//! Batched lookups, whose waits for memory overlap.
//!
//! - [`sieve`], for filters that most keys leave early. A chunk of keys goes through the first
//!   probe, the keys that pass go through the second, then through two more, four more, and so on.
//!   Keys that fail leave the list without a branch. Within a pass, places are prefetched some keys
//!   ahead of their use.
//! - [`look_ahead`], for lookups that always read the same few places one after the other.
//!
//! The measurements behind this: `docs/decisions/summary-batches.md`.

use super::LevelSet;
use crate::hash::Digest;

/// Summaries below this size fit a second-level cache, where prefetching costs more than waiting.
const CACHED_BYTES: usize = 1 << 19;

/// Keys per chunk: enough to hide the wait at the end of a pass, and few enough for their digests
/// to stay in the first-level cache.
const CHUNK: usize = 512;

/// Places prefetched ahead: about the number of outstanding cache misses of a core.
const UNDER_WAY: usize = 32;

/// Places remembered: those prefetched, and those of the key whose turn is next.
const REMEMBERED: usize = 2 * UNDER_WAY;

/// Filters that are probed in order until one does not contain the key.
pub(super) trait Probed {
    /// The number of bytes that lookups read from.
    fn stored_bytes(&self) -> usize;

    fn filter_count(&self) -> usize;

    fn hashes(&self, filter: usize) -> u32;

    /// Prefetches the place of a probe, and returns it.
    fn ask(&self, digest: Digest, filter: usize, index: u32) -> u64;

    /// The value at a place; 0 means that the filter does not contain the key.
    fn value(&self, filter: usize, place: u64) -> u8;

    /// The levels of a key that has passed `passed` filters; `smallest` is the smallest value read.
    fn levels_after(&self, digest: Digest, passed: usize, smallest: u8) -> LevelSet;

    /// Looks up a single key.
    fn levels_alone(&self, digest: Digest) -> LevelSet;
}

/// Looks digests up in filters; answers come in the order of the digests.
///
/// Small filters are cache-resident, where prefetching costs more than waiting.
#[inline]
pub(super) fn sieve<F: Probed>(filters: &F, digests: &[Digest], mut answer: impl FnMut(LevelSet)) {
    if filters.stored_bytes() < CACHED_BYTES {
        return digests.iter().for_each(|&digest| answer(filters.levels_alone(digest)));
    }
    for digests in digests.chunks(CHUNK) {
        let mut passed = [0u8; CHUNK];
        let mut smallest = [u8::MAX; CHUNK];
        let mut left: [u16; CHUNK] = core::array::from_fn(|key| key as u16);
        let mut count = digests.len();
        for filter in 0..filters.filter_count() {
            let hashes = filters.hashes(filter);
            let mut next = 0;
            while next < hashes && count > 0 {
                // Twice as many probes each time: a key that passed this many probes is probably
                // present, and will pass the next ones too.
                let probes = next..hashes.min(next + next.clamp(1, UNDER_WAY as u32));
                next = probes.end;
                count = pass(filters, filter, probes, digests, &mut left[..count], &mut smallest);
            }
            left[..count].iter().for_each(|&key| passed[key as usize] += 1);
        }
        for (key, &digest) in digests.iter().enumerate() {
            answer(filters.levels_after(digest, passed[key].into(), smallest[key]));
        }
    }
}

/// Reads `probes` of the remaining keys, moves those that pass to the front, and returns their
/// number.
#[inline(always)]
fn pass<F: Probed>(
    filters: &F,
    filter: usize,
    probes: core::ops::Range<u32>,
    digests: &[Digest],
    left: &mut [u16],
    smallest: &mut [u8; CHUNK],
) -> usize {
    let mut places = [0; REMEMBERED];
    let (mut asked, mut seen) = (0, 0);
    let ahead = (UNDER_WAY / probes.len()).max(1);
    let mut kept = 0;
    for at in 0..left.len() + ahead {
        if let Some(&key) = left.get(at) {
            for index in probes.clone() {
                places[asked % REMEMBERED] = filters.ask(digests[key as usize], filter, index);
                asked += 1;
            }
        }
        if at >= ahead {
            let key = left[at - ahead];
            let mut value = u8::MAX;
            for _ in probes.clone() {
                value = value.min(filters.value(filter, places[seen % REMEMBERED]));
                seen += 1;
            }
            smallest[key as usize] = smallest[key as usize].min(value);
            // No branch: its outcome would be unpredictable.
            left[kept] = key;
            kept += usize::from(value > 0);
        }
    }
    kept
}

/// A lookup that reads a few places one after the other.
pub(super) trait Stepped {
    /// The number of places, each of which depends on the one before.
    const STEPS: usize;

    /// The number of bytes that lookups read from.
    fn stored_bytes(&self) -> usize;

    /// Prefetches what a step reads. The lines of earlier steps were prefetched some keys ago.
    fn ask(&self, digest: Digest, step: usize);

    /// Looks up a single key.
    fn levels_alone(&self, digest: Digest) -> LevelSet;
}

/// Keys between two steps of a lookup: all steps together keep about as many lines in flight as a
/// core has outstanding cache misses.
const BETWEEN_STEPS: usize = 8;

/// Looks digests up in steps; answers come in the order of the digests.
#[inline]
pub(super) fn look_ahead<S: Stepped>(summary: &S, digests: &[Digest], mut answer: impl FnMut(LevelSet)) {
    let ahead = if summary.stored_bytes() < CACHED_BYTES { 0 } else { S::STEPS * BETWEEN_STEPS };
    for at in 0..digests.len() + ahead {
        for step in 0..ahead / BETWEEN_STEPS {
            if let Some(&digest) = at.checked_sub(step * BETWEEN_STEPS).and_then(|at| digests.get(at)) {
                summary.ask(digest, step);
            }
        }
        if let Some(&digest) = at.checked_sub(ahead).and_then(|at| digests.get(at)) {
            answer(summary.levels_alone(digest));
        }
    }
}

/// Calls `work` with consecutive chunks of the digests.
pub(super) fn in_chunks(digests: impl Iterator<Item = Digest>, mut work: impl FnMut(&[Digest])) {
    let mut chunk = [Digest::from_halves(0, 0); CHUNK];
    let mut filled = 0;
    for digest in digests {
        chunk[filled] = digest;
        filled += 1;
        if filled == CHUNK {
            work(&chunk);
            filled = 0;
        }
    }
    work(&chunk[..filled]);
}
