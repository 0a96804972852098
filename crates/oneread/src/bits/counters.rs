//! Small counters, packed.
//!
//! # Layout
//! Counter i of b bits occupies bits i·b to i·b + b − 1 of the words, counted from the least
//! significant bit of word 0; it may lie across two words. The bits after the last counter are 0.

use super::Words;
use alloc::vec::Vec;

/// Counters of 1 to 16 bits, packed into words without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters<S> {
    words: S,
    bits: u32,
}

/// The number of words that so many counters take, or `None` if it overflows.
pub(crate) fn counter_words(counters: u64, bits: u32) -> Option<u64> {
    Some(counters.checked_mul(u64::from(bits))?.div_ceil(64))
}

impl<S: Words> Counters<S> {
    /// Counters of `bits` bits in the given words.
    pub(crate) fn new(words: S, bits: u32) -> Self {
        debug_assert!((1..=16).contains(&bits));
        Self { words, bits }
    }

    /// The largest value that a counter can have.
    #[inline(always)]
    pub fn maximum(&self) -> u64 {
        (1 << self.bits) - 1
    }

    /// The words that hold them.
    pub fn words(&self) -> &S {
        &self.words
    }

    /// Counter `at`.
    ///
    /// # Panics
    /// If there are not that many counters; the structures of this library never ask for one.
    #[inline(always)]
    pub fn get(&self, at: u64) -> u64 {
        let (word, shift) = self.place(at);
        let mut value = self.words.word(word) >> shift;
        if shift + self.bits > 64 {
            value |= self.words.word(word + 1) << (64 - shift);
        }
        value & self.maximum()
    }

    /// Asks for counter `at` to be brought near.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: u64) {
        self.words.prefetch(self.place(at).0);
    }

    #[inline(always)]
    fn place(&self, at: u64) -> (usize, u32) {
        let bit = at * u64::from(self.bits);
        ((bit / 64) as usize, (bit % 64) as u32)
    }
}

impl Counters<Vec<u64>> {
    /// Adds one to counter `at`, which must be below the maximum.
    ///
    /// Then no carry leaves the counter, and the addition touches no other.
    #[inline(always)]
    pub(crate) fn increment(&mut self, at: u64) {
        debug_assert!(self.get(at) < self.maximum());
        let (word, shift) = self.place(at);
        let (sum, carry) = self.words[word].overflowing_add(1 << shift);
        self.words[word] = sum;
        if carry {
            self.words[word + 1] += 1;
        }
    }

    /// Takes one from counter `at`, which must not be 0.
    ///
    /// Then nothing is borrowed from beyond the counter.
    #[inline(always)]
    pub(crate) fn decrement(&mut self, at: u64) {
        debug_assert!(self.get(at) > 0);
        let (word, shift) = self.place(at);
        let (difference, borrow) = self.words[word].overflowing_sub(1 << shift);
        self.words[word] = difference;
        if borrow {
            self.words[word + 1] -= 1;
        }
    }

    /// Sets all counters to 0.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}
