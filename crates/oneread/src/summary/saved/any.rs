//! A summary of a kind that its bytes tell.

use alloc::vec::Vec;

use super::super::AnySummary;
use crate::bytes::{Identified, Kind, LoadError, Saved};

impl<D: Identified> AnySummary<D> {
    /// The summary as the bytes of its own kind.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Interpolation(summary) => summary.to_bytes(),
            Self::Single(summary) => summary.to_bytes(),
            Self::Multiple(summary) => summary.to_bytes(),
        }
    }

    /// Loads a summary of whichever of its kinds the bytes hold, with the digester that they name.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes; [`LoadError::DigesterNeeded`] if the digester has a secret.
    ///
    /// # Example
    /// ```
    /// use oneread::hash::{Digester, Portable};
    /// use oneread::layout::{InterpolationLayout, MultilevelLayout};
    /// use oneread::summary::{AnySummary, Summary};
    ///
    /// let table = MultilevelLayout::new([40, 10])?;
    /// let layout = InterpolationLayout::new(50)?.into();
    /// let mut summary = AnySummary::with_digester(&layout, &table, Portable::with_seed(1))?;
    /// let key = summary.digester().digest("key");
    /// summary.insert(key, 1)?;
    /// let loaded: AnySummary = AnySummary::from_bytes(&summary.to_bytes())?;
    /// assert_eq!(loaded.lookup(key).first(), Some(1));
    /// assert!(<AnySummary>::from_bytes(b"something else").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        match Kind::of(bytes)? {
            Kind::InterpolationSummary => Saved::from_bytes(bytes).map(Self::Interpolation),
            Kind::SingleFilterSummary => Saved::from_bytes(bytes).map(Self::Single),
            // Anything else is an error, which tells what it is.
            _ => Saved::from_bytes(bytes).map(Self::Multiple),
        }
    }

    /// Loads a summary that was made with this digester.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes; [`LoadError::Digester`] if another digester or seed made them.
    pub fn from_bytes_with(bytes: &[u8], digester: D) -> Result<Self, LoadError> {
        match Kind::of(bytes)? {
            Kind::InterpolationSummary => Saved::from_bytes_with(bytes, digester).map(Self::Interpolation),
            Kind::SingleFilterSummary => Saved::from_bytes_with(bytes, digester).map(Self::Single),
            _ => Saved::from_bytes_with(bytes, digester).map(Self::Multiple),
        }
    }
}
