//! The lecture's two Bloom filters, which are simple to prove and larger than necessary.

use libm::ceil;
use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, LayoutError, Quantity};

/// The lecture's multi-band filter: ⌈log2(1/rate)⌉ independent bands of 2n bits, each wrong with
/// probability at most 1/2.
///
/// 39% larger than necessary: [`for_rate`](oneread::plan::bloom::for_rate) finds the smallest
/// filter.
///
/// # Errors
/// If the rate is not between 0 and 1 or below 2^−64, or if there are too many bits.
///
/// # Example
/// ```
/// use oneread_study::plan::bloom;
///
/// let layout = bloom::bands_for_rate(1_000_000, 0.01)?;
/// assert_eq!((layout.hashes(), layout.bits()), (7, 14_000_000));
/// assert!(oneread::plan::bloom::false_positive_probability(layout, 1_000_000) < 0.01);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn bands_for_rate(items: u64, rate: f64) -> Result<BloomLayout, LayoutError> {
    check(rate)?;
    // Halving is exact, unlike a logarithm.
    let (mut bands, mut reached) = (1, 0.5);
    while reached > rate {
        bands += 1;
        reached /= 2.0;
    }
    let bits = items.max(1).saturating_mul(2).saturating_mul(u64::from(bands));
    BloomLayout::new(bits, bands)?.with_scheme(SchemeName::IndependentBands)
}

/// The lecture's trivial filter: one hash and ⌈n/rate⌉ bits.
///
/// # Errors
/// If the rate is not between 0 and 1, or if there are too many bits.
///
/// # Example
/// ```
/// use oneread_study::plan::bloom;
///
/// assert_eq!(bloom::trivial_for_rate(1_000_000, 0.01)?.bits(), 100_000_000);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn trivial_for_rate(items: u64, rate: f64) -> Result<BloomLayout, LayoutError> {
    check(rate)?;
    // A float above the range saturates, and is too large in any case.
    BloomLayout::new(ceil(items.max(1) as f64 / rate) as u64, 1)?.with_scheme(SchemeName::Independent)
}

fn check(rate: f64) -> Result<(), LayoutError> {
    if rate > 0.0 && rate < 1.0 {
        Ok(())
    } else {
        Err(LayoutError::Fraction { what: Quantity::Rate, found: rate })
    }
}
