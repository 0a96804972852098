//! Words that many threads change at once.

use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(not(all(loom, test)))]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// The atomics of a checker that tries every interleaving of threads: `cargo xtask test loom`.
#[cfg(all(loom, test))]
use loom::sync::atomic::AtomicU64;

use super::line::Lines;
use super::{Line, Words, huge_pages, prefetch};

/// Words whose bits can be set through a shared reference. Eight words share a cache line.
///
/// All accesses are relaxed. A bit once set stays set. A thread that learns of an insertion through
/// a lock, a channel or a join sees its bits; without such synchronisation no order is defined.
#[derive(Debug, Default)]
pub struct AtomicWords {
    /// Has up to seven spare words, so that the first word in use can begin a cache line.
    allocated: Box<[AtomicU64]>,
    /// The index of the first word in use.
    first: usize,
    len: usize,
}

impl AtomicWords {
    /// Sets one bit; reports whether it was set before.
    ///
    /// It writes without looking first: the branch on a bit is unpredictable and costs more than
    /// the write (`docs/decisions/atomic-writes.md`).
    ///
    /// # Panics
    /// If `location` is out of range; this library's structures never pass such a location.
    #[inline(always)]
    pub fn set_bit(&self, location: u64) -> bool {
        let bit = 1 << (location % 64);
        self.words()[(location / 64) as usize].fetch_or(bit, Relaxed) & bit != 0
    }

    /// Sets the bits of word `at` that are set in `bits`.
    ///
    /// # Panics
    /// If `at` is out of range; this library's structures never pass such an index.
    #[inline(always)]
    pub(crate) fn set_bits(&self, at: usize, bits: u64) {
        if bits != 0 {
            self.words()[at].fetch_or(bits, Relaxed);
        }
    }

    /// Replaces word `at` by `to` if it is still `from`; reports whether it was.
    ///
    /// # Panics
    /// If `at` is out of range; this library's structures never pass such an index.
    #[inline(always)]
    pub fn replace(&self, at: usize, from: u64, to: u64) -> bool {
        self.words()[at].compare_exchange(from, to, Relaxed, Relaxed).is_ok()
    }

    /// Prefetches word `at` for writing.
    #[inline(always)]
    pub(crate) fn prefetch_to_write(&self, at: usize) {
        prefetch::prefetch_to_write(self.words(), at);
    }

    /// Sets every bit to 0.
    pub fn clear(&mut self) {
        self.allocated.fill_with(AtomicU64::default);
    }

    #[inline(always)]
    fn words(&self) -> &[AtomicU64] {
        &self.allocated[self.first..]
    }
}

impl From<&[u64]> for AtomicWords {
    fn from(words: &[u64]) -> Self {
        let len = words.len() + Line::WORDS - 1;
        let mut allocated = Vec::with_capacity(len);
        huge_pages::ask_for_large_pages(allocated.spare_capacity_mut());
        allocated.resize_with(len, AtomicU64::default);
        let allocated = allocated.into_boxed_slice();
        // A box does not move its words. If no offset can be computed, any other is correct but
        // slower.
        let first = allocated.as_ptr().align_offset(Line::BYTES).min(Line::WORDS - 1);
        let atomic = Self { allocated, first, len: words.len() };
        atomic.words().iter().zip(words).for_each(|(atomic, word)| atomic.store(*word, Relaxed));
        atomic
    }
}

impl From<&AtomicWords> for Vec<u64> {
    fn from(words: &AtomicWords) -> Self {
        (0..words.len).map(|at| words.word(at)).collect()
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
        self.words()[at].load(Relaxed)
    }

    #[inline(always)]
    unsafe fn word_unchecked(&self, at: usize) -> u64 {
        debug_assert!(at < self.len);
        // SAFETY: the caller keeps `at` below the length, and `first` leaves as many words after
        // it.
        unsafe { self.words().get_unchecked(at).load(Relaxed) }
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch::prefetch(self.words(), at);
    }
}

impl Lines for AtomicWords {
    #[inline(always)]
    fn read_line<R>(&self, at: usize, read: impl FnOnce(&Line) -> R) -> R {
        let words = &self.words()[at * Line::WORDS..][..Line::WORDS];
        read(&Line(core::array::from_fn(|i| words[i].load(Relaxed))))
    }
}
