//! Writing and reading whole containers.

use alloc::vec::Vec;

use xxhash_rust::xxh3::Xxh3Default;

use super::header::{Header, Kind, LayoutBlock};
use super::source::{Payload, Stream};
use super::{Identified, LoadError};

/// A structure that can be saved to bytes and loaded again.
///
/// The provided methods are for users; the required ones describe the structure.
pub trait Saved: Sized {
    /// The kind that the container names.
    const KIND: Kind;

    /// The type of its digester.
    type Digester: Identified;

    /// The digester that made it.
    fn digester(&self) -> &Self::Digester;

    #[doc(hidden)]
    fn layout_block(&self) -> LayoutBlock;

    #[doc(hidden)]
    fn payload_length(&self) -> u64;

    /// Passes the payload to `sink` in pieces, the same ones every time.
    #[doc(hidden)]
    fn write_payload(&self, sink: &mut dyn FnMut(&[u8]));

    #[doc(hidden)]
    fn read(
        digester: Self::Digester,
        layout: &LayoutBlock,
        payload: &mut Payload<'_>,
    ) -> Result<Self, LoadError>;

    /// Checks the content once the checksum of the payload has matched, so that damage is reported
    /// as damage.
    #[doc(hidden)]
    fn check_content(&self) -> Result<(), LoadError> {
        Ok(())
    }

    /// Returns the structure as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = header_of(self).encode().to_vec();
        bytes.reserve_exact(self.payload_length() as usize);
        self.write_payload(&mut |piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// Loads a structure, with the digester that the bytes name.
    ///
    /// # Errors
    /// If the bytes are not a valid container of this kind; [`LoadError::DigesterNeeded`] if the
    /// digester has a secret.
    fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        load(&mut &*bytes, None, Some(bytes.len() as u64))
    }

    /// Loads a structure that was made with this digester.
    ///
    /// # Errors
    /// If the bytes are not a valid container of this kind; [`LoadError::Digester`] if another
    /// digester or seed made them.
    fn from_bytes_with(bytes: &[u8], digester: Self::Digester) -> Result<Self, LoadError> {
        load(&mut &*bytes, Some(digester), Some(bytes.len() as u64))
    }

    /// Writes the structure to `writer`, which should be buffered if it is a file.
    ///
    /// # Errors
    /// If writing fails.
    #[cfg(feature = "std")]
    fn save<W: std::io::Write>(&self, mut writer: W) -> std::io::Result<()> {
        writer.write_all(&header_of(self).encode())?;
        let mut result = Ok(());
        self.write_payload(&mut |piece| {
            if result.is_ok() {
                result = writer.write_all(piece);
            }
        });
        result?;
        writer.flush()
    }

    /// Reads a structure, and nothing beyond it, with the digester that the container names.
    ///
    /// # Errors
    /// Like [`from_bytes`](Saved::from_bytes), or if reading fails.
    #[cfg(feature = "std")]
    fn load<R: std::io::Read>(reader: R) -> Result<Self, LoadError> {
        load(&mut super::source::Reader(reader), None, None)
    }

    /// Reads a structure, and nothing beyond it, that was made with this digester.
    ///
    /// # Errors
    /// Like [`from_bytes_with`](Saved::from_bytes_with), or if reading fails.
    #[cfg(feature = "std")]
    fn load_with<R: std::io::Read>(reader: R, digester: Self::Digester) -> Result<Self, LoadError> {
        load(&mut super::source::Reader(reader), Some(digester), None)
    }
}

fn header_of<F: Saved>(structure: &F) -> Header {
    let mut hasher = Xxh3Default::new();
    structure.write_payload(&mut |piece| hasher.update(piece));
    Header {
        kind: F::KIND as u16,
        identity: structure.digester().identity(),
        layout: structure.layout_block(),
        payload_length: structure.payload_length(),
        payload_checksum: hasher.digest(),
    }
}

/// Reads a container; `available` is its length if that is known in advance.
fn load<F: Saved>(
    source: &mut dyn Stream,
    digester: Option<F::Digester>,
    available: Option<u64>,
) -> Result<F, LoadError> {
    let mut bytes = [0; Header::LENGTH];
    let filled = source.fill(&mut bytes)?;
    if filled < Header::LENGTH {
        Kind::of(&bytes[..filled])?;
        return Err(LoadError::Length { expected: Header::LENGTH as u64, found: filled as u64 });
    }
    let header = Header::decode(&bytes)?;
    check_kind(&header, F::KIND)?;
    let expected = header.container_length().ok_or(LoadError::Invalid { what: "a length that overflows" })?;
    if let Some(found) = available.filter(|&found| found != expected) {
        return Err(LoadError::Length { expected, found });
    }
    let digester = choose_digester(&header, digester)?;
    let mut payload = Payload::new(source, header.payload_length);
    let structure = F::read(digester, &header.layout, &mut payload)?;
    payload.finish(header.payload_checksum)?;
    structure.check_content()?;
    Ok(structure)
}

pub(super) fn check_kind(header: &Header, expected: Kind) -> Result<(), LoadError> {
    if header.kind == expected as u16 {
        Ok(())
    } else {
        Err(LoadError::Kind { expected, found: header.kind })
    }
}

/// The given digester if it made the container; without one, the digester that the container names.
pub(super) fn choose_digester<D: Identified>(header: &Header, given: Option<D>) -> Result<D, LoadError> {
    match given {
        Some(digester) if digester.identity() == header.identity => Ok(digester),
        Some(_) => Err(LoadError::Digester),
        None => D::from_identity(&header.identity).ok_or(LoadError::DigesterNeeded),
    }
}
