//! Storage for bits: owned memory, memory that threads share, or bytes that somebody else owns.
//!
//! A filter's queries are written once, over [`Words`]. The storage decides what else it can do:
//!
//! | storage | read | changed |
//! | --- | --- | --- |
//! | `Vec<u64>`, `Vec<Line>` | yes | through `&mut` |
//! | [`AtomicWords`] | yes | through `&`, from many threads |
//! | [`LittleEndian`] | in place, from a mapped file | no |
//!
//! [`Line`] is a cache line of eight words; [`Counters`] are small numbers packed into words.

mod atomic;
pub(crate) mod counters;
mod extract;
mod huge_pages;
mod line;
mod little_endian;
pub(crate) mod memory;
mod prefetch;
mod zeros;

pub use atomic::AtomicWords;
pub use counters::Counters;
pub use huge_pages::ask_for_large_pages;
pub use line::{Line, Lines};
pub use little_endian::LittleEndian;
pub use memory::OutOfMemory;
pub use prefetch::prefetch_to_write;

pub(crate) use counters::counter_words;
pub(crate) use extract::extract;
pub(crate) use memory::{reserved, zeroed};
pub(crate) use prefetch::prefetch;
pub(crate) use zeros::{zero_memory, zero_words};

use alloc::vec::Vec;

/// 64-bit words that can be read.
pub trait Words {
    /// The number of words.
    fn len(&self) -> usize;

    /// Reports whether there are no words.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of word `at`.
    ///
    /// # Panics
    /// If `at` is out of range; this library's structures never pass such an index.
    fn word(&self, at: usize) -> u64;

    /// Like [`word`](Words::word), but without a bounds check, which lookups repeat for each
    /// location.
    ///
    /// # Safety
    /// `at` must be below [`len`](Words::len).
    unsafe fn word_unchecked(&self, at: usize) -> u64;

    /// Prefetches word `at`. Does nothing if `at` is out of range.
    fn prefetch(&self, at: usize);

    /// The number of bits that are 1.
    fn count_ones(&self) -> u64 {
        (0..self.len()).map(|at| u64::from(self.word(at).count_ones())).sum()
    }
}

impl Words for Vec<u64> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        self[at]
    }

    #[inline(always)]
    unsafe fn word_unchecked(&self, at: usize) -> u64 {
        debug_assert!(at < self.as_slice().len());
        // SAFETY: the caller keeps `at` below the length.
        unsafe { *self.get_unchecked(at) }
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch::prefetch(self, at);
    }
}
