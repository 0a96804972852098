//! Many keys at once: ask for the memory of all of them before waiting for any.

use super::LevelSet;
use crate::filter::batch::{BATCH, CACHED_BYTES, in_batches};
use crate::hash::Digest;

/// Probes that decide on most keys: of an absent key, half of the bits are 0 in a filter of the best size.
pub(super) const FIRST: u32 = 2;

/// A summary whose lookup goes by stages, each of which reads memory of its own and lets some keys pass to the next.
pub(super) trait Staged {
    /// The number of stages before the lookup itself.
    const STAGES: usize;

    /// The bytes that a lookup may read.
    fn stored_bytes(&self) -> usize;

    /// Asks for what a stage reads.
    fn prefetch(&self, digest: Digest, stage: usize);

    /// Whether a stage lets a key pass. That of the last stage is never asked.
    fn passes(&self, digest: Digest, stage: usize) -> bool;

    /// The answer, whose memory is near by now.
    fn answer(&self, digest: Digest) -> LevelSet;
}

/// Looks many keys up; the answers come in the order of the digests.
///
/// Small summaries lie in a cache, where asking costs more than waiting.
#[inline]
pub(super) fn look_up<S: Staged>(
    summary: &S,
    digests: impl Iterator<Item = Digest>,
    mut answer: impl FnMut(LevelSet),
) {
    if summary.stored_bytes() < CACHED_BYTES {
        return digests.for_each(|digest| answer(summary.answer(digest)));
    }
    in_batches(digests, |digests| {
        let mut passed = [true; BATCH];
        for stage in 0..S::STAGES {
            for (passed, &digest) in passed.iter_mut().zip(digests) {
                *passed = *passed && (stage == 0 || summary.passes(digest, stage - 1));
                if *passed {
                    summary.prefetch(digest, stage);
                }
            }
        }
        digests.iter().for_each(|&digest| answer(summary.answer(digest)));
    });
}

/// The two methods of a summary that has stages.
macro_rules! levels_of_many {
    () => {
        /// Looks many keys up, faster than one after the other where the summary does not fit the cache; `answer` gets the levels in
        /// the order of the keys.
        pub fn levels_of_many<'q, Q: ?Sized + 'q>(
            &self,
            keys: impl IntoIterator<Item = &'q Q>,
            answer: impl FnMut(LevelSet),
        ) where
            D: Digester<Q>,
        {
            let digests = keys.into_iter().map(|key| self.digester.digest(key));
            $crate::summary::batch::look_up(self, digests, answer);
        }
    };
}
pub(super) use levels_of_many;
