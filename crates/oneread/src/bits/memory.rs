//! Memory allocation that can fail.

use alloc::vec::Vec;
use core::fmt;

use super::huge_pages;

/// There is not enough memory for a structure of this layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The number of bytes requested.
    pub bytes: u64,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no memory for {} bytes: use a smaller layout", self.bytes)
    }
}

impl core::error::Error for OutOfMemory {}

/// A vector of `len` zeros, or an error where `vec!` would abort the process.
pub fn zeroed<T: Copy>(zero: T, len: u64) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = reserved(len)?;
    vector.resize(len as usize, zero);
    Ok(vector)
}

/// An empty vector with memory for `len` items, or an error where `Vec::with_capacity` would abort
/// the process.
pub fn reserved<T>(len: u64) -> Result<Vec<T>, OutOfMemory> {
    let out_of_memory = OutOfMemory { bytes: len.saturating_mul(size_of::<T>() as u64) };
    let len = usize::try_from(len).map_err(|_| out_of_memory)?;
    let mut vector = Vec::new();
    vector.try_reserve_exact(len).map_err(|_| out_of_memory)?;
    huge_pages::ask_for_large_pages(vector.spare_capacity_mut());
    Ok(vector)
}
