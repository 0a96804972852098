//! The smallest summary of multiple filters: how to divide the allowed mistakes among the levels.
//!
//! False positives depend only on the first filter, and everything else on the others. A filter
//! `B_i` of b bits and k hash functions uses a share of all allowed mistakes, which falls as b
//! grows. The goal is the smallest sum of bits for which the shares add up to 1. Shares fall nearly
//! exponentially, and the sum is smallest where one bit more reduces each share by the same amount.
//! So a filter's share is inversely proportional to the rate at which it falls. That rate hardly
//! depends on the share, so that few rounds find both. A final step handles rounding to whole bits:
//! bits go from one filter to another as long as that saves any, until no filter can lose a bit,
//! with any number of hash functions.
//!
//! The list that may replace the deepest filters has few sizes. The search takes the one that is
//! smallest together with the cost of its share to the filters.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use libm::{exp, expm1, log as ln, log1p as ln_1p, sqrt};
use oneread::layout::{ListLayout, MAX_HASHES, MAX_PLACES};
use oneread::plan::multilevel::{MultilevelPlan, PassedOn};
use oneread::workspace::{
    LevelReads, Naming, Part, StepBudget, expected_reads, least, least_near, ln_one_minus_exp, placed_items,
};

use super::Goal;

/// Rounds that find the filters' shares.
const ROUNDS: u32 = 6;

/// Levels with more items on average have no list: a lookup scans all of its keys.
const MAX_LISTED: f64 = 128.0;

/// The largest share of a list in all mistakes.
const MAX_OF_LIST: f64 = 0.5;

/// The steps for the exact odds of one filter per pair of hash functions: sums for some ten numbers
/// of keys.
const STEPS_OF_EXACT_ODDS: f64 = 600.0;

/// The steps per number of keys that may reach a level: some logarithms and exponentials.
pub(super) const STEPS_A_NUMBER: f64 = 50.0;

/// The steps per filter to add up the odds of all.
const STEPS_A_LEVEL: f64 = 100.0;

/// Filters for the levels from 1 on, and a list for the levels after them.
#[derive(Clone, Debug)]
pub(super) struct Deeper {
    pub(super) filters: Vec<(u64, u32)>,
    pub(super) list: Option<ListLayout>,
}

impl Deeper {
    pub(super) fn bits(&self) -> u64 {
        let filters: u64 = self.filters.iter().map(|&(bits, _)| bits).sum();
        filters + self.list.map_or(0, |list| list.bits())
    }
}

/// The part of a filter, or of a list, in the allowed mistakes.
#[derive(Clone, Debug)]
struct Odds {
    /// By keys of the level right above, relative to all that is allowed.
    share: f64,
    /// By level, where reads count.
    reads: Vec<LevelReads>,
}

/// A search for the filters of one table.
pub(super) struct Search<'a> {
    table: &'a MultilevelPlan,
    goal: Goal,
    /// The logarithm of the expected failures, or of the extra reads of all hits together, that are
    /// allowed.
    ln_allowed: f64,
    /// The budget of steps.
    work: &'a StepBudget,
    /// By level from 1 on: numbers of items that reach it, each with the items that the level above
    /// is expected to hold when at least that many, but fewer than the next number, reach it.
    steps: Vec<Vec<(u64, f64)>>,
    /// By level, bits and hash functions.
    known: BTreeMap<(usize, u64, u32), Odds>,
}

impl<'a> Search<'a> {
    pub(super) fn new(table: &'a MultilevelPlan, goal: Goal, ln_allowed: f64, work: &'a StepBudget) -> Self {
        let steps = table.passed_on().iter().map(steps).collect();
        Self { table, goal, ln_allowed, work, steps, known: BTreeMap::new() }
    }

    /// Finds the smallest filters without a list, and with a list from each possible level on; the
    /// smallest of all comes first.
    pub(super) fn solve(&mut self) -> Vec<Deeper> {
        let levels = self.table.layout().level_count();
        let listed = |level: &usize| self.table.passed_on()[level - 1].mean() <= MAX_LISTED;
        let first_listed: Vec<usize> = (1..levels).filter(listed).collect();
        let mut found: Vec<Deeper> = self.with_filters(levels, None).into_iter().collect();
        for level in first_listed {
            found.extend(self.with_list(level));
        }
        found.sort_by_key(Deeper::bits);
        found
    }

    /// Finds filters up to `end`, and a list for the levels from there on.
    fn with_list(&mut self, end: usize) -> Option<Deeper> {
        // The filters tell what a share costs them: by the logarithm of what is left to them.
        let bits_for_a_factor_e: f64 = self.divide(end, 1.0)?.slopes.iter().sum();
        let levels = self.table.layout().level_count() - end;
        let mut best: Option<(f64, ListLayout)> = None;
        for items in 1..=ListLayout::MAX_ITEMS {
            let list = |bits: u64| ListLayout::new(levels, items, bits as u32).ok();
            let cost = |bits: u64| match list(bits) {
                Some(list) => {
                    let share = self.list_odds(list, end).share;
                    let penalty = if share < MAX_OF_LIST {
                        -bits_for_a_factor_e * ln_1p(-share)
                    } else {
                        f64::INFINITY
                    };
                    list.bits() as f64 + penalty
                }
                None => f64::INFINITY,
            };
            let longest = u64::from(ListLayout::MAX_FINGERPRINT_BITS);
            if cost(longest).is_infinite() {
                continue;
            }
            // The bits grow evenly and the penalty falls ever more slowly: there is one least cost.
            let bits = least(0, longest, |bits| {
                bits == longest || cost(bits) <= cost(bits + 1) && cost(bits) < f64::INFINITY
            });
            if best.as_ref().is_none_or(|(least, _)| cost(bits) < *least) {
                best = list(bits).map(|list| (cost(bits), list));
            }
            // A longer list does not help: the probability that one of this size is full is at most
            // half of its share.
            let full = self.list_odds(list(longest)?, end).share;
            let one_more = list(1)?.bits() as f64 / items as f64;
            if -bits_for_a_factor_e * ln_1p(-full / (1.0 - MAX_OF_LIST)) < one_more {
                break;
            }
        }
        let (_, list) = best?;
        let odds = self.list_odds(list, end);
        self.with_filters(end, Some((list, odds)))
    }

    /// Finds the smallest filters for levels 1 to `end` − 1 beside a list, if possible.
    fn with_filters(&mut self, end: usize, list: Option<(ListLayout, Odds)>) -> Option<Deeper> {
        let (layout, odds) = match list {
            Some((layout, odds)) => (Some(layout), Some(odds)),
            None => (None, None),
        };
        let mut left = 1.0 - odds.as_ref().map_or(0.0, |odds| odds.share);
        let mut filters = Vec::new();
        if end > 1 {
            // The shares leave out reads after a read, which are few, and known once the filters
            // are.
            for _ in 0..ROUNDS {
                let state = self.divide(end, left)?;
                let shares: f64 = self.shares(&state.filters).iter().sum();
                let all = self.total(&state.filters, None, odds.as_ref());
                let beyond = all - shares - odds.as_ref().map_or(0.0, |odds| odds.share);
                filters = state.filters;
                let next = 1.0 - odds.as_ref().map_or(0.0, |odds| odds.share) - beyond.max(0.0);
                let settled = (next - left).abs() < 1e-3;
                // Something must be left to the filters; the final step does the rest.
                left = next.max(left / 2.0);
                if settled {
                    break;
                }
            }
        }
        self.polish(&mut filters, odds.as_ref())?;
        Some(Deeper { filters, list: layout })
    }

    /// The shares of some filters, by level from 1 on.
    fn shares(&mut self, filters: &[(u64, u32)]) -> Vec<f64> {
        (1..).zip(filters).map(|(level, &filter)| self.odds(level, filter).share).collect()
    }

    /// All mistakes, relative to those allowed; optionally with other odds at one level.
    fn total(&mut self, filters: &[(u64, u32)], other: Option<(usize, &Odds)>, list: Option<&Odds>) -> f64 {
        if !self.work.take(STEPS_A_LEVEL * filters.len() as f64) {
            return f64::INFINITY;
        }
        let mut share = 0.0;
        // The first filter does not affect the reads per hit.
        let mut levels = Vec::from([LevelReads::NONE]);
        let mut add = |odds: &Odds| {
            share += odds.share;
            levels.extend_from_slice(&odds.reads);
        };
        for (level, &filter) in (1..).zip(filters) {
            match other {
                Some((at, odds)) if at == level => add(odds),
                _ => add(self.odds(level, filter)),
            }
        }
        list.into_iter().for_each(add);
        match self.goal {
            Goal::Guarantee { .. } => share,
            Goal::Average { .. } => exp(ln(expected_reads(&levels, Naming::StepByStep).0) - self.ln_allowed),
        }
    }

    fn odds(&mut self, level: usize, (bits, hashes): (u64, u32)) -> &Odds {
        let (table, goal, ln_allowed, work) = (self.table, self.goal, self.ln_allowed, self.work);
        let compute = || part_odds(table, goal, ln_allowed, level, Part::Filter(bits, hashes), work);
        self.known.entry((level, bits, hashes)).or_insert_with(compute)
    }

    /// The share of a list, and the reads of its levels.
    fn list_odds(&self, list: ListLayout, first: usize) -> Odds {
        let mut all = Odds { share: 0.0, reads: Vec::new() };
        for level in first..self.table.layout().level_count() {
            let part = Part::List(list, level == first);
            let odds = part_odds(self.table, self.goal, self.ln_allowed, level, part, self.work);
            all.share += odds.share;
            all.reads.extend(odds.reads);
        }
        all
    }

    /// A lower bound on a filter's share that takes less time, used where that is worth it.
    ///
    /// By Jensen's inequality, an unpartitioned filter errs at least as often as if always its
    /// expected part of the bits were set, (1 − (1 − 1/m)^(kn))^k. This rises with the items n, so
    /// that n between two steps is bounded by the lower step.
    fn least_share(&self, level: usize, (bits, hashes): (u64, u32)) -> f64 {
        if let Goal::Guarantee { .. } = self.goal {
            return 0.0;
        }
        let hashes = f64::from(hashes);
        let ln_unset = hashes * ln_1p(-1.0 / bits as f64);
        let buckets = self.table.layout().levels()[level] as f64;
        let read = |&(below, placed): &(u64, f64)| {
            let occupied = -expm1(below as f64 * ln_1p(-1.0 / buckets));
            placed * occupied * exp(hashes * ln_one_minus_exp(below as f64 * ln_unset))
        };
        exp(ln(self.steps[level - 1].iter().map(read).sum()) - self.ln_allowed)
    }

    /// Finds the fewest bits, with any number of hash functions, of a filter whose odds fit; the
    /// search starts at `near`.
    ///
    /// With more bits a filter errs less often, so that bits are searched by halving. All numbers
    /// of hash functions are tried: one that does not fit with one bit less than the best so far
    /// cannot be better.
    fn fewest(
        &mut self,
        level: usize,
        near: (u64, u32),
        most_share: f64,
        mut fits: impl FnMut(&mut Self, &Odds) -> bool,
    ) -> Option<(u64, u32)> {
        let mut fewest_of = |search: &mut Self, guess: u64, most: u64, hashes: u32| {
            least_near(guess, guess / 256, 4, most, |bits| {
                search.least_share(level, (bits, hashes)) <= most_share && {
                    let odds = search.odds(level, (bits, hashes)).clone();
                    fits(search, &odds)
                }
            })
        };
        let mut best = fewest_of(self, near.0, MAX_PLACES, near.1).map(|bits| (bits, near.1));
        // From the likeliest on, so that most others need one evaluation.
        let mut others: Vec<u32> = (1..=MAX_HASHES).filter(|&hashes| hashes != near.1).collect();
        others.sort_by_key(|hashes| hashes.abs_diff(near.1));
        for hashes in others {
            let most = match best {
                Some((1, _)) => break,
                Some((bits, _)) => bits - 1,
                None => MAX_PLACES,
            };
            if let Some(bits) = fewest_of(self, most, most, hashes) {
                best = Some((bits, hashes));
            }
        }
        best
    }

    /// Finds filters whose shares add up to `left`, each inversely proportional to the rate at
    /// which it falls.
    fn divide(&mut self, end: usize, left: f64) -> Option<Division> {
        // A level that nothing reaches still gets a share, which it does not use.
        let mean = |level: usize| self.table.passed_on()[level - 1].mean().max(f64::MIN_POSITIVE);
        let mut slopes: Vec<f64> = (1..end).map(mean).collect();
        let mut filters: Vec<(u64, u32)> = (1..end).map(|level| self.guess(level)).collect();
        // A filter of the least size keeps its share.
        let mut fixed: Vec<Option<f64>> = core::iter::repeat_n(None, filters.len()).collect();
        for _ in 0..ROUNDS {
            let free: f64 = left - fixed.iter().flatten().sum::<f64>();
            let all: f64 =
                slopes.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none()).map(|(s, _)| s).sum();
            let mut moved = false;
            for at in 0..filters.len() {
                if fixed[at].is_some() {
                    continue;
                }
                let (level, limit) = (at + 1, free * slopes[at] / all);
                let found = self.fewest(level, filters[at], limit, |_, odds| odds.share <= limit)?;
                moved |= found.0.abs_diff(filters[at].0) > found.0 / 512;
                filters[at] = found;
                let (bits, hashes) = found;
                let here = self.odds(level, found).share;
                if bits == 1 {
                    (fixed[at], moved) = (Some(here), true);
                    continue;
                }
                let step = (bits / 128).max(1);
                let beyond = self.odds(level, (bits + step, hashes)).share;
                slopes[at] = (step as f64 / ln(here / beyond)).max(f64::MIN_POSITIVE);
            }
            if !moved {
                break;
            }
        }
        let free = slopes.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none());
        Some(Division { slopes: free.map(|(slope, _)| *slope).collect(), filters })
    }

    /// A first guess: the number of hash functions for a rate that gives the level an equal share.
    fn guess(&self, level: usize) -> (u64, u32) {
        let passed_on = &self.table.passed_on()[level - 1];
        let ln_rate = (self.ln_allowed - ln(passed_on.expectation_over_placed(|_| 1.0))).min(-0.1);
        let hashes = (-ln_rate / core::f64::consts::LN_2).clamp(1.0, f64::from(MAX_HASHES)) as u32;
        let items = passed_on.mean().max(1.0);
        let bits = -items * f64::from(hashes) / ln_one_minus_exp(ln_rate / f64::from(hashes));
        (bits.clamp(1.0, MAX_PLACES as f64) as u64, hashes)
    }

    /// Takes bits away where possible, and exchanges them between filters where that saves any;
    /// `None` if the filters do not fit.
    fn polish(&mut self, filters: &mut Vec<(u64, u32)>, list: Option<&Odds>) -> Option<()> {
        const EXCHANGED: [u64; 4] = [1, 4, 16, 64];
        const MAX_ROUNDS: u32 = 12;
        if filters.is_empty() {
            return (self.total(filters, None, list) <= 1.0).then_some(());
        }
        self.shrink(filters, list)?;
        for _ in 0..MAX_ROUNDS {
            let before: u64 = filters.iter().map(|filter| filter.0).sum();
            // The largest filter trades with the others: its bits are the finest unit.
            for at in 1..filters.len() {
                for amount in EXCHANGED {
                    let (bits, hashes) = filters[at];
                    for bits in [bits.saturating_sub(amount), bits + amount] {
                        if bits == 0 {
                            continue;
                        }
                        let mut tried = filters.clone();
                        tried[at] = self.best_hashes(at + 1, (bits, hashes));
                        if self.refit(&mut tried, list)
                            && tried.iter().map(|filter| filter.0).sum::<u64>()
                                < filters.iter().map(|filter| filter.0).sum()
                        {
                            *filters = tried;
                        }
                    }
                }
            }
            if filters.iter().map(|filter| filter.0).sum::<u64>() == before {
                break;
            }
        }
        self.shrink(filters, list)
    }

    /// The neighbouring number of hash functions with the smallest share.
    fn best_hashes(&mut self, level: usize, (bits, hashes): (u64, u32)) -> (u64, u32) {
        let mut best = (bits, hashes);
        loop {
            let before = best.1;
            for hashes in [before - 1, before + 1] {
                let better = (1..=MAX_HASHES).contains(&hashes)
                    && self.odds(level, (bits, hashes)).share < self.odds(level, best).share;
                if better {
                    best.1 = hashes;
                }
            }
            if best.1 == before {
                return best;
            }
        }
    }

    /// Makes the first filter as small as possible with its number of hash functions. Reports
    /// whether it fits.
    fn refit(&mut self, filters: &mut [(u64, u32)], list: Option<&Odds>) -> bool {
        let (near, hashes) = filters[0];
        let most = near + near / 16 + 1024;
        let bits = least_near(near, 1, 4, most, |bits| {
            filters[0] = (bits, hashes);
            self.total(filters, None, list) <= 1.0
        });
        filters[0] = (bits.unwrap_or(near), hashes);
        bits.is_some()
    }

    /// Makes one filter after another as small as possible, until none can lose a bit.
    fn shrink(&mut self, filters: &mut Vec<(u64, u32)>, list: Option<&Odds>) -> Option<()> {
        loop {
            let before = filters.clone();
            for at in 0..filters.len() {
                let shares: f64 = self.shares(filters).iter().sum();
                let others = shares - self.odds(at + 1, filters[at]).share;
                let others = others + list.map_or(0.0, |odds| odds.share);
                // Rounding must not exclude what just fits.
                let most_share = 1.0 - others + 1e-9;
                let level = at + 1;
                filters[at] = self.fewest(level, filters[at], most_share, |search, odds| {
                    search.total(filters, Some((level, odds)), list) <= 1.0
                })?;
            }
            if *filters == before {
                return Some(());
            }
        }
    }
}

/// Filters, and for each that is not of the least size, the bits by which it grows for its share to
/// fall by a factor e.
struct Division {
    slopes: Vec<f64>,
    filters: Vec<(u64, u32)>,
}

/// The items that a level places while passing on at least some number, in few steps.
fn steps(passed_on: &PassedOn) -> Vec<(u64, f64)> {
    let width = sqrt(passed_on.variance()) / 4.0;
    let mut steps: Vec<(u64, f64)> = Vec::new();
    for (below, placed) in placed_items(passed_on).skip_while(|(below, _)| *below == 0) {
        match steps.last_mut() {
            Some((first, sum)) if ((below - *first) as f64) < width => *sum += placed,
            _ => steps.push((below, placed)),
        }
    }
    steps
}

/// The odds of a part; if no steps are left, those of one that never fits.
fn part_odds(
    table: &MultilevelPlan,
    goal: Goal,
    ln_allowed: f64,
    level: usize,
    part: Part,
    work: &StepBudget,
) -> Odds {
    let steps_of_filter = match (goal, part) {
        (Goal::Average { .. }, Part::Filter(_, hashes)) => STEPS_OF_EXACT_ODDS * f64::from(hashes * hashes),
        _ => 0.0,
    };
    let numbers = table.passed_on()[level - 1].iter().count() as f64;
    if !work.take(steps_of_filter + STEPS_A_NUMBER * numbers) {
        return Odds { share: f64::INFINITY, reads: Vec::new() };
    }
    match goal {
        Goal::Guarantee { .. } => {
            Odds { share: exp(part.ln_failure(table, level) - ln_allowed), reads: Vec::new() }
        }
        Goal::Average { .. } => {
            let reads = part.reads(table, level);
            let share = exp(ln(reads.reads_from_above) - ln_allowed);
            Odds { share, reads: Vec::from([reads]) }
        }
    }
}
