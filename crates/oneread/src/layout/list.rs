//! How a list of the few keys at the deepest levels is laid out.

use super::error::check_places;
use super::{LayoutError, MultilevelLayout};

/// A list in the place of the filters of the deepest levels: the string and the level of each key
/// there.
///
/// Filters of a handful of keys are small, and each still takes its hash functions. A list of them
/// has one entry a key, instead of bits in the filter of each of its levels, and a key that moves
/// or goes takes its entry along.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-B: "small
/// Bloom filters could be replaced by lists of items". Ours: one list for all these levels, strings
/// in the place of the items, and what happens when it is full.
///
/// # Limits
/// A list has room for so many keys. One more finds none, and from then on the list takes every key
/// for one that is as deep as that one was, until all is forgotten: more reads, and never a wrong
/// answer. [`plan::summary`](crate::plan::summary) counts how often.
///
/// # Example
/// ```
/// use oneread::layout::{ListLayout, MultipleFiltersLayout};
///
/// assert!(ListLayout::new(2, 0, 60).is_err());
/// // Levels 3 and 4 of the paper's design have .4 keys: four entries of 62 bits, and two bits more, for filters of 600 bits.
/// let list = ListLayout::new(2, 4, 60)?;
/// let layout = MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49)])?.with_list(list)?;
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
    /// The most keys of a list: a lookup goes through all of them.
    pub const MAX_ITEMS: u64 = 1024;

    /// The longest string: that of a whole digest.
    pub const MAX_FINGERPRINT_BITS: u32 = 128;

    /// A list for so many of the deepest levels, with room for so many keys and strings of so many
    /// bits.
    ///
    /// # Errors
    /// If there are none of these, or more than [`MultilevelLayout::MAX_LEVELS`],
    /// [`MAX_ITEMS`](Self::MAX_ITEMS) or [`MAX_FINGERPRINT_BITS`](Self::MAX_FINGERPRINT_BITS).
    pub fn new(levels: usize, items: u64, fingerprint_bits: u32) -> Result<Self, LayoutError> {
        check_places("levels", levels as u64, MultilevelLayout::MAX_LEVELS as u64)?;
        check_places("items", items, Self::MAX_ITEMS)?;
        let most_bits = Self::MAX_FINGERPRINT_BITS.into();
        check_places("fingerprint bits", fingerprint_bits.into(), most_bits)?;
        Ok(Self { levels, items, fingerprint_bits })
    }

    getters! {
        /// The levels that have no filter of their own.
        levels: usize,
        /// The keys that there is room for.
        items: u64,
        /// The bits of a string.
        fingerprint_bits: u32,
    }

    /// The bits of a level, from 1; 0 stands for none.
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
