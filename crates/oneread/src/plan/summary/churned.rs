//! A summary of filters with counters, long after its table was filled.
//!
//! Random items are deleted and new ones inserted in their place. A turnover is as many of these
//! steps as there are items. Two things happen to the filters:
//!
//! - **Deep levels fill.** In n steps, `a_0` = n insertions arrive at the first level; the fraction
//!   `x_i` of the buckets of level i is in use, so that `a_(i+1)` = `a_i`·`x_i` go on to the next
//!   one. An item is deleted once in n steps. So the items `L_i` of a level obey d`L_i`/dt =
//!   `a_i`·(1 − `x_i`) − `L_i`, with t in turnovers. Many more items end up in deep levels than in
//!   a table filled once: 333 instead of 72 at the third level or deeper, in the paper's example.
//!   The filters of these levels are fuller than planned.
//! - **Counters saturate.** The items at level i or deeper come at the rate `a_i` and each leaves
//!   at the rate 1, and raise a given counter with probability q. So the value of a counter is a
//!   birth-death process: up at the rate `a_i`·q, down from j at the rate j. One that reaches its
//!   maximum stays there.
//!
//! The fraction of counters above 0 then gives the probability that a filter names its level for a
//! key above it, averaged over the number of items there, which varies like a Poisson number.
//!
//! # What is exact
//! It is the limit for many buckets. With few items in a level, the number varies more than a
//! Poisson number does, because what arrives depends on the levels above. By simulation of the
//! paper's example, the probabilities are right to some 15%.

use alloc::vec;
use alloc::vec::Vec;

use crate::layout::{Counting, CountingFiltersLayout};
use crate::plan::OutOfRange;
use crate::plan::error::check;
use crate::plan::float::{exp, expm1, ln, ln_1p, sqrt};
use crate::plan::multilevel::MultilevelPlan;
use crate::plan::occupancy;

/// The most turnovers that are followed.
pub const MOST_TURNOVERS: f64 = 1000.0;

/// What a summary of counters has become after some turnovers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Churned {
    /// The expected items of each level.
    pub items: Vec<f64>,
    /// The expected number of counters that are saturated, in each filter.
    pub saturated: Vec<f64>,
    /// The probability that each filter takes a key that is above its level for one at its level or
    /// deeper.
    pub named: Vec<f64>,
    /// The share of lookups of present keys that name a wrong level first, and read a second time
    /// if the bucket there is in use.
    pub wrong_first: f64,
}

/// What a summary of counters has become when each item of a filled table has been replaced
/// `turnovers` times.
///
/// # Errors
/// If a bucket has several slots, if there are no turnovers or more than [`MOST_TURNOVERS`], or if
/// the filters (and the list behind them) are not for as many levels as the table has.
///
/// # Example
/// ```
/// use oneread::layout::{CountingFiltersLayout, MultilevelLayout, MultipleFiltersLayout};
/// use oneread::plan::multilevel::MultilevelPlan;
/// use oneread::plan::summary;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
/// let filters = CountingFiltersLayout::usual(MultipleFiltersLayout::new(filters)?);
/// // Sized for a table filled once, where hardly any lookup reads twice: after ten turnovers, one in 70.
/// let new = summary::churned(&table, &filters, 1e-6)?;
/// assert!(new.wrong_first < 1e-9);
/// let old = summary::churned(&table, &filters, 10.0)?;
/// assert!(old.wrong_first > 0.01 && old.wrong_first < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn churned(
    table: &MultilevelPlan,
    filters: &CountingFiltersLayout,
    turnovers: f64,
) -> Result<Churned, OutOfRange> {
    check("turnovers", turnovers, f64::MIN_POSITIVE, MOST_TURNOVERS)?;
    check("slots of a bucket", table.layout().slots().into(), 1.0, 1.0)?;
    let count = table.layout().level_count() as f64;
    check("levels of the summary", filters.filters().level_count() as f64, count, count)?;
    let mut levels = Levels::new(table);
    let with_counters = filters.filters().filters().iter().zip(filters.counters());
    let mut filters: Vec<Filter> = with_counters
        .enumerate()
        .map(|(level, (&(places, hashes), &(bits, counting)))| {
            Filter::new(places, hashes, bits, counting, levels.at_or_below(level))
        })
        .collect();
    // Short enough for the fastest change of any counter.
    let changes = filters.iter().zip(levels.most_arrivals());
    let fastest = changes.map(|(filter, arrivals)| filter.most_changes(arrivals)).fold(1.0, f64::max);
    let steps = (turnovers * STEPS_PER_CHANGE * fastest) as u64 + 1;
    let step = turnovers / steps as f64;
    for _ in 0..steps {
        for (filter, arrivals) in filters.iter_mut().zip(levels.arrivals()) {
            filter.advance(arrivals, step);
        }
        levels.advance(step);
    }
    let named = filters.iter().enumerate().map(|(level, filter)| filter.named(levels.at_or_below(level)));
    let named: Vec<f64> = named.collect();
    let mistaken = levels.items.iter().zip(named.iter().skip(1)).map(|(here, named)| here * named);
    let wrong_first = mistaken.sum::<f64>() / levels.all;
    let saturated = filters.iter().map(|filter| filter.saturated() * filter.places).collect();
    Ok(Churned { items: levels.items, saturated, named, wrong_first })
}

/// The steps in which a counter changes once: a step of the midpoint rule errs by the cube of its
/// inverse.
const STEPS_PER_CHANGE: f64 = 4.0;

/// The expected items of each level.
struct Levels {
    buckets: Vec<f64>,
    items: Vec<f64>,
    all: f64,
}

impl Levels {
    fn new(table: &MultilevelPlan) -> Self {
        let buckets = table.layout().levels().iter().map(|&buckets| buckets as f64).collect();
        Self { buckets, items: table.expected().to_vec(), all: table.items() as f64 }
    }

    fn at_or_below(&self, level: usize) -> f64 {
        self.items[level..].iter().sum()
    }

    /// The insertions of a turnover that arrive at each level.
    fn arrivals(&self) -> Vec<f64> {
        let mut coming = self.all;
        let at = |(items, buckets): (&f64, &f64)| {
            let here = coming;
            coming *= (items / buckets).min(1.0);
            here
        };
        self.items.iter().zip(&self.buckets).map(at).collect()
    }

    /// The same in the end, which is the most: `a_i`·(1 − `x_i`) = `L_i`.
    fn most_arrivals(&self) -> Vec<f64> {
        let mut coming = self.all;
        let at = |buckets: &f64| {
            let here = coming;
            coming *= here / (buckets + here);
            here
        };
        self.buckets.iter().map(at).collect()
    }

    fn change(&self) -> Vec<f64> {
        let placed = self.arrivals().into_iter().zip(self.items.iter().zip(&self.buckets));
        placed.map(|(coming, (items, buckets))| coming * (1.0 - items / buckets).max(0.0) - items).collect()
    }

    /// By the midpoint rule.
    fn advance(&mut self, step: f64) {
        let moved = |change: Vec<f64>, step: f64| -> Vec<f64> {
            self.items.iter().zip(change).map(|(items, change)| (items + step * change).max(0.0)).collect()
        };
        let middle = Self { items: moved(self.change(), step / 2.0), buckets: self.buckets.clone(), ..*self };
        self.items = moved(middle.change(), step);
    }
}

/// The counters of one filter.
struct Filter {
    places: f64,
    hashes: u32,
    /// The probability that an item raises a given counter; or the expected number of its probes
    /// there.
    raises: f64,
    /// The fraction of counters with each value; the last is the maximum.
    values: Vec<f64>,
}

impl Filter {
    fn new(places: u64, hashes: u32, bits: u32, counting: Counting, items: f64) -> Self {
        let probes = f64::from(hashes);
        let raises = match counting {
            Counting::EachProbe => probes / places as f64,
            Counting::OncePerItem => -expm1(probes * ln_1p(-1.0 / places as f64)),
        };
        let most = (1usize << bits) - 1;
        // Poisson at first.
        let mean = items * raises;
        let mut values = vec![0.0; most + 1];
        let (mut here, mut below) = (exp(-mean), 0.0);
        for (value, fraction) in values.iter_mut().enumerate().take(most) {
            *fraction = here;
            below += here;
            here *= mean / (value + 1) as f64;
        }
        // The sum of the tail, which 1 − below would round away.
        let (mut tail, mut value) = (0.0, most as f64);
        while here > 0.0 && here > tail * f64::EPSILON {
            tail += here;
            value += 1.0;
            here *= mean / value;
        }
        values[most] = if below < 0.5 { 1.0 - below } else { tail };
        Self { places: places as f64, hashes, raises, values }
    }

    /// The rate at which a counter changes, at most.
    fn most_changes(&self, arrivals: f64) -> f64 {
        arrivals * self.raises + self.values.len() as f64
    }

    fn saturated(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    fn change(values: &[f64], up: f64) -> Vec<f64> {
        let most = values.len() - 1;
        let mut change = vec![0.0; values.len()];
        for value in 0..most {
            let raised = up * values[value];
            change[value] -= raised;
            change[value + 1] += raised;
            if value > 0 {
                let lowered = value as f64 * values[value];
                change[value] -= lowered;
                change[value - 1] += lowered;
            }
        }
        change
    }

    /// By the midpoint rule.
    fn advance(&mut self, arrivals: f64, step: f64) {
        let up = arrivals * self.raises;
        let moved = |change: Vec<f64>, step: f64| -> Vec<f64> {
            self.values.iter().zip(change).map(|(value, change)| (value + step * change).max(0.0)).collect()
        };
        let middle = moved(Self::change(&self.values, up), step / 2.0);
        self.values = moved(Self::change(&middle, up), step);
    }

    /// The probability that all counters of a key that was not inserted are above 0, over the
    /// number of items.
    fn named(&self, items: f64) -> f64 {
        /// In standard deviations: how far a number of items is followed, and by which steps.
        const FAR: i32 = 7;
        const STEPS: i32 = 4;
        if items <= 0.0 && self.saturated() == 0.0 {
            return 0.0;
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        if items < 100.0 {
            let mut weight = exp(-items);
            for number in 0..=(items + 12.0 * sqrt(items) + 20.0) as u32 {
                sum += weight * self.named_with(number.into());
                weights += weight;
                weight *= items / f64::from(number + 1);
            }
        } else {
            for at in -FAR * STEPS..=FAR * STEPS {
                let deviations = f64::from(at) / f64::from(STEPS);
                let weight = exp(-deviations * deviations / 2.0);
                sum += weight * self.named_with((items + deviations * sqrt(items)).max(0.0));
                weights += weight;
            }
        }
        sum / weights
    }

    fn named_with(&self, items: f64) -> f64 {
        let hashes = f64::from(self.hashes);
        let saturated = self.saturated();
        let unset = exp(items * hashes * ln_1p(-1.0 / self.places));
        let set = saturated + (1.0 - saturated) * (1.0 - unset);
        if set <= 0.0 {
            return 0.0;
        }
        // The number of counters in use varies: exactly known where none is saturated.
        let alone = if items >= 1.0 && saturated < 1.0 {
            let exact = occupancy::ln_all_probes_set(self.places as u64, items * hashes, self.hashes);
            (1.0 - saturated) * (exact - hashes * ln(1.0 - unset)).max(0.0)
        } else {
            0.0
        };
        exp(hashes * ln(set) + alone).min(1.0)
    }
}
