//! The values of keys, independent of the server: filters and sketches with the operations of the
//! commands, and their encoding.

mod bloom;
mod cuckoo;
mod loading;
mod sketch;
mod stream;
mod top;

use std::io::Read;

pub(crate) use bloom::{AddError, BloomOptions, BloomValue};
pub(crate) use cuckoo::{CuckooOptions, CuckooValue};
pub(crate) use loading::{Dump, Loading};
pub(crate) use sketch::{SketchValue, SumError};
pub(crate) use stream::{length_of, strings};
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
pub(crate) trait Value: Sized + Clone + 'static {
    /// Writes the encoding in pieces, the same every time.
    fn encode(&self, sink: &mut dyn FnMut(&[u8]));

    /// Reads what [`encode`](Self::encode) wrote, and nothing beyond it. Memory is allocated only
    /// as bytes arrive, and every byte is covered by a checksum.
    fn decode(reader: &mut dyn Read) -> Result<Self, Refused>;

    /// The lengths of the encoding's beginning and of the rest, the payload, if that can be written
    /// by itself. The beginning may hold a checksum that takes a pass over all of the value.
    fn parts(&self) -> Option<[u64; 2]> {
        None
    }

    /// Writes the payload.
    fn write_payload(&self, _sink: &mut dyn FnMut(&[u8])) {}

    /// The memory it takes, in bytes.
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

/// The content of a key: a value, or the part of one that has been loaded so far.
#[derive(Clone)]
pub(crate) enum Slot<V> {
    Ready(V),
    Loading(Loading),
}

impl<V: Value> Slot<V> {
    pub(crate) fn byte_len(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Ready(value) => value.byte_len(),
                Self::Loading(loading) => loading.byte_len(),
            }
    }
}

impl<V: Value> Value for Slot<V> {
    fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Ready(value) => {
                sink(&[0]);
                value.encode(sink);
            }
            Self::Loading(loading) => {
                sink(&[1]);
                loading.encode(sink);
            }
        }
    }

    fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let mut tag = [0];
        reader.read_exact(&mut tag)?;
        match tag {
            [0] => Ok(Self::Ready(V::decode(reader)?)),
            [1] => Ok(Self::Loading(Loading::decode(reader)?)),
            _ => Err(Refused("neither a value nor a part of one".into())),
        }
    }

    fn byte_len(&self) -> usize {
        Slot::byte_len(self)
    }
}
