//! The loads of a d-left table under deletions and insertions, and the highest load that each
//! bucket has seen.
//!
//! A bucket's state is its load j and its highest load so far, m. Insertions lead from j to j + 1
//! as they do [without deletions](dleft::loads()), whatever m is. A deletion takes each item with
//! the same probability, so that a bucket of load j loses one at j times the rate of a single item.
//! With L items per bucket, one insertion per bucket deletes an item with probability 1/L. This is
//! the unit of time, and L units are a turnover.

use alloc::vec;
use alloc::vec::Vec;

use libm::ldexp;
use oneread::layout::{DLeftLayout, Ties};
use oneread::plan::OutOfRange;
use oneread::plan::dleft::{self, Loads};
use oneread::workspace::{DLeftEquations, check, dleft_loads, evolve};

/// The most turnovers that [`churned`] follows.
pub const MAX_TURNOVERS: f64 = 100.0;

/// The highest load that [`churned`] follows.
pub const MAX_CHURNED_LOAD: u32 = 12;

/// A d-left table under churn: the fractions of buckets with each load, and with each highest load
/// so far.
///
/// From [`churned`].
#[derive(Clone, Debug, PartialEq)]
pub struct Churned {
    loads: Loads,
    /// The share of each sub-table in all buckets.
    shares: Vec<f64>,
    /// By sub-table, by highest load so far: (the fraction of such buckets, their items per
    /// bucket).
    by_most: Vec<Vec<(f64, f64)>>,
}

impl Churned {
    /// The present loads.
    #[must_use]
    pub const fn loads(&self) -> &Loads {
        &self.loads
    }

    /// The fraction of all buckets whose highest load so far was 0, 1, …
    #[must_use]
    pub fn most_seen(&self) -> Vec<f64> {
        let loads = self.by_most.first().map_or(0, Vec::len);
        let fraction = |most: usize| {
            self.shares.iter().zip(&self.by_most).map(|(share, by_most)| share * by_most[most].0).sum()
        };
        (0..loads).map(fraction).collect()
    }

    /// Formula (1) with a remainder length f(m) = `bits(m)` that follows from its bucket's highest
    /// load m: the paper's dynamic d-left counting filter with one size of remainders per bucket
    /// (section III-B).
    #[must_use]
    pub fn false_positive(&self, bits: impl Fn(u32) -> u32) -> f64 {
        // 2^−1000 is as good as 0.
        let matches = |bits: u32| ldexp(1.0, -(bits.min(1000) as i32));
        let of_buckets = |(most, &(_, items)): (usize, &(f64, f64))| items * matches(bits(most as u32));
        self.by_most
            .iter()
            .flat_map(|by_most| by_most.iter().enumerate())
            .map(of_buckets)
            .sum::<f64>()
            .min(1.0)
    }
}

/// Computes the loads of a d-left table of many buckets, in `subtables` equal sub-tables. The table
/// was filled to `load` items per bucket; then `turnovers` times as many random items were deleted,
/// each followed by an insertion. A bucket holds at most `highest` items.
///
/// # What is exact
/// The limit for many buckets, as exact as [`dleft::loads`](dleft::loads()). An item that finds all
/// choices at `highest` is lost.
///
/// # Errors
/// If there are no sub-tables or more than 8; if the load is not positive or above
/// [`MAX_CHURNED_LOAD`], or `highest` not between 1 and it; if the turnovers are negative or more
/// than [`MAX_TURNOVERS`].
///
/// # Example
/// ```
/// use oneread::layout::Ties;
/// use oneread_study::plan::dleft;
///
/// // Four sub-tables, six items per bucket, a million deletions of 49152 items: most buckets never
/// // held more than seven.
/// let churned = dleft::churned(4, Ties::Left, 6.0, (1 << 20) as f64 / 49152.0, 9)?;
/// assert_eq!(format!("{:.2}", churned.most_seen()[7]), "0.80");
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn churned(
    subtables: u32,
    ties: Ties,
    load: f64,
    turnovers: f64,
    highest: u32,
) -> Result<Churned, OutOfRange> {
    check("sub-tables", f64::from(subtables), 1.0, DLeftLayout::MAX_SUBTABLES as f64)?;
    check("load", load, f64::MIN_POSITIVE, f64::from(MAX_CHURNED_LOAD))?;
    check("highest load", f64::from(highest), 1.0, f64::from(MAX_CHURNED_LOAD))?;
    check("turnovers", turnovers, 0.0, MAX_TURNOVERS)?;
    let buckets = vec![1; subtables as usize];
    let filled = dleft::loads(&buckets, ties, load, highest)?;
    let equations = DLeftEquations::new(&buckets, ties, highest)?;

    // By sub-table, highest load so far, and load, which is never above the highest.
    let loads = equations.highest + 1;
    let mut state = vec![0.0; buckets.len() * loads * loads];
    for (states, fractions) in state.chunks_exact_mut(loads * loads).zip(filled.by_subtable()) {
        for (load, &fraction) in fractions.iter().enumerate() {
            states[load * loads + load] = fraction;
        }
    }
    let mut fractions = vec![0.0; buckets.len() * loads];
    let mut arrivals = fractions.clone();
    evolve(&mut state, load * turnovers, |state, rates| {
        sum_over_most(state, loads, &mut fractions);
        equations.arrivals(&fractions, &mut arrivals);
        rates.fill(0.0);
        let subtables = state.chunks_exact(loads * loads).zip(arrivals.chunks_exact(loads));
        for ((states, arrivals), rates) in subtables.zip(rates.chunks_exact_mut(loads * loads)) {
            for most in 0..loads {
                for present in 0..=most {
                    let here = most * loads + present;
                    if present > 0 {
                        let leaving = states[here] * present as f64 / load;
                        rates[here] -= leaving;
                        rates[here - 1] += leaving;
                    }
                    if present < equations.highest {
                        let arriving = states[here] * arrivals[present];
                        rates[here] -= arriving;
                        rates[most.max(present + 1) * loads + present + 1] += arriving;
                    }
                }
            }
        }
    });
    sum_over_most(&state, loads, &mut fractions);
    let of_most = |states: &[f64]| {
        let items = states.iter().enumerate().map(|(present, fraction)| present as f64 * fraction.max(0.0));
        (states.iter().map(|fraction| fraction.max(0.0)).sum(), items.sum())
    };
    let by_most = state
        .chunks_exact(loads * loads)
        .map(|states| states.chunks_exact(loads).map(of_most).collect())
        .collect();
    let shares = equations.shares;
    Ok(Churned { loads: dleft_loads(shares.clone(), &fractions), shares, by_most })
}

/// Sums the fractions over the highest loads.
fn sum_over_most(state: &[f64], loads: usize, fractions: &mut [f64]) {
    fractions.fill(0.0);
    let subtables = state.chunks_exact(loads * loads).zip(fractions.chunks_exact_mut(loads));
    for (states, fractions) in subtables {
        for row in states.chunks_exact(loads) {
            for (sum, fraction) in fractions.iter_mut().zip(row) {
                *sum += fraction;
            }
        }
    }
}
