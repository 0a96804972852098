//! Structures in parts: an outline of a few words, and arrays that are copied piece by piece.

use alloc::vec::Vec;

use super::{LayoutBlock, LoadError, Source};
use crate::bits::{Line, OutOfMemory, Words, zero_memory, zero_words};

/// An array of words in memory, which is copied in parts as little-endian bytes.
pub trait WordArray {
    /// The number of words.
    fn word_count(&self) -> usize;

    /// Copies the words from `start` on; as many as the bytes have room for.
    ///
    /// # Panics
    /// If there are not that many words.
    fn copy_to(&self, start: usize, bytes: &mut [u8]);

    /// Replaces the words from `start` on; as many as the bytes hold.
    ///
    /// # Panics
    /// If there are not that many words.
    fn copy_from(&mut self, start: usize, bytes: &[u8]);
}

impl WordArray for Vec<u64> {
    fn word_count(&self) -> usize {
        self.len()
    }

    fn copy_to(&self, start: usize, bytes: &mut [u8]) {
        let bytes = bytes.as_chunks_mut().0;
        let words = &self[start..][..bytes.len()];
        bytes.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    }

    fn copy_from(&mut self, start: usize, bytes: &[u8]) {
        let bytes = bytes.as_chunks().0;
        let words = &mut self[start..][..bytes.len()];
        words.iter_mut().zip(bytes).for_each(|(word, &bytes)| *word = u64::from_le_bytes(bytes));
    }
}

impl WordArray for Vec<Line> {
    fn word_count(&self) -> usize {
        Words::len(self)
    }

    fn copy_to(&self, start: usize, bytes: &mut [u8]) {
        let places = (start..).zip(bytes.as_chunks_mut().0);
        places.for_each(|(at, bytes)| *bytes = self.word(at).to_le_bytes());
    }

    fn copy_from(&mut self, start: usize, bytes: &[u8]) {
        for (at, &bytes) in (start..).zip(bytes.as_chunks().0) {
            self[at / Line::WORDS].0[at % Line::WORDS] = u64::from_le_bytes(bytes);
        }
    }
}

/// Storage that can be made of zeros.
pub trait Zeros: Sized {
    #[doc(hidden)]
    fn zeros(words: u64) -> Result<Self, OutOfMemory>;
}

impl Zeros for Vec<u64> {
    fn zeros(words: u64) -> Result<Self, OutOfMemory> {
        zero_words(words)
    }
}

impl Zeros for Vec<Line> {
    fn zeros(words: u64) -> Result<Self, OutOfMemory> {
        zero_memory(words / Line::WORDS as u64)
    }
}

/// The words of an outline behind the layout; arrays are zeros of at most `bytes_left` bytes.
pub(crate) struct Outline<'a> {
    records: &'a [u64],
    bytes_left: u64,
}

const SHORT: LoadError = LoadError::Invalid { what: "an outline that ends too soon" };
const LONG: LoadError = LoadError::Invalid { what: "an outline with more words than its layout says" };

impl<'a> Outline<'a> {
    /// The layout of an outline, and the rest of it.
    pub(crate) fn new(outline: &'a [u64], max_bytes: u64) -> Result<(LayoutBlock, Self), LoadError> {
        let (layout, records) = outline.split_first_chunk::<{ LayoutBlock::FIELDS }>().ok_or(SHORT)?;
        Ok((LayoutBlock::new(*layout), Self { records, bytes_left: max_bytes }))
    }

    /// Checks that all of the outline was read.
    pub(crate) fn finish(self) -> Result<(), LoadError> {
        if self.records.is_empty() { Ok(()) } else { Err(LONG) }
    }
}

impl<S: Zeros> Source<S> for Outline<'_> {
    fn take(&mut self, words: u64) -> Result<S, LoadError> {
        let bytes = words.saturating_mul(8);
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(OutOfMemory { bytes })?;
        Ok(S::zeros(words)?)
    }

    fn copy(&mut self, words: u64) -> Result<Vec<u64>, LoadError> {
        let words = usize::try_from(words).map_err(|_| SHORT)?;
        let (first, rest) = self.records.split_at_checked(words).ok_or(SHORT)?;
        self.records = rest;
        Ok(first.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_to_bytes_and_back_from_any_start() {
        fn check(mut array: impl WordArray) {
            let bytes: Vec<u8> = (0..24 * 8).map(|byte| byte as u8).collect();
            assert_eq!(array.word_count(), 24);
            array.copy_from(0, &bytes);
            for start in 0..24 {
                for count in 0..=24 - start {
                    let mut found = alloc::vec![0; 8 * count];
                    array.copy_to(start, &mut found);
                    assert_eq!(found, bytes[8 * start..][..8 * count]);
                }
            }
            array.copy_from(9, &[7; 16]);
            let mut found = alloc::vec![0; 24 * 8];
            array.copy_to(0, &mut found);
            assert_eq!(
                (&found[..72], &found[72..88], &found[88..]),
                (&bytes[..72], &[7; 16][..], &bytes[88..])
            );
        }
        check(<Vec<u64>>::zeros(24).unwrap());
        check(<Vec<Line>>::zeros(24).unwrap());
    }
}
