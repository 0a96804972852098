//! The odds alone, from the last level back to the first: for searches, which evaluate them a
//! hundred times.
//!
//! Let `g_i`(a) be the odds if a items reach level i. After the last level they are known: any item
//! left is a crisis, and l items left are l in the stash. Before it they are a sum over a
//! [row](super::super::rows), `g_i`(a) = Σ over l of Pr(l | a)·`g_(i+1)`(l), and `g_0`(n) is the
//! result. All terms are positive.
//!
//! A [chain](super::super::chain) needs the rows of all numbers that may reach a level. This needs
//! some ten of them, since ln `g_i` is [smooth](super::smooth).
//!
//! # What is left out
//! Numbers that reach a level too rarely to matter are cut off: `g` is taken as constant beyond
//! them. At the low end this is 1e-13 of a row: fewer items never raise the odds, so that no larger
//! share of them is lost. At the high end it is so little that, if all were crises, it would be
//! 1e-10 of the result.

use alloc::vec::Vec;

use crate::layout::MultilevelLayout;

use super::super::passed_on::PassedOn;
use super::super::rows::{self, LnRow, Row, Wanted};
use super::smooth::Smooth;
use crate::plan::budget::StepBudget;
use crate::plan::float::{exp, ln, sqrt};

use super::super::exact::{buckets, series};
use super::super::level::{Cut, Level};
use super::super::{MultilevelPlan, closed_forms};

/// Which odds of items without room are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The probability that there are any.
    Any,
    /// How many are expected.
    Number,
}

/// The share of a row left out at its low end.
const LOW: f64 = 1e-13;

/// The logarithm of a negligible share: 1e-10.
const LN_LITTLE: f64 = -23.0;

/// Rows that must go on below e to this are better left to a plan.
const LN_LAST_HIGH: f64 = -400.0;

/// With fewer items, integrals are not used here. A plan needs more, since it keeps rows down to
/// 1e-40.
const MIN_ITEMS: u64 = 40;

/// The precision, compared with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Close {
    /// To 1e-8.
    Fine,
    /// To 0.001, as in tests: enough for a search that is far from its goal.
    Rough,
}

impl Close {
    const fn most_doubt(self) -> f64 {
        match self {
            Self::Fine => 2e-6,
            Self::Rough => 3e-3,
        }
    }
}

/// The logarithm of the odds; `None` if they are too small, or if rows do not come out right.
///
/// The closer the guess, the less work.
pub fn ln_odds(
    layout: &MultilevelLayout,
    items: u64,
    lost: Lost,
    ln_guess: f64,
    close: Close,
    work: &StepBudget,
) -> Option<f64> {
    if !(1..=MultilevelPlan::MAX_ITEMS).contains(&items) {
        return None;
    }
    let mut ln_high = ln_guess.min(0.0) + 1.25 * LN_LITTLE;
    while ln_high > LN_LAST_HIGH {
        let ln_odds = within(layout, items, lost, Cut::both(LOW, exp(ln_high)), close, work)?;
        if ln_odds + LN_LITTLE >= ln_high {
            return Some(ln_odds);
        }
        ln_high = ln_odds + 1.25 * LN_LITTLE;
    }
    None
}

fn within(
    layout: &MultilevelLayout,
    items: u64,
    lost: Lost,
    cut: Cut,
    close: Close,
    work: &StepBudget,
) -> Option<f64> {
    let levels: Vec<Level> = Level::of(layout).collect();
    let (last, before) = levels.split_last()?;
    let mut steps = Vec::new();
    let mut reach = Reach::certain(items);
    for &level in before {
        let step = Step::new(level, reach, cut, close, work);
        reach = step.passed_on()?;
        steps.push(step);
    }
    let mut odds = before_last(*last, reach, lost, cut, close, work)?;
    for step in steps.iter().rev() {
        odds = step.before(|passed_on| odds.at(passed_on))?;
    }
    Some(odds.at(items))
}

/// The parts of the allowed loss, as a logarithm.
const PARTS: usize = 3;

/// The numbers that may reach a level. Numbers below part j of the low ones have a probability of
/// at most about e^(j/parts·[`Cut::ln_low`]), and likewise for the high ones.
#[derive(Clone, Copy)]
struct Reach {
    low: [u64; PARTS + 1],
    high: [u64; PARTS + 1],
}

impl Reach {
    const fn certain(items: u64) -> Self {
        Self { low: [items; PARTS + 1], high: [items; PARTS + 1] }
    }

    const fn lowest(self) -> u64 {
        self.low[PARTS]
    }

    const fn highest(self) -> u64 {
        self.high[PARTS]
    }

    /// The weight of a number and its ln g in odds that are not too small for this cut: at most 1.
    fn weight(self, cut: Cut, number: u64, ln_odds: f64) -> f64 {
        let fewer = self.low.iter().filter(|low| number < **low).count();
        let more = self.high.iter().filter(|high| number > **high).count();
        let parts = |parts: usize| parts as f64 / PARTS as f64;
        let ln_reaches =
            cut.ln_low * parts(fewer.saturating_sub(1)) + cut.ln_high * parts(more.saturating_sub(1));
        exp((ln_reaches + ln_odds - (cut.ln_high - LN_LITTLE)).min(0.0))
    }
}

/// ln g before the last level.
fn before_last(
    level: Level,
    reach: Reach,
    lost: Lost,
    cut: Cut,
    close: Close,
    work: &StepBudget,
) -> Option<Smooth> {
    /// Takes a few milliseconds.
    const MAX_TERMS: u64 = 5_000_000;
    let (low, high) = (reach.lowest(), reach.highest());
    let weight = |items, ln_odds| reach.weight(cut, items, ln_odds);
    match lost {
        Lost::Number => {
            // With no more items than a few times the slots, it is not a polynomial.
            let rough = MIN_ITEMS.max(4 * u64::from(level.slots));
            Smooth::new(
                low,
                rough,
                high,
                close.most_doubt(),
                // A sum over the loads of a bucket.
                |items| work.take(1000.0).then(|| closed_forms::ln_passed_on(level, items)),
                weight,
            )
        }
        Lost::Any if high <= buckets::MAX_ITEMS && level.buckets * high * high <= MAX_TERMS => {
            let ln_any = buckets::ln_any(level, high, Wanted::all(cut, work).ln_negligible(), work);
            Smooth::new(
                low,
                high + 1,
                high,
                close.most_doubt(),
                |items| ln_any.get(items as usize).copied(),
                weight,
            )
        }
        Lost::Any => {
            let ln_any = |passed_on| if passed_on == 0 { f64::NEG_INFINITY } else { 0.0 };
            Step::new(level, reach, cut, close, work).before(ln_any)
        }
    }
}

/// A level, and the numbers that may reach it.
struct Step<'a> {
    level: Level,
    reach: Reach,
    cut: Cut,
    close: Close,
    work: &'a StepBudget,
    /// The rows of few items, or of all if they are sums of few terms.
    sums: Vec<Row<f64>>,
}

/// A row without negligible parts, at the multiples of a stride; its weights add up to 1.
struct Trimmed {
    first: u64,
    stride: u64,
    ln_weights: Vec<f64>,
}

impl Trimmed {
    fn number(&self, index: usize) -> u64 {
        self.first + index as u64 * self.stride
    }

    /// The number below which the row has at most this share.
    fn low(&self, ln_share: f64) -> u64 {
        let mut left = exp(ln_share);
        let index = self.ln_weights.iter().position(|ln_weight| {
            left -= exp(*ln_weight);
            left < 0.0
        });
        self.number(index.unwrap_or(self.ln_weights.len() - 1))
    }

    /// The number above which the row has at most this share.
    fn high(&self, ln_share: f64) -> u64 {
        let mut left = exp(ln_share);
        let index = self.ln_weights.iter().rposition(|ln_weight| {
            left -= exp(*ln_weight);
            left < 0.0
        });
        self.number(index.unwrap_or(0))
    }
}

impl<'a> Step<'a> {
    fn new(level: Level, reach: Reach, cut: Cut, close: Close, work: &'a StepBudget) -> Self {
        let high = reach.highest();
        let last = if sums_suit(level, high, cut) { high } else { high.min(MIN_ITEMS - 1) };
        let sums = rows::of_few(level, reach.lowest(), last, Wanted::all(cut, work));
        Self { level, reach, cut, close, work, sums }
    }

    /// The numbers that may be passed on.
    ///
    /// Passing on a rare number can take k parts of rarity in the number given, and the other parts
    /// in the passing on. More items given never mean fewer passed on, so that a number given
    /// between part k and the next is no worse than the next.
    fn passed_on(&self) -> Option<Reach> {
        let mut passed_on = Reach { low: [u64::MAX; PARTS + 1], high: [0; PARTS + 1] };
        let part = |ln_all: f64, parts: usize| ln_all * parts as f64 / PARTS as f64;
        for given in 0..PARTS {
            let low = self.row(self.reach.low[given + 1])?;
            let high = self.row(self.reach.high[given + 1])?;
            for parts in given..=PARTS {
                let others = parts - given;
                let ends = (&mut passed_on.low[parts], &mut passed_on.high[parts]);
                *ends.0 = (*ends.0).min(low.low(part(self.cut.ln_low, others)));
                *ends.1 = (*ends.1).max(high.high(part(self.cut.ln_high, others)));
            }
        }
        Some(passed_on)
    }

    /// ln g before the level, from that after it; `None` unless all rows come out right.
    fn before(&self, after: impl Fn(u64) -> f64) -> Option<Smooth> {
        let value = |items| {
            let row = self.row(items)?;
            let numbers = (row.first..).step_by(row.stride as usize);
            let terms = row.ln_weights.iter().zip(numbers);
            let ln_terms: Vec<f64> = terms.map(|(ln_weight, number)| ln_weight + after(number)).collect();
            Some(ln_sum_of(&ln_terms))
        };
        let weight = |items, ln_odds| self.reach.weight(self.cut, items, ln_odds);
        Smooth::new(
            self.reach.lowest(),
            self.sums.len() as u64,
            self.reach.highest(),
            self.close.most_doubt(),
            value,
            weight,
        )
    }

    /// The row of `items` items; `None` unless its weights come out right.
    fn row(&self, items: u64) -> Option<Trimmed> {
        /// The largest error of the sum of all weights.
        const LARGE: f64 = 1e-6;
        let (row, stride) = match self.sums.get(items as usize) {
            Some(Row { first, weights }) => {
                let ln_weights = weights.iter().map(|&weight| ln(weight)).collect();
                (LnRow { first: *first, ln_weights }, 1)
            }
            None => {
                let stride = self.stride(items);
                (
                    rows::ln_row(self.level, items, Wanted { stride, ..Wanted::all(self.cut, self.work) }),
                    stride,
                )
            }
        };
        let LnRow { first, mut ln_weights } = row;
        // Each is looked up in a polynomial, with some logarithms and exponentials.
        if !self.work.take(100.0 * ln_weights.len() as f64) {
            return None;
        }
        let ln_all = ln_sum_of(&ln_weights);
        let is_right = ln_weights.len() == 1 || (ln_all + ln(stride as f64)).abs() < LARGE;
        let begin = ln_weights.iter().position(|ln_weight| *ln_weight > ln_all + self.cut.ln_low)?;
        ln_weights.drain(..begin);
        ln_weights.iter_mut().for_each(|ln_weight| *ln_weight -= ln_all);
        is_right.then_some(Trimmed { first: first + begin as u64 * stride, stride, ln_weights })
    }

    /// The stride by which a row can be summed, if it is a bell.
    fn stride(&self, items: u64) -> u64 {
        /// Twice the points of a bell, since the odds may make it narrower.
        const POINTS_A_DEVIATION: f64 = 5.0;
        /// From the mean down to 0.
        const BELL_DEVIATIONS: f64 = 12.0;
        let (mean, variance) = self.level.moments(items as f64);
        let deviation = sqrt(variance);
        let is_bell = mean >= BELL_DEVIATIONS * deviation;
        if is_bell { (deviation / POINTS_A_DEVIATION).max(1.0) as u64 } else { 1 }
    }
}

/// Reports whether the rows of all numbers up to the last are sums of few terms, or of too few
/// buckets for integrals.
fn sums_suit(level: Level, last: u64, cut: Cut) -> bool {
    /// Takes some milliseconds.
    const MAX_TERMS: f64 = 1e7;
    /// With fewer buckets, one bucket's share is not small, and integrals are slow.
    const FEW_BUCKETS: u64 = 64;
    let most_terms = if level.buckets < FEW_BUCKETS { 30.0 * MAX_TERMS } else { MAX_TERMS };
    let all = PassedOn::certain(last);
    if level.buckets <= last {
        buckets::suits(level, &all, cut, most_terms)
    } else {
        series::suits(level, &all, cut, most_terms)
    }
}

/// The logarithm of a sum.
fn ln_sum_of(ln_terms: &[f64]) -> f64 {
    let largest = ln_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + ln(ln_terms.iter().map(|ln_term| exp(ln_term - largest)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forward and backward computations agree: for small and large levels, for full ones and those
    /// that hardly any item reaches, and for any guess.
    #[test]
    fn the_odds_are_those_of_the_plan() {
        let work = StepBudget::new("a test", f64::INFINITY);
        for (items, levels, slots) in [
            (10_000, &[2_069, 841, 342, 139][..], 4),
            (10_000, &[6_383, 2_996, 1_374, 633], 2),
            (100_000, &[20_690, 8_410, 3_420, 1_390], 4),
            (100_000, &[6_000, 1_000, 100], 16),
            (1_000, &[600, 300, 200, 100], 2),
            (500, &[160, 60, 30], 3),
            (100_000, &[279_068, 154_207, 80_000, 43_668, 21_800], 1),
            (90, &[40, 20], 2),
            (50, &[20], 3),
        ] {
            let layout = MultilevelLayout::new(levels).and_then(|layout| layout.with_slots(slots));
            let layout = layout.expect("a small table");
            let plan = MultilevelPlan::new(&layout, items).expect("some items");
            for ln_guess in [0.0, plan.ln_crisis_probability(), -100.0] {
                let any = ln_odds(&layout, items, Lost::Any, ln_guess, Close::Fine, &work)
                    .expect("odds above 1e-100");
                let number = ln_odds(&layout, items, Lost::Number, ln_guess, Close::Fine, &work)
                    .expect("odds above 1e-100");
                let off = [any - plan.ln_crisis_probability(), number - ln(plan.expected_stash())];
                let rough =
                    ln_odds(&layout, items, Lost::Any, ln_guess, Close::Rough, &work).expect("rough odds");
                assert!((rough - any).abs() < 1e-3, "{items} in {levels:?} of {slots}: {rough} for {any}");
                assert!(off.iter().all(|off| off.abs() < 1e-8), "{items} in {levels:?} of {slots}: {off:?}");
            }
        }
    }

    #[test]
    fn odds_that_no_sum_holds_are_left_to_the_plan() {
        let work = StepBudget::new("a test", f64::INFINITY);
        let layout = MultilevelLayout::new([1_000_000, 1_000_000]).and_then(|layout| layout.with_slots(60));
        assert_eq!(ln_odds(&layout.expect("two levels"), 1000, Lost::Any, -20.0, Close::Fine, &work), None);
        let layout = MultilevelLayout::new([10]).expect("a level");
        assert_eq!(ln_odds(&layout, 0, Lost::Any, -20.0, Close::Fine, &work), None);
        assert_eq!(
            ln_odds(&layout, MultilevelPlan::MAX_ITEMS + 1, Lost::Any, -20.0, Close::Fine, &work),
            None
        );
    }
}
