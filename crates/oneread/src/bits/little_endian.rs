//! Words in bytes that somebody else owns.

use alloc::sync::Arc;
use core::ops::Deref;
use core::{fmt, ptr};

use super::line::Lines;
use super::{Line, Words, prefetch};

/// Words read in place from little-endian bytes, such as a mapped file.
#[derive(Clone)]
pub struct LittleEndian<'a> {
    /// Valid as long as `owner` lives, if there is one, and never borrowed for longer than that.
    words: &'a [[u8; 8]],
    owner: Option<Arc<dyn Send + Sync>>,
}

impl<'a> LittleEndian<'a> {
    /// Words over bytes; up to seven bytes after the last whole word are ignored.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { words: bytes.as_chunks().0, owner: None }
    }

    /// Words over the bytes of `owner` from index `start` on. These words and their clones keep the
    /// owner alive.
    pub(crate) fn of_owner<B>(owner: Arc<B>, start: usize) -> Self
    where
        B: Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    {
        let bytes = ptr::from_ref((**owner).as_ref().get(start..).unwrap_or_default());
        // SAFETY: what `deref` and `as_ref` returned is valid while its owner is borrowed. The
        // borrow lasts as long as `owner` below or a clone of it: it lies in an `Arc`, so nobody
        // can change it or move it out.
        let words = unsafe { &*bytes }.as_chunks().0;
        Self { words, owner: Some(owner) }
    }

    /// The first `words` words and the rest, or `None` if there are fewer.
    #[must_use]
    pub fn split(&self, words: u64) -> Option<(Self, Self)> {
        let (head, tail) = self.words.split_at_checked(usize::try_from(words).ok()?)?;
        Some((
            Self { words: head, owner: self.owner.clone() },
            Self { words: tail, owner: self.owner.clone() },
        ))
    }

    /// The bytes of the words.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.words.as_flattened()
    }
}

impl fmt::Debug for LittleEndian<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LittleEndian").field("words", &self.words.len()).finish_non_exhaustive()
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
