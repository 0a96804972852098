//! Many keys at once: the waits of later keys for memory overlap with that of the first.
//!
//! - [`sieve`], for filters, which most keys leave early. A chunk of keys goes through the first
//!   probe, those that pass through the second, those that pass through two more, then four, and so
//!   on; keys that fail leave the list without a branch. Within such a pass, a key's places are
//!   prefetched some keys before they are looked at.
//! - [`look_ahead`], for lookups that read a few places one after the other, whatever is there.
//!
//! Why so: `docs/decisions/summary-batches.md`.

use super::LevelSet;
use crate::hash::Digest;

/// A summary below this size lies in a second-level cache, where prefetching costs more than
/// waiting.
const CACHED_BYTES: usize = 1 << 19;

/// Keys that go through the passes together: enough that the waits at the end of a pass do not
/// count, few enough that their digests stay in the first-level cache.
const CHUNK: usize = 512;

/// Places that are prefetched and not looked at yet: about as many as a core has outstanding cache
/// misses.
const UNDER_WAY: usize = 32;

/// Places that are remembered: those of the keys that are under way and of the one that comes to
/// them.
const REMEMBERED: usize = 2 * UNDER_WAY;

/// Filters that are probed one after the other, until one does not have the key.
pub(super) trait Probed {
    /// The bytes that a lookup may read.
    fn stored_bytes(&self) -> usize;

    fn filter_count(&self) -> usize;

    fn hashes(&self, filter: usize) -> u32;

    /// The place of a probe, which is asked to be brought near.
    fn ask(&self, digest: Digest, filter: usize, index: u32) -> u64;

    /// What is at a place; with 0, the filter does not have the key.
    fn value(&self, filter: usize, place: u64) -> u8;

    /// The answer for a key that has passed so many filters, whose smallest value was this.
    fn levels_after(&self, digest: Digest, passed: usize, smallest: u8) -> LevelSet;

    /// The answer for one key.
    fn levels_alone(&self, digest: Digest) -> LevelSet;
}

/// Looks many keys up in filters; the answers come in the order of the digests.
///
/// Small filters lie in a cache, where asking costs more than waiting.
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
                // As many as before: what passed so many passes the next ones with some
                // probability, and most of it does if it is there.
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

/// Looks at some probes of the keys that are left; gives how many pass, which come to the front.
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
            // Not a branch, which would be as hard to predict as the key.
            left[kept] = key;
            kept += usize::from(value > 0);
        }
    }
    kept
}

/// A lookup that reads a few places one after the other.
pub(super) trait Stepped {
    /// How many of them have to be there before the next can be asked for.
    const STEPS: usize;

    /// The bytes that a lookup may read.
    fn stored_bytes(&self) -> usize;

    /// Asks for what a step reads; what those before it read has been asked for some keys ago.
    fn ask(&self, digest: Digest, step: usize);

    /// The answer for one key.
    fn levels_alone(&self, digest: Digest) -> LevelSet;
}

/// Keys between two steps of one: together they ask for about as many places as a core has
/// outstanding cache misses.
const BETWEEN_STEPS: usize = 8;

/// Looks many keys up by steps; the answers come in the order of the digests.
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

/// Calls `work` with the digests, a chunk at a time, in order.
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
