//! Structures queried in place.

use core::ops::Deref;

use xxhash_rust::xxh3::xxh3_64;

use super::header::{Header, Kind, LayoutBlock};
use super::saved::{check_kind, choose_digester};
use super::{Identified, LoadError};
use crate::bits::LittleEndian;
use crate::hash::Portable;

/// A structure queried in bytes that somebody else owns, such as a mapped file, without a copy.
///
/// Opening checks the header and all lengths. Queries read the payload, and only
/// [`verify`](View::verify) checks it. A damaged payload gives wrong answers, but no query panics
/// or reads outside it. A view has all read-only methods of its structure.
///
/// A view of a filter can own its bytes ([`open_owned`](View::open_owned)), so that a struct can
/// keep it.
#[derive(Clone, Debug)]
pub struct View<'a, F> {
    structure: F,
    payload: LittleEndian<'a>,
    checksum: u64,
}

/// A structure that can be queried in place.
pub trait Viewed<'a>: Sized {
    #[doc(hidden)]
    const KIND: Kind;

    #[doc(hidden)]
    type Digester: Identified;

    #[doc(hidden)]
    fn over(
        digester: Self::Digester,
        layout: &LayoutBlock,
        payload: LittleEndian<'a>,
    ) -> Result<Self, LoadError>;

    /// Opens a view, with the digester that the bytes name.
    ///
    /// # Errors
    /// If the header or the length is wrong; [`LoadError::DigesterNeeded`] if the bytes do not hold
    /// the digester.
    fn open(bytes: &'a [u8]) -> Result<View<'a, Self>, LoadError> {
        View::check(bytes, None, LittleEndian::new)
    }

    /// Checks what loading checks and opening does not, since it would read the whole payload.
    #[doc(hidden)]
    fn check_content(&self) -> Result<(), LoadError> {
        Ok(())
    }
}

impl<'a, F: Viewed<'a, Digester = Portable>> View<'a, F> {
    /// Opens a view, with the seed that the bytes name.
    ///
    /// # Errors
    /// If the header or the length is wrong; [`LoadError::DigesterNeeded`] if the bytes do not hold
    /// the digester.
    pub fn open(bytes: &'a [u8]) -> Result<Self, LoadError> {
        Self::check(bytes, None, LittleEndian::new)
    }
}

impl<'a, F: Viewed<'a>> View<'a, F> {
    /// Opens a view of a structure that was made with this digester.
    ///
    /// # Errors
    /// If the header or the length is wrong; [`LoadError::Digester`] if another digester or seed
    /// made it.
    pub fn open_with(bytes: &'a [u8], digester: F::Digester) -> Result<Self, LoadError> {
        Self::check(bytes, Some(digester), LittleEndian::new)
    }

    /// Opens a view over the words that `words_of` makes of the payload.
    pub(crate) fn check<'b>(
        bytes: &'b [u8],
        digester: Option<F::Digester>,
        words_of: impl FnOnce(&'b [u8]) -> LittleEndian<'a>,
    ) -> Result<Self, LoadError> {
        let Some((header, payload)) = bytes.split_first_chunk() else {
            Kind::of(bytes)?;
            return Err(LoadError::Length { expected: Header::LENGTH as u64, found: bytes.len() as u64 });
        };
        let header = Header::decode(header)?;
        check_kind(&header, F::KIND)?;
        let (expected, found) = (header.container_length(), bytes.len() as u64);
        if expected != Some(found) {
            return Err(LoadError::Length { expected: expected.unwrap_or(u64::MAX), found });
        }
        if !payload.len().is_multiple_of(size_of::<u64>()) {
            return Err(LoadError::Invalid { what: "the payload is not whole words" });
        }
        let digester = choose_digester(&header, digester)?;
        let payload = words_of(payload);
        let structure = F::over(digester, &header.layout, payload.clone())?;
        Ok(Self { structure, payload, checksum: header.payload_checksum })
    }

    /// Reads the whole payload, compares its checksum, and checks what loading would.
    ///
    /// # Errors
    /// [`LoadError::Checksum`] if the payload is damaged, [`LoadError::Invalid`] if this library
    /// did not write it.
    pub fn verify(&self) -> Result<(), LoadError> {
        let (expected, found) = (self.checksum, xxh3_64(self.payload.as_bytes()));
        if expected != found {
            return Err(LoadError::Checksum { part: "payload", expected, found });
        }
        self.structure.check_content()
    }
}

impl<F> Deref for View<'_, F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.structure
    }
}
