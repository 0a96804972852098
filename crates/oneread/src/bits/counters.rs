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

/// The number of words that `counters` counters take, or `None` on overflow.
pub fn counter_words(counters: u64, bits: u32) -> Option<u64> {
    Some(counters.checked_mul(u64::from(bits))?.div_ceil(64))
}

impl<S: Words> Counters<S> {
    /// Counters of `bits` bits in the given words.
    #[doc(hidden)]
    pub fn new(words: S, bits: u32) -> Self {
        debug_assert!((1..=16).contains(&bits));
        Self { words, bits }
    }

    /// The largest value that a counter can have.
    #[inline(always)]
    pub fn maximum(&self) -> u64 {
        maximum(self.bits)
    }

    /// The words that hold the counters.
    pub fn words(&self) -> &S {
        &self.words
    }

    /// The value of counter `at`.
    ///
    /// # Panics
    /// If `at` is out of range; this library's structures never pass such an index.
    #[inline(always)]
    pub fn get(&self, at: u64) -> u64 {
        let (word, shift) = place(at, self.bits);
        if shift + self.bits > 64 {
            return self.get_across(word, shift);
        }
        self.words.word(word) >> shift & self.maximum()
    }

    /// Like [`get`](Self::get), but without a bounds check and with the width from the caller: with
    /// a constant width the compiler leaves out what that width does not need.
    ///
    /// # Safety
    /// There must be more than `at` counters, of `bits` bits.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(&self, at: u64, bits: u32) -> u64 {
        debug_assert_eq!(bits, self.bits);
        let (word, shift) = place(at, bits);
        if shift + bits > 64 {
            return self.get_across(word, shift);
        }
        // SAFETY: the caller promises that the counter exists, and so does its word.
        unsafe { self.words.word_unchecked(word) >> shift & maximum(bits) }
    }

    /// Reads a counter that lies across two words. No width that is a power of two has such
    /// counters.
    #[cold]
    fn get_across(&self, word: usize, shift: u32) -> u64 {
        (self.words.word(word) >> shift | self.words.word(word + 1) << (64 - shift)) & self.maximum()
    }

    /// Prefetches counter `at`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: u64) {
        self.prefetch_as(at, self.bits);
    }

    /// Like [`prefetch`](Self::prefetch), but with the width from the caller, who may know it as a
    /// constant.
    #[inline(always)]
    pub(crate) fn prefetch_as(&self, at: u64, bits: u32) {
        debug_assert_eq!(bits, self.bits);
        self.words.prefetch(place(at, bits).0);
    }
}

impl Counters<Vec<u64>> {
    /// The counters, for changes. The caller passes their width: with a constant the compiler
    /// leaves out what that width does not need.
    #[inline(always)]
    #[doc(hidden)]
    pub fn cells(&mut self, bits: u32) -> Cells<'_> {
        debug_assert_eq!(bits, self.bits);
        Cells { words: &mut self.words, bits }
    }

    /// Sets all counters to 0.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}

/// Counters that are being changed. A type of its own, so that a loop keeps the width in a
/// register: writes to the words cannot change it.
pub struct Cells<'a> {
    words: &'a mut [u64],
    bits: u32,
}

impl Cells<'_> {
    /// Adds 1 to counter `at`, unless it is saturated; returns its value before.
    #[inline(always)]
    pub(crate) fn increment(&mut self, at: u64) -> u64 {
        let maximum = maximum(self.bits);
        self.update(at, |counter| counter + u64::from(counter != maximum))
    }

    /// Subtracts 1 from counter `at`, unless it is saturated or 0; returns its value before.
    #[inline(always)]
    pub(crate) fn decrement(&mut self, at: u64) -> u64 {
        let maximum = maximum(self.bits);
        // One comparison tests for 1 to below the maximum: 0 wraps.
        self.update(at, |counter| counter - u64::from(counter.wrapping_sub(1) < maximum - 1))
    }

    /// Replaces counter `at` by `change` of it; returns its value before. The new value must not
    /// exceed the maximum.
    #[inline(always)]
    pub fn update(&mut self, at: u64, change: impl FnOnce(u64) -> u64) -> u64 {
        let maximum = maximum(self.bits);
        let (word, shift) = place(at, self.bits);
        if shift + self.bits > 64 {
            return update_across(self.words, word, shift, maximum, change);
        }
        let word = &mut self.words[word];
        let before = *word >> shift & maximum;
        // Only the counter's own bits change: no counter exceeds its maximum.
        *word = word.wrapping_add(change(before).wrapping_sub(before) << shift);
        before
    }
}

/// Like [`Cells::update`], but for a counter that lies across two words.
#[cold]
fn update_across(
    words: &mut [u64],
    word: usize,
    shift: u32,
    maximum: u64,
    change: impl FnOnce(u64) -> u64,
) -> u64 {
    let before = (words[word] >> shift | words[word + 1] << (64 - shift)) & maximum;
    let difference = before ^ change(before);
    words[word] ^= difference << shift;
    words[word + 1] ^= difference >> (64 - shift);
    before
}

/// The largest value of a counter of `bits` bits.
#[inline(always)]
const fn maximum(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The word of a counter, and the counter's lowest bit in it.
#[inline(always)]
fn place(at: u64, bits: u32) -> (usize, u32) {
    if bits == 4 {
        // Written so that compilers do not shift over two registers.
        return ((at / 16) as usize, (at % 16) as u32 * 4);
    }
    let bit = at * u64::from(bits);
    ((bit / 64) as usize, (bit % 64) as u32)
}
