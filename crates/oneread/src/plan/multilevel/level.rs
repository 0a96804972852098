//! A level, approximately how many items it passes on, and what a distribution leaves out.

use crate::layout::MultilevelLayout;
use crate::plan::float::{exp, ln, sqrt};

/// One level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) buckets: u64,
    pub(crate) slots: u32,
}

impl Level {
    /// All levels of a layout, in order.
    pub(crate) fn of(layout: &MultilevelLayout) -> impl Iterator<Item = Self> + '_ {
        layout.levels().iter().map(|&buckets| Self { buckets, slots: layout.slots() })
    }

    /// Reports whether a bucket with room is less likely than e^−700, the smallest float. For
    /// several slots, where rows take longer, the limit is e^−80 = 1e-35. By Chernoff's bound on
    /// the load of a bucket, Pr(load ≤ k) ≤ e^−λ·(eλ/k)^k for k ≤ λ.
    pub(crate) fn is_surely_full(self, balls: u64) -> bool {
        let ln_impossible = if self.slots == 1 { -700.0 } else { -80.0 };
        let load = balls as f64 / self.buckets as f64;
        let least = f64::from(self.slots - 1);
        let ln_room = if least == 0.0 { -load } else { least - load + least * ln(load / least) };
        load > least && ln_room + ln(self.buckets as f64) < ln_impossible
    }

    /// The approximate mean and variance of what a level passes on out of `balls` items.
    ///
    /// A bucket's items N are approximately Poisson, and it passes on B = max(N − s, 0). Given the
    /// sum of all N, the variance of the sum of all B is lower than for independent buckets, by
    /// Cov(N, B)²/Var(N) per bucket.
    pub(crate) fn moments(self, balls: f64) -> (f64, f64) {
        // False for NaN too, which sums that underflowed may give.
        let is_more = balls > f64::from(self.slots);
        if !is_more {
            return (0.0, 0.0);
        }
        let buckets = self.buckets as f64;
        if self.is_surely_full(balls as u64) {
            return (balls - buckets * f64::from(self.slots), 0.0);
        }
        let (load, slots) = (balls / buckets, f64::from(self.slots));
        // E[B], E[B²] and E[N·B], from s + 1 items on; the terms finally fall faster than a
        // geometric series.
        let (mut first, mut second, mut product) = (0.0, 0.0, 0.0);
        let mut point = exp(-load + (1..=self.slots + 1).map(|i| ln(load / f64::from(i))).sum::<f64>());
        let mut beyond = 1.0;
        loop {
            first += beyond * point;
            second += beyond * beyond * point;
            product += (slots + beyond) * beyond * point;
            let ratio = load / (slots + beyond + 1.0);
            if ratio < 0.5 && beyond * beyond * point <= f64::EPSILON * second {
                break;
            }
            point *= ratio;
            beyond += 1.0;
        }
        let covariance = product - load * first;
        let variance = second - first * first - covariance * covariance / load;
        (buckets * first, buckets * variance.max(0.0))
    }
}

/// The part that a window leaves out, relative to its largest probability.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ln_low: f64,
    pub(crate) ln_high: f64,
}

impl Cut {
    /// The low end may be cut generously: fewer items passed on mean fewer at all levels below, so
    /// that all results fall by at most the share that is cut. Crises come from the high end.
    pub(crate) fn new(high: f64) -> Self {
        const LOW: f64 = 1e-40;
        Self::both(LOW, high)
    }

    /// The cut for a part with a share in a whole, such that the whole is cut as here.
    pub(crate) fn relative_to(self, share: f64) -> Self {
        /// Something of each part is kept, however small its share.
        const MOST: f64 = 1e-3;
        Self::both((self.low / share).min(MOST), (self.high / share).min(MOST))
    }

    pub(crate) fn both(low: f64, high: f64) -> Self {
        Self { low, high, ln_low: ln(low), ln_high: ln(high) }
    }

    /// The standard deviations at which a bell falls below the cut.
    pub(crate) fn deviations(self) -> f64 {
        sqrt(-2.0 * self.ln_low) + sqrt(-2.0 * self.ln_high)
    }
}
