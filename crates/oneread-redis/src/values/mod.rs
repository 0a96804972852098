//! The values of keys, independent of the server: filters and sketches with the operations of the
//! commands, and their encoding.

mod bloom;
mod cuckoo;
mod loading;
mod outline;
mod seeded;
mod sketch;
mod slot;
mod top;

use oneread::bytes::WordArray;

pub(crate) use bloom::{AddError, BloomOptions, BloomValue};
pub(crate) use cuckoo::{CuckooOptions, CuckooValue};
pub(crate) use loading::{ChunkError, Loading, Pieces};
pub(crate) use outline::{Reader, Writer};
pub(crate) use sketch::{SketchValue, SumError};
pub(crate) use slot::{Changing, Held, Slot};
pub(crate) use top::{TopOptions, TopValue};

/// Why a value cannot be made, changed or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

impl<E: std::error::Error> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The value of a key.
///
/// It has an outline of few bytes, and arrays of words. So large values are saved and loaded piece
/// by piece, and small ones are packed.
pub(crate) trait Value: Sized + Clone + 'static {
    /// Writes all but the arrays, the same bytes every time.
    fn write_outline(&self, writer: &mut Writer);

    /// Reads an outline, and nothing beyond it. All arrays are 0, and take at most `most_bytes`.
    fn from_outline(reader: &mut Reader<'_>, most_bytes: u64) -> Result<Self, Refused>;

    fn arrays(&self) -> Vec<&dyn WordArray>;

    fn arrays_mut(&mut self) -> Vec<&mut dyn WordArray>;

    /// Checks arrays that were filled after [`from_outline`](Self::from_outline).
    fn check_arrays(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// The memory of its content, in bytes.
    fn byte_len(&self) -> usize;
}

/// The refusal of a value of `bytes`, of which `most` are allowed.
pub(crate) fn too_large(bytes: u64, most: u64) -> Refused {
    Refused(format!("the value would take {bytes} bytes, and oneread.max-bytes allows {most}"))
}

/// Fails if `bytes` more bytes cannot be allocated.
///
/// `Clone` ends the server when memory runs out, so this tries the allocation beforehand. One
/// thread runs commands, so nothing large is allocated in between.
pub(crate) fn check_memory(bytes: usize) -> Result<(), Refused> {
    Ok(Vec::<u8>::new().try_reserve_exact(bytes)?)
}

/// A copy of a value, or an error if there is no memory for it.
pub(crate) fn try_clone<V: Value>(value: &V) -> Result<V, Refused> {
    check_memory(value.byte_len())?;
    Ok(value.clone())
}
