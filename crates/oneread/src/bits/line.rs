//! A cache line of bits.

use super::{Words, prefetch};
use alloc::vec::Vec;

/// Eight words that lie in one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [u64; Line::WORDS]);

impl Line {
    /// Words in a line.
    pub const WORDS: usize = 8;
    /// Bytes in a line.
    pub const BYTES: usize = 64;
}

/// Cache lines that can be read.
pub trait Lines: Words {
    /// Calls `read` with line `at`: in place if possible, else with a copy.
    ///
    /// # Panics
    /// If `at` is out of range; this library's structures never pass such an index.
    fn read_line<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R;

    /// Like [`read_line`](Lines::read_line), but without a bounds check.
    ///
    /// # Safety
    /// `at` must be below the number of whole lines.
    #[inline(always)]
    unsafe fn read_line_unchecked<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R {
        // SAFETY: the caller keeps `at` below the number of lines, so every word of the line
        // exists.
        read(&Line(core::array::from_fn(|i| unsafe { self.word_unchecked(at * Line::WORDS + i) })))
    }

    /// Prefetches line `at`.
    fn prefetch_line(&self, at: usize) {
        self.prefetch(at * Line::WORDS);
    }
}

impl Words for Vec<Line> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.as_slice().len() * Line::WORDS
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        self[at / Line::WORDS].0[at % Line::WORDS]
    }

    #[inline(always)]
    unsafe fn word_unchecked(&self, at: usize) -> u64 {
        debug_assert!(at < Words::len(self));
        // SAFETY: the caller keeps `at` below the number of words, so its line exists.
        unsafe { self.get_unchecked(at / Line::WORDS) }.0[at % Line::WORDS]
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch::prefetch(self, at / Line::WORDS);
    }
}

impl Lines for Vec<Line> {
    #[inline(always)]
    fn read_line<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R {
        read(&self[at])
    }

    #[inline(always)]
    unsafe fn read_line_unchecked<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R {
        debug_assert!(at < self.as_slice().len());
        // SAFETY: the caller keeps `at` below the number of lines.
        read(unsafe { self.get_unchecked(at) })
    }
}
