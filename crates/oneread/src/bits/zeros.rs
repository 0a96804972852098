//! Memory that the system has set to 0.
//!
//! Why unsafe: the system zeroes large memory page by page on first use, while writing zeros
//! touches all of it at once. A map that rebuilds in steps cannot stop for that. `vec!` also
//! requests zeroed memory, but aborts the process if there is none; no safe call returns an error.

use alloc::alloc::{Layout, alloc_zeroed};
use alloc::vec::Vec;

use super::{Line, OutOfMemory, huge_pages};

/// A type of which all bits 0 make a valid value.
///
/// # Safety
/// That must be so, and the type must not be empty.
pub(crate) unsafe trait Zeroable: Copy {}

// SAFETY: an integer, and eight of them.
unsafe impl Zeroable for u64 {}
unsafe impl Zeroable for Line {}

/// `len` words of 0, or an error where `vec!` would abort the process.
pub(crate) fn zero_words(len: u64) -> Result<Vec<u64>, OutOfMemory> {
    zero_memory(len)
}

/// `len` items of bits 0, or an error where `vec!` would abort the process.
pub(crate) fn zero_memory<T: Zeroable>(len: u64) -> Result<Vec<T>, OutOfMemory> {
    let out_of_memory = OutOfMemory { bytes: len.saturating_mul(size_of::<T>() as u64) };
    let len = usize::try_from(len).map_err(|_| out_of_memory)?;
    let layout = Layout::array::<T>(len).map_err(|_| out_of_memory)?;
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout has more than 0 bytes.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<T>();
    if memory.is_null() {
        return Err(out_of_memory);
    }
    // SAFETY: the global allocator made this memory with the layout of `len` items. A vector of
    // length 0 reads nothing.
    let mut items = unsafe { Vec::from_raw_parts(memory, 0, len) };
    huge_pages::ask_for_large_pages(items.spare_capacity_mut());
    // SAFETY: `len` is the capacity, and all bits 0 make a valid item; the advice does not change
    // it.
    unsafe { items.set_len(len) };
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_0_and_can_be_used() {
        for len in [0, 1, 100, if cfg!(miri) { 1000 } else { 1 << 20 }] {
            let mut words = zero_words(len).unwrap();
            assert!(words.len() as u64 == len && words.iter().all(|&word| word == 0));
            words.push(7);
            words.resize(3, 1);
            assert_eq!(words.len(), 3);
        }
    }

    #[test]
    fn lines_are_0_and_aligned() {
        let lines: Vec<Line> = zero_memory(3).unwrap();
        assert!(lines.iter().all(|line| *line == Line::default()));
        assert!(lines.as_ptr().addr().is_multiple_of(64));
    }

    #[test]
    #[cfg_attr(miri, ignore = "an interpreter without that much memory stops, where a system says no")]
    fn what_no_memory_can_hold_is_an_error() {
        for len in [u64::MAX, u64::MAX / 8, 1 << 60, 1 << 59] {
            assert_eq!(zero_words(len), Err(OutOfMemory { bytes: len.saturating_mul(8) }));
        }
    }
}
