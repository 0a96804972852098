//! How a list of the keys at the deepest levels is laid out.

use super::error::check_places;
use super::{LayoutError, MultilevelLayout, Quantity};

/// A list that replaces the filters of the deepest levels: the string and the level of each key
/// there.
///
/// Filters of a few keys are small, but each still costs its hash functions. A list takes one entry
/// per key, instead of bits in the filter of each of its levels. A key that moves or is removed
/// takes its entry along.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-B: "small
/// Bloom filters could be replaced by lists of items". Ours: one list for all these levels, strings
/// instead of items, and the rule for a full list.
///
/// # Limits
/// A list has room for `items` keys. If one more comes, the list places every key at that key's
/// level until it is emptied. This costs reads, but never gives a wrong answer.
/// [`plan::summary`](crate::plan::summary) computes how often.
///
/// # Example
/// ```
/// use oneread::layout::{ListLayout, MultipleFiltersLayout};
///
/// assert!(ListLayout::new(2, 0, 60).is_err());
/// // Levels 3 and 4 of the paper's design have 0.4 keys: four entries of 62 bits and two more bits
/// // replace filters of 600 bits.
/// let list = ListLayout::new(2, 4, 60)?;
/// let layout = MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49)])?
///     .with_list(list)?;
/// assert_eq!((layout.level_count(), list.bits(), layout.byte_len()), (5, 250, 24_907));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ListLayout {
    levels: usize,
    items: u64,
    fingerprint_bits: u32,
}

impl ListLayout {
    /// The most keys per list: a lookup scans all of them.
    pub const MAX_ITEMS: u64 = 1024;

    /// The longest string: that of a whole digest.
    pub const MAX_FINGERPRINT_BITS: u32 = 128;

    /// Takes a list for the `levels` deepest levels, with room for `items` keys and strings of
    /// `fingerprint_bits` bits.
    ///
    /// # Errors
    /// If one of these is 0, or more than [`MultilevelLayout::MAX_LEVELS`],
    /// [`MAX_ITEMS`](Self::MAX_ITEMS) or [`MAX_FINGERPRINT_BITS`](Self::MAX_FINGERPRINT_BITS).
    pub fn new(levels: usize, items: u64, fingerprint_bits: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::Levels, levels as u64, MultilevelLayout::MAX_LEVELS as u64)?;
        check_places(Quantity::Items, items, Self::MAX_ITEMS)?;
        let most_bits = Self::MAX_FINGERPRINT_BITS.into();
        check_places(Quantity::FingerprintBits, fingerprint_bits.into(), most_bits)?;
        Ok(Self { levels, items, fingerprint_bits })
    }

    getters! {
        /// The levels that have no filter of their own.
        levels: usize,
        /// The capacity in keys.
        items: u64,
        /// The bits of a string.
        fingerprint_bits: u32,
    }

    /// The bits of a level number, from 1; 0 stands for none.
    pub(crate) const fn level_bits(&self) -> u32 {
        usize::BITS - self.levels.leading_zeros()
    }

    /// The bits of the list: a level, then a level and a string for each key.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        let level_bits = self.level_bits() as u64;
        level_bits + self.items * (level_bits + self.fingerprint_bits as u64)
    }
}
