//! Operations on many keys, in filters whose buckets are words: prefetched in batches if the filter
//! does not fit a cache.

use super::choices::Choice;
use super::simd::{Outcome, Store};
use crate::bits::Words;
use crate::filter::Full;
use crate::filter::batch::{CACHED_BYTES, in_batches_of};
use crate::filter::simd::{InstructionSet, Isa, Work};

/// Inserts at all choices, up to the first without room.
///
/// # Safety
/// There must be words for the buckets.
pub(super) unsafe fn insert<const DD: usize, S: Store>(
    isa: Isa,
    words: &mut S,
    choices: impl Iterator<Item = Choice<DD>>,
) -> Result<(), Full> {
    if is_cached(words.words()) {
        return isa.run(InsertAll { words, choices });
    }
    let mut outcome = Ok(());
    in_batches_of(choices, Choice::default(), |choices| {
        prefetch(words.words(), choices);
        if outcome.is_ok() {
            outcome = isa.run(InsertAll { words, choices: choices.iter().copied() });
        }
    });
    outcome
}

/// Looks all choices up.
///
/// # Safety
/// There must be words for the buckets.
pub(super) unsafe fn contains<const DD: usize, S: Words>(
    isa: Isa,
    words: &S,
    choices: impl Iterator<Item = Choice<DD>>,
    mut answer: impl FnMut(bool),
) {
    if is_cached(words) {
        return isa.run(ContainsAll { words, choices, answer });
    }
    in_batches_of(choices, Choice::default(), |choices| {
        prefetch(words, choices);
        isa.run(ContainsAll { words, choices: choices.iter().copied(), answer: &mut answer });
    });
}

fn is_cached(words: &impl Words) -> bool {
    words.len() * size_of::<u64>() < CACHED_BYTES
}

#[inline(always)]
fn prefetch<const DD: usize>(words: &impl Words, choices: &[Choice<DD>]) {
    choices.iter().for_each(|choice| choice.buckets.iter().for_each(|&bucket| words.prefetch(bucket)));
}

struct InsertAll<'a, S, I> {
    words: &'a mut S,
    choices: I,
}

impl<const DD: usize, S: Store, I: Iterator<Item = Choice<DD>>> Work for InsertAll<'_, S, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<V: InstructionSet>(self, set: V) -> Result<(), Full> {
        // A plain loop: an iterator's own loop may not be compiled for the instruction set.
        for Choice { buckets, fingerprint } in self.choices {
            // SAFETY: the caller of the function that makes this vouches for words for all buckets.
            let outcome = unsafe { set.insert::<DD, true, _>(self.words, buckets, fingerprint) };
            if outcome == Outcome::Full {
                return Err(Full);
            }
        }
        Ok(())
    }
}

struct ContainsAll<'a, S, I, A> {
    words: &'a S,
    choices: I,
    answer: A,
}

impl<const DD: usize, S, I, A> Work for ContainsAll<'_, S, I, A>
where
    S: Words,
    I: Iterator<Item = Choice<DD>>,
    A: FnMut(bool),
{
    type Output = ();

    #[inline(always)]
    fn run<V: InstructionSet>(mut self, set: V) {
        for Choice { buckets, fingerprint } in self.choices {
            // SAFETY: the caller of the function that makes this vouches for words for all buckets.
            let found = unsafe { set.contains(self.words, buckets, fingerprint) };
            (self.answer)(found);
        }
    }
}
