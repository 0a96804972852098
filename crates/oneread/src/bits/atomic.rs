//! Words that many threads change at once.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::line::Lines;
use super::{Line, Words, prefetch};

/// Words whose bits can be set through a shared reference; each eight of them lie in one cache line.
///
/// All accesses are relaxed. A bit once set stays set, and a thread that learns of an insertion by any
/// synchronisation (a lock, a channel, a join) sees its bits; without one there is no "after" to speak of.
#[derive(Debug, Default)]
pub struct AtomicWords {
    lines: Box<[AtomicLine]>,
    /// How many words are meant; the last line may have more.
    len: usize,
}

#[derive(Debug, Default)]
#[repr(C, align(64))]
struct AtomicLine([AtomicU64; Line::WORDS]);

impl AtomicWords {
    /// Sets the bits of a mask in word `at`; says whether all of them were set already.
    ///
    /// A word that has them is not written: a write would take the line from the other threads' caches.
    ///
    /// # Panics
    /// If there are not that many words; the structures of this library never ask for one.
    #[inline(always)]
    pub fn set(&self, at: usize, mask: u64) -> bool {
        let word = self.atomic(at);
        word.load(Relaxed) & mask == mask || word.fetch_or(mask, Relaxed) & mask == mask
    }

    /// Sets every bit to 0.
    pub fn clear(&mut self) {
        self.lines.fill_with(AtomicLine::default);
    }

    #[inline(always)]
    fn atomic(&self, at: usize) -> &AtomicU64 {
        &self.lines[at / Line::WORDS].0[at % Line::WORDS]
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.len).map(|at| self.word(at))
    }
}

impl From<&[u64]> for AtomicWords {
    fn from(words: &[u64]) -> Self {
        let line = |chunk: &[u64]| {
            AtomicLine(core::array::from_fn(|i| AtomicU64::new(chunk.get(i).copied().unwrap_or_default())))
        };
        Self { lines: words.chunks(Line::WORDS).map(line).collect(), len: words.len() }
    }
}

impl From<&AtomicWords> for Vec<u64> {
    fn from(words: &AtomicWords) -> Self {
        words.iter().collect()
    }
}

impl Clone for AtomicWords {
    fn clone(&self) -> Self {
        Self::from(&*Vec::from(self))
    }
}

impl Words for AtomicWords {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        self.atomic(at).load(Relaxed)
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch::prefetch(&self.lines, at / Line::WORDS);
    }
}

impl Lines for AtomicWords {
    #[inline(always)]
    fn read_line<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R {
        let words = &self.lines[at].0;
        read(&Line(core::array::from_fn(|i| words[i].load(Relaxed))))
    }
}
