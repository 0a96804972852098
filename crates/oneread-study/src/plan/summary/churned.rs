//! A summary of filters with counters, long after its table was filled.
//!
//! Random items are deleted and new ones inserted in their place. A turnover is as many of these
//! steps as there are items. This has two effects on the filters:
//!
//! - **Deep levels fill.** In n steps, `a_0` = n insertions reach the first level. The fraction
//!   `x_i` of the buckets of level i is full, so that `a_(i+1)` = `a_i`·`x_i` go on to the next
//!   one. An item is deleted once in n steps. So the number of items in a bucket is a birth-death
//!   process: up at the rate `a_i` over the number of buckets unless it is full, down from j at the
//!   rate j. Many more items end up in deep levels than in a table filled once: in the paper's
//!   example, 333 instead of 72 at the third level or deeper. The filters of these levels are
//!   fuller than planned.
//! - **Counters saturate.** Counted items come at some rate a, leave at the rate 1 each, and raise
//!   a given counter with probability q. So the value of a counter is a birth-death process too: up
//!   at the rate a·q, down from j at the rate j. At its maximum it stays there. The filter of a
//!   level counts the items there or deeper, a = `a_i`. In a single filter, each cell has a counter
//!   for the items at each level, a = `a_i` − `a_(i+1)`.
//!
//! The fraction of counters above 0 then gives the probability that a filter names its level for a
//! key above it, averaged over the number of items there, which varies like a Poisson number.
//!
//! # What is exact
//! It is the limit for many buckets, and the number of items of a level and deeper is assumed to be
//! Poisson. In the second level of a finite table it varies less, by a third, so that plans of
//! small tables are too high. A simulation of the Markov chain of the numbers of items, with ideal
//! filters whose counters never saturate, finds these shares of wrong levels (a test repeats it):
//!
//! | items | turnovers | planned | simulated |
//! | --- | --- | --- | --- |
//! | 10,000, the paper's table and filters | 1 | 7.67e-5 | (7.70 ± 0.09)e-5 |
//! | | 8 | 0.01373 | 0.01372 ± 0.00012 |
//! | 1000, in a table and filters a tenth as large | 4 | 0.0213 | 0.0205 ± 0.0001 |
//! | 100, in a table and filters 1% as large, with fewer hashes | 4 | 0.00126 | 0.00108 ± 0.00001 |
//!
//! So shares of at least 10^-5 are right to 3% for 10,000 items, 5% for 1000 and 20% for 100,
//! always too high there. Much rarer names of small filters are right to an order of magnitude.
//!
//! With the library's summaries, in the table of the paper (a test repeats this too):
//!
//! | summary | turnovers | planned | simulated |
//! | --- | --- | --- | --- |
//! | the paper's multiple filters | 1 | 7.67e-5 | (7.0 ± 0.6)e-5 |
//! | | 8 | 0.0137 | 0.0142 ± 0.0006 |
//! | single filter, 12,000 cells, 4 hashes | 1 | 0.0319 | 0.0318 ± 0.0003 |
//! | | 4 | 0.0446 | 0.0445 ± 0.0003 |
//! | | 16 | 0.0449 | 0.0452 ± 0.0003 |
//! | single filter, 120,000 cells, 15 hashes, counters of 4, 1, 1, 1 and 1 bits | 6 | 0.0344 | 0.0346 ± 0.0002 |

use alloc::vec;
use alloc::vec::Vec;

use libm::{exp, expm1, log as ln, log1p as ln_1p, sqrt};
use oneread::layout::{Counting, CountingCellsLayout, CountingFiltersLayout};
use oneread::plan::OutOfRange;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::workspace::{check, ln_all_probes_set, ln_one_minus_exp};

/// The most turnovers that are followed.
pub const MAX_TURNOVERS: f64 = 1000.0;

/// The state of a summary with counters after some turnovers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Churned {
    /// The expected items of each level.
    pub items: Vec<f64>,
    /// The expected number of saturated counters of each level.
    pub saturated: Vec<f64>,
    /// For each level, the probability that its counters alone place a key from above at this level
    /// or deeper.
    pub named: Vec<f64>,
    /// The share of lookups of present keys that name a wrong level first, and read a second time
    /// if the bucket there is in use.
    pub wrong_first: f64,
}

/// Computes the state of a
/// [`CountingMultiFilterSummary`](oneread::summary::CountingMultiFilterSummary) after each item of a
/// filled table has been replaced `turnovers` times.
///
/// The share of wrong levels is right to 3% for 10,000 items or more, to 5% for 1000 and to 20% for
/// 100, if it is above 10^-5 and few counters are saturated: the calculation is the limit for many
/// items.
///
/// # Errors
/// If there are no turnovers or more than [`MAX_TURNOVERS`], or if the filters (and their list) are
/// not for as many levels as the table has.
///
/// # Example
/// ```
/// use oneread::layout::{CountingFiltersLayout, MultilevelLayout, MultipleFiltersLayout};
/// use oneread::plan::multilevel::MultilevelPlan;
/// use oneread_study::plan::summary;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
/// let filters = CountingFiltersLayout::usual(MultipleFiltersLayout::new(filters)?);
/// // Sized for a table filled once, where hardly any lookup reads twice: after ten turnovers, one
/// // in 70.
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
    check_levels(table, filters.filters().level_count(), turnovers)?;
    let levels = Levels::new(table);
    let with_counters = filters.filters().filters().iter().zip(filters.counters()).enumerate();
    let counters = with_counters.map(|(level, (&(places, hashes), &(bits, counting)))| {
        Counters::of_filter(places, hashes, bits, counting, levels.at_or_below(level))
    });
    let mut counters: Vec<Counters> = counters.collect();
    let levels = follow(levels, &mut counters, turnovers, |arrivals, level| {
        arrivals[level] - arrivals[arrivals.len() - 1]
    });
    let named = counters.iter().enumerate().map(|(level, counters)| {
        let items = levels.at_or_below(level);
        let raised = Raised::new([counters], items);
        over_poisson(items, |items| counters.filter_names(&raised, items))
    });
    let named = named.collect();
    Ok(levels.churned(&counters, named))
}

/// Computes the state of a
/// [`CountingSingleFilterSummary`](oneread::summary::CountingSingleFilterSummary) after each item of
/// a filled table has been replaced `turnovers` times.
///
/// # Errors
/// If there are no turnovers or more than [`MAX_TURNOVERS`], or if the cells do not have counters
/// for as many levels as the table has.
///
/// # Example
/// ```
/// use oneread::layout::{CountingCellsLayout, MultilevelLayout, SingleFilterLayout};
/// use oneread::plan::multilevel::MultilevelPlan;
/// use oneread_study::plan::summary;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// let filter = SingleFilterLayout::new(120_000, 15)?;
/// let cells = CountingCellsLayout::new(filter, [4, 4, 3, 2, 2])?;
/// // The paper's single filter has room for churn: still at most one lookup in 10^9.
/// assert!(summary::churned_single(&table, &cells, 100.0)?.wrong_first < 1e-9);
/// // Counters of one bit never count down: all keys that were ever at the second level stay.
/// let narrow = CountingCellsLayout::new(filter, [4, 1, 1, 1, 1])?;
/// assert!(summary::churned_single(&table, &narrow, 100.0)?.wrong_first > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn churned_single(
    table: &MultilevelPlan,
    cells: &CountingCellsLayout,
    turnovers: f64,
) -> Result<Churned, OutOfRange> {
    check_levels(table, cells.counter_bits().len(), turnovers)?;
    let levels = Levels::new(table);
    let (all, hashes) = (cells.filter().cells(), cells.filter().hashes());
    let counters = cells.counter_bits().iter().zip(levels.items());
    let mut counters: Vec<Counters> =
        counters.map(|(&bits, items)| Counters::of_cells(all, hashes, bits, items)).collect();
    let levels =
        follow(levels, &mut counters, turnovers, |arrivals, level| arrivals[level] - arrivals[level + 1]);
    let named = (0..counters.len()).map(|level| {
        // A cell names the level or a deeper one if any of these counters is above 0. Given the
        // items, the bands are independent.
        let items = levels.at_or_below(level);
        let raised = Raised::new(&counters[level..], items);
        over_poisson(items, |items| exp(f64::from(hashes) * ln(raised.with(items))))
    });
    let named = named.collect();
    Ok(levels.churned(&counters, named))
}

fn check_levels(table: &MultilevelPlan, of_summary: usize, turnovers: f64) -> Result<(), OutOfRange> {
    check("turnovers", turnovers, f64::MIN_POSITIVE, MAX_TURNOVERS)?;
    let count = table.layout().level_count() as f64;
    check("levels of the summary", of_summary as f64, count, count)
}

/// Steps per change of a count: a step of the midpoint rule errs by the cube of its inverse.
const STEPS_PER_CHANGE: f64 = 4.0;

/// The highest rate followed, per turnover; faster ones are treated like it. All but one in 1000
/// buckets are full then, and all counters soon saturated.
const FASTEST: f64 = 1000.0;

/// Follows levels and counters. `counted` gives the insertions per turnover that a level's counters
/// count, from those that reach each level and the stash.
fn follow(
    mut levels: Levels,
    counters: &mut [Counters],
    turnovers: f64,
    counted: impl Fn(&[f64], usize) -> f64,
) -> Levels {
    let mut left = turnovers;
    while left > 0.0 {
        let arrivals = levels.arrivals();
        let of_counters = counters.iter().enumerate();
        let of_counters =
            of_counters.map(|(level, counters)| counters.most_changes(counted(&arrivals, level)));
        let fastest = of_counters.fold(levels.most_changes(&arrivals), f64::max);
        let step = left.min(1.0 / (STEPS_PER_CHANGE * fastest));
        let middle = levels.after(&levels, step / 2.0);
        let arrivals = middle.arrivals();
        for (level, counters) in counters.iter_mut().enumerate() {
            counters.advance(counted(&arrivals, level), step);
        }
        levels = levels.after(&middle, step);
        left -= step;
    }
    levels
}

/// A birth-death process: counted items come at some rate, and each leaves at the rate 1.
#[derive(Clone)]
struct Counts {
    /// The fraction with each value; the last is the maximum.
    values: Vec<f64>,
    /// Whether a maximum is permanent. Otherwise it only stops counting up.
    saturates: bool,
}

impl Counts {
    /// Poisson numbers with a mean, cut off at `most`.
    fn poisson(mean: f64, most: usize, saturates: bool) -> Self {
        let mut values = vec![0.0; most + 1];
        let (mut here, mut below) = (exp(-mean), 0.0);
        for (value, fraction) in values.iter_mut().enumerate().take(most) {
            *fraction = here;
            below += here;
            here *= mean / (value + 1) as f64;
        }
        // Sums the tail, which 1 − below would round away.
        let (mut tail, mut value) = (0.0, most as f64);
        while here > 0.0 && here > tail * f64::EPSILON {
            tail += here;
            value += 1.0;
            here *= mean / value;
        }
        values[most] = if below < 0.5 { 1.0 - below } else { tail };
        Self { values, saturates }
    }

    /// Like [`poisson`](Self::poisson), but with this mean after the cut.
    fn poisson_with_mean(mean: f64, most: usize) -> Self {
        /// From this mean on, all are at the maximum, to a float's precision.
        const FULL: f64 = 1e4;
        let (mut low, mut high) = (mean, FULL);
        while high > low * (1.0 + 1e-14) {
            let middle = sqrt(low * high);
            *(if Self::poisson(middle, most, false).mean() < mean { &mut low } else { &mut high }) = middle;
        }
        Self::poisson(high, most, false)
    }

    fn at_maximum(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    fn below_maximum(&self) -> &[f64] {
        &self.values[..self.values.len() - 1]
    }

    fn mean(&self) -> f64 {
        self.values.iter().enumerate().map(|(value, fraction)| value as f64 * fraction).sum()
    }

    /// The state after a step with the changes of another moment.
    fn after(&self, moment: &Self, up: f64, step: f64) -> Self {
        let mut after = self.clone();
        let most = self.values.len() - 1;
        for (value, fraction) in moment.values.iter().enumerate() {
            if value < most {
                let raised = step * up * fraction;
                after.values[value] -= raised;
                after.values[value + 1] += raised;
            }
            if value > 0 && (value < most || !self.saturates) {
                let lowered = step * value as f64 * fraction;
                after.values[value] -= lowered;
                after.values[value - 1] += lowered;
            }
        }
        after.values.iter_mut().for_each(|fraction| *fraction = fraction.max(0.0));
        after
    }
}

/// The number of items per bucket of each level.
struct Levels {
    buckets: Vec<f64>,
    loads: Vec<Counts>,
    all: f64,
}

impl Levels {
    /// Starts from a table filled once.
    fn new(table: &MultilevelPlan) -> Self {
        let layout = table.layout();
        let buckets: Vec<f64> = layout.levels().iter().map(|&buckets| buckets as f64).collect();
        let loads = buckets.iter().zip(table.expected());
        let loads =
            loads.map(|(buckets, items)| Counts::poisson_with_mean(items / buckets, layout.slots() as usize));
        Self { loads: loads.collect(), buckets, all: table.items() as f64 }
    }

    fn items(&self) -> Vec<f64> {
        self.loads.iter().zip(&self.buckets).map(|(loads, buckets)| loads.mean() * buckets).collect()
    }

    fn at_or_below(&self, level: usize) -> f64 {
        self.items()[level..].iter().sum()
    }

    /// The insertions per turnover that reach each level, and the stash.
    fn arrivals(&self) -> Vec<f64> {
        let mut arrivals = vec![self.all];
        let mut coming = self.all;
        for loads in &self.loads {
            coming *= loads.at_maximum().min(1.0);
            arrivals.push(coming);
        }
        arrivals
    }

    fn ups<'a>(&'a self, arrivals: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        arrivals.iter().zip(&self.buckets).map(|(arrivals, buckets)| (arrivals / buckets).min(FASTEST))
    }

    /// The highest rate at which a bucket changes.
    fn most_changes(&self, arrivals: &[f64]) -> f64 {
        let changes = self.ups(arrivals).zip(&self.loads).map(|(up, loads)| up + loads.values.len() as f64);
        changes.fold(1.0, f64::max)
    }

    fn after(&self, moment: &Self, step: f64) -> Self {
        let arrivals = moment.arrivals();
        let loads = self.loads.iter().zip(&moment.loads).zip(self.ups(&arrivals));
        let loads = loads.map(|((loads, moment), up)| loads.after(moment, up, step)).collect();
        Self { loads, buckets: self.buckets.clone(), all: self.all }
    }

    fn churned(&self, counters: &[Counters], named: Vec<f64>) -> Churned {
        let items = self.items();
        let mistaken = items.iter().zip(named.iter().skip(1)).map(|(here, named)| here * named);
        let wrong_first = mistaken.sum::<f64>() / self.all;
        let saturated = counters.iter().map(|counters| counters.counts.at_maximum() * counters.places);
        Churned { saturated: saturated.collect(), items, named, wrong_first }
    }
}

/// The counters of a level.
struct Counters {
    places: f64,
    hashes: u32,
    /// The probability that an item raises a given counter, or the expected number of its probes
    /// there.
    raises: f64,
    /// The logarithm of the probability that an item does not raise it.
    ln_spares: f64,
    counts: Counts,
}

impl Counters {
    fn of_filter(places: u64, hashes: u32, bits: u32, counting: Counting, items: f64) -> Self {
        let ln_spares = f64::from(hashes) * ln_1p(-1.0 / places as f64);
        let raises = match counting {
            Counting::EachProbe => f64::from(hashes) / places as f64,
            Counting::OncePerItem => -expm1(ln_spares),
        };
        Self::new(places, hashes, raises, ln_spares, bits, items)
    }

    /// The counters of cells, in one band per hash function.
    fn of_cells(cells: u64, hashes: u32, bits: u32, items: f64) -> Self {
        let raises = f64::from(hashes) / cells as f64;
        Self::new(cells, hashes, raises, ln_1p(-raises), bits, items)
    }

    fn new(places: u64, hashes: u32, raises: f64, ln_spares: f64, bits: u32, items: f64) -> Self {
        let counts = Counts::poisson(items * raises, (1usize << bits) - 1, true);
        Self { places: places as f64, hashes, raises, ln_spares, counts }
    }

    fn up(&self, arrivals: f64) -> f64 {
        (arrivals * self.raises).min(FASTEST)
    }

    /// Reports whether hardly any counter can still change.
    fn is_spent(&self) -> bool {
        self.counts.below_maximum().iter().sum::<f64>() < f64::EPSILON
    }

    /// The highest rate at which a counter changes.
    fn most_changes(&self, arrivals: f64) -> f64 {
        if self.is_spent() { 0.0 } else { self.up(arrivals) + self.counts.values.len() as f64 }
    }

    /// Advances by the midpoint rule.
    fn advance(&mut self, arrivals: f64, step: f64) {
        if !self.is_spent() {
            let up = self.up(arrivals);
            let middle = self.counts.after(&self.counts, up, step / 2.0);
            self.counts = self.counts.after(&middle, up, step);
        }
    }

    /// The probability that a filter with `items` items has all counters of another key above 0.
    fn filter_names(&self, raised: &Raised, items: f64) -> f64 {
        let hashes = f64::from(self.hashes);
        // The number of counters in use varies; it is exactly known where none is saturated.
        let alone = if items >= 1.0 {
            let exact = ln_all_probes_set(self.places as u64, items * hashes, self.hashes);
            let saturated = self.counts.at_maximum();
            (1.0 - saturated) * (exact - hashes * ln_one_minus_exp(items * self.ln_spares)).max(0.0)
        } else {
            0.0
        };
        exp(hashes * ln(raised.with(items)) + alone).min(1.0)
    }
}

/// The probability that some counter of a place is above 0.
struct Raised {
    /// The probability that one is saturated.
    saturated: f64,
    /// The logarithm of the probability that all are 0 if none is saturated, per item.
    ln_zero_per_item: f64,
}

impl Raised {
    /// Combines these counters, with this mean number of items.
    fn new<'a>(counters: impl IntoIterator<Item = &'a Counters>, items: f64) -> Self {
        let mut raised = Self { saturated: 0.0, ln_zero_per_item: 0.0 };
        for counters in counters {
            raised.saturated += (1.0 - raised.saturated) * counters.counts.at_maximum();
            let (zero, others) = counters.counts.below_maximum().split_at(1);
            let others: f64 = others.iter().sum();
            if others > 0.0 && items > 0.0 {
                // A Poisson number of items led to this. A known number differs slightly if there
                // are few places.
                let of_known = counters.ln_spares / counters.raises;
                raised.ln_zero_per_item += of_known * ln_1p(others / zero[0]) / items;
            }
        }
        raised
    }

    /// The probability with `items` items.
    fn with(&self, items: f64) -> f64 {
        if items == 0.0 {
            return self.saturated;
        }
        self.saturated - (1.0 - self.saturated) * expm1(items * self.ln_zero_per_item)
    }
}

/// The mean of a function over a Poisson number with this mean.
fn over_poisson(mean: f64, function: impl Fn(f64) -> f64) -> f64 {
    /// In standard deviations: how far a number is followed, and in which steps.
    const FAR: i32 = 7;
    const STEPS: i32 = 4;
    let (mut sum, mut weights) = (0.0, 0.0);
    if mean < 100.0 {
        let mut weight = exp(-mean);
        for number in 0..=(mean + 12.0 * sqrt(mean) + 20.0) as u32 {
            sum += weight * function(number.into());
            weights += weight;
            weight *= mean / f64::from(number + 1);
        }
    } else {
        for at in -FAR * STEPS..=FAR * STEPS {
            let deviations = f64::from(at) / f64::from(STEPS);
            let weight = exp(-deviations * deviations / 2.0);
            sum += weight * function((mean + deviations * sqrt(mean)).max(0.0));
            weights += weight;
        }
    }
    sum / weights
}
