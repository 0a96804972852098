//! From the pages of a segment to its levels, and from a key to its pages.

use oneread::hash::{Digest, Domain, reduce};
use oneread::table::placement;

/// The levels of a segment, some of which may have no pages.
pub(crate) const LEVELS: usize = 3;

/// The largest segment: a page's number in its level has 24 bits.
pub(crate) const SEGMENT_PAGES: u32 = 1 << 24;

/// The pages of each level: the second has a fifth of the first, the third a fifth of the second.
///
/// 25 + 5 + 1 = 31 parts. The first level has what rounding down leaves over, so that a small segment has fewer levels.
#[inline(always)]
pub(crate) const fn levels(pages: u32) -> [u32; LEVELS] {
    let third = pages / 31;
    let second = (pages as u64 * 5 / 31) as u32;
    [pages - second - third, second, third]
}

/// The segment of a key.
#[inline(always)]
pub(crate) fn segment(digest: Digest, segments: u32) -> u32 {
    reduce(digest.word(Domain::STORE_DIRECTORY, 0), u64::from(segments)) as u32
}

/// A key's page in a level of so many.
#[inline(always)]
pub(crate) fn page(digest: Digest, level: usize, pages: u32) -> u32 {
    placement::bucket(digest, level, u64::from(pages)) as u32
}

/// A key's tag in its page.
#[inline(always)]
pub(crate) fn tag(digest: Digest) -> u8 {
    digest.word(Domain::STORE_TAG, 0) as u8
}
