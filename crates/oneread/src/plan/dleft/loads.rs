//! How full the buckets of a d-left table are, in the limit of many buckets.
//!
//! Sub-table i has the fraction `w_i` of all buckets; `p_{i,j}` of its buckets have load j and
//! `u_{i,j}` have load j or more. An item goes to a bucket of load j in sub-table i if that is its
//! choice there, its other choices have loads of at least j, and the tie rule picks it. With t
//! items inserted per bucket of the whole table,
//!
//! ```text
//!   w_i · (flow from j to j + 1 in sub-table i)
//!       = p_{i,j} · Π over k < i of u_{k,j+1} · Π over k > i of u_{k,j}
//! ```
//!
//! with ties to the left. For random ties, the expectation of 1/(1 + T) replaces the products,
//! where T is the number of other choices that also have load j, none being lower: ∫ over x from 0
//! to 1 of Π over k ≠ i of (`u_{k,j+1}` + x·`p_{k,j}`).
//!
//! The variables are the `p_{i,j}`, and the `u_{i,j}` are their sums. All terms are positive, so
//! that neither the 1.7e-8 of nearly full tables' empty buckets nor the 5.6e-31 of a tail is a
//! difference of larger numbers. Loads up to j do not depend on higher ones. So a table whose
//! buckets hold at most j has the same fractions as an unbounded one, with everything above j at j,
//! and nothing is cut off.

use alloc::vec;
use alloc::vec::Vec;

use crate::layout::{DLeftLayout, Ties};
use crate::plan::OutOfRange;
use crate::plan::differential::evolve;
use crate::plan::error::check;

use super::match_probability;

/// The fractions of buckets with each load, by sub-table.
///
/// From [`loads`], which computes the limit for many buckets, or from [`Loads::measured`].
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// The fraction of all buckets in each sub-table.
    shares: Vec<f64>,
    /// By sub-table, by load.
    fractions: Vec<Vec<f64>>,
    passed: f64,
}

impl Loads {
    /// Counts the loads of a table: `counts[i][j]` buckets of sub-table i have load j.
    ///
    /// # Errors
    /// If there are no sub-tables, or one without buckets.
    pub fn measured<C: AsRef<[u64]>>(counts: &[C]) -> Result<Self, OutOfRange> {
        check("sub-tables", counts.len() as f64, 1.0, f64::INFINITY)?;
        let sizes: Vec<f64> =
            counts.iter().map(|counts| counts.as_ref().iter().map(|&count| count as f64).sum()).collect();
        for &size in &sizes {
            check("buckets", size, 1.0, f64::INFINITY)?;
        }
        let total: f64 = sizes.iter().sum();
        Ok(Self {
            shares: sizes.iter().map(|size| size / total).collect(),
            fractions: counts
                .iter()
                .zip(&sizes)
                .map(|(counts, size)| counts.as_ref().iter().map(|&count| count as f64 / size).collect())
                .collect(),
            passed: 0.0,
        })
    }

    /// `Q_ij` in the paper: the fraction of each sub-table's buckets with each load, from 0 on.
    #[must_use]
    pub fn by_subtable(&self) -> &[Vec<f64>] {
        &self.fractions
    }

    /// The fraction of all buckets with each load, from 0 on: the columns of the paper's tables.
    #[must_use]
    pub fn overall(&self) -> Vec<f64> {
        let loads = self.fractions.iter().map(Vec::len).max().unwrap_or(0);
        let fraction = |load: usize| {
            self.shares
                .iter()
                .zip(&self.fractions)
                .map(|(share, fractions)| share * fractions.get(load).unwrap_or(&0.0))
                .sum()
        };
        (0..loads).map(fraction).collect()
    }

    /// The items per bucket that found all their choices at the highest load, and so have no room
    /// if this is the capacity. 0 for measured loads.
    #[must_use]
    pub const fn passed(&self) -> f64 {
        self.passed
    }

    /// Formula (1) of the paper, for any rule of lengths: the sum over sub-tables and loads j of
    /// `Q_ij`·j·2^−f(j), with f(j) = `bits(j)`, at most 1.
    ///
    /// It counts a key twice that matches two fingerprints, and so is too high: by a relative 3e-4
    /// in the paper's filter of 64-bit buckets, 2e-5 with 128-bit buckets.
    #[must_use]
    pub fn false_positive(&self, bits: impl Fn(u32) -> u32) -> f64 {
        let of_bucket = |(load, fraction): (usize, &f64)| {
            let load = load as u32;
            fraction * f64::from(load) * match_probability(bits(load))
        };
        self.fractions
            .iter()
            .flat_map(|fractions| fractions.iter().enumerate())
            .map(of_bucket)
            .sum::<f64>()
            .min(1.0)
    }

    /// Takes fractions by sub-table, then by load. Fractions too small to be followed may come out
    /// negative.
    pub(crate) fn new(shares: Vec<f64>, fractions: &[f64]) -> Self {
        let loads = fractions.len() / shares.len();
        let of_subtable =
            |fractions: &[f64]| fractions.iter().map(|fraction: &f64| fraction.max(0.0)).collect();
        Self { fractions: fractions.chunks_exact(loads).map(of_subtable).collect(), shares, passed: 0.0 }
    }
}

/// The highest load that [`loads`] follows.
pub const MAX_LOAD: u32 = 32;

/// Computes the loads of a d-left table of many buckets: `buckets` by sub-table, of which only the
/// proportions matter, with `load` items per bucket of the whole table.
///
/// The last fraction of each sub-table is that of the load `highest` *or more*; the others do not
/// depend on `highest`. Buckets of bounded capacity have the same fractions, with `highest` the
/// capacity.
///
/// # What is exact
/// This is the limit for many buckets, solved to a relative error below 1e-9 in every fraction
/// above 1e-45. A table of N buckets fluctuates around it: a fraction q by some √(q/N), the mean of
/// many tables by some 1/N. [`DLeftPlan`](super::DLeftPlan) says how much this changes the
/// false-positive rate.
///
/// # Errors
/// If there are no sub-tables or more than 8; if one has no buckets or is more than 16 times larger
/// than another ([`DLeftLayout`]'s limits); if the load is negative, NaN or above [`MAX_LOAD`]; or
/// if `highest` is not between 1 and it.
///
/// # Example
/// ```
/// use oneread::layout::Ties;
/// use oneread::plan::dleft;
///
/// assert!(dleft::loads(&[1, 1, 1], Ties::Left, f64::NAN, 7).is_err());
/// let loads = dleft::loads(&[1, 1, 1], Ties::Left, 4.0, 7)?.overall();
/// assert_eq!(format!("{:.2e} {:.3e}", loads[4], loads[7]), "6.56e-1 5.567e-31");
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn loads(buckets: &[u64], ties: Ties, load: f64, highest: u32) -> Result<Loads, OutOfRange> {
    let equations = Equations::new(buckets, ties, highest)?;
    check("load", load, 0.0, f64::from(MAX_LOAD))?;
    let mut state = equations.empty();
    let passed = state.len();
    state.push(0.0);
    let (mut arrivals, highest) = (vec![0.0; passed], equations.highest);
    evolve(&mut state, load, |state, rates| {
        rates[passed] = equations.arrivals(&state[..passed], &mut arrivals);
        let subtables = state.chunks_exact(highest + 1).zip(arrivals.chunks_exact(highest + 1));
        for ((fractions, arrivals), rates) in subtables.zip(rates.chunks_exact_mut(highest + 1)) {
            let mut flow = 0.0;
            for ((fraction, arrival), rate) in fractions.iter().zip(arrivals).zip(rates) {
                *rate = flow - fraction * arrival;
                flow = fraction * arrival;
            }
        }
    });
    Ok(Loads { passed: state[passed].max(0.0), ..Loads::new(equations.shares, &state[..passed]) })
}

/// The rates at which items arrive, given the fractions `p_{i,j}`: by sub-table, then by load from
/// 0 to the highest.
pub struct Equations {
    /// The share of each sub-table in all buckets, `w_i`.
    pub shares: Vec<f64>,
    /// The highest load.
    pub highest: usize,
    ties: Ties,
}

impl Equations {
    /// Checks the sub-tables.
    ///
    /// # Errors
    /// As [`loads`].
    pub fn new(buckets: &[u64], ties: Ties, highest: u32) -> Result<Self, OutOfRange> {
        check("sub-tables", buckets.len() as f64, 1.0, DLeftLayout::MAX_SUBTABLES as f64)?;
        check("highest load", f64::from(highest), 1.0, f64::from(MAX_LOAD))?;
        let largest = buckets.iter().fold(0, |largest, &buckets| largest.max(buckets)) as f64;
        let least = (largest / DLeftLayout::MAX_RATIO as f64).max(1.0);
        for &buckets in buckets {
            check("buckets of a sub-table", buckets as f64, least, f64::INFINITY)?;
        }
        let total: f64 = buckets.iter().map(|&buckets| buckets as f64).sum();
        let shares = buckets.iter().map(|&buckets| buckets as f64 / total).collect();
        Ok(Self { shares, highest: highest as usize, ties })
    }

    /// All buckets empty.
    fn empty(&self) -> Vec<f64> {
        let mut fractions = vec![0.0; self.shares.len() * (self.highest + 1)];
        fractions.iter_mut().step_by(self.highest + 1).for_each(|fraction| *fraction = 1.0);
        fractions
    }

    /// Fills in the rate at which a bucket of each load gets an item: 0 at the highest load.
    /// Returns the rate of items that find all their choices there.
    pub fn arrivals(&self, fractions: &[f64], arrivals: &mut [f64]) -> f64 {
        const MOST: usize = DLeftLayout::MAX_SUBTABLES;
        let subtables = self.shares.len();
        // By sub-table: the fractions at a load and above it, from the highest load down.
        let (mut at, mut above) = ([0.0; MOST], [0.0; MOST]);
        let place = |subtable: usize, load: usize| subtable * (self.highest + 1) + load;
        for subtable in 0..subtables {
            above[subtable] = fractions[place(subtable, self.highest)];
        }
        arrivals.fill(0.0);
        let passed = above[..subtables].iter().product();
        for load in (0..self.highest).rev() {
            for subtable in 0..subtables {
                at[subtable] = fractions[place(subtable, load)];
            }
            let arrivals = &mut arrivals[load..];
            match self.ties {
                Ties::Left => {
                    let right: [f64; MOST] = core::array::from_fn(|k| at[k] + above[k]);
                    self.add_products(1.0, &above, &right, arrivals);
                }
                Ties::Random => {
                    for (x, weight) in NODES {
                        let others: [f64; MOST] = core::array::from_fn(|k| x * at[k] + above[k]);
                        self.add_products(weight, &others, &others, arrivals);
                    }
                }
            }
            for subtable in 0..subtables {
                above[subtable] += at[subtable];
            }
        }
        passed
    }

    /// Adds to each sub-table's first arrivals the product of `left` before it and `right` after
    /// it, times the weight over its share.
    fn add_products(&self, weight: f64, left: &[f64], right: &[f64], arrivals: &mut [f64]) {
        let mut to_the_right = [1.0; DLeftLayout::MAX_SUBTABLES];
        for subtable in (1..self.shares.len()).rev() {
            to_the_right[subtable - 1] = to_the_right[subtable] * right[subtable];
        }
        let mut to_the_left = weight;
        let places = arrivals.iter_mut().step_by(self.highest + 1);
        for (subtable, (arrival, share)) in places.zip(&self.shares).enumerate() {
            *arrival += to_the_left * to_the_right[subtable] / share;
            to_the_left *= left[subtable];
        }
    }
}

/// Gauss's quadrature from 0 to 1 with four nodes: (node, weight). Exact up to degree 7, which
/// covers the products over at most seven other sub-tables.
const NODES: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];
