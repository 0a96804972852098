//! Operations on buckets of every other layout than the default, by a [`Codec`].

use alloc::vec::Vec;
use core::ops::Range;

use super::DLeft;
use super::choices::{Choice, MAX_SUBTABLES};
use super::codec::Codec;
use crate::bits::Words;
use crate::filter::Full;
use crate::hash::reduce;
use crate::layout::Ties;

impl DLeft<Vec<u64>> {
    /// Inserts into the least loaded of the buckets; with `look`, only if none has the fingerprint.
    pub(super) fn insert_encoded(&mut self, choice: Choice<MAX_SUBTABLES>, look: bool) -> Result<bool, Full> {
        let Some(codec) = &self.codec else { return Err(Full) };
        if look && self.contains_encoded(choice, codec) {
            return Ok(true);
        }
        let subtables = self.layout.buckets().len();
        let loads = choice.buckets.map(|bucket| self.load_encoded(bucket, codec));
        let least = loads.into_iter().min().unwrap_or(0);
        if least >= self.layout.capacity() {
            return Err(Full);
        }
        let all = choice.buckets.into_iter().zip(loads).take(subtables);
        let mut ties = all.filter(|&(_, load)| load == least);
        let chosen = match self.layout.ties() {
            Ties::Left => 0,
            // Bits that fingerprints at such low loads do not depend on.
            Ties::Random => reduce(choice.fingerprint.rotate_left(61), ties.clone().count() as u64) as usize,
        };
        let (bucket, _) = ties.nth(chosen).expect("one of them has the least load");
        let (words, own) = self.group(bucket, codec);
        codec.insert(&mut self.words[words], own, choice.fingerprint);
        Ok(false)
    }
}

impl<S: Words> DLeft<S> {
    pub(super) fn contains_encoded(&self, choice: Choice<MAX_SUBTABLES>, codec: &Codec) -> bool {
        choice.buckets[..self.layout.buckets().len()].iter().any(|&bucket| {
            let (words, own) = self.group(bucket, codec);
            codec.contains(&self.copy(words), own, choice.fingerprint)
        })
    }

    pub(super) fn load_encoded(&self, bucket: usize, codec: &Codec) -> u32 {
        let (words, own) = self.group(bucket, codec);
        codec.load(&self.copy(words), own)
    }

    /// The words of a bucket's group, and the bucket's index in the group.
    fn group(&self, bucket: usize, codec: &Codec) -> (Range<usize>, usize) {
        let group = self.layout.group() as usize;
        let (start, width) = (bucket / group, codec.group_words());
        (start * width..(start + 1) * width, bucket % group)
    }

    fn copy(&self, words: Range<usize>) -> Vec<u64> {
        words.map(|at| self.words.word(at)).collect()
    }
}
