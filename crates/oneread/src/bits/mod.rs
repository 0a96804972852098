//! Where bits are kept: in memory of one's own, in memory that threads share, or in bytes that
//! somebody else owns.
//!
//! A filter's queries are written once, over [`Words`]; what they read decides what else it can do:
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
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) use extract::has_bmi;
pub(crate) use memory::{reserved, zeroed};
pub(crate) use prefetch::prefetch;
pub(crate) use zeros::zero_words;

use alloc::vec::Vec;

/// 64-bit words that can be read.
pub trait Words {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Word `at`.
    ///
    /// # Panics
    /// If there are not that many words; the structures of this library never ask for one.
    fn word(&self, at: usize) -> u64;

    /// Word `at`, without looking whether there is one.
    ///
    /// Why: the loop over a filter's locations has fourteen instructions a location with the check
    /// and twelve without, by counting them; timings on a noisy machine agreed for lookups and were
    /// mixed for insertions.
    ///
    /// # Safety
    /// `at` must be below [`len`](Words::len).
    unsafe fn word_unchecked(&self, at: usize) -> u64;

    /// Asks for word `at` to be brought near, without waiting for it. Out of range it does nothing.
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
