//! From the pages of a segment to its levels, and from a key to its pages.

use oneread::hash::{Digest, reduce};
use oneread::table::placement;

use crate::domain;

/// The levels of a segment, some of which may have no pages.
pub(crate) const LEVELS: usize = 3;

/// The largest segment: a page's number in its level has 24 bits.
pub(crate) const SEGMENT_PAGES: u32 = 1 << 24;

/// How a segment's pages are divided among its levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The parts of the second and the third level, of [`Shape::WHOLE`]; the first level has the
    /// rest.
    second: u32,
    third: u32,
}

impl Shape {
    /// Parts are counted in so many.
    pub(crate) const WHOLE: u32 = 1 << 16;

    /// Two levels, the second a quarter of the first. All records of a sealed segment are known,
    /// and some are moved until all have room; so two pages a record are enough where a page has
    /// twenty records or more. A guide with one level less to tell apart is a twelfth smaller.
    pub(crate) const TWO: Self = Self { second: 13_107, third: 0 };

    /// Three levels, each 0.2, 0.3, 0.4 or 0.5 of the one before. With many records a page the
    /// first is best; with few, more pages overflow, and there must be more room below.
    pub(crate) const THREE: [Self; 4] = [
        Self { second: 10_570, third: 2_114 },
        Self { second: 14_144, third: 4_243 },
        Self { second: 16_804, third: 6_721 },
        Self { second: 18_724, third: 9_362 },
    ];

    /// The shape with these parts, if the levels shrink.
    pub(crate) fn from_parts(parts: [u32; LEVELS]) -> Option<Self> {
        let [first, second, third] = parts;
        let whole = first.checked_add(second)?.checked_add(third)? == Self::WHOLE;
        (whole && first > second && second >= third).then_some(Self { second, third })
    }

    pub(crate) const fn parts(self) -> [u32; LEVELS] {
        [Self::WHOLE - self.second - self.third, self.second, self.third]
    }

    /// The pages of each level. The first level has what rounding down leaves over, so that a small
    /// segment has fewer levels.
    #[inline(always)]
    pub(crate) const fn levels(self, pages: u32) -> [u32; LEVELS] {
        let second = ((pages as u64 * self.second as u64) >> 16) as u32;
        let third = ((pages as u64 * self.third as u64) >> 16) as u32;
        [pages - second - third, second, third]
    }
}

/// The word that the directory goes by.
#[inline(always)]
pub(crate) fn word(digest: Digest) -> u64 {
    digest.word(domain::DIRECTORY, 0)
}

/// The segment of a key.
#[inline(always)]
pub(crate) fn segment(digest: Digest, segments: u32) -> u32 {
    reduce(word(digest), u64::from(segments)) as u32
}

/// A key's page in a level of so many.
#[inline(always)]
pub(crate) fn page(digest: Digest, level: usize, pages: u32) -> u32 {
    placement::bucket(digest, level, u64::from(pages)) as u32
}

/// A key's tag in its page.
#[inline(always)]
pub(crate) fn tag(digest: Digest) -> u8 {
    digest.word(domain::TAG, 0) as u8
}
