//! Maps the pages of a segment to its levels, and a key to its pages.

use std::ops::RangeInclusive;

use oneread::hash::{Digest, reduce};
use oneread::table::placement;

use crate::domain;

/// The levels of a segment; some may have no pages.
pub(crate) const LEVELS: usize = 3;

/// The size limit of a segment: a page's number in its level has 24 bits.
pub(crate) const SEGMENT_PAGES: u32 = 1 << 24;

/// The division of a segment's pages among its levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The shares of the second and the third level, in units of 1 / [`Shape::WHOLE`]; the first
    /// level has the rest.
    second: u32,
    third: u32,
}

impl Shape {
    /// The denominator of shares.
    pub(crate) const WHOLE: u32 = 1 << 16;

    /// Two levels, the second a quarter of the first. All records of a sealed segment are known and
    /// some are moved, so two pages per record suffice if a page has twenty records or more. A
    /// guide that tells two levels apart is a twelfth smaller.
    pub(crate) const TWO: Self = Self { second: 13_107, third: 0 };

    /// Three levels, each 0.2, 0.3, 0.4 or 0.5 of the one before. The first is best for many
    /// records per page; with few, more pages overflow, and deeper levels must have more room.
    pub(crate) const THREE: [Self; 4] = [
        Self { second: 10_570, third: 2_114 },
        Self { second: 14_144, third: 4_243 },
        Self { second: 16_804, third: 6_721 },
        Self { second: 18_724, third: 9_362 },
    ];

    /// Returns the shape with these shares, if the levels shrink.
    pub(crate) fn from_parts(parts: [u32; LEVELS]) -> Option<Self> {
        let [first, second, third] = parts;
        let whole = first.checked_add(second)?.checked_add(third)? == Self::WHOLE;
        (whole && first > second && second >= third).then_some(Self { second, third })
    }

    pub(crate) const fn parts(self) -> [u32; LEVELS] {
        [Self::WHOLE - self.second - self.third, self.second, self.third]
    }

    /// The number of pages of each level. Shares are rounded down and the first level has the rest,
    /// so a small segment has fewer levels.
    #[inline(always)]
    pub(crate) const fn levels(self, pages: u32) -> [u32; LEVELS] {
        let second = ((pages as u64 * self.second as u64) >> 16) as u32;
        let third = ((pages as u64 * self.third as u64) >> 16) as u32;
        [pages - second - third, second, third]
    }
}

/// The word of a digest that the directory uses.
#[inline(always)]
pub(crate) fn word(digest: Digest) -> u64 {
    digest.word(domain::DIRECTORY, 0)
}

/// The segment of a key.
#[inline(always)]
pub(crate) fn segment(digest: Digest, segments: u32) -> u32 {
    reduce(word(digest), u64::from(segments)) as u32
}

/// The level of a segment's page, and its index in that level; `None` beyond the last level.
pub(crate) fn position(levels: [u32; LEVELS], mut page: u32) -> Option<(usize, u32)> {
    for (level, pages) in levels.into_iter().enumerate() {
        if page < pages {
            return Some((level, page));
        }
        page -= pages;
    }
    None
}

/// The words of the keys in segment `number` of a sealed store: it begins at ⌈number·2^64/segments⌉.
pub(crate) fn words(number: u32, segments: u32) -> RangeInclusive<u64> {
    let start = |number: u32| (u128::from(number) << 64).div_ceil(u128::from(segments.max(1)));
    start(number) as u64..=(start(number + 1) - 1) as u64
}

/// The page of a key in a level of `pages` pages.
#[inline(always)]
pub(crate) fn page(digest: Digest, level: usize, pages: u32) -> u32 {
    placement::bucket(digest, level, u64::from(pages)) as u32
}

/// The tag of a key in its page.
#[inline(always)]
pub(crate) fn tag(digest: Digest) -> u8 {
    digest.word(domain::TAG, 0) as u8
}
