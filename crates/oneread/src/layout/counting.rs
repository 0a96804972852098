//! How a counting Bloom filter is laid out.

use crate::hash::probes::SchemeName;

use super::error::{check_hashes, check_places, places_used};
use super::{LayoutError, MAX_PLACES, Quantity};

/// What an item does to a counter that two of its probes share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Counting {
    /// Each probe moves its counter, so that one item may move a counter twice. The usual rule, and
    /// the faster one.
    #[default]
    EachProbe,
    /// An item moves each of its counters once. For small tables with narrow counters, where probes
    /// often coincide: Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008,
    /// section XI-B.
    OncePerItem,
}

/// A counting Bloom filter's counters, their width, hash functions, counting rule and probe scheme.
///
/// [`plan::counting`](crate::plan::counting) computes its odds, including that of a saturated
/// counter.
///
/// # Example
/// ```
/// use oneread::layout::{Counting, CountingLayout};
///
/// assert!(CountingLayout::new(1000, 7, 9).is_err());
/// let layout = CountingLayout::new(1000, 7, 4)?;
/// assert_eq!((layout.most(), layout.byte_len()), (15, 500));
/// assert_eq!(layout.counting(), Counting::EachProbe);
/// assert_eq!(layout.with_counting(Counting::OncePerItem).counting(), Counting::OncePerItem);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CountingLayout {
    counters: u64,
    hashes: u32,
    counter_bits: u32,
    counting: Counting,
    scheme: SchemeName,
}

impl CountingLayout {
    /// The narrowest counter.
    pub const MIN_COUNTER_BITS: u32 = 2;

    /// The widest counter.
    pub const MAX_COUNTER_BITS: u32 = 8;

    /// Takes `counters` counters (m in the papers) of `counter_bits` bits and `hashes` hash
    /// functions (k), with the default scheme. Each probe counts.
    ///
    /// # Errors
    /// If there are no counters or more than [`MAX_PLACES`], no hashes or more than
    /// [`MAX_HASHES`](super::MAX_HASHES), or if a counter has fewer than 2 or more than 8 bits.
    pub fn new(counters: u64, hashes: u32, counter_bits: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::Counters, counters, MAX_PLACES)?;
        check_hashes(hashes)?;
        if !(Self::MIN_COUNTER_BITS..=Self::MAX_COUNTER_BITS).contains(&counter_bits) {
            return Err(LayoutError::CounterBits {
                at_least: Self::MIN_COUNTER_BITS,
                at_most: Self::MAX_COUNTER_BITS,
                found: counter_bits,
            });
        }
        Ok(Self {
            counters,
            hashes,
            counter_bits,
            counting: Counting::default(),
            scheme: SchemeName::default(),
        })
    }

    /// Changes the counting rule.
    #[must_use]
    pub const fn with_counting(self, counting: Counting) -> Self {
        Self { counting, ..self }
    }

    /// Changes the scheme. A banded scheme rounds the counters down to a multiple of the hashes.
    ///
    /// # Errors
    /// If a banded scheme has more hashes than counters.
    pub fn with_scheme(self, scheme: SchemeName) -> Result<Self, LayoutError> {
        let counters = places_used(scheme, self.counters, self.hashes)?;
        Ok(Self { counters, scheme, ..self })
    }

    getters! {
        /// The counters that are used (m in the papers).
        counters: u64,
        /// The number of hash functions (k in the papers).
        hashes: u32,
        /// The width of a counter (b in the papers).
        counter_bits: u32,
        /// What an item does to a counter that two of its probes share.
        counting: Counting,
        /// How a key's probes are found.
        scheme: SchemeName,
    }

    /// The largest value of a counter, at which it saturates: 2^b − 1.
    #[must_use]
    pub const fn most(&self) -> u32 {
        (1 << self.counter_bits) - 1
    }

    /// The bits of all counters.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.counters * self.counter_bits as u64
    }

    /// The bytes that hold the counters.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.bits().div_ceil(8)
    }
}
