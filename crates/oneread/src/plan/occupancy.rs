//! The exact probability that all probes of a query hit places set before.
//!
//! N throws set places of a table of m, uniformly and independently; k probes are drawn the same
//! way. The probability that all probes hit set places is
//!
//! ```text
//!   Σ over d of  Pr(k probes fall on d distinct places) · S(d),
//!   S(d) = Pr(d given places are all set by N throws).
//! ```
//!
//! The textbook form S(d) = Σ (−1)^j C(d,j) (1 − j/m)^N cancels: at k = 64 and half the places set,
//! its terms are of size 1e10 and its value 5e-20. Two forms that do not cancel cover all cases, by
//! the expected number d·q of the d places that stay unset, where q = (1 − 1/m)^N:
//!
//! - **d·q ≤ 1/2.** The textbook form. Its terms are at most C(d,j) q^j in size, since 1 − j/m ≤ (1
//!   − 1/m)^j, and these add up to (1 + q)^d ≤ e^(1/2); its value is at least 1 − d·q ≥ 1/2 (union
//!   bound). So it loses a factor of 3.3.
//! - **d·q > 1/2.** By the number w of throws that hit the d places: S(d) = Σ over w of Pr(Bin(N,
//!   d/m) = w) · Pr(w throws into d places leave none empty). Every term is positive, and a
//!   recursion of positive terms gives the second factor from w − 1 to w. The sum ends where the
//!   binomial weights, which fall faster than a geometric series, are negligible. It is short: q >
//!   1/128 means N/m < 4.9, so that w is at most around 310.
//!
//! Relative error. A recursion of some 500 steps, each with at most three roundings of 1.1e-16:
//! 2e-13. Logarithms are sums of at most 130 terms below 50 (places are below 2^46): 1e-12.
//! Together below 2e-12, for k ≤ 64 and any N.

use crate::layout::MAX_HASHES;

use super::binomial::{self, NEGLIGIBLE};
use super::float::{exp, ln, ln_1p, ln_sum};

/// A row with an entry for each number of probes from 0 to the most.
type Row = [f64; MAX_HASHES as usize + 1];

/// ln Pr(`probes` uniform places are all among those that `throws` uniform throws set in a table of
/// `places`).
///
/// Expects at least one place and at most [`MAX_HASHES`] probes.
#[must_use]
pub fn ln_all_probes_set(places: u64, throws: f64, probes: u32) -> f64 {
    if probes == 0 {
        return 0.0;
    }
    let ln_distinct = ln_distinct_places(places, probes);
    let most_distinct = u64::from(probes).min(places) as u32;
    let mut ln_total = f64::NEG_INFINITY;
    let mut ln_above = f64::INFINITY;
    for distinct in (1..=most_distinct).rev() {
        let ln_here = ln_distinct[distinct as usize];
        // The distribution of the distinct places is log-concave: once it falls, it keeps falling.
        // And S(d) ≤ 1.
        if ln_here < ln_above && ln_here < ln_total + ln(NEGLIGIBLE / f64::from(MAX_HASHES)) {
            break;
        }
        ln_total = ln_sum(ln_total, ln_here + ln_all_set(places, throws, distinct));
        ln_above = ln_here;
    }
    ln_total.min(0.0)
}

/// By d: ln Pr(`probes` uniform places are d distinct ones) = ln(S2(k,d) · m(m−1)…(m−d+1) / m^k).
fn ln_distinct_places(places: u64, probes: u32) -> Row {
    let places = places as f64;
    // Stirling numbers of the second kind, by S2(k,d) = d·S2(k−1,d) + S2(k−1,d−1); S2(64,d) is
    // below 1e60.
    let mut stirling: Row = [0.0; MAX_HASHES as usize + 1];
    stirling[0] = 1.0;
    for _ in 0..probes {
        for d in (1..stirling.len()).rev() {
            stirling[d] = d as f64 * stirling[d] + stirling[d - 1];
        }
        stirling[0] = 0.0;
    }
    let mut row: Row = [f64::NEG_INFINITY; MAX_HASHES as usize + 1];
    let mut ln_falling = 0.0;
    for d in 1..=probes {
        ln_falling += ln_1p(-f64::from(d - 1) / places);
        row[d as usize] = ln(stirling[d as usize]) + ln_falling - f64::from(probes - d) * ln(places);
        if f64::from(d) == places {
            break;
        }
    }
    row
}

/// ln S(d): `throws` throws set all of `given` places, which are at most `places`.
fn ln_all_set(places: u64, throws: f64, given: u32) -> f64 {
    if throws < f64::from(given) {
        return f64::NEG_INFINITY;
    }
    let unset = exp(throws * ln_1p(-1.0 / places as f64));
    if f64::from(given) * unset <= 0.5 {
        ln_all_set_by_exclusion(places, throws, given)
    } else {
        ln_all_set_by_hits(places, throws, given)
    }
}

/// The first case above: Σ (−1)^j C(d,j) (1 − j/m)^N.
fn ln_all_set_by_exclusion(places: u64, throws: f64, given: u32) -> f64 {
    let places = places as f64;
    let (mut some_unset, mut choices) = (0.0, 1.0);
    for j in 1..=given {
        choices *= -f64::from(given - j + 1) / f64::from(j);
        some_unset -= choices * exp(throws * ln_1p(-f64::from(j) / places));
    }
    ln_1p(-some_unset)
}

/// The second case above: by the number of throws that hit the given places.
fn ln_all_set_by_hits(places: u64, throws: f64, given: u32) -> f64 {
    // By j: Pr(hits have set j of the given places), after the fewest hits that could set all.
    let mut set: Row = [0.0; MAX_HASHES as usize + 1];
    set[0] = 1.0;
    let hit = |set: &mut Row| {
        for j in (1..=given as usize).rev() {
            set[j] = (set[j] * j as f64 + set[j - 1] * (given as usize + 1 - j) as f64) / f64::from(given);
        }
        set[0] = 0.0;
    };
    for _ in 0..given {
        hit(&mut set);
    }
    let mut hits = f64::from(given);
    if u64::from(given) == places {
        // Every throw is a hit.
        while hits < throws {
            hit(&mut set);
            hits += 1.0;
        }
        return ln(set[given as usize]);
    }
    let probability = f64::from(given) / places as f64;
    let odds = f64::from(given) / (places - u64::from(given)) as f64;
    let (mut weight, mut sum) = (1.0, 0.0);
    loop {
        sum += weight * set[given as usize];
        let ratio = binomial::ratio_upward(throws, odds, hits);
        if ratio < 1.0 && weight * ratio <= NEGLIGIBLE * (1.0 - ratio) * sum {
            return binomial::ln_point(throws, probability, given) + ln(sum);
        }
        weight *= ratio;
        hits += 1.0;
        hit(&mut set);
    }
}
