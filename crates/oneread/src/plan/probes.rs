//! False positives of probe schemes that derive k locations from few words: their excess over
//! independent probes.
//!
//! Letters in the formulas: m bits, k hashes, n items, b = m/k bits per band.
//!
//! # Exact
//! Given the k locations of a key z that was not inserted, the n items hit them independently. An
//! item is a pair of uniform hash values (a, c), and hits a set of z's locations; the pairs are
//! counted by that set. z is found if every location is hit. By inclusion and exclusion over the
//! sets T of locations that no item hits, the probability is
//!
//! ```text
//!   Σ over T of (−1)^|T| · (1 − q_T)^n,    q_T = the fraction of pairs that hit a location in T
//! ```
//!
//! [`partitioned`] and [`double`] compute it. They take time proportional to b·k and to m²·k² (m·k²
//! per divisor of m without f), and to 2^k.
//!
//! # A bound for the partition scheme
//! Let q = 1 − (1 − 1/b)^n, the probability that a given location of z is hit. A pair that hits
//! location i hits another, j, only if (i − j)·c = 0 modulo b: if the order o of c divides i − j.
//! φ(o) values c have the order o, for each divisor o of b. So an item hits either one location
//! alone or, for an o below k, all locations of a class modulo o, with probability φ(o)/b² per
//! class. Consider the locations that items hit alone: these events are negatively associated, so
//! all of j locations are hit with probability at most q^j. Otherwise some item hits a class, and
//! the other items hit the locations outside of it. With B(j) for the bound of any j locations, and
//! the union bound over items:
//!
//! ```text
//!   B(0) = 1,  B(j) = q^j + n·Σ over o < k of φ(o)/b²·Σ over classes of B(j − size of the class)
//! ```
//!
//! # Extrapolation
//! To first order, the excess of the other two-word schemes is the probability that one item shares
//! many locations with z, which is W·n/m². W depends on k, on the fill, and on the greatest common
//! divisors of m with the numbers below k, but hardly on n and m otherwise: from m = 100 to m = 300
//! it changes by less than 6% ([`excess`] is tested against exact values). So W is computed at a
//! small size with the same divisors.

use alloc::vec;
use alloc::vec::Vec;

use super::OutOfRange;
use super::error::check;
use super::float::{exp, expm1, ln_1p};
use super::occupancy;
use crate::hash::probes::SchemeName;
use crate::layout::BloomLayout;

/// The most hashes of an exact calculation: there are 2^k sets of locations.
pub const MAX_EXACT_HASHES: u32 = 16;

/// The most places of an exact calculation: each takes two bytes of memory.
pub const MAX_EXACT_PLACES: u64 = 1 << 24;

/// The largest band for which [`excess`] is exact; above it, it is a bound.
pub(super) const EXACT_BAND: u64 = 1 << 14;

/// The largest tables for which [`excess`] of the other two-word schemes is exact, for double
/// hashing, which has symmetries, and for the extended schemes. They take some hundredths of a
/// second.
pub(super) const EXACT_DOUBLE_PLACES: u64 = 2048;
pub(super) const EXACT_EXTENDED_PLACES: u64 = 256;

/// W is computed at a size from the largest exact one to this multiple of it.
const REFERENCE_FACTOR: u64 = 4;

/// The probability of finding a key not inserted under the partition scheme: location i is a + i·c
/// in its own band, modulo the size of a band.
///
/// # Errors
/// If there are no hashes or more than [`MAX_EXACT_HASHES`], no places in a band or more than
/// [`MAX_EXACT_PLACES`].
///
/// # Example
/// ```
/// use oneread::plan::probes;
///
/// // 100 items at 16 bits per key and 11 hashes: 11.2 times the limit 4.587e-4 for many items.
/// let excess = probes::partitioned(1600 / 11, 11, 100)? / 4.587e-4;
/// assert!((excess - 11.2).abs() < 0.05);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn partitioned(band: u64, hashes: u32, items: u64) -> Result<f64, OutOfRange> {
    check_exact(band, hashes)?;
    Ok(exact_partitioned(band, hashes, items as f64))
}

/// Like [`partitioned`], but under (extended) double hashing: location i is a + i·c + f(i) modulo
/// the size of the table.
///
/// # Errors
/// If there are no hashes or more than [`MAX_EXACT_HASHES`], no places or more than
/// [`MAX_EXACT_PLACES`].
///
/// # Example
/// ```
/// use oneread::plan::probes;
///
/// // Double hashing with 3 hashes finds more than independent hashes, and i² halves the
/// // difference.
/// let [double, square] = [|_| 0, |i| i * i].map(|f| probes::double(101, 3, 12, f));
/// assert!(double? > 1.069 * 0.0276 && square? < 1.030 * 0.0276);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn double(size: u64, hashes: u32, items: u64, f: fn(u64) -> u64) -> Result<f64, OutOfRange> {
    check_exact(size, hashes)?;
    Ok(exact_double(size, hashes, items as f64, f))
}

fn check_exact(places: u64, hashes: u32) -> Result<(), OutOfRange> {
    check("hashes", hashes.into(), 1.0, MAX_EXACT_HASHES.into())?;
    check("places", places as f64, 1.0, MAX_EXACT_PLACES as f64)
}

/// The false-positive rate that a layout's scheme adds to that of independent probes (of
/// independent bands, for a banded scheme), after `items` insertions.
///
/// | scheme | excess |
/// | --- | --- |
/// | independent, independent bands | nothing |
/// | partitioned | exact up to 16 hashes and bands of 16,384 bits, then a proven bound |
/// | double | exact up to 16 hashes and 2048 bits, then extrapolated |
/// | extended, enhanced | exact up to 16 hashes and 256 bits, then extrapolated |
/// | accelerated, triple, quadruple | a measured bound: W is at most 0.35, k/2 and k/4 |
#[must_use]
pub fn excess(layout: BloomLayout, items: f64) -> f64 {
    let (bits, hashes) = (layout.bits(), layout.hashes());
    let measured = |independent: u32, w: f64| {
        // As many locations as words are independent.
        if hashes <= independent { 0.0 } else { w * items / bits as f64 / bits as f64 }
    };
    let added = match layout.scheme() {
        SchemeName::Independent | SchemeName::IndependentBands => 0.0,
        SchemeName::Accelerated => measured(3, 0.35),
        SchemeName::Triple => measured(3, f64::from(hashes) / 2.0),
        SchemeName::Quadruple => measured(4, f64::from(hashes) / 4.0),
        SchemeName::Partitioned => added_by_partition(bits / u64::from(hashes), hashes, items),
        SchemeName::Double => added_by_two_words(bits, hashes, items, |_| 0),
        SchemeName::ExtendedSquare => added_by_two_words(bits, hashes, items, |i| i * i),
        SchemeName::ExtendedCube => added_by_two_words(bits, hashes, items, |i| i * i * i),
        SchemeName::Enhanced => added_by_two_words(bits, hashes, items, |i| (i * i * i - i) / 6),
    };
    // No scheme counts as better than independent probes.
    added.clamp(0.0, 1.0)
}

fn added_by_partition(band: u64, hashes: u32, items: f64) -> f64 {
    let hit = -expm1(items * ln_1p(-1.0 / band as f64));
    if hashes <= 2 || items == 0.0 || band == 1 {
        return 0.0;
    }
    let all = if hashes <= MAX_EXACT_HASHES && band <= EXACT_BAND {
        exact_partitioned(band, hashes, items)
    } else {
        bounded_partitioned(band, hashes, items)
    };
    all - libm::pow(hit, hashes.into())
}

/// B(k) above.
fn bounded_partitioned(band: u64, hashes: u32, items: f64) -> f64 {
    let hit = -expm1(items * ln_1p(-1.0 / band as f64));
    // By the order of a class: the probability that an item hits one such class, times the items.
    let orders: Vec<(u32, f64)> = (1..hashes)
        .filter(|&order| band.is_multiple_of(u64::from(order)))
        .map(|order| (order, items * f64::from(totient(order)) / band as f64 / band as f64))
        .collect();
    let mut bound = vec![1.0];
    for locations in 1..=hashes {
        let mut sum = libm::pow(hit, locations.into());
        for &(order, weight) in &orders {
            for class in 0..order {
                let size = (hashes - class).div_ceil(order);
                sum += weight * bound[locations.saturating_sub(size) as usize];
            }
        }
        bound.push(sum.min(1.0));
    }
    bound[hashes as usize]
}

/// The count of numbers up to `order` that are coprime to it.
fn totient(order: u32) -> u32 {
    (1..=order).filter(|&number| greatest_common_divisor(number.into(), order.into()) == 1).count() as u32
}

fn added_by_two_words(size: u64, hashes: u32, items: f64, f: fn(u64) -> u64) -> f64 {
    if hashes <= 2 || items == 0.0 {
        return 0.0;
    }
    // With more hashes, W grows no faster than they do: under double hashing, one key in m has a
    // single location, which independent probes would find 2^k times less often.
    let counted = hashes.min(MAX_EXACT_HASHES);
    let scale = f64::from(hashes) / f64::from(counted);
    let added = |size: u64, items: f64| {
        let independent = exp(occupancy::ln_all_probes_set(size, items * f64::from(counted), counted));
        exact_double(size, counted, items, f) - independent
    };
    // The same fill, even if fewer hashes are counted.
    let load = items * scale / size as f64;
    let exact = if f(1) == 0 && f(2) == 0 { EXACT_DOUBLE_PLACES } else { EXACT_EXTENDED_PLACES };
    let reference = if size <= exact { size } else { reference(size, counted, exact) };
    let w = added(reference, load * reference as f64) * reference as f64 / load;
    scale * w * items / size as f64 / size as f64
}

/// A size of `least` or slightly more that shares all or most of the greatest common divisors of
/// `size` with the numbers below `hashes`.
fn reference(size: u64, hashes: u32, least: u64) -> u64 {
    let same = |small: u64| {
        let divisors = 2..u64::from(hashes);
        divisors.filter(|&d| greatest_common_divisor(small, d) == greatest_common_divisor(size, d)).count()
    };
    // If equal, the first.
    (least..=REFERENCE_FACTOR * least).rev().max_by_key(|&small| same(small)).unwrap_or(size)
}

/// An item's distance from z is as uniform as the item, so that z may be (0, 0): location i is hit
/// if a + i·c = 0.
fn exact_partitioned(band: u64, hashes: u32, items: f64) -> f64 {
    let mut pairs = Pairs::new(band, hashes);
    for step in 0..band {
        for i in 0..hashes {
            pairs.hit(modulo_minus(0, u64::from(i) * step % band, band), i);
        }
        pairs.count();
    }
    pairs.all_hit(items)
}

/// The probability is an average over z's second value; the first one only shifts everything.
/// Without f, multiplying all values by a number coprime to the size permutes the pairs. So values
/// with the same greatest common divisor with the size have the same probability.
fn exact_double(size: u64, hashes: u32, items: f64, f: fn(u64) -> u64) -> f64 {
    let offsets: Vec<u64> = (0..u64::from(hashes)).map(|i| f(i) % size).collect();
    let given = |step: u64| given_step(size, &offsets, items, step);
    let sum: f64 = if offsets.iter().all(|&offset| offset == 0) {
        let mut classes = vec![0u64; size as usize + 1];
        (0..size).for_each(|step| classes[greatest_common_divisor(step, size) as usize] += 1);
        let classes = classes.into_iter().enumerate().filter(|&(_, count)| count > 0);
        classes.map(|(divisor, count)| count as f64 * given(divisor as u64 % size)).sum()
    } else {
        (0..size).map(given).sum()
    };
    sum / size as f64
}

/// The probability given z's second value.
fn given_step(size: u64, offsets: &[u64], items: f64, step_of_key: u64) -> f64 {
    let hashes = offsets.len() as u32;
    let locations =
        |step: u64| (0..).zip(offsets).map(move |(i, offset): (u64, _)| (i * step + offset) % size);
    let of_key: Vec<u64> = locations(step_of_key).collect();
    let mut pairs = Pairs::new(size, hashes);
    for step in 0..size {
        for of_item in locations(step) {
            for (j, &of_key) in (0..).zip(&of_key) {
                pairs.hit(modulo_minus(of_key, of_item, size), j);
            }
        }
        pairs.count();
    }
    pairs.all_hit(items)
}

/// Counts the pairs (a, c) by the set of locations that they hit, for one c after another.
struct Pairs {
    size: u64,
    hashes: u32,
    /// By a, for the current c: the set, with one bit per location.
    sets: Vec<u16>,
    /// The a that hit any location for the current c.
    hitting: Vec<u32>,
    /// The number of pairs by the set that they hit; those that hit none are not counted.
    counts: Vec<u64>,
}

impl Pairs {
    fn new(size: u64, hashes: u32) -> Self {
        let sets = vec![0; size as usize];
        Self { size, hashes, sets, hitting: Vec::new(), counts: vec![0; 1 << hashes] }
    }

    fn hit(&mut self, a: u64, location: u32) {
        let set = &mut self.sets[a as usize];
        if *set == 0 {
            self.hitting.push(a as u32);
        }
        *set |= 1 << location;
    }

    /// Counts the hits of the current c, and clears them for the next.
    fn count(&mut self) {
        for a in self.hitting.drain(..) {
            let set = core::mem::take(&mut self.sets[a as usize]);
            self.counts[usize::from(set)] += 1;
        }
    }

    /// The probability that `items` pairs hit all locations together.
    fn all_hit(mut self, items: f64) -> f64 {
        let total = self.size as f64 * self.size as f64;
        let all: u64 = self.counts.iter().sum();
        // Afterwards, `counts` holds the number of pairs whose set is within a set.
        for location in 0..self.hashes {
            for set in 0..self.counts.len() {
                if set >> location & 1 == 1 {
                    self.counts[set] += self.counts[set ^ (1 << location)];
                }
            }
        }
        let everything = self.counts.len() - 1;
        let terms = (0..self.counts.len()).map(|missed| {
            let hitting = (all - self.counts[everything ^ missed]) as f64 / total;
            let none_hits = exp(items * ln_1p(-hitting));
            if missed.count_ones() % 2 == 0 { none_hits } else { -none_hits }
        });
        terms.sum()
    }
}

/// a − b modulo the size; both are below it.
fn modulo_minus(a: u64, b: u64, size: u64) -> u64 {
    if a >= b { a - b } else { a + size - b }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries every table of n items and every key, by brute force.
    fn brute_force(size: u64, items: u32, locations: impl Fn(u64, u64) -> Vec<u64>) -> f64 {
        let pairs: Vec<Vec<u64>> = (0..size * size).map(|pair| locations(pair / size, pair % size)).collect();
        let (mut found, mut all) = (0u64, 0u64);
        for table in 0..pairs.len().pow(items) {
            let items: Vec<_> =
                (0..items).map(|i| &pairs[table / pairs.len().pow(i) % pairs.len()]).collect();
            for key in &pairs {
                all += 1;
                let hit = |location: &u64| items.iter().any(|item| item.contains(location));
                found += u64::from(key.iter().all(hit));
            }
        }
        found as f64 / all as f64
    }

    #[test]
    fn small_tables_are_counted_right() {
        for size in [4, 5] {
            for f in [|_| 0, |i| i * i, |i| i * i * i] {
                let locations = |a, b| (0..3).map(|i| (a + i * b + f(i)) % size).collect();
                let expected = brute_force(size, 2, locations);
                assert!((double(size, 3, 2, f).unwrap() - expected).abs() < 1e-12, "size {size}");
            }
            let in_bands = |a, b| (0..3).map(|i| i * size + (a + i * b) % size).collect();
            let expected = brute_force(size, 2, in_bands);
            assert!((partitioned(size, 3, 2).unwrap() - expected).abs() < 1e-12, "bands of {size}");
        }
    }

    /// The bound beyond the exact sizes, and the extrapolation, where the exact value can still be
    /// computed.
    #[test]
    fn what_is_not_exact_is_close_to_what_is() {
        for (size, hashes, fill) in [
            (509u64, 5u32, 0.5f64),
            (512, 8, 0.5),
            (600, 6, 0.3),
            (1000, 5, 0.7),
            (540, 8, 0.5),
            (4000, 11, 0.5),
        ] {
            let items = -ln_1p(-fill) * size as f64 / f64::from(hashes);
            let independent = exp(occupancy::ln_all_probes_set(size, items * f64::from(hashes), hashes));
            // For a large table, only double hashing is counted quickly.
            let schemes: [fn(u64) -> u64; 3] = [|_| 0, |i| i * i, |i| i * i * i];
            for f in schemes.into_iter().take(if size > 1000 { 1 } else { 3 }) {
                let exact = exact_double(size, hashes, items, f) - independent;
                let extrapolated = added_by_two_words(size, hashes, items, f);
                let tolerance = 0.06 * exact + 0.01 * independent;
                assert!(
                    (extrapolated - exact).abs() < tolerance,
                    "{size} bits, {hashes} hashes, {fill}: {extrapolated:e}, exactly {exact:e} over {independent:e}"
                );
            }
        }
        // The last sizes use the bound, which is then close.
        for (band, hashes) in [
            (101u64, 7u32),
            (128, 8),
            (120, 6),
            (145, 11),
            (1000, 11),
            (16_411, 11),
            (20_160, 8),
            (32_768, 14),
        ] {
            let items = 0.7 * band as f64;
            let (exact, bound) =
                (exact_partitioned(band, hashes, items), bounded_partitioned(band, hashes, items));
            assert!(bound >= exact, "{band}, {hashes}: {bound:e}, exactly {exact:e}");
            assert!(
                band < EXACT_BAND || bound < 1.1 * exact,
                "{band}, {hashes}: {bound:e}, exactly {exact:e}"
            );
        }
    }
}
