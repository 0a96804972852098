//! How the summary of a multilevel table is laid out: which level holds a key.

use alloc::vec::Vec;

use crate::hash::probes::SchemeName;

use super::error::{check_hashes, check_places, places_used};
use super::{Counting, CountingLayout, LayoutError, ListLayout, MAX_PLACES, MultilevelLayout, Quantity};

/// A summary of one of the three kinds.
///
/// | kind | what it keeps | bytes for the paper's 10,000 items |
/// | --- | --- | --- |
/// | [`InterpolationLayout`] | a string and a level per key | 72,500 |
/// | [`SingleFilterLayout`] | a Bloom filter of levels | 40,000 |
/// | [`MultipleFiltersLayout`] | a Bloom filter per level | 24,950 |
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum SummaryLayout {
    /// A sorted array of strings.
    Interpolation(InterpolationLayout),
    /// One filter of cells.
    Single(SingleFilterLayout),
    /// A filter for each level.
    Multiple(MultipleFiltersLayout),
}

impl SummaryLayout {
    /// The bytes of the summary of a table that has `items` items, without its occupancy bits.
    #[must_use]
    pub fn byte_len(&self, items: u64, table: &MultilevelLayout) -> u64 {
        match self {
            Self::Interpolation(layout) => layout.byte_len(items, table),
            Self::Single(layout) => layout.byte_len(table),
            Self::Multiple(layout) => layout.byte_len(),
        }
    }
}

impl From<InterpolationLayout> for SummaryLayout {
    fn from(layout: InterpolationLayout) -> Self {
        Self::Interpolation(layout)
    }
}

impl From<SingleFilterLayout> for SummaryLayout {
    fn from(layout: SingleFilterLayout) -> Self {
        Self::Single(layout)
    }
}

impl From<MultipleFiltersLayout> for SummaryLayout {
    fn from(layout: MultipleFiltersLayout) -> Self {
        Self::Multiple(layout)
    }
}

/// A random string per key, in sorted order, with the level of its key.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VII.
///
/// # Example
/// ```
/// use oneread::layout::{InterpolationLayout, MultilevelLayout};
///
/// assert!(InterpolationLayout::new(0).is_err());
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// // 55 bits, and 3 for one of five levels: 58 bits per item.
/// assert_eq!(InterpolationLayout::new(55)?.byte_len(10_000, &table), 72_500);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct InterpolationLayout {
    fingerprint_bits: u32,
}

impl InterpolationLayout {
    /// The longest string: that of a whole digest.
    pub const MAX_FINGERPRINT_BITS: u32 = 128;

    /// Takes strings of `fingerprint_bits` bits (b in the paper).
    ///
    /// # Errors
    /// If there are no bits or more than [`MAX_FINGERPRINT_BITS`](Self::MAX_FINGERPRINT_BITS).
    pub fn new(fingerprint_bits: u32) -> Result<Self, LayoutError> {
        check_places(
            Quantity::FingerprintBits,
            u64::from(fingerprint_bits),
            u64::from(Self::MAX_FINGERPRINT_BITS),
        )?;
        Ok(Self { fingerprint_bits })
    }

    /// The bits of a string (b in the paper).
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// The bytes for `items` items: b + ⌈log2 d⌉ bits each. `u64::MAX` also stands for anything
    /// above it.
    #[must_use]
    pub fn byte_len(&self, items: u64, table: &MultilevelLayout) -> u64 {
        let level_bits = bits_for(table.level_count() as u64 - 1);
        let bits = u128::from(items) * u128::from(self.fingerprint_bits + level_bits);
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    }
}

/// A Bloom filter of cells: each holds one more than the deepest level of its keys.
///
/// Each hash function has an equal band of the cells to itself.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-A.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, SingleFilterLayout};
///
/// assert!(SingleFilterLayout::new(14, 15).is_err());
/// let layout = SingleFilterLayout::new(120_000, 15)?;
/// // Five levels and 0 are six values: 6·6·6 = 216 of a byte's 256.
/// let five = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// assert_eq!(layout.byte_len(&five), 40_000);
/// // Six levels take three bits per cell.
/// let six = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 1_250, 1_250])?;
/// assert_eq!(layout.byte_len(&six), 45_000);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SingleFilterLayout {
    cells: u64,
    hashes: u32,
}

impl SingleFilterLayout {
    /// Takes `cells` cells (m in the paper), divided into `hashes` equal bands (k): rounds them
    /// down to a multiple of the hashes.
    ///
    /// # Errors
    /// If there are no cells or more than [`MAX_PLACES`], no hashes or more than
    /// [`MAX_HASHES`](super::MAX_HASHES), or fewer cells than hashes.
    pub fn new(cells: u64, hashes: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::Cells, cells, MAX_PLACES)?;
        check_hashes(hashes)?;
        Ok(Self { cells: places_used(SchemeName::IndependentBands, cells, hashes)?, hashes })
    }

    getters! {
        /// The cells that are used (m in the paper).
        cells: u64,
        /// The number of hash functions (k in the paper).
        hashes: u32,
    }

    /// The bytes of the cells: three cells per byte or whole bits per cell, whichever is smaller.
    #[must_use]
    pub fn byte_len(&self, table: &MultilevelLayout) -> u64 {
        match Self::packing(table.level_count()) {
            CellPacking::ThreeAByte => self.cells.div_ceil(3),
            CellPacking::Bits(bits) => (self.cells * u64::from(bits)).div_ceil(8),
        }
    }

    /// How cells with values from 0 to `levels` are packed.
    pub(crate) const fn packing(levels: usize) -> CellPacking {
        /// Three values from 0 to 5 fit in a byte.
        const MAX_OF_THREE: usize = 5;
        /// With fewer bits per cell, more than three cells fit in a byte.
        const BITS_OF_THREE: u32 = 3;
        let bits = bits_for(levels as u64);
        if levels <= MAX_OF_THREE && bits >= BITS_OF_THREE {
            CellPacking::ThreeAByte
        } else {
            CellPacking::Bits(bits)
        }
    }
}

/// How the cells of a single filter lie in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellPacking {
    /// As the digits of a number in base 6.
    ThreeAByte,
    /// Consecutively, of this many bits each.
    Bits(u32),
}

/// A Bloom filter for each level: filter `B_i` holds the keys at level i or deeper.
///
/// The filters are not partitioned: each hash function may probe every bit of its filter. The
/// deepest levels may have a [list](ListLayout) of their keys instead of filters.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-B.
///
/// # Example
/// ```
/// use oneread::layout::MultipleFiltersLayout;
///
/// assert!(MultipleFiltersLayout::new([]).is_err());
/// let layout = MultipleFiltersLayout::new(
///     [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)]
/// )?;
/// assert_eq!((layout.filters().len(), layout.byte_len()), (5, 24_950));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MultipleFiltersLayout {
    filters: Vec<(u64, u32)>,
    list: Option<ListLayout>,
}

impl MultipleFiltersLayout {
    /// Takes the bits and the hash functions of each filter, `B_0` first.
    ///
    /// # Errors
    /// If there are no filters or more than [`MultilevelLayout::MAX_LEVELS`], if a filter has no
    /// bits, no hashes or more than [`MAX_HASHES`](super::MAX_HASHES), or if there are more than
    /// [`MAX_PLACES`] bits in all.
    pub fn new(filters: impl Into<Vec<(u64, u32)>>) -> Result<Self, LayoutError> {
        let filters = filters.into();
        check_places(Quantity::Filters, filters.len() as u64, MultilevelLayout::MAX_LEVELS as u64)?;
        for &(bits, hashes) in &filters {
            check_places(Quantity::Bits, bits, MAX_PLACES)?;
            check_hashes(hashes)?;
        }
        let layout = Self { filters, list: None };
        check_places(Quantity::Bits, layout.bits(), MAX_PLACES)?;
        Ok(layout)
    }

    /// Adds a list for the levels after those with filters.
    ///
    /// # Errors
    /// If there are more than [`MultilevelLayout::MAX_LEVELS`] levels or more than [`MAX_PLACES`]
    /// bits in all.
    pub fn with_list(self, list: ListLayout) -> Result<Self, LayoutError> {
        let layout = Self { list: Some(list), ..self };
        check_places(Quantity::Levels, layout.level_count() as u64, MultilevelLayout::MAX_LEVELS as u64)?;
        check_places(Quantity::Bits, layout.bits(), MAX_PLACES)?;
        Ok(layout)
    }

    /// The list of the levels without filters.
    #[must_use]
    pub const fn list(&self) -> Option<ListLayout> {
        self.list
    }

    /// The number of levels: those with a filter, and those of the list.
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.filters.len() + self.list.map_or(0, |list| list.levels())
    }

    /// The bits (`b_i` in the paper) and the hash functions (`k_i`) of each filter.
    #[must_use]
    pub fn filters(&self) -> &[(u64, u32)] {
        &self.filters
    }

    /// The bits of all filters, and of the list.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.filter_bits() + self.list_bits()
    }

    /// The bits of all filters, without the list.
    pub(crate) fn filter_bits(&self) -> u64 {
        self.filters.iter().map(|&(bits, _)| bits).sum()
    }

    pub(crate) fn list_bits(&self) -> u64 {
        self.list.map_or(0, |list| list.bits())
    }

    /// The bytes of all filters and of the list, stored consecutively.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.bits().div_ceil(8)
    }
}

/// Multiple filters with counters instead of bits, so that keys can be removed.
///
/// Each filter has its own counter width, and its own counting rule for probes that coincide.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Example
/// ```
/// use oneread::layout::{Counting, CountingFiltersLayout, MultipleFiltersLayout};
///
/// let filters = MultipleFiltersLayout::new(
///     [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)]
/// )?;
/// assert!(CountingFiltersLayout::new(filters.clone(), [(4, Counting::EachProbe)]).is_err());
/// // The paper's conservative choice, and the other one.
/// let (each, once) = (Counting::EachProbe, Counting::OncePerItem);
/// let wide = [(4, each), (4, each), (4, each), (4, once), (2, once)];
/// assert_eq!(CountingFiltersLayout::new(filters.clone(), wide)?.byte_len(), 99_775);
/// let narrow = [(4, each), (4, each), (4, each), (3, once), (1, once)];
/// assert_eq!(CountingFiltersLayout::new(filters, narrow)?.byte_len(), 99_700);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountingFiltersLayout {
    filters: MultipleFiltersLayout,
    counters: Vec<(u32, Counting)>,
}

impl CountingFiltersLayout {
    /// The narrowest counter: it saturates at its first key, and so never forgets one.
    pub const MIN_COUNTER_BITS: u32 = 1;

    /// Takes the filters, with a counter width and a counting rule for each. (A list needs no
    /// counters: keys leave it as they came.)
    ///
    /// # Errors
    /// If there are not as many of these as filters, or if a counter has no bits or more than 8.
    pub fn new(
        filters: MultipleFiltersLayout,
        counters: impl Into<Vec<(u32, Counting)>>,
    ) -> Result<Self, LayoutError> {
        let counters = counters.into();
        let (expected, found) = (filters.filters().len(), counters.len());
        if expected != found {
            return Err(LayoutError::FilterForEachLevel { expected, found });
        }
        counters.iter().try_for_each(|&(bits, _)| check_counter_bits(bits))?;
        Ok(Self { filters, counters })
    }

    /// Gives all filters counters of four bits. Filters of at most [`FEW_PLACES`](Self::FEW_PLACES)
    /// places count an item once, others count each probe.
    #[must_use]
    pub fn usual(filters: MultipleFiltersLayout) -> Self {
        const USUAL_BITS: u32 = 4;
        let counting = |places| {
            if places <= Self::FEW_PLACES { Counting::OncePerItem } else { Counting::EachProbe }
        };
        let counters = filters.filters().iter().map(|&(places, _)| (USUAL_BITS, counting(places)));
        Self { counters: counters.collect(), filters }
    }

    /// Up to this size, filters count an item once in [`usual`](Self::usual). The paper does so for
    /// 500 and 100 places, where two of 49 probes often coincide, and not for 5500.
    pub const FEW_PLACES: u64 = 1000;

    /// The filters without counters.
    #[must_use]
    pub const fn filters(&self) -> &MultipleFiltersLayout {
        &self.filters
    }

    /// The bits of a counter and the counting rule, for each filter.
    #[must_use]
    pub fn counters(&self) -> &[(u32, Counting)] {
        &self.counters
    }

    /// The bytes of all counters and of the list, stored consecutively.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        let filters = self.filters.filters().iter().zip(&self.counters);
        let bits: u64 = filters.map(|(&(places, _), &(bits, _))| places * u64::from(bits)).sum();
        (bits + self.filters.list_bits()).div_ceil(8)
    }
}

/// A single filter with a counter for each level in each cell, so that keys can be removed.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Example
/// ```
/// use oneread::layout::{CountingCellsLayout, SingleFilterLayout};
///
/// let filter = SingleFilterLayout::new(120_000, 15)?;
/// assert!(CountingCellsLayout::new(filter, [4, 0]).is_err());
/// // Five levels: 4 + 4 + 3 + 2 + 1 bits per cell.
/// assert_eq!(CountingCellsLayout::new(filter, [4, 4, 3, 2, 1])?.byte_len(), 210_000);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountingCellsLayout {
    filter: SingleFilterLayout,
    counter_bits: Vec<u32>,
}

impl CountingCellsLayout {
    /// Takes the filter, and the bits of a counter for each level.
    ///
    /// # Errors
    /// If there are no levels or more than [`MultilevelLayout::MAX_LEVELS`], if a counter has no
    /// bits or more than 8, or if there are more than [`MAX_PLACES`] counters in all.
    pub fn new(filter: SingleFilterLayout, counter_bits: impl Into<Vec<u32>>) -> Result<Self, LayoutError> {
        let counter_bits = counter_bits.into();
        check_places(Quantity::Levels, counter_bits.len() as u64, MultilevelLayout::MAX_LEVELS as u64)?;
        counter_bits.iter().try_for_each(|&bits| check_counter_bits(bits))?;
        check_places(Quantity::Counters, filter.cells() * counter_bits.len() as u64, MAX_PLACES)?;
        Ok(Self { filter, counter_bits })
    }

    /// The cells without counters.
    #[must_use]
    pub const fn filter(&self) -> SingleFilterLayout {
        self.filter
    }

    /// The bits of a counter, for each level.
    #[must_use]
    pub fn counter_bits(&self) -> &[u32] {
        &self.counter_bits
    }

    /// The bytes of all counters, stored consecutively.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        let bits: u32 = self.counter_bits.iter().sum();
        (self.filter.cells() * u64::from(bits)).div_ceil(8)
    }
}

/// Checks the width of a summary's counter.
fn check_counter_bits(found: u32) -> Result<(), LayoutError> {
    let (at_least, at_most) = (CountingFiltersLayout::MIN_COUNTER_BITS, CountingLayout::MAX_COUNTER_BITS);
    if (at_least..=at_most).contains(&found) {
        Ok(())
    } else {
        Err(LayoutError::CounterBits { at_least, at_most, found })
    }
}

/// The bits of a number from 0 to `most`.
const fn bits_for(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}
