//! A bounded map under endless churn: the spilled keys, and the probability of needing the stash.
//!
//! Three numbers describe a line: the keys x that lie in the line of their home, the guests g from
//! other lines, and the keys u that have their home here and lie elsewhere. In a unit of time, each
//! item is deleted at rate 1, and new keys reach the line at the rate λ of its keys. A new key goes
//! into its line if that has a free slot (in its home group or the other). Otherwise it goes to the
//! first of three other lines with room, else to the last level.
//!
//! # What is exact
//! x + u is a Poisson number, as of n keys with random homes in many lines. The order in which a
//! key's lines are tried.
//!
//! # What is modelled
//! The lines of a key are assumed to be full independently: the limit for many lines. A freed slot
//! is filled by a spilled key of the line with the probability from `pulled`. That function infers
//! the two groups of a line: half of its keys have their home in each, and its guests are divided
//! evenly. The lines of the last level are assumed to have Poisson numbers of keys. Tests compare
//! the results with churned maps: at a load of 90%, spilled keys agree within 1%, and those in the
//! last level within 5%.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::layout::{BoundedLayout, LayoutError, Quantity};

use super::OutOfRange;
use super::error::check;
use super::float::{exp, expm1, floor, ln, ln_1p, sqrt};
use super::search::least;

/// Slots per line.
const SLOTS: usize = BoundedLayout::LINE_SLOTS as usize;

/// The most spilled keys per line that are followed: at the highest load, ten deviations above the
/// mean.
const MAX_AWAY: usize = 28;

/// A key's other lines before the last level.
const OTHER_LINES: i32 = 3;

/// The highest load of home lines in [`churned`]: beyond it, too many keys would be spilled to be
/// followed.
pub const MAX_LOAD: f64 = 0.95;

/// A bounded map after long churn. From [`churned`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedPlan {
    full: f64,
    away: f64,
    last_line_mean: f64,
}

impl BoundedPlan {
    /// The fraction of home lines without a free slot.
    #[must_use]
    pub const fn full_lines(&self) -> f64 {
        self.full
    }

    /// The fraction of keys outside their home's line, whose lookups read other lines.
    #[must_use]
    pub const fn out_of_line(&self) -> f64 {
        self.away
    }

    /// The expected keys in a line of the last level, which has room for 32.
    #[must_use]
    pub const fn last_line_mean(&self) -> f64 {
        self.last_line_mean
    }

    /// The logarithm of the probability that an insertion needs the stash: all four home lines of
    /// its key are full, and so is its line of the last level.
    #[must_use]
    pub fn ln_stash_probability(&self) -> f64 {
        f64::from(1 + OTHER_LINES) * ln(self.full) + ln_poisson_tail(self.last_line_mean, SLOTS)
    }

    /// The probability that any of `insertions` insertions needs the stash, which has room for 32
    /// such keys at a time.
    #[must_use]
    pub fn stash_ever(&self, insertions: f64) -> f64 {
        let p = exp(self.ln_stash_probability());
        -expm1(insertions * ln_1p(-p))
    }
}

/// Computes the state of a full map in which each item was replaced many times by a new key.
///
/// # Errors
/// If the home lines would have a load above [`MAX_LOAD`].
///
/// # Example
/// ```
/// use oneread::layout::BoundedLayout;
/// use oneread::plan::bounded::churned;
///
/// let plan = churned(&BoundedLayout::for_capacity(10_000_000)?)?;
/// assert!((0.04..0.07).contains(&plan.out_of_line()));
/// // Ten million insertions per second for a year.
/// assert!(plan.stash_ever(3.2e14) < 1e-3);
///
/// // The last level matters: with a quarter of it, the stash will be needed.
/// let small = BoundedLayout::new(10_000_000, 343_600, 895)?;
/// assert!(churned(&small)?.stash_ever(3.2e14) > 0.999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn churned(layout: &BoundedLayout) -> Result<BoundedPlan, OutOfRange> {
    let keys = layout.capacity() as f64 / layout.home_lines() as f64;
    check("load", keys / SLOTS as f64, 0.0, MAX_LOAD)?;
    let line = steady_state(keys);
    let lines = layout.home_lines() as f64 / layout.last_lines() as f64;
    Ok(BoundedPlan { full: line.full, away: line.away / keys, last_line_mean: line.in_last_level * lines })
}

/// Finds the smallest layout at a load of 90% in which an insertion needs the stash with at most
/// this probability.
///
/// # Errors
/// If there are no items or too many, or the probability is not between 0 and 1.
///
/// # Example
/// ```
/// use oneread::plan::bounded::{churned, for_churn};
///
/// let layout = for_churn(1_000_000, 1e-12)?;
/// assert!(churned(&layout)?.ln_stash_probability() <= 1e-12f64.ln());
/// assert!(layout.last_lines() < for_churn(1_000_000, 1e-18)?.last_lines());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn for_churn(items: u64, probability: f64) -> Result<BoundedLayout, LayoutError> {
    crate::layout::check_fraction(Quantity::Rate, probability)?;
    let usual = BoundedLayout::for_capacity(items)?;
    let lines = usual.home_lines() + usual.last_lines();
    let out_of_reach = LayoutError::OutOfReach { rate: probability, items };
    let mut last = usual.last_lines();
    // The load of the last level hardly depends on its size. One plan of the home lines therefore
    // gives its size, and a second plan is for the home lines that remain.
    loop {
        let layout = BoundedLayout::new(items, lines.saturating_sub(last), last)?;
        let plan = churned(&layout).map_err(|_| out_of_reach)?;
        let meets = |lines: u64| {
            let last_line_mean = plan.last_line_mean * last as f64 / lines as f64;
            BoundedPlan { last_line_mean, ..plan }.ln_stash_probability() <= ln(probability)
        };
        let fewest = least(0, lines, meets);
        // The previous attempt had one line fewer: the larger number suffices.
        if fewest == last || fewest + 1 == last {
            return Ok(layout);
        }
        last = fewest;
    }
}

/// The steady state of a line.
struct Line {
    full: f64,
    /// The expected spilled keys.
    away: f64,
    /// Those of them in the last level.
    in_last_level: f64,
}

/// The states of a line, their probabilities, and their consequences.
struct States {
    /// By x, then g, then u.
    probability: Vec<f64>,
    /// The probability that a spilled key fills a freed slot.
    pulled: Vec<f64>,
    /// Kept to save allocations.
    change: Vec<f64>,
}

fn index(x: usize, g: usize, u: usize) -> usize {
    (x * (SLOTS + 1) + g) * (MAX_AWAY + 1) + u
}

/// The probability that a spilled key of the line fills a slot freed there: the slot's group must
/// have one, and prefer it to a key that lies in the other group.
fn pulled(x: usize, g: usize, u: usize, split: &[Vec<f64>]) -> f64 {
    let (keys, half) = (x + u, (SLOTS - g) as f64 / 2.0);
    let of_split = |(first, &p): (usize, &f64)| {
        let over = [first as f64, (keys - first) as f64].map(|keys| (keys - half).max(0.0));
        let out = over[0] + over[1];
        if out == 0.0 {
            return 0.0;
        }
        let groups = over.iter().filter(|&&over| over > 0.0).count() as f64;
        p * 0.5 * groups * (u as f64 / out).min(1.0)
    };
    split[keys].iter().enumerate().map(of_split).sum()
}

/// Follows the equations until nothing changes.
fn steady_state(keys: f64) -> Line {
    // Binomial rows: how n keys divide between two groups.
    let mut split = vec![vec![1.0]];
    for n in 1..=SLOTS + MAX_AWAY {
        let before: &Vec<f64> = &split[n - 1];
        let at = |i: usize| before.get(i).copied().unwrap_or(0.0);
        split.push((0..=n).map(|i| 0.5 * (at(i) + if i > 0 { at(i - 1) } else { 0.0 })).collect());
    }
    let size = index(SLOTS, SLOTS, MAX_AWAY) + 1;
    let mut states =
        States { probability: vec![0.0; size], pulled: vec![0.0; size], change: vec![0.0; size] };
    for x in 0..=SLOTS {
        for g in 0..=SLOTS - x {
            for u in 1..=MAX_AWAY {
                states.pulled[index(x, g, u)] = pulled(x, g, u, &split);
            }
        }
    }
    // A line's own keys are Poisson from the start.
    let mut p = exp(-keys);
    for n in 0..=SLOTS + MAX_AWAY {
        states.probability[index(n.min(SLOTS), 0, n.saturating_sub(SLOTS))] += p;
        p *= keys / (n + 1) as f64;
    }
    // A step is shorter than the fastest change: all items of a line, all keys, and the most guests
    // that could come.
    let step = 0.8 / (keys + 2.0 * SLOTS as f64);
    let steps = floor(TURNOVERS / step) as usize;
    let mut line = Line { full: 0.0, away: 0.0, in_last_level: 0.0 };
    for _ in 0..steps {
        line = states.advance(keys, step);
    }
    line
}

/// Less likely states are not followed: together they are less than 1e-14.
const NEGLIGIBLE: f64 = 1e-19;

/// Replacements of each item until the numbers are stable to four digits. Each replacement more
/// than halves the distance.
const TURNOVERS: f64 = 10.0;

impl States {
    /// One short step, with the rates of guests that follow from the present probabilities.
    fn advance(&mut self, keys: f64, step: f64) -> Line {
        let (mut full, mut away, mut pulls) = (0.0, 0.0, 0.0);
        self.each(|x, g, u, p, pulled| {
            full += if x + g == SLOTS { p } else { 0.0 };
            away += p * u as f64;
            pulls += p * (x + g) as f64 * pulled;
        });
        let refused = keys * full;
        let to_last_level = refused * full * full * full;
        let guests = (refused - to_last_level) / (1.0 - full).max(1e-9);
        let called_home = if away > 0.0 { pulls / away } else { 0.0 };
        let mut change = mem::take(&mut self.change);
        change.fill(0.0);
        self.each(|x, g, u, p, pulled| {
            let from = index(x, g, u);
            let mut flow = |rate: f64, to: usize| {
                change[from] -= rate * p;
                change[to] += rate * p;
            };
            if x + g < SLOTS {
                flow(keys, index(x + 1, g, u));
                flow(guests, index(x, g + 1, u));
            } else if u < MAX_AWAY {
                flow(keys, index(x, g, u + 1));
            }
            if x > 0 {
                flow(x as f64 * (1.0 - pulled), index(x - 1, g, u));
                if u > 0 {
                    flow(x as f64 * pulled, index(x, g, u - 1));
                }
            }
            if g > 0 {
                flow(g as f64 * (1.0 - pulled) + g as f64 * called_home, index(x, g - 1, u));
                if u > 0 {
                    flow(g as f64 * pulled, index(x + 1, g - 1, u - 1));
                }
            }
            if u > 0 {
                flow(u as f64, index(x, g, u - 1));
            }
        });
        self.probability.iter_mut().zip(&change).for_each(|(p, change)| *p += step * change);
        self.change = change;
        Line { full, away, in_last_level: to_last_level / (1.0 + called_home) }
    }

    fn each(&self, mut see: impl FnMut(usize, usize, usize, f64, f64)) {
        for x in 0..=SLOTS {
            for g in 0..=SLOTS - x {
                for u in 0..=MAX_AWAY {
                    let at = index(x, g, u);
                    if self.probability[at] > NEGLIGIBLE {
                        see(x, g, u, self.probability[at], self.pulled[at]);
                    }
                }
            }
        }
    }
}

/// ln Pr(N ≥ at) for a Poisson number N of mean `mean`.
fn ln_poisson_tail(mean: f64, at: usize) -> f64 {
    if mean <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // The first term, then the others relative to it: beyond the mean they fall at least as fast as
    // mean/at.
    let ln_first = (1..=at).fold(-mean, |sum, k| sum + ln(mean / k as f64));
    let (mut sum, mut term, mut k) = (0.0, 1.0, at as f64);
    while term > 1e-17 * sum || k < mean {
        sum += term;
        k += 1.0;
        term *= mean / k;
        // Far below the mean, the tail is the whole distribution.
        if k > at as f64 + 40.0 * sqrt(mean + 1.0) + 200.0 {
            break;
        }
    }
    (ln_first + ln(sum)).min(0.0)
}
