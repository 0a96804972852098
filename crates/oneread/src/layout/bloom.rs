//! How a Bloom filter is laid out.

use crate::hash::probes::SchemeName;

use super::error::{check_hashes, check_places, places_used};
use super::{LayoutError, MAX_PLACES, Quantity};

/// A Bloom filter's bits, hash functions and probe scheme.
///
/// [`plan::bloom`](crate::plan::bloom) computes its odds, and finds the smallest layout for a rate.
///
/// # Example
/// ```
/// use oneread::hash::probes::SchemeName;
/// use oneread::layout::BloomLayout;
///
/// assert!(BloomLayout::new(0, 7).is_err());
/// let layout = BloomLayout::new(1000, 7)?;
/// assert_eq!((layout.bits(), layout.byte_len()), (1000, 125));
/// // Seven equal bands of 1000 bits have 142 bits each.
/// let banded = layout.with_scheme(SchemeName::IndependentBands)?;
/// assert_eq!(banded.bits(), 994);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BloomLayout {
    bits: u64,
    hashes: u32,
    scheme: SchemeName,
}

impl BloomLayout {
    /// Takes `bits` bits (m in the papers) and `hashes` hash functions (k), with the default
    /// scheme.
    ///
    /// # Errors
    /// If there are no bits or more than [`MAX_PLACES`], no hashes or more than
    /// [`MAX_HASHES`](super::MAX_HASHES).
    pub fn new(bits: u64, hashes: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::Bits, bits, MAX_PLACES)?;
        check_hashes(hashes)?;
        Ok(Self { bits, hashes, scheme: SchemeName::default() })
    }

    /// Changes the scheme. A banded scheme rounds the bits down to a multiple of the hashes.
    ///
    /// # Errors
    /// If a banded scheme has more hashes than bits.
    pub fn with_scheme(self, scheme: SchemeName) -> Result<Self, LayoutError> {
        let bits = places_used(scheme, self.bits, self.hashes)?;
        Ok(Self { bits, scheme, ..self })
    }

    getters! {
        /// The bits that are used (m in the papers).
        bits: u64,
        /// The number of hash functions (k in the papers).
        hashes: u32,
        /// How a key's probes are found.
        scheme: SchemeName,
    }

    /// The bytes that hold the bits.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.bits.div_ceil(8)
    }
}
