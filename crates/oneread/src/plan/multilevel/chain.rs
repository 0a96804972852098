//! From level to level: how to compute each, and how to bound what is left out.
//!
//! What the windows leave out at their high ends is a probability δ. No conditional probability
//! exceeds 1, so that the crisis probability is too low by at most δ. A first run cuts at 1e-40. If
//! that is more than 1e-30 of the result, a second run cuts lower.
//!
//! # Strides
//! In a wide window, only every t-th number's [row](super::rows) is added up, and stands for its
//! neighbours. Of the sum, too, only every t-th number is kept. A sum by equal steps over a bell is
//! off by e^(−2π²·p²) with p points per standard deviation. For one slot this is a theorem. The
//! number of items passed on is then a sum of independent 0/1 variables (its generating function
//! has only real roots), with a characteristic function below e^(−σ²(1 − cos t)). The error of the
//! sum is that function at t = 2π/stride and its multiples. At p = 2.5 only rounding is left. For
//! several slots, tests compare with the exact sum.

use alloc::vec::Vec;

use crate::layout::MultilevelLayout;

use super::passed_on::PassedOn;
use super::rows::{self, Row, Wanted};
use crate::plan::budget::StepBudget;
use crate::plan::float::{ln, sqrt};

use super::exact::{buckets, recursion, series};
use super::fast;
use super::fast::contour;
use super::level::{Cut, Level};
use super::rare;
use crate::plan::Accuracy;

/// How much work a level may take.
#[derive(Clone, Copy)]
pub(super) struct Effort<'a> {
    /// The most cells of the recursion.
    most_cells: f64,
    /// The most terms of the series, which take about ten times as long in wide numbers.
    most_terms: f64,
    /// The steps that all levels together may take.
    pub(super) work: &'a StepBudget,
}

impl<'a> Effort<'a> {
    /// About a second per level.
    pub(super) const fn usual(work: &'a StepBudget) -> Self {
        Self { most_cells: 1e9, most_terms: 2e8, work }
    }

    /// Lets a test compute tables of a few thousand items like those of a billion.
    #[cfg(test)]
    pub(super) const fn little(work: &'a StepBudget) -> Self {
        Self { most_cells: 2e4, most_terms: 2e8, work }
    }
}

/// How a level was computed, from most to least exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// By a recursion of positive terms.
    Exact,
    /// By integrals, at the multiples of a stride.
    Integrals,
    /// By mean and variance.
    Normal,
}

/// What happens to a table's items.
pub(super) struct Chain {
    pub(super) passed_on: Vec<PassedOn>,
    pub(super) ln_crisis: f64,
    pub(super) accuracy: Accuracy,
}

/// What a run may leave out, relative to the crisis probability.
const DROPPED: f64 = 1e-30;

/// What the windows of the first run leave out at their high ends.
const FIRST_CUT: f64 = 1e-40;

/// The least cut for which a float holds what remains.
pub(super) const LAST_CUT: f64 = 1e-280;

/// The error of contour integrals and of sums by steps; in tests it is ten times smaller.
const ROUNDING: f64 = 1e-8;

/// Points per standard deviation of a bell. A sum by such steps is off by e^(−2π²·2.5²) = 1e-53.
const POINTS_A_DEVIATION: f64 = 2.5;

/// A distribution whose mean is this many standard deviations above 0 is a bell that ends before 0:
/// e^(−12²/2) = 1e-31.
const BELL_DEVIATIONS: f64 = 12.0;

/// The most rows. Only nearly full levels of a very large table need as many.
const MAX_ROWS: usize = 300;

/// The most steps for the rows of several slots: about a second.
const MAX_WORK: f64 = 3e8;

/// With fewer buckets of several slots, a distribution is not a bell.
const MIN_BUCKETS: u64 = 32;

/// The most numbers kept of a large distribution.
const MAX_NUMBERS: f64 = 3000.0;

/// Below this, the logarithm is computed separately.
const NEARLY_UNDERFLOWS: f64 = 1e-200;

pub(super) fn run(layout: &MultilevelLayout, items: u64, effort: Effort<'_>) -> Chain {
    let mut cut = Cut::new(FIRST_CUT);
    let (mut passed_on, mut way) = marginals(layout, items, cut, effort);
    if dropped(&passed_on) > DROPPED * crisis_of(&passed_on) {
        // A thousandth of the allowed loss, since each step drops some.
        cut = Cut::new((1e-3 * DROPPED * crisis_of(&passed_on)).max(LAST_CUT));
        (passed_on, way) = marginals(layout, items, cut, effort);
    }
    if effort.work.is_spent() {
        return Chain { passed_on, ln_crisis: 0.0, accuracy: Accuracy::Estimated };
    }
    let crisis = crisis_of(&passed_on);
    let (ln_crisis, estimated) = if crisis > NEARLY_UNDERFLOWS {
        (ln(crisis.min(1.0)), false)
    } else {
        rare::ln_crisis(layout, items, effort)
    };
    let accuracy = match way {
        _ if estimated => Accuracy::Estimated,
        Way::Exact => Accuracy::Exact,
        // A contour's error grows with the items, and shrinks with their standard deviation.
        Way::Integrals => Accuracy::Close { relative_error: ROUNDING + 1e-14 * sqrt(items as f64) },
        Way::Normal => Accuracy::Overloaded,
    };
    Chain { passed_on, ln_crisis, accuracy }
}

fn dropped(passed_on: &[PassedOn]) -> f64 {
    passed_on.iter().map(|passed_on| passed_on.dropped).sum()
}

fn crisis_of(passed_on: &[PassedOn]) -> f64 {
    passed_on.last().map_or(0.0, |last| last.probability_at_least(1))
}

/// What each level passes on, and how the least exact of them was computed.
fn marginals(layout: &MultilevelLayout, items: u64, cut: Cut, effort: Effort<'_>) -> (Vec<PassedOn>, Way) {
    let mut passed_on: Vec<PassedOn> = Vec::new();
    let mut way = Way::Exact;
    let mut levels = Level::of(layout).peekable();
    while let Some(level) = levels.next() {
        if effort.work.is_spent() {
            break;
        }
        let certain = PassedOn::certain(items);
        let input = passed_on.last().unwrap_or(&certain);
        let next = levels.peek().copied();
        let (output, here) = pass_on(level, next, input, cut, effort);
        way = way.max(here);
        passed_on.push(output);
    }
    (passed_on, way)
}

/// What one level passes on to the next, and how it was computed.
pub(super) fn pass_on(
    level: Level,
    next: Option<Level>,
    input: &PassedOn,
    cut: Cut,
    effort: Effort<'_>,
) -> (PassedOn, Way) {
    match method(level, input, cut, effort) {
        Method::Recursion => (recursion::pass_on(level, input, cut, 0.0, effort.work), Way::Exact),
        Method::Buckets => (
            mixture(input, &buckets::rows(level, input.last(), Wanted::all(cut, effort.work)), cut),
            Way::Exact,
        ),
        Method::Series => {
            let ln_negligible = Wanted::all(cut, effort.work).ln_negligible();
            (mixture(input, &series::rows(level, input.last(), ln_negligible, effort.work), cut), Way::Exact)
        }
        Method::Integrals { times } => {
            let lattice = input.every(times);
            let stride = output_stride(level, next, input);
            let rows = lattice.weights.len();
            let work = rows as f64 * contour::work(level, input.mean() as u64);
            let is_much = rows > MAX_ROWS && is_bell(input)
                || level.slots > 1 && (work > MAX_WORK || level.buckets < MIN_BUCKETS);
            let exact = if is_much { None } else { by_integrals(level, &lattice, cut, stride, effort.work) };
            match exact {
                Some(output) => (output, Way::Integrals),
                None => (fast::pass_on_normal(level, input, cut, stride), Way::Normal),
            }
        }
    }
}

/// How to compute what a level passes on.
pub(super) enum Method {
    Recursion,
    Buckets,
    Series,
    /// The rows of the numbers given, or of every `times`-th of them.
    Integrals {
        times: u64,
    },
}

pub(super) fn method(level: Level, input: &PassedOn, cut: Cut, effort: Effort<'_>) -> Method {
    let (_, variance) = level.moments(input.mean());
    let cells = (1.0 + cut.deviations() * sqrt(variance)) * input.weights.len() as f64;
    // What is too small for integrals is cheap for the others, whatever the effort.
    let few = input.last() < rows::MIN_ITEMS;
    if level.slots == 1 && input.stride == 1 && (few || cells <= effort.most_cells) {
        Method::Recursion
    } else if level.slots > 1 && buckets::suits(level, input, cut, effort.most_terms) {
        Method::Buckets
    } else if level.slots > 1
        && (few && input.last() <= level.buckets || series::suits(level, input, cut, effort.most_terms))
    {
        Method::Series
    } else {
        Method::Integrals { times: times(level, input) }
    }
}

/// Adds the rows of all numbers given, each with its weight.
fn mixture(input: &PassedOn, rows: &[Row<f64>], cut: Cut) -> PassedOn {
    let mut out = PassedOn::zeros(0, 0, 1);
    for (balls, weight) in input.iter() {
        let Row { first, weights } = &rows[balls as usize];
        out.add_row(*first, weights, weight, balls);
    }
    out.dropped = cut.high;
    out.trimmed()
}

/// Like [`mixture`], but for the numbers of a lattice, by integrals. Fails if a row does not come
/// out right.
fn by_integrals(
    level: Level,
    lattice: &PassedOn,
    cut: Cut,
    stride: u64,
    work: &StepBudget,
) -> Option<PassedOn> {
    let top = lattice.weights.iter().copied().fold(0.0, f64::max);
    let mut out = PassedOn::zeros(0, 0, stride);
    let of_few = rows::of_few::<f64>(level, lattice.first(), rows::MIN_ITEMS - 1, Wanted::all(cut, work));
    for (balls, weight) in lattice.iter() {
        // Beyond its edge, a row falls at least geometrically: the rest is below the cut.
        out.dropped += top * cut.high;
        if let Some(Row { first, weights }) = of_few.get(balls as usize) {
            out.add_row(*first, weights, weight, balls);
            continue;
        }
        // A row with a small weight may be cut more.
        let wanted = Wanted { stride, ..Wanted::all(cut.relative_to(weight / top), work) };
        let row = rows::ln_row(level, balls, wanted);
        if !work.take(row.ln_weights.len() as f64) {
            return None;
        }
        out.add_row(row.first, &row.weights(wanted)?, weight, balls);
    }
    Some(out.trimmed())
}

/// Reports whether a distribution is negligible at its start, and not cut there by 0 or a
/// condition.
fn is_bell(input: &PassedOn) -> bool {
    input.mean() - BELL_DEVIATIONS * sqrt(input.variance()) >= input.first() as f64
}

/// Reports whether a level passes on a number distributed as a bell, all of it above `needed`.
pub(super) fn passes_on_a_bell_above(level: Level, input: &PassedOn, needed: u64) -> bool {
    let (given, given_deviation) = (input.mean(), sqrt(input.variance()));
    let (mean, variance) = level.moments(given);
    let slope = slope(level, given, given_deviation);
    let deviation = sqrt(variance + slope * slope * given_deviation * given_deviation);
    mean - BELL_DEVIATIONS * deviation > needed as f64
}

/// How many numbers of the input one number can stand for.
fn times(level: Level, input: &PassedOn) -> u64 {
    if !is_bell(input) {
        return 1;
    }
    let deviation = sqrt(input.variance());
    ((deviation_beside(level, input.mean(), deviation) / POINTS_A_DEVIATION) as u64 / input.stride).max(1)
}

/// The stride of the numbers passed on that the next level needs.
fn output_stride(level: Level, next: Option<Level>, input: &PassedOn) -> u64 {
    let (given, given_deviation) = (input.mean(), sqrt(input.variance()));
    let (mean, variance) = level.moments(given);
    let slope = slope(level, given, given_deviation);
    let deviation = sqrt(variance + slope * slope * given_deviation * given_deviation);
    if mean - BELL_DEVIATIONS * deviation < 0.0 {
        return 1;
    }
    let needed = next.map_or(deviation, |next| deviation_beside(next, mean, deviation));
    // Each row is a bell by itself. A finer stride than the number of rows is useless.
    let fewest = 2.0 * BELL_DEVIATIONS * deviation / MAX_NUMBERS;
    (needed.min(sqrt(variance)) / POINTS_A_DEVIATION).max(fewest).max(1.0) as u64
}

/// The standard deviation of the number given to a level, conditional on the number it passes on.
fn deviation_beside(level: Level, mean: f64, deviation: f64) -> f64 {
    let (_, variance) = level.moments(mean);
    let slope = slope(level, mean, deviation);
    if slope == 0.0 {
        return deviation;
    }
    1.0 / sqrt(1.0 / (deviation * deviation) + slope * slope / variance)
}

/// How much more a level passes on per additional item given.
fn slope(level: Level, mean: f64, deviation: f64) -> f64 {
    let step = deviation.max(1.0);
    let [(less, _), (more, _)] = [-step, step].map(|step| level.moments((mean + step).max(0.0)));
    (more - less) / (2.0 * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(levels: &[u64], slots: u32) -> MultilevelLayout {
        MultilevelLayout::new(levels).and_then(|layout| layout.with_slots(slots)).expect("a small table")
    }

    /// Integrals at a stride agree with the recursion over all numbers.
    #[test]
    fn little_effort_gives_the_same_numbers() {
        for (items, levels) in [
            (10_000, &[40_000, 10_000, 5_000, 2_500, 2_500][..]),
            (100_000, &[400_000, 100_000, 50_000, 25_000, 12_500, 12_500]),
            (20_000, &[10_000, 5_000, 2_500]),
            (5_000, &[5_000, 2_500, 1_250, 625]),
        ] {
            let layout = layout(levels, 1);
            let work = StepBudget::new("a test", f64::INFINITY);
            let much = run(&layout, items, Effort::usual(&work));
            let little = run(&layout, items, Effort::little(&work));
            assert!(matches!(much.accuracy, Accuracy::Exact));
            assert!(matches!(little.accuracy, Accuracy::Close { .. }));
            assert!((much.ln_crisis - little.ln_crisis).abs() < 1e-10, "{items}");
            for (much, little) in much.passed_on.iter().zip(&little.passed_on) {
                assert!((much.mean() / little.mean() - 1.0).abs() < 1e-10, "{items}");
                assert!((much.variance() / little.variance() - 1.0).abs() < 1e-8, "{items}");
            }
        }
    }

    /// Integrals against sums, on levels small enough for both.
    #[test]
    fn integrals_agree_with_sums() {
        for (buckets, slots, items) in [
            (2000, 2, 1900),
            (3000, 1, 2500),
            (2000, 4, 2000),
            (60, 30, 1700),
            (80, 16, 1200),
            (50, 10, 800),
            (1000, 1, 1000),
        ] {
            let level = Level { buckets, slots };
            let work = StepBudget::new("a test", f64::INFINITY);
            let wanted = Wanted::all(Cut::new(1e-40), &work);
            let exact = if items <= buckets {
                series::rows::<f64>(level, items, wanted.ln_negligible(), &work).pop()
            } else {
                buckets::rows::<f64>(level, items, wanted).pop()
            };
            let exact = exact.expect("the row of all items");
            let integrals = [rows::ln_row(level, items, wanted), contour::ln_row(level, items, wanted)];
            let (mut worst, mut compared) = (0.0f64, 0);
            for (number, exact) in (exact.first..).zip(&exact.weights).filter(|(_, exact)| **exact > 1e-12) {
                for row in &integrals {
                    let index = number.checked_sub(row.first).map(|index| index as usize);
                    let found = index.and_then(|index| row.ln_weights.get(index)).copied();
                    worst = worst.max((found.unwrap_or(f64::NEG_INFINITY) - ln(*exact)).abs());
                }
                compared += 1;
            }
            assert!(compared > 20 && worst < 2e-8, "{level:?}, {items}: {worst:e} of {compared}");
        }
    }
}
