//! Many keys at once: ask for the memory of all of them before waiting for any.

use core::ops::Range;

use super::LevelSet;
use crate::filter::batch::{BATCH, CACHED_BYTES, in_batches};
use crate::hash::Digest;

/// Probes that decide on most keys: of an absent key, half of the bits are 0 in a filter of the best size.
pub(super) const FIRST: u32 = 2;

/// Probes that decide on nearly all: three in four of the keys at level 0 fail the first ones of `B_1`, and of the others one in 64 passes up to here,
/// for whom alone the many probes behind are asked for.
const SECOND: u32 = 8;

/// A summary whose lookup goes by stages, each of which reads memory of its own and decides on some of the keys.
pub(super) trait Staged {
    const STAGES: usize;

    /// The bytes that a lookup may read.
    fn stored_bytes(&self) -> usize;

    /// Asks for what a stage reads.
    fn prefetch(&self, digest: Digest, stage: usize);

    /// The answer for a key, if this stage decides on it; those before have not.
    fn decide(&self, digest: Digest, stage: usize) -> Option<LevelSet>;

    /// The answer for a key that no stage has decided on.
    fn rest(&self, digest: Digest) -> LevelSet;

    /// The answer without any stages.
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
        let mut decided: [Option<LevelSet>; BATCH] = [None; BATCH];
        digests.iter().for_each(|&digest| summary.prefetch(digest, 0));
        for stage in 1..S::STAGES {
            for (decided, &digest) in decided.iter_mut().zip(digests).filter(|(decided, _)| decided.is_none())
            {
                *decided = summary.decide(digest, stage - 1);
                if decided.is_none() {
                    summary.prefetch(digest, stage);
                }
            }
        }
        for (decided, &digest) in decided.iter().zip(digests) {
            let last = || summary.decide(digest, S::STAGES - 1).unwrap_or_else(|| summary.rest(digest));
            answer(decided.unwrap_or_else(last));
        }
    });
}

/// Filters of levels, with or without counters.
pub(super) trait LevelFilters {
    /// The filters, without a list behind them.
    fn filter_count(&self) -> usize;

    fn stored_bytes(&self) -> usize;

    /// Asks for some of a filter's probes, those that it has.
    fn prefetch(&self, digest: Digest, level: usize, probes: Range<u32>);

    /// Whether a filter lets some of its probes pass, those that it has.
    fn passes(&self, digest: Digest, level: usize, probes: Range<u32>) -> bool;

    /// The answer for a key that has passed some filters.
    fn levels_from(&self, digest: Digest, passed: usize) -> LevelSet;
}

/// Filters of levels by stages: the first probes of `B_0`, where most absent keys fail; its others and the first of `B_1`, where most keys
/// that are there do; then the others of `B_1`, few and then all. Deeper filters are small.
pub(super) struct ByLevels<'a, F>(pub(super) &'a F);

impl<F: LevelFilters> ByLevels<'_, F> {
    /// The probes of `B_1` in a stage; none if there is no such filter.
    fn of_second(&self, stage: usize) -> Range<u32> {
        match stage {
            1 if self.0.filter_count() > 1 => 0..FIRST,
            2 if self.0.filter_count() > 1 => FIRST..SECOND,
            3 if self.0.filter_count() > 1 => SECOND..u32::MAX,
            _ => 0..0,
        }
    }

    /// The probes of `B_0` in a stage.
    fn of_first(stage: usize) -> Range<u32> {
        match stage {
            0 => 0..FIRST,
            1 => FIRST..u32::MAX,
            _ => 0..0,
        }
    }
}

impl<F: LevelFilters> Staged for ByLevels<'_, F> {
    const STAGES: usize = 4;

    fn stored_bytes(&self) -> usize {
        self.0.stored_bytes()
    }

    #[inline(always)]
    fn prefetch(&self, digest: Digest, stage: usize) {
        self.0.prefetch(digest, 0, Self::of_first(stage));
        let second = self.of_second(stage);
        if !second.is_empty() {
            self.0.prefetch(digest, 1, second);
        }
    }

    #[inline(always)]
    fn decide(&self, digest: Digest, stage: usize) -> Option<LevelSet> {
        if !self.0.passes(digest, 0, Self::of_first(stage)) {
            return Some(LevelSet::EMPTY);
        }
        let second = self.of_second(stage);
        (!second.is_empty() && !self.0.passes(digest, 1, second)).then(|| LevelSet::up_to(0))
    }

    #[inline(always)]
    fn rest(&self, digest: Digest) -> LevelSet {
        self.0.levels_from(digest, self.0.filter_count().min(2))
    }

    #[inline(always)]
    fn answer(&self, digest: Digest) -> LevelSet {
        self.0.levels_from(digest, 0)
    }
}

/// Many lookups at once, by the stages of a summary or of what wraps it.
macro_rules! levels_of_many {
    () => {
        levels_of_many!(@ self => self);
    };
    ($wrapper:ident) => {
        levels_of_many!(@ self => &$wrapper(self));
    };
    (@ $summary:ident => $staged:expr) => {
        /// Looks many keys up, faster than one after the other where the summary does not fit the cache; `answer` gets the levels in
        /// the order of the keys.
        pub fn levels_of_many<'q, Q: ?Sized + 'q>(
            &$summary,
            keys: impl IntoIterator<Item = &'q Q>,
            answer: impl FnMut(LevelSet),
        ) where
            D: Digester<Q>,
        {
            let digests = keys.into_iter().map(|key| $summary.digester.digest(key));
            look_up($staged, digests, answer);
        }
    };
}
pub(super) use levels_of_many;
