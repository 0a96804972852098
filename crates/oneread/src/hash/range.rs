//! Maps a uniform word to a uniform location.

/// Maps a uniform 64-bit word to `0..size`, for any size: the upper half of `word · size`.
///
/// The size need not be a power of two. Some locations get one word more than others, a bias below
/// `size / 2^64`. The result depends on the *upper* bits of the word; never apply it twice to the
/// same word (take [words](super::Digest::word) of different domains).
///
/// ```
/// use oneread::hash::reduce;
///
/// assert_eq!(reduce(0, 1000), 0);
/// assert_eq!(reduce(u64::MAX / 2, 1000), 499);
/// assert_eq!(reduce(u64::MAX, 1000), 999);
/// ```
///
/// For a size of 0 the result is 0.
#[inline(always)]
#[must_use]
pub const fn reduce(word: u64, size: u64) -> u64 {
    (((word as u128) * (size as u128)) >> 64) as u64
}
