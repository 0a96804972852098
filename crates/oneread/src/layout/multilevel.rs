//! How a multilevel hash table is laid out.

use alloc::vec::Vec;

use super::error::{check_fraction, check_places};
use super::{HintRule, Keep, LayoutError, MAX_PLACES, Moves, OnCrisis, Quantity, Restriction};

/// A multilevel hash table's buckets per level, slots per bucket, stash and moves.
///
/// A key has one bucket in each level, and goes to the first level whose bucket has room. Levels
/// are counted from 0 and usually shrink: most keys find room in level 0, most of the rest in level
/// 1, and so on. [`plan::multilevel`](crate::plan::multilevel) computes how many, and the
/// probability that a key finds no room at all.
///
/// # Source
/// Broder, Karlin, "Multilevel adaptive hashing", 1990. Kirsch, Mitzenmacher, "Simple Summaries for
/// Hashing With Choices", 2008, section VI, whose `T_1` … `T_d` are the levels 0 … d − 1 here.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
///
/// assert!(MultilevelLayout::new([]).is_err());
/// // The paper's table for 10,000 items (section IX).
/// let layout = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// assert_eq!(
///     (layout.level_count(), layout.buckets(), layout.occupancy_bytes()),
///     (5, 60_000, 7_500)
/// );
/// // Three buckets per item in level 0; each level is half as large as the one before (Table I).
/// let halving = MultilevelLayout::for_items(10_000, 3.0, 0.5, 5)?;
/// assert_eq!(halving.levels(), [30_000, 15_000, 7_500, 3_750, 1_875]);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MultilevelLayout {
    levels: Vec<u64>,
    slots: u32,
    stash: u32,
    moves: Moves,
    on_crisis: OnCrisis,
}

impl MultilevelLayout {
    /// The most levels. Five or six are usual.
    pub const MAX_LEVELS: usize = 64;

    /// The most slots of a bucket.
    pub const MAX_SLOTS: u32 = 1024;

    /// The most items of a stash.
    pub const MAX_STASH: u32 = 1 << 20;

    /// The default stash size in items: what the paper on moves needed for tables without any.
    pub const DEFAULT_STASH: u32 = 32;

    /// Takes the number of buckets of each level, with one slot each, no moves, and a stash of
    /// [`DEFAULT_STASH`](Self::DEFAULT_STASH) items.
    ///
    /// # Errors
    /// If there are no levels or more than [`MAX_LEVELS`](Self::MAX_LEVELS), if a level has no
    /// buckets, or if there are more than [`MAX_PLACES`] in all.
    pub fn new(levels: impl Into<Vec<u64>>) -> Result<Self, LayoutError> {
        let levels = levels.into();
        check_places(Quantity::Levels, levels.len() as u64, Self::MAX_LEVELS as u64)?;
        let mut all: u64 = 0;
        for &buckets in &levels {
            check_places(Quantity::Buckets, buckets, MAX_PLACES)?;
            // At most 64 terms of 2^46.
            all += buckets;
        }
        check_places(Quantity::Buckets, all, MAX_PLACES)?;
        Ok(Self {
            levels,
            slots: 1,
            stash: Self::DEFAULT_STASH,
            moves: Moves::default(),
            on_crisis: OnCrisis::default(),
        })
    }

    /// Makes `levels` levels: `first` buckets, then `ratio` times as many in each next level,
    /// ⌈first·ratioⁱ⌉.
    ///
    /// A product that is whole but for rounding stays that number.
    ///
    /// # Errors
    /// If the ratio is not between 0 and 1, and as [`new`](Self::new).
    pub fn geometric(first: u64, ratio: f64, levels: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::Buckets, first, MAX_PLACES)?;
        Self::geometric_sizes(first as f64, ratio, levels)
    }

    /// Makes the paper's levels for n items: level i has ⌈c2ⁱ·c1·n⌉ buckets.
    ///
    /// # Errors
    /// If there are no items or more than [`MAX_PLACES`], if c1·n is not a valid number of buckets,
    /// if c2 is not between 0 and 1, and as [`new`](Self::new).
    pub fn for_items(items: u64, c1: f64, c2: f64, levels: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::Items, items, MAX_PLACES)?;
        Self::geometric_sizes(c1 * items as f64, c2, levels)
    }

    fn geometric_sizes(first: f64, ratio: f64, levels: u32) -> Result<Self, LayoutError> {
        check_fraction(Quantity::Ratio, ratio)?;
        check_places(Quantity::Levels, u64::from(levels), Self::MAX_LEVELS as u64)?;
        let mut exact = first;
        let mut sizes = Vec::new();
        for _ in 0..levels {
            sizes.push(rounded_up(exact));
            exact *= ratio;
        }
        Self::new(sizes)
    }

    /// Gives each bucket `slots` slots.
    ///
    /// # Errors
    /// If a bucket has no slots or more than [`MAX_SLOTS`](Self::MAX_SLOTS), or if there are more
    /// than [`MAX_PLACES`] in all.
    pub fn with_slots(self, slots: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::SlotsPerBucket, u64::from(slots), u64::from(Self::MAX_SLOTS))?;
        check_places(Quantity::Slots, self.buckets() * u64::from(slots), MAX_PLACES)?;
        Self { slots, ..self }.checked()
    }

    /// Gives the stash room for `stash` items, possibly none.
    ///
    /// # Errors
    /// If they are more than [`MAX_STASH`](Self::MAX_STASH).
    pub fn with_stash(self, stash: u32) -> Result<Self, LayoutError> {
        if stash > Self::MAX_STASH {
            let expected = u64::from(Self::MAX_STASH);
            return Err(LayoutError::TooLarge { what: Quantity::StashItems, expected, found: stash.into() });
        }
        Ok(Self { stash, ..self })
    }

    /// Changes the moves.
    ///
    /// # Errors
    /// With hints, if there are 2^32 places or more. With restricted hashing, if the fan-out is 0
    /// or above [`MAX_FANOUT`](super::Restriction::MAX_FANOUT), or not 1 with nested maps; if a
    /// bucket has several slots; if more than [`MAX_BELOW`](super::Restriction::MAX_BELOW) buckets
    /// of the last level are below one of the first; or if a level has fewer buckets than the
    /// fan-out.
    pub fn with_moves(self, moves: Moves) -> Result<Self, LayoutError> {
        Self { moves, ..self }.checked()
    }

    /// Changes the answer to a crisis.
    ///
    /// # Errors
    /// If a rebuild has no attempts or more than [`MAX_ATTEMPTS`](OnCrisis::MAX_ATTEMPTS).
    pub fn with_crisis(self, on_crisis: OnCrisis) -> Result<Self, LayoutError> {
        if let OnCrisis::Rebuild { attempts } = on_crisis {
            check_places(Quantity::Rebuilds, attempts.into(), OnCrisis::MAX_ATTEMPTS.into())?;
        }
        Ok(Self { on_crisis, ..self })
    }

    /// Checks what the moves require of the sizes.
    fn checked(self) -> Result<Self, LayoutError> {
        if self.moves.hints().is_some() {
            // A hint is a 32-bit number; a stash of any size fits above these.
            const MAX_HINTED: u64 = u32::MAX as u64 - MultilevelLayout::MAX_STASH as u64 - 1;
            check_places(Quantity::Slots, self.capacity(), MAX_HINTED)?;
        }
        if let Some(restriction) = self.moves.restriction() {
            restriction.check(&self)?;
        }
        Ok(self)
    }

    /// The buckets of each level (`m_1` … `m_d` in the paper).
    #[must_use]
    pub fn levels(&self) -> &[u64] {
        &self.levels
    }

    /// The number of levels (d in the paper).
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    getters! {
        /// The slots of a bucket.
        slots: u32,
        /// The capacity of the stash in items.
        stash: u32,
        /// Which items move.
        moves: Moves,
        /// What happens to an item that finds no room.
        on_crisis: OnCrisis,
    }

    /// The buckets of all levels.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.levels.iter().sum()
    }

    /// The slots of all levels: an upper bound on the items that fit.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.buckets() * u64::from(self.slots)
    }

    /// The bytes of a bitmap with one bit per bucket: whether it holds any item (section V of the
    /// paper).
    #[must_use]
    pub fn occupancy_bytes(&self) -> u64 {
        self.buckets().div_ceil(8)
    }

    /// The most buckets that an insertion reads, including its lookup; [`Moves`] says why. A
    /// rebuild reads all.
    ///
    /// ```
    /// use oneread::layout::{HintRule, Hints, Moves, MultilevelLayout, Restriction};
    ///
    /// let layout = MultilevelLayout::geometric(8192, 0.5, 6)?;
    /// let reads =
    ///     |moves| layout.clone().with_moves(moves).map(|layout| layout.most_insertion_reads());
    /// assert_eq!(reads(Moves::SecondChance)?, 6);
    /// assert_eq!(reads(Moves::Both(Hints::default()))?, 6);
    /// assert_eq!(reads(Moves::Both(Hints { rule: HintRule::Deepest, ..Hints::default() }))?, 10);
    /// assert_eq!(reads(Moves::Restricted(Restriction::default()))?, 11);
    /// # Ok::<(), oneread::layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn most_insertion_reads(&self) -> u64 {
        let levels = self.level_count() as u64;
        match self.moves {
            Moves::Hints(hints) | Moves::Both(hints) if hints.rule == HintRule::Deepest => {
                levels.max(2 * levels - 2)
            }
            Moves::Restricted(restriction) if restriction.keep == Keep::Random => {
                self.buckets_below(restriction).min(2 * levels - 1)
            }
            Moves::Restricted(restriction) => self.buckets_below(restriction),
            Moves::None | Moves::SecondChance | Moves::Hints(_) | Moves::Both(_) => levels,
        }
    }

    /// The most buckets that a removal reads, including its lookup; [`Moves`] says why.
    #[must_use]
    pub fn most_removal_reads(&self) -> u64 {
        match self.moves {
            Moves::Restricted(restriction) => self.buckets_below(restriction),
            _ => self.level_count() as u64,
        }
    }

    /// A bucket of the first level and all below it: at most 64 terms of 4096.
    fn buckets_below(&self, restriction: Restriction) -> u64 {
        (0..self.level_count() as u32).map(|level| u64::from(restriction.fanout).pow(level)).sum()
    }

    /// The bits per hint, which names a slot, a place in the stash or none; 0 without hints.
    #[must_use]
    pub fn hint_bits(&self) -> u32 {
        let values = self.capacity() + u64::from(self.stash) + 1;
        if self.moves.hints().is_some() { (values - 1).ilog2() + 1 } else { 0 }
    }

    /// The bytes of all hints, packed, one per bucket; 0 without hints.
    #[must_use]
    pub fn hint_bytes(&self) -> u64 {
        (self.buckets() * u64::from(self.hint_bits())).div_ceil(8)
    }
}

/// The next whole number, or the nearest if the difference is rounding: 1000·0.1·0.1 is 10, not 11.
/// NaN and negative numbers give 0.
fn rounded_up(exact: f64) -> u64 {
    /// Far above the rounding of 64 products (1e-14), far below any intended difference.
    const ROUNDING: f64 = 1e-10;
    if exact.is_nan() || exact <= 0.0 {
        return 0;
    }
    // The conversion truncates, and saturates at the largest number.
    let nearest = (exact + 0.5) as u64;
    if (exact - nearest as f64).abs() <= ROUNDING * exact {
        nearest
    } else {
        (exact as u64).saturating_add(1)
    }
}
