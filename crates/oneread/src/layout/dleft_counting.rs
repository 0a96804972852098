//! How a d-left filter that can delete is laid out.

use super::error::check_places;
use super::{LayoutError, MAX_PLACES, Quantity};

/// How long the remainders in a bucket are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Remainders {
    /// All of one length, whatever the load: the dlCBF of the papers. Its rate never rises with
    /// age.
    Fixed,
    /// One length per bucket: what the bucket's highest load so far leaves room for. This is the
    /// ddlCBF. The bucket's state implies one bit of each remainder (semi-sorting).
    #[default]
    OneSize,
    /// Like `OneSize`, but a bucket that was crowded once gives new remainders the next longer
    /// length when it has room again. Its state implies no bit.
    TwoSizes,
}

impl Remainders {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::OneSize, Self::TwoSizes];
}

/// What happens to equal remainders: of a key inserted several times, or of keys with one
/// fingerprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Repeats {
    /// They are counted up to [four](DLeftCountingLayout::SATURATES_AT), in as few cells as the
    /// counters allow. A count of four is saturated and never falls. So no key fills a bucket,
    /// however often it is inserted.
    #[default]
    Stick,
    /// What the counters cannot count gets cells of its own. Nothing saturates, but a key inserted
    /// often fills its bucket. The paper's experiment does this.
    Copy,
}

impl Repeats {
    /// All policies.
    pub const ALL: [Self; 2] = [Self::Stick, Self::Copy];
}

/// The sub-tables, buckets and cells of a d-left filter that can delete.
///
/// A bucket has 128 bits: 8 for its state, 120 divided among its cells. A cell holds a remainder
/// and, in `counter_bits` bits, the number of keys that share it.
///
/// | most cells so far | bits per cell | implied in `OneSize` | lengths in `TwoSizes` |
/// | --- | --- | --- | --- |
/// | 4 (`Fixed` only) | 30 | | |
/// | 5, 6, 7 | 24, 20, 17 | one bit | 24; 20 and 24; 17 and 20 |
/// | 8, 9, 10 | 15, 13, 12 | one bit | 15 and 17; 13 and 15; 12 and 13 |
/// | 12 | 10 | nothing | 10 and 12 |
///
/// [`plan::dleft_counting`](crate::plan::dleft_counting) computes its odds.
///
/// # Example
/// ```
/// use oneread::layout::{DLeftCountingLayout, Remainders};
///
/// // The paper's experiment: four sub-tables of 2048 buckets; eight cells of 15 bits, one a
/// // counter.
/// let layout = DLeftCountingLayout::new(4, 2048)?;
/// let fixed = layout.with_remainders(Remainders::Fixed)?.with_capacity(8)?;
/// assert_eq!((fixed.byte_len(), fixed.counter_bits(), fixed.minimal_bits()), (131072, 1, 14));
/// assert!(layout.with_capacity(13).is_err());
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DLeftCountingLayout {
    subtables: u32,
    buckets_each: u64,
    remainders: Remainders,
    capacity: u32,
    counter_bits: u32,
    repeats: Repeats,
}

impl DLeftCountingLayout {
    /// The most sub-tables. The paper has four.
    pub const MAX_SUBTABLES: u32 = 8;

    /// The bits of a bucket.
    pub const BUCKET_BITS: u32 = 128;

    /// The bits of a bucket that its cells share.
    pub const CELL_SPACE: u32 = 120;

    /// The usual most cells per bucket: half as many again as the usual load of six. More cells
    /// shorten the minimal remainders, so that more keys must share all their buckets.
    pub const CAPACITY: u32 = 9;

    /// The widest counter of a cell.
    pub const MAX_COUNTER_BITS: u32 = 2;

    /// Where the count of equal remainders saturates: the most that a counter of two bits can hold.
    pub const SATURATES_AT: u32 = 4;

    /// Takes `subtables` sub-tables (d in the papers) of `buckets_each` buckets. Remainders of a
    /// bucket have one size, buckets up to [`CAPACITY`](Self::CAPACITY) cells, counters one bit,
    /// and repeats stick.
    ///
    /// # Errors
    /// If there are no sub-tables or more than [`MAX_SUBTABLES`](Self::MAX_SUBTABLES), no buckets,
    /// or more bits in all than [`MAX_PLACES`].
    pub fn new(subtables: u32, buckets_each: u64) -> Result<Self, LayoutError> {
        check_places(Quantity::Subtables, u64::from(subtables), u64::from(Self::MAX_SUBTABLES))?;
        let most = MAX_PLACES / u64::from(Self::BUCKET_BITS) / u64::from(subtables);
        check_places(Quantity::Buckets, buckets_each, most)?;
        Ok(Self {
            subtables,
            buckets_each,
            remainders: Remainders::default(),
            capacity: Self::CAPACITY,
            counter_bits: 1,
            repeats: Repeats::default(),
        })
    }

    /// Changes the lengths of remainders.
    ///
    /// # Errors
    /// If a bucket cannot then have its [capacity](Self::with_capacity). Also for two sizes where
    /// repeats stick, if the [counters](Self::with_counter_bits) have fewer than two bits: cutting
    /// some cells of a count would split it.
    pub fn with_remainders(self, remainders: Remainders) -> Result<Self, LayoutError> {
        Self { remainders, ..self }.checked()
    }

    /// Allows up to `capacity` cells per bucket.
    ///
    /// The remainders of a full bucket are the *minimal* ones: see
    /// [`minimal_bits`](Self::minimal_bits).
    ///
    /// # Errors
    /// If it is not from 4 to 12 with remainders of fixed length, 5 to 10 or 12 with others.
    pub fn with_capacity(self, capacity: u32) -> Result<Self, LayoutError> {
        Self { capacity, ..self }.checked()
    }

    /// Gives cells counters of `counter_bits` bits. Each bit doubles what a cell can count, and the
    /// rate.
    ///
    /// # Errors
    /// If there are more than [`MAX_COUNTER_BITS`](Self::MAX_COUNTER_BITS); and as
    /// [`with_remainders`](Self::with_remainders).
    pub fn with_counter_bits(self, counter_bits: u32) -> Result<Self, LayoutError> {
        Self { counter_bits, ..self }.checked()
    }

    /// Changes what happens to repeats.
    ///
    /// # Errors
    /// As [`with_remainders`](Self::with_remainders).
    pub fn with_repeats(self, repeats: Repeats) -> Result<Self, LayoutError> {
        Self { repeats, ..self }.checked()
    }

    /// Sets all policies at once, so that no intermediate layout has to be valid.
    pub(crate) fn with_policies(
        self,
        remainders: Remainders,
        capacity: u32,
        counter_bits: u32,
        repeats: Repeats,
    ) -> Result<Self, LayoutError> {
        Self { remainders, capacity, counter_bits, repeats, ..self }.checked()
    }

    fn checked(self) -> Result<Self, LayoutError> {
        let (least, most) = match self.remainders {
            Remainders::Fixed => (4, 12),
            Remainders::OneSize | Remainders::TwoSizes => (5, 12),
        };
        // Eleven cells are no longer than twelve, and no states are left for them.
        let possible = self.remainders == Remainders::Fixed || self.capacity != 11;
        if self.capacity < least || self.capacity > most || !possible {
            return Err(LayoutError::Cells { at_least: least, at_most: most, found: self.capacity });
        }
        let split = self.remainders == Remainders::TwoSizes && self.repeats == Repeats::Stick;
        let (at_least, at_most) = (if split { 2 } else { 0 }, Self::MAX_COUNTER_BITS);
        if !(at_least..=at_most).contains(&self.counter_bits) {
            return Err(LayoutError::CounterBits { at_least, at_most, found: self.counter_bits });
        }
        Ok(self)
    }

    getters! {
        /// The number of sub-tables (d in the papers).
        subtables: u32,
        /// The buckets of each sub-table (B in the paper).
        buckets_each: u64,
        /// How long the remainders in a bucket are.
        remainders: Remainders,
        /// The most cells in a bucket.
        capacity: u32,
        /// The bits of a cell's counter, which counts one key more than its value: 0 for no
        /// counter.
        counter_bits: u32,
        /// What happens to equal remainders.
        repeats: Repeats,
    }

    /// The buckets of all sub-tables.
    #[must_use]
    pub const fn total_buckets(&self) -> u64 {
        self.buckets_each * self.subtables as u64
    }

    /// The most cells in all buckets.
    #[must_use]
    pub const fn total_slots(&self) -> u64 {
        self.total_buckets() * self.capacity as u64
    }

    /// The bits per cell in a bucket divided into `cells`.
    #[must_use]
    pub(crate) const fn cell_bits(cells: u32) -> u32 {
        Self::CELL_SPACE / cells
    }

    /// The bits of the minimal remainder (log2 R in the paper), stored and implied, which is never
    /// cut. Keys that agree in these and in their first bucket share all their buckets, and lie in
    /// the same one.
    #[must_use]
    pub const fn minimal_bits(&self) -> u32 {
        self.minimal_stored_bits() + self.always_told() as u32
    }

    /// The minimal remainder's bits that a cell stores.
    pub(crate) const fn minimal_stored_bits(&self) -> u32 {
        Self::cell_bits(self.capacity) - self.counter_bits
    }

    /// Reports whether a bucket's state implies a bit of each remainder at every load.
    pub(crate) const fn always_told(&self) -> bool {
        matches!(self.remainders, Remainders::OneSize) && self.capacity <= 10
    }

    /// The bits of a remainder, stored and implied, in a bucket whose highest load so far is
    /// `most`.
    ///
    /// With two sizes, this is the worst case for the shorter one.
    #[must_use]
    pub fn remainder_bits(&self, most: u32) -> u32 {
        let most = most.clamp(self.fewest_cells(), self.capacity);
        let (cells, told) = match self.remainders {
            Remainders::Fixed => (self.capacity, 0),
            Remainders::OneSize | Remainders::TwoSizes if most > 10 => (12, 0),
            Remainders::TwoSizes => (most, 0),
            Remainders::OneSize => (most, 1),
        };
        Self::cell_bits(cells) - self.counter_bits + told
    }

    /// The cells that a bucket is divided into at first.
    pub(crate) const fn fewest_cells(&self) -> u32 {
        match self.remainders {
            Remainders::Fixed => self.capacity,
            // Then no states are left for buckets of five cells.
            Remainders::OneSize if self.capacity == 12 => 6,
            _ => 5,
        }
    }

    /// The bits of all buckets.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.total_buckets() * Self::BUCKET_BITS as u64
    }

    /// The bytes of all buckets.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.bits() / 8
    }
}
