//! The closed forms of the paper on summaries, for multilevel tables: cross-checks of the exact
//! plan.

use alloc::vec::Vec;

use libm::{exp, log as ln};
use oneread::layout::MultilevelLayout;

/// The expected number of items that each level passes on, at most, by the skew property:
/// `z_i = z_(i−1)²/2m_i`, from `z_0` = n on.
///
/// The paper's heuristic (section VI-B), for one slot: every item passed on collides with another,
/// and z²/2m pairs of z items do. For level 0 this bounds the expectation; for deeper levels it is
/// an estimate that neglects the variance of the items that reach them.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread_study::plan::multilevel;
///
/// let layout = MultilevelLayout::new([40_000, 10_000])?;
/// assert_eq!(multilevel::skew_estimate(&layout, 10_000), [1250.0, 78.125]);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn skew_estimate(layout: &MultilevelLayout, items: u64) -> Vec<f64> {
    let mut left = items as f64;
    layout
        .levels()
        .iter()
        .map(|&buckets| {
            left = left.min(left * left / (2.0 * buckets as f64));
            left
        })
        .collect()
}

/// A proven bound on the crisis probability of one-slot buckets, at most 1: the proof of Theorem
/// 1.1 with its constants.
///
/// With `z_0` = n and `z_i = z_(i−1)²/m_i`, the lemmas of appendix I give, for any r < d and any `w
/// ≥ z_r²/m_(r+1)`,
///
/// ```text
///   Pr(crisis) ≤ Σ over i ≤ r of (e/4)^(z_i/2)  +  (e/4)^(w/2)  +  Π over i > r + 1 of w²/2m_i
/// ```
///
/// where each factor of the product is at most 1. Level by level few items are left, finally at
/// most w, and from there on every level must have a collision among them. The best r and w are
/// taken. The theorem is about large n; at 10,000 items the bound is weak. It also holds for
/// several slots, which pass on fewer items.
#[must_use]
pub fn crisis_bound(layout: &MultilevelLayout, items: u64) -> f64 {
    // ln(e/4).
    let ln_base = 1.0 - ln(4.0);
    let levels = layout.levels();
    let (mut best, mut left, mut so_far) = (1.0f64, items as f64, 0.0);
    for (r, &buckets) in levels.iter().enumerate() {
        let least = left * left / buckets as f64;
        // All w from the smallest on in steps of 1%; beyond some thousand the second term is below
        // any float.
        let mut few = least.max(1.0);
        loop {
            let pairs = few * few / 2.0;
            let ln_rest: f64 =
                levels[r + 1..].iter().map(|&buckets| ln(pairs / buckets as f64).min(0.0)).sum();
            let second = ln_base * few / 2.0;
            best = best.min(so_far + exp(second) + exp(ln_rest));
            if ln_rest == 0.0 || second < ln_rest + ln(1e-3) {
                break;
            }
            few *= 1.01;
        }
        left = least;
        so_far += exp(ln_base * least / 2.0);
    }
    best
}
