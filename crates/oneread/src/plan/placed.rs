//! The size and the odds of filters whose keys are placed offline.

/// The cells per key in a [`PlacedFilter`](crate::filter::PlacedFilter).
pub const CHOICES: u32 = 4;

/// The cells of a [`PlacedFilter`](crate::filter::PlacedFilter) of `items` keys: ⌈1.05 n⌉, at least
/// 1.
///
/// The paper's figure, "less than 1.05n cells". The threshold for four choices is 0.9768 keys per
/// cell, or 1.0238 cells per key.
///
/// ```
/// assert_eq!(oneread::plan::placed::cells(1000), 1050);
/// ```
#[must_use]
pub const fn cells(items: u64) -> u64 {
    // 5% more, rounded up.
    let cells = items.saturating_add(items.div_ceil(20));
    if cells == 0 { 1 } else { cells }
}

/// The probability that a [`PlacedFilter`](crate::filter::PlacedFilter) finds an absent key: that
/// one of its four cells is in use, and holds the same one of 2^f − 1 fingerprints.
///
/// # What is exact
/// Exact for a random filter: the cells of an absent key are independent of one another and of
/// which cells are in use.
///
/// ```
/// use oneread::plan::placed::false_positive_probability;
///
/// assert_eq!(format!("{:.3e}", false_positive_probability(1000, 1050, 15)), "1.163e-4");
/// ```
#[must_use]
pub fn false_positive_probability(items: u64, cells: u64, fingerprint_bits: u32) -> f64 {
    let fingerprints = ((1u64 << fingerprint_bits.clamp(1, 63)) - 1) as f64;
    let one = items.min(cells) as f64 / cells.max(1) as f64 / fingerprints;
    // 1 − (1 − x)^4, without a difference of nearly equal numbers.
    one * (4.0 - one * (6.0 - one * (4.0 - one)))
}
