//! Filters as bytes: saved, loaded, and queried in place.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use super::Filter;
use crate::bits::LittleEndian;
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Owned, Payload, Rest, Saved, View, Viewed};
use crate::filter::cores::SavedCore;

/// The methods of [`Saved`], without importing it.
impl<C: SavedCore<Storage: Owned>> Filter<C> {
    /// Loads a filter, with the seed that the bytes name.
    ///
    /// # Errors
    /// If the bytes are not a valid container of this kind; [`LoadError::DigesterNeeded`] if they
    /// do not hold the digester.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Saved::from_bytes(bytes)
    }

    /// Reads a filter, and nothing beyond it, with the seed that the bytes name.
    ///
    /// # Errors
    /// Like [`from_bytes`](Self::from_bytes), or if reading fails.
    #[cfg(feature = "std")]
    pub fn load<R: std::io::Read>(reader: R) -> Result<Self, LoadError> {
        Saved::load(reader)
    }
}

/// The methods of [`Saved`], without importing it.
impl<C: SavedCore<Storage: Owned>, D: Identified> Filter<C, D> {
    /// Returns the filter as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        Saved::to_bytes(self)
    }

    /// Writes the filter to `writer`, which should be buffered if it is a file.
    ///
    /// # Errors
    /// If writing fails.
    #[cfg(feature = "std")]
    pub fn save<W: std::io::Write>(&self, writer: W) -> std::io::Result<()> {
        Saved::save(self, writer)
    }

    /// Loads a filter that was made with this digester.
    ///
    /// # Errors
    /// If the bytes are not a valid container of this kind; [`LoadError::Digester`] if another
    /// digester or seed made them.
    pub fn from_bytes_with(bytes: &[u8], digester: D) -> Result<Self, LoadError> {
        Saved::from_bytes_with(bytes, digester)
    }

    /// Reads a filter, and nothing beyond it, that was made with this digester.
    ///
    /// # Errors
    /// Like [`from_bytes_with`](Self::from_bytes_with), or if reading fails.
    #[cfg(feature = "std")]
    pub fn load_with<R: std::io::Read>(reader: R, digester: D) -> Result<Self, LoadError> {
        Saved::load_with(reader, digester)
    }
}

impl<C: SavedCore<Storage: Owned>, D: Identified> Saved for Filter<C, D> {
    const KIND: Kind = C::KIND;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        self.core.layout_block()
    }

    fn payload_length(&self) -> u64 {
        self.core.payload_length()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.core.write_payload(sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        Ok(Self::of(C::read(layout, payload)?, digester))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.core.check_content()
    }
}

impl<'a, C: SavedCore<Storage = LittleEndian<'a>>, D: Identified> Viewed<'a> for Filter<C, D> {
    const KIND: Kind = C::KIND;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let mut rest = Rest::new(payload);
        let core = C::read(layout, &mut rest)?;
        rest.finish()?;
        Ok(Self::of(core, digester))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.core.check_content()
    }
}

/// Views that own their bytes.
impl<C: SavedCore<Storage = LittleEndian<'static>>> View<'static, Filter<C>> {
    /// Opens a view that owns its bytes, so that a struct can keep it: a `Vec<u8>`, a mapped file,
    /// an `Arc` of one.
    ///
    /// # Errors
    /// Like [`open`](View::open).
    ///
    /// # Example
    /// ```
    /// use oneread::filter::{BloomFilter, BloomView};
    ///
    /// struct Service {
    ///     seen: BloomView<'static>,
    /// }
    ///
    /// let mut filter = BloomFilter::with_rate(1000, 0.01)?;
    /// filter.insert("key");
    /// let service = Service { seen: BloomView::open_owned(filter.to_bytes())? };
    /// assert!(!service.seen.contains("another key") && service.seen.contains("key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_owned<B>(bytes: B) -> Result<Self, LoadError>
    where
        B: Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    {
        open_owned(bytes, None)
    }
}

impl<C: SavedCore<Storage = LittleEndian<'static>>, D: Identified> View<'static, Filter<C, D>> {
    /// Opens a view that owns its bytes, of a filter with this digester.
    ///
    /// # Errors
    /// Like [`open_with`](View::open_with).
    pub fn open_owned_with<B>(bytes: B, digester: D) -> Result<Self, LoadError>
    where
        B: Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    {
        open_owned(bytes, Some(digester))
    }
}

/// Cores keep only words of the payload, and these hold the owner.
fn open_owned<C: SavedCore<Storage = LittleEndian<'static>>, D: Identified>(
    bytes: impl Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    digester: Option<D>,
) -> Result<View<'static, Filter<C, D>>, LoadError> {
    let owner = Arc::new(bytes);
    let bytes = (**owner).as_ref();
    View::check(bytes, digester, |payload| {
        LittleEndian::of_owner(Arc::clone(&owner), bytes.len() - payload.len())
    })
}
