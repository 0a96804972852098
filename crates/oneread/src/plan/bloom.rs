//! The odds of a Bloom filter, and the smallest one for a rate.
//!
//! Letters in the formulas: m bits, k hashes, n items, c = m/n bits per key.
//!
//! # Source
//! Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970. The bands, the
//! trivial filter and the optimal parameters: Lecture notes "Hashing" (chapter 6), section 6.4. Two
//! words for k functions: Kirsch, Mitzenmacher, "Less Hashing, Same Performance: Building a Better
//! Bloom Filter", 2006. That the textbook formula is not exact: Bose et al., "On the false-positive
//! rate of Bloom filters", 2008.

use core::f64::consts::LN_2;

use crate::hash::probes::SchemeName;
use crate::layout::{BloomLayout, LayoutError, MAX_HASHES, MAX_PLACES, Quantity, check_fraction};

use super::float::{ceil, exp, expm1, floor, ln, ln_1p, ln_one_minus_exp, ln_sum};
use super::search::least_near;
use super::{Accuracy, occupancy, probes};

/// How exact [`false_positive_probability`] is for the scheme of a layout; see [`probes::excess`].
///
/// The true probability over the limit (1 − e^(−k/c))^k at 16 bits per key and 11 hashes:
///
/// | scheme | 100 items | 1000 items |
/// | --- | --- | --- |
/// | independent | 1.01 | 1.00 |
/// | accelerated | 1.03 | 1.00 |
/// | quadruple | 1.06 | |
/// | enhanced | 1.12 | |
/// | triple | 1.14 | |
/// | extended by cubes | 1.20 | 1.02 |
/// | extended by squares | 1.74 | 1.07 |
/// | double | 3.05 | 1.20 |
/// | partitioned | 11.2 | 2.05 |
///
/// With many bits per key and few items, the excess over a tiny rate is large. Two items share all
/// their probes once in m² (double) or (m/k)² (partitioned), whatever the number of hashes. Prefer
/// `Independent` for a small set at a low rate.
#[must_use]
pub const fn accuracy(layout: BloomLayout) -> Accuracy {
    let few_hashes = layout.hashes() <= probes::MAX_EXACT_HASHES;
    match layout.scheme() {
        SchemeName::Independent | SchemeName::IndependentBands => Accuracy::Exact,
        SchemeName::Partitioned
            if few_hashes && layout.bits() / layout.hashes() as u64 <= probes::EXACT_BAND =>
        {
            Accuracy::Exact
        }
        SchemeName::Partitioned | SchemeName::Accelerated | SchemeName::Triple | SchemeName::Quadruple => {
            Accuracy::Bound
        }
        SchemeName::Double if few_hashes && layout.bits() <= probes::EXACT_DOUBLE_PLACES => Accuracy::Exact,
        SchemeName::ExtendedSquare | SchemeName::ExtendedCube | SchemeName::Enhanced
            if few_hashes && layout.bits() <= probes::EXACT_EXTENDED_PLACES =>
        {
            Accuracy::Exact
        }
        _ => Accuracy::Extrapolated,
    }
}

/// The probability of finding a key not inserted, after `items` insertions.
///
/// Exact for `Independent`: unlike the textbook formula, it accounts for probes that coincide and
/// for the varying number of set bits. Exact for `IndependentBands` too, where it is (1 − (1 −
/// k/m)^n)^k. The other schemes find more, in particular with few items. [`probes::excess`] is
/// added for them, and [`accuracy`] says whether that is exact.
///
/// # Example
/// ```
/// use oneread::hash::probes::SchemeName;
/// use oneread::layout::BloomLayout;
/// use oneread::plan::bloom;
///
/// let layout = BloomLayout::new(1600, 11)?.with_scheme(SchemeName::Independent)?;
/// assert_eq!(bloom::false_positive_probability(layout, 0), 0.0);
/// let exact = bloom::false_positive_probability(layout, 100);
/// // The limit for many items at 16 bits per key is 0.00045871.
/// let excess = exact / bloom::asymptotic(16.0, 11);
/// assert!(excess > 1.01 && excess < 1.02);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn false_positive_probability(layout: BloomLayout, items: u64) -> f64 {
    exp(ln_false_positive_probability(layout, items))
}

/// The logarithm of [`false_positive_probability`], even where that underflows a float.
#[must_use]
pub fn ln_false_positive_probability(layout: BloomLayout, items: u64) -> f64 {
    let independent = ln_without_excess(layout, items);
    // Without items nothing is found; avoids the logarithm of 0.
    let excess = probes::excess(layout, items as f64);
    if excess > 0.0 { ln_sum(independent, ln(excess)).min(0.0) } else { independent }
}

/// Like [`ln_false_positive_probability`], but as if the scheme's probes were independent.
fn ln_without_excess(layout: BloomLayout, items: u64) -> f64 {
    if layout.scheme().is_banded() {
        ln_partitioned(layout.bits(), layout.hashes(), items)
    } else {
        ln_independent(layout.bits(), layout.hashes(), items)
    }
}

fn ln_independent(bits: u64, hashes: u32, items: u64) -> f64 {
    occupancy::ln_all_probes_set(bits, items as f64 * f64::from(hashes), hashes)
}

/// (1 − (1 − k/m)^n)^k: each hash has a band of m/k bits, which need not be a whole number here.
///
/// Exact for `IndependentBands` if k divides m. Often used for unpartitioned filters too, where it
/// is slightly too high: with 100 items at 16 bits per key and 11 hashes, 1.03 times the limit
/// instead of 1.01.
///
/// ```
/// use oneread::plan::bloom;
///
/// // Two bands of two bits, one item: each band has one of its two bits set.
/// assert!((bloom::partitioned(4, 2, 1) - 0.25).abs() < 1e-15);
/// ```
#[must_use]
pub fn partitioned(bits: u64, hashes: u32, items: u64) -> f64 {
    exp(ln_partitioned(bits, hashes, items))
}

/// The logarithm of [`partitioned`], even where that underflows a float.
#[must_use]
pub fn ln_partitioned(bits: u64, hashes: u32, items: u64) -> f64 {
    if items == 0 {
        return f64::NEG_INFINITY;
    }
    if hashes == 0 {
        return 0.0;
    }
    // A band of less than a bit counts as one set bit.
    let in_band = (f64::from(hashes) / bits as f64).min(1.0);
    f64::from(hashes) * ln_one_minus_exp(items as f64 * ln_1p(-in_band))
}

/// (1 − e^(−k/c))^k: every scheme's limit for many items at `bits_per_key` (c) and `hashes` (k).
///
/// Independent probes have a higher exact value: at the best k, by a relative k²/6m or so, which is
/// 1% with 100 items at 16 bits per key. Without hashes or bits the result is 1.
///
/// ```
/// use oneread::plan::bloom;
///
/// assert_eq!(format!("{:.5}", bloom::asymptotic(4.0, 3)), "0.14689");
/// ```
#[must_use]
pub fn asymptotic(bits_per_key: f64, hashes: u32) -> f64 {
    if hashes == 0 || bits_per_key <= 0.0 {
        return 1.0;
    }
    let hashes = f64::from(hashes);
    exp(hashes * ln_one_minus_exp(-hashes / bits_per_key))
}

/// The expected fraction of set bits after `items` insertions: 1 − (1 − 1/m)^(nk), or 1 − (1 −
/// k/m)^n in bands.
///
/// Exact for the independent schemes and in bands, where each band's function is uniform. For the
/// others it is slightly too high: probes of an item coincide more often under double hashing.
#[must_use]
pub fn expected_fill(layout: BloomLayout, items: u64) -> f64 {
    if items == 0 { 0.0 } else { -expm1(items as f64 * ln_unset_by_an_item(layout)) }
}

/// The probability of finding a key not inserted, given `set_bits` set bits: (set/m)^k plus the
/// scheme's excess.
///
/// This is the false-positive *rate* of one filter (Kirsch, Mitzenmacher, section 5);
/// [`false_positive_probability`] is its average over all filters. It is exact for independent
/// probes. In bands it is an upper bound, reached when all are equally full. For the other schemes,
/// [`probes::excess`] is added for the [estimated](estimated_items) number of items. That is an
/// average over filters, since the bits do not show which probes belong together.
///
/// ```
/// use oneread::hash::probes::SchemeName;
/// use oneread::layout::BloomLayout;
/// use oneread::plan::bloom;
///
/// let layout = BloomLayout::new(1000, 3)?.with_scheme(SchemeName::Independent)?;
/// assert_eq!(bloom::rate_at_fill(layout, 0), 0.0);
/// assert!((bloom::rate_at_fill(layout, 500) - 0.125).abs() < 1e-15);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn rate_at_fill(layout: BloomLayout, set_bits: u64) -> f64 {
    let fill = set_bits.min(layout.bits()) as f64 / layout.bits() as f64;
    if fill == 0.0 || fill == 1.0 {
        return fill;
    }
    let excess = probes::excess(layout, estimated_items(layout, set_bits));
    (exp(f64::from(layout.hashes()) * ln(fill)) + excess).min(1.0)
}

/// The number of items that would set `set_bits` bits on average: the inverse of [`expected_fill`].
///
/// The error is a few √m/k while at least some tenths of the bits are unset. The estimate is
/// infinite once all bits are set.
///
/// ```
/// use oneread::layout::BloomLayout;
/// use oneread::plan::bloom;
///
/// let layout = BloomLayout::new(1000, 7)?;
/// assert_eq!(bloom::estimated_items(layout, 0), 0.0);
/// // 1000·ln(2)/7 = 99 items set half the bits.
/// assert!((bloom::estimated_items(layout, 500) - 99.0).abs() < 0.1);
/// assert_eq!(bloom::estimated_items(layout, 1000), f64::INFINITY);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn estimated_items(layout: BloomLayout, set_bits: u64) -> f64 {
    if set_bits == 0 {
        return 0.0;
    }
    if set_bits >= layout.bits() {
        return f64::INFINITY;
    }
    ln_1p(-(set_bits as f64) / layout.bits() as f64) / ln_unset_by_an_item(layout)
}

/// ln Pr(one item leaves a given bit unset).
fn ln_unset_by_an_item(layout: BloomLayout) -> f64 {
    let (bits, hashes) = (layout.bits() as f64, f64::from(layout.hashes()));
    if layout.scheme().is_banded() { ln_1p(-hashes / bits) } else { hashes * ln_1p(-1.0 / bits) }
}

/// Chooses between the two whole numbers around (m/n)·ln 2, by the exact probability of independent
/// probes.
///
/// At least 1, at most [`MAX_HASHES`]. For fewer than 50 items another number may be better: by up
/// to 1% with ten items, 10% with three.
///
/// ```
/// use oneread::plan::bloom;
///
/// // 8·ln 2 = 5.5: five hashes give 0.0217, six 0.0216.
/// assert_eq!(bloom::optimal_hashes(8000, 1000), 6);
/// ```
#[must_use]
pub fn optimal_hashes(bits: u64, items: u64) -> u32 {
    let (bits, items) = (bits.max(1), items.max(1));
    let most = f64::from(MAX_HASHES);
    let optimum = bits as f64 / items as f64 * LN_2;
    let [fewer, more] = [floor(optimum), ceil(optimum)].map(|hashes| hashes.clamp(1.0, most) as u32);
    if ln_independent(bits, more, items) < ln_independent(bits, fewer, items) { more } else { fewer }
}

/// Chooses the default scheme for at least 1000 items if it adds less than 1% to the probability,
/// else independent probes.
///
/// A filter of a few hundred keys has the time for k words, and rates below 1e-15 or so need them.
fn with_scheme_for(layout: BloomLayout, items: u64) -> Result<BloomLayout, LayoutError> {
    const FEW: u64 = 1000;
    const LITTLE: f64 = 0.01;
    let [fast, independent] =
        [SchemeName::Accelerated, SchemeName::Independent].map(|scheme| layout.with_scheme(scheme));
    let (fast, independent) = (fast?, independent?);
    let added = probes::excess(fast, items as f64) / false_positive_probability(independent, items);
    Ok(if items >= FEW && added < LITTLE { fast } else { independent })
}

/// Plans a filter of `bits` bits with the [optimal hashes](optimal_hashes) for `items`. It has the
/// default scheme, or independent probes for fewer than 1000 items and where the default scheme
/// would err 1% more often.
///
/// # Errors
/// If there are no bits or too many.
pub fn for_bits(bits: u64, items: u64) -> Result<BloomLayout, LayoutError> {
    // Checks the bits before planning with them.
    BloomLayout::new(bits, 1)?;
    with_scheme_for(BloomLayout::new(bits, optimal_hashes(bits, items))?, items.max(1))
}

/// Finds the filter with the fewest bits that keeps `items` items at the rate.
///
/// It has the default scheme, or independent probes for fewer than 1000 items and where the default
/// scheme would err 1% more often. By [`false_positive_probability`], no number of hashes meets the
/// rate with one bit less. That is exact for independent probes, and a bound for the default
/// scheme. Above some 10^11 bits, one bit changes the probability by less than its rounding, which
/// limits how exact "fewest" is.
///
/// # Errors
/// If the rate is not between 0 and 1, or out of reach of [`MAX_PLACES`] bits.
///
/// # Example
/// ```
/// use oneread::plan::bloom;
///
/// assert!(bloom::for_rate(1_000_000, 0.0).is_err());
/// let layout = bloom::for_rate(1_000_000, 0.01)?;
/// assert_eq!(layout.hashes(), 7);
/// assert!(bloom::false_positive_probability(layout, 1_000_000) <= 0.01);
/// // 1.44·log2(100) = 9.58 bits per key, and a little more for rounding 6.64 hashes to 7.
/// assert!(layout.bits() > 9_580_000 && layout.bits() < 9_600_000);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_rate(items: u64, rate: f64) -> Result<BloomLayout, LayoutError> {
    let independent = for_rate_with(items, rate, SchemeName::Independent)?;
    match with_scheme_for(independent, items.max(1))?.scheme() {
        SchemeName::Independent => Ok(independent),
        scheme => for_rate_with(items, rate, scheme),
    }
}

/// Like [`for_rate`], but with probes of a given scheme. An [extrapolated](Accuracy::Extrapolated)
/// probability depends on the divisors of the number of bits. For such a scheme, the search takes a
/// second or two, and slightly fewer bits may suffice.
///
/// # Errors
/// As [`for_rate`]; and if the rate is out of reach of this scheme, the error names one that
/// reaches it.
///
/// # Example
/// ```
/// use oneread::hash::probes::SchemeName;
/// use oneread::plan::bloom;
///
/// // At a low rate, a few items take many more bits under the partition scheme.
/// let partitioned = bloom::for_rate_with(100, 5e-4, SchemeName::Partitioned)?;
/// assert!(bloom::false_positive_probability(partitioned, 100) <= 5e-4);
/// assert!(2 * partitioned.bits() > 3 * bloom::for_rate(100, 5e-4)?.bits());
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_rate_with(items: u64, rate: f64, scheme: SchemeName) -> Result<BloomLayout, LayoutError> {
    check_fraction(Quantity::Rate, rate)?;
    let items = items.max(1);
    let limit = |hashes: u32| limit_of_bits(items, rate, hashes);
    let start = (1..=MAX_HASHES).min_by(|&a, &b| limit(a).total_cmp(&limit(b))).unwrap_or(1);

    // As hashes increase, the fewest bits fall to a minimum near that of the limit, then rise. For
    // small sets, where this is not obvious, a test tries every number of hashes.
    let mut best: Option<Candidate> = None;
    for hashes in (1..=start).rev() {
        if !improves(&mut best, fewest_bits(items, rate, hashes, scheme)) {
            break;
        }
    }
    for hashes in start + 1..=MAX_HASHES {
        if !improves(&mut best, fewest_bits(items, rate, hashes, scheme)) {
            break;
        }
    }
    match best {
        Some(best) => BloomLayout::new(best.bits, best.hashes)?.with_scheme(scheme),
        // Of the schemes without excess, `Independent` is never the worse.
        None if scheme != SchemeName::Independent
            && for_rate_with(items, rate, SchemeName::Independent).is_ok() =>
        {
            Err(LayoutError::OutOfReachOfScheme { scheme, rate, items })
        }
        None => Err(LayoutError::OutOfReach { rate, items }),
    }
}

/// Finds the filter with the fewest bits that keeps `items` items at the rate with this number of
/// hashes.
///
/// # Errors
/// As [`for_rate_with`], and if there are no hashes or more than [`MAX_HASHES`].
pub fn for_rate_and_hashes(
    items: u64,
    rate: f64,
    hashes: u32,
    scheme: SchemeName,
) -> Result<BloomLayout, LayoutError> {
    check_fraction(Quantity::Rate, rate)?;
    BloomLayout::new(1, hashes)?;
    let items = items.max(1);
    match fewest_bits(items, rate, hashes, scheme) {
        Some(found) => BloomLayout::new(found.bits, hashes)?.with_scheme(scheme),
        None if fewest_bits(items, rate, hashes, SchemeName::Independent).is_some() => {
            Err(LayoutError::OutOfReachOfScheme { scheme, rate, items })
        }
        None => Err(LayoutError::OutOfReach { rate, items }),
    }
}

/// A filter that meets a rate.
#[derive(Clone, Copy)]
struct Candidate {
    bits: u64,
    hashes: u32,
    ln_probability: f64,
}

/// Reports whether the candidate has no more bits than the best so far. Replaces the best by it if
/// it has fewer bits or, at equal bits, the lower probability.
fn improves(best: &mut Option<Candidate>, candidate: Option<Candidate>) -> bool {
    // While nothing meets the rate, another number of hashes may.
    let Some(candidate) = candidate else { return best.is_none() };
    let Some(before) = *best else {
        *best = Some(candidate);
        return true;
    };
    if candidate.bits < before.bits
        || candidate.bits == before.bits && candidate.ln_probability < before.ln_probability
    {
        *best = Some(candidate);
    }
    candidate.bits <= before.bits
}

/// The bits that meet the rate with `hashes` hashes in the limit: −nk / ln(1 − rate^(1/k)).
fn limit_of_bits(items: u64, rate: f64, hashes: u32) -> f64 {
    let hashes = f64::from(hashes);
    -(items as f64) * hashes / ln_one_minus_exp(ln(rate) / hashes)
}

/// Finds the fewest bits that meet the rate with `hashes` hashes, if any: the probability falls as
/// the bits rise.
fn fewest_bits(items: u64, rate: f64, hashes: u32, scheme: SchemeName) -> Option<Candidate> {
    let layout = |bits: u64| BloomLayout::new(bits, hashes).and_then(|layout| layout.with_scheme(scheme));
    let meets = |bits| {
        // Too few bits for the scheme give no layout. The excess is checked last because it takes
        // the most time.
        layout(bits).is_ok_and(|layout| {
            exp(ln_without_excess(layout, items)) <= rate && false_positive_probability(layout, items) <= rate
        })
    };
    if !meets(MAX_PLACES) {
        return None;
    }
    // The limit is close, so steps away from it start at one bit and double.
    let guess = ceil(limit_of_bits(items, rate, hashes)).clamp(1.0, MAX_PLACES as f64) as u64;
    let met = least_near(guess, 1, 2, MAX_PLACES, meets)?;
    let ln_probability = ln_false_positive_probability(layout(met).ok()?, items);
    Some(Candidate { bits: met, hashes, ln_probability })
}
