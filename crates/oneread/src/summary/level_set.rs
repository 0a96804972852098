//! The answer of a summary: a set of levels.

use core::fmt;

use crate::layout::MultilevelLayout;

/// The levels where a key can be, in reading order. The empty set means that the key is absent.
///
/// # Example
/// ```
/// use oneread::summary::LevelSet;
///
/// assert!(LevelSet::EMPTY.is_empty());
/// let levels = LevelSet::up_to(2);
/// assert_eq!((levels.first(), levels.len(), levels.contains(3)), (Some(2), 3, false));
/// assert_eq!(levels.into_iter().collect::<Vec<_>>(), [2, 1, 0]);
/// assert_ne!(LevelSet::shallowest_first([4, 1]), LevelSet::deepest_first([4, 1]));
/// assert_eq!(LevelSet::shallowest_first([4, 1]).into_iter().collect::<Vec<_>>(), [1, 4]);
/// ```
#[derive(Clone, Copy)]
pub struct LevelSet {
    /// Bit i stands for level i.
    mask: u64,
    deepest_first: bool,
}

const _: () = assert!(MultilevelLayout::MAX_LEVELS <= u64::BITS as usize);

impl LevelSet {
    /// The empty set.
    pub const EMPTY: Self = Self { mask: 0, deepest_first: true };

    /// Returns `level` and all levels above it, deepest first.
    ///
    /// # Panics
    /// If `level` is 64 or more.
    #[inline(always)]
    #[must_use]
    pub const fn up_to(level: usize) -> Self {
        assert!(level < u64::BITS as usize, "there are at most 64 levels");
        Self { mask: u64::MAX >> (u64::BITS as usize - 1 - level), deepest_first: true }
    }

    /// Returns these levels, the deepest first.
    ///
    /// # Panics
    /// If a level is 64 or more.
    #[must_use]
    pub fn deepest_first(levels: impl IntoIterator<Item = usize>) -> Self {
        Self { mask: mask_of(levels), deepest_first: true }
    }

    /// Returns these levels, level 0 first.
    ///
    /// # Panics
    /// If a level is 64 or more.
    #[must_use]
    pub fn shallowest_first(levels: impl IntoIterator<Item = usize>) -> Self {
        Self { mask: mask_of(levels), deepest_first: false }
    }

    /// Reports whether the key is certainly not in the table.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.mask == 0
    }

    /// The number of levels.
    #[must_use]
    pub const fn len(self) -> usize {
        self.mask.count_ones() as usize
    }

    /// Reports whether the set contains `level`.
    #[must_use]
    pub const fn contains(self, level: usize) -> bool {
        level < u64::BITS as usize && self.mask >> level & 1 == 1
    }

    /// The level to read first.
    #[inline(always)]
    #[must_use]
    pub const fn first(self) -> Option<usize> {
        if self.mask == 0 {
            None
        } else if self.deepest_first {
            Some(self.mask.ilog2() as usize)
        } else {
            Some(self.mask.trailing_zeros() as usize)
        }
    }
}

fn mask_of(levels: impl IntoIterator<Item = usize>) -> u64 {
    levels.into_iter().fold(0, |mask, level| {
        assert!(level < u64::BITS as usize, "there are at most 64 levels, {level} is none of them");
        mask | 1 << level
    })
}

/// Equal sets have the same levels in the same order; order does not matter for fewer than two.
impl PartialEq for LevelSet {
    fn eq(&self, other: &Self) -> bool {
        self.mask == other.mask && (self.deepest_first == other.deepest_first || self.len() <= 1)
    }
}

impl Eq for LevelSet {}

impl Iterator for LevelSet {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let level = self.first()?;
        self.mask ^= 1 << level;
        Some(level)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.mask.count_ones() as usize, Some(self.mask.count_ones() as usize))
    }
}

impl ExactSizeIterator for LevelSet {}
impl core::iter::FusedIterator for LevelSet {}

impl fmt::Debug for LevelSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}
