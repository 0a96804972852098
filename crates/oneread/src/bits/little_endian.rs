//! Words in bytes that somebody else owns.

use super::line::Lines;
use super::{Line, Words, prefetch};

/// Words read in place from little-endian bytes, such as a mapped file.
#[derive(Clone, Copy, Debug)]
pub struct LittleEndian<'a> {
    words: &'a [[u8; 8]],
}

impl<'a> LittleEndian<'a> {
    /// Words over bytes; up to seven bytes after the last whole word are left out.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { words: bytes.as_chunks().0 }
    }

    /// The first `words` words and the rest, if there are that many.
    #[must_use]
    pub fn split(self, words: u64) -> Option<(Self, Self)> {
        let (head, tail) = self.words.split_at_checked(usize::try_from(words).ok()?)?;
        Some((Self { words: head }, Self { words: tail }))
    }

    /// The bytes of the words.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.words.as_flattened()
    }
}

impl Words for LittleEndian<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.words[at])
    }

    #[inline(always)]
    unsafe fn word_unchecked(&self, at: usize) -> u64 {
        debug_assert!(at < self.words.len());
        // SAFETY: the caller keeps `at` below the length.
        u64::from_le_bytes(unsafe { *self.words.get_unchecked(at) })
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch::prefetch(self.words, at);
    }
}

impl Lines for LittleEndian<'_> {
    #[inline(always)]
    fn read_line<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R {
        let words = &self.words[at * Line::WORDS..][..Line::WORDS];
        read(&Line(core::array::from_fn(|i| u64::from_le_bytes(words[i]))))
    }
}
