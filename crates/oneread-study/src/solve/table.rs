//! The smallest multilevel table for a number of items.
//!
//! The goal is the fewest buckets of d levels at which the odds are as allowed. There, one bucket
//! more lowers the odds equally in each level: the derivative of the logarithm of the odds by that
//! of a level's size is proportional to the size. The search measures these derivatives, divides
//! the buckets anew, finds how many that division takes, and repeats. It starts with fewer items,
//! whose plans take less time and have nearly the same division.

mod relax;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::RefCell;

use libm::{ceil, exp, log as ln, sqrt};
use oneread::layout::{
    Keep, LayoutError, MAX_PLACES, Maps, Moves, MultilevelLayout, Quantity, Restriction, Ties,
};
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::{Solution, Target, Unsolved};
use oneread::workspace::{
    Close, Lost, StepBudget, check, check_fraction, first_within, least_possible, ln_odds, plan_within,
};

use crate::plan::moves;

/// The targets of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableTargets {
    /// The items in the table at a time.
    pub items: u64,
    /// The most levels.
    pub levels: u32,
    /// The slots per bucket.
    pub slots: u32,
    /// The most buckets of all levels; `None` for no limit.
    pub buckets: Option<u64>,
    /// What happens to items, and how many may find no room.
    pub odds: Odds,
}

/// What happens to items, and how many may find no room.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Odds {
    /// The table is filled once: a bound on the probability that any item finds no room.
    Crisis(f64),
    /// The table is filled once: a bound on the expected items without room.
    Filled(f64),
    /// Items are deleted and others inserted, again and again: a bound on the expected items in the
    /// stash at any time.
    Churn(f64),
}

impl Odds {
    const fn target(self) -> Target {
        match self {
            Self::Crisis(_) => Target::Crisis,
            Self::Filled(_) | Self::Churn(_) => Target::Stash,
        }
    }

    /// The bound.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Crisis(value) | Self::Filled(value) | Self::Churn(value) => value,
        }
    }

    /// The same odds with another bound.
    #[must_use]
    pub const fn with_value(self, value: f64) -> Self {
        match self {
            Self::Crisis(_) => Self::Crisis(value),
            Self::Filled(_) => Self::Filled(value),
            Self::Churn(_) => Self::Churn(value),
        }
    }
}

/// A table, planned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedTable {
    /// The levels, and which items move.
    pub layout: MultilevelLayout,
    /// The items it was planned for.
    pub items: u64,
    /// The expected items in the stash.
    pub expected_stash: f64,
    /// The probability of a crisis and the loads, if the table is filled once and nothing moves.
    pub filled: Option<MultilevelPlan>,
    /// Whether the odds are exact, as in [`MultilevelPlan`], and not the limit for many buckets of
    /// [`moves`].
    pub is_exact: bool,
}

impl PlannedTable {
    /// The buckets of all levels per item.
    #[must_use]
    pub fn buckets_per_item(&self) -> f64 {
        self.layout.buckets() as f64 / self.items as f64
    }

    /// The items per slot.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.items as f64 / self.layout.capacity() as f64
    }
}

/// Finds the table with the fewest buckets that meets the targets, and chooses which items move.
///
/// | odds | tables compared |
/// | --- | --- |
/// | [`Crisis`](Odds::Crisis) | without moves, exactly |
/// | [`Filled`](Odds::Filled) | without moves, exactly; with [Second Chance](Moves::SecondChance), by the limit for many buckets, for at least half an item in the stash |
/// | [`Churn`](Odds::Churn) | without moves; [restricted](Moves::Restricted), whose first level has as many buckets as there are items |
///
/// Tables with hints are excluded: only a [simulation](crate::simulate) knows their stash.
///
/// # What is smallest
/// Another level never costs more than one bucket, since a level of one bucket only helps. So the
/// table has the most levels allowed, without useless ones at the end. No level can lose 1% of its
/// buckets, or one bucket. The division among the levels comes from a search that ends when another
/// round saves less than 0.1%.
///
/// # Costs
/// A search evaluates about 100 odds, which takes a second for 100,000 items. With several slots
/// per bucket, one plan takes up to a second. The search then computes only the odds, to 1e-8, and
/// plans its result at the end: 1 to 3 s with up to six levels. It fails after 3·10^9 steps of
/// calculation, about 3 s: with several slots and eight levels, say.
///
/// # Errors
/// If there are no items or levels, or too many; if the odds are not above 0, or the probability of
/// a crisis not below 1; under churn or with Second Chance, if a bucket has several slots, for
/// which there is no plan; or if the targets exclude each other. [`LayoutError::TooMuchWork`] if
/// the search would take more than 3·10^9 steps of calculation.
///
/// # Example
/// ```
/// use oneread_study::solve::{self, Odds, TableTargets};
///
/// // The paper's table for 10,000 items has 60,000 buckets in five levels.
/// let targets = TableTargets {
///     items: 10_000, levels: 5, slots: 1, buckets: None, odds: Odds::Crisis(1.01e-12)
/// };
/// let solution = solve::table(&targets)?;
/// assert!(solution.best.layout.buckets() < 56_000);
/// // With only 20,000 it has a crisis far more often.
/// assert!(solve::table(&TableTargets { buckets: Some(20_000), ..targets }).is_err());
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn table(targets: &TableTargets) -> Result<Solution<PlannedTable>, Unsolved> {
    table_within(targets, &StepBudget::new("a search for a table", MAX_STEPS))
}

/// Finds the least odds, to three digits, that the targets' buckets allow, whatever the value of
/// their [`odds`](TableTargets::odds): for these odds and buckets, [`table()`] has a solution.
///
/// Odds below 1e-15 are not searched for. It takes about as long as 16 calls of [`table()`].
///
/// # Errors
/// As [`table()`]: if no odds can be met, with the buckets for a crisis that is almost certain, or
/// for a stash of almost all items.
///
/// # Example
/// ```
/// use oneread_study::solve::{self, Odds, TableTargets};
///
/// let odds = Odds::Crisis(0.5);
/// let targets = TableTargets { items: 1000, levels: 5, slots: 1, buckets: Some(4000), odds };
/// let least = solve::least_odds(&targets)?;
/// assert!(least < 0.01);
/// assert!(solve::table(&TableTargets { odds: Odds::Crisis(least), ..targets }).is_ok());
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn least_odds(targets: &TableTargets) -> Result<f64, Unsolved> {
    const LEAST: f64 = 1e-15;
    const ALMOST_ALL: f64 = 0.999;
    let most = match targets.odds {
        Odds::Crisis(_) => ALMOST_ALL,
        Odds::Filled(_) | Odds::Churn(_) => ALMOST_ALL * targets.items as f64,
    };
    let with = |value| TableTargets { odds: targets.odds.with_value(value), ..*targets };
    check_targets(&with(LEAST))?;
    // Without a limit on buckets, so that nothing is searched for that could be relaxed.
    let fits = |value| match table(&TableTargets { buckets: None, ..with(value) }) {
        Ok(solution) => Ok(targets.buckets.is_none_or(|buckets| solution.best.layout.buckets() <= buckets)),
        Err(Unsolved::Infeasible(_) | Unsolved::Layout(LayoutError::TooMuchWork { .. })) => Ok(false),
        Err(error) => Err(error),
    };
    if fits(LEAST)? {
        return Ok(LEAST);
    }
    match least_possible(LEAST, most, fits)? {
        Some(value) => Ok(value),
        None => table(&with(most)).map(|_| most),
    }
}

/// The most steps of calculation that a search may take: a hundred plans, or some seconds.
pub(super) const MAX_STEPS: f64 = 3e9;

/// Like [`table()`], but within a budget of steps.
pub(super) fn table_within(
    targets: &TableTargets,
    work: &StepBudget,
) -> Result<Solution<PlannedTable>, Unsolved> {
    check_targets(targets)?;
    let mut found = Vec::new();
    for kind in [Kind::Plain, Kind::SecondChance, Kind::Restricted] {
        if kind.serves(targets) {
            found.extend(kind.smallest(targets, work)?);
        }
    }
    work.check()?;
    found.sort_by_key(|planned| planned.layout.capacity());
    let most = targets.buckets.unwrap_or(MAX_PLACES);
    let (best, runners_up) = first_within(found, |planned| planned.layout.buckets() <= most)
        .map_err(|smallest| Unsolved::Infeasible(relax::relaxed(targets, smallest.as_ref(), work)))?;
    let mut binds = Vec::from([targets.odds.target()]);
    if best.layout.level_count() == targets.levels as usize {
        binds.push(Target::Levels);
    }
    Ok(Solution { best, binds, runners_up })
}

fn check_targets(targets: &TableTargets) -> Result<(), Unsolved> {
    let TableTargets { items, levels, slots, buckets, odds } = *targets;
    MultilevelLayout::new(Vec::from([buckets.unwrap_or(1)]))?.with_slots(slots)?;
    check("items", items as f64, 1.0, MultilevelPlan::MAX_ITEMS as f64)?;
    check("levels", f64::from(levels), 1.0, MultilevelLayout::MAX_LEVELS as f64)?;
    match odds {
        Odds::Crisis(value) => check_fraction(Quantity::Crisis, value)?,
        Odds::Filled(value) | Odds::Churn(value) => {
            check("items in the stash", value, f64::MIN_POSITIVE, MultilevelPlan::MAX_ITEMS as f64)?;
        }
    }
    if let Odds::Churn(_) = odds {
        check("slots a bucket (under churn)", f64::from(slots), 1.0, 1.0)?;
    }
    Ok(())
}

/// Which items move, and which plan applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    SecondChance,
    Restricted,
}

/// Below this many items in the stash, the limit for many buckets is useless: items reach the last
/// levels in bursts.
const MIN_LIMIT: f64 = 0.5;

impl Kind {
    fn serves(self, targets: &TableTargets) -> bool {
        match (self, targets.odds) {
            (Self::Plain, _) => true,
            (Self::SecondChance, Odds::Filled(stash)) => stash >= MIN_LIMIT && targets.slots == 1,
            (Self::Restricted, Odds::Churn(_)) => true,
            _ => false,
        }
    }

    fn smallest(
        self,
        targets: &TableTargets,
        work: &StepBudget,
    ) -> Result<Option<PlannedTable>, LayoutError> {
        if self == Self::Restricted {
            return Ok(smallest_restricted(targets));
        }
        let mut search = Search::new(self, targets, work);
        let Some(sizes) = search.smallest() else { return Ok(None) };
        work.check()?;
        search.planned(sizes)
    }
}

/// A search for the sizes of levels.
struct Search<'a> {
    kind: Kind,
    targets: &'a TableTargets,
    /// Those of the targets, or fewer at the start.
    items: u64,
    /// The precision of odds, if there is a choice.
    close: Close,
    /// The budget of steps.
    work: &'a StepBudget,
    known: RefCell<Known>,
}

/// The logarithms of odds already computed: by items, precision and sizes.
type Known = BTreeMap<(u64, Close, Vec<u64>), f64>;

/// The steps of odds that are not a plan's: about those of the equations for Second Chance.
const STEPS_OF_ODDS: f64 = 1e5;

/// More buckets are out of reach in any division.
const MAX_SIZE: f64 = MAX_PLACES as f64 / 64.0;

impl<'a> Search<'a> {
    const fn new(kind: Kind, targets: &'a TableTargets, work: &'a StepBudget) -> Self {
        Self {
            kind,
            targets,
            items: targets.items,
            close: Close::Rough,
            work,
            known: RefCell::new(BTreeMap::new()),
        }
    }

    fn layout(&self, sizes: &[u64]) -> Result<MultilevelLayout, LayoutError> {
        let layout = MultilevelLayout::new(sizes)?.with_slots(self.targets.slots)?;
        layout.with_moves(if self.kind == Kind::SecondChance { Moves::SecondChance } else { Moves::None })
    }

    /// The logarithm of the odds; infinite if there is no plan.
    fn ln_odds(&self, sizes: &[u64]) -> f64 {
        let asked = (self.items, self.close, sizes.to_vec());
        if let Some(known) = self.known.borrow().get(&asked) {
            return *known;
        }
        if !self.work.take(STEPS_OF_ODDS) {
            return f64::INFINITY;
        }
        let ln_odds = match (self.kind, self.targets.odds) {
            (Kind::SecondChance, _) => {
                moves::second_chance(sizes, self.items).map(|plan| ln(plan.expected_stash)).ok()
            }
            (_, Odds::Churn(_)) => moves::steady_state(sizes, self.items).ok().map(|state| ln(stash(&state))),
            _ => self.ln_odds_without_plan(sizes).or_else(|| {
                let plan = self.layout(sizes).and_then(|layout| plan_within(&layout, self.items, self.work));
                plan.ok().map(|plan| self.ln_planned_odds(&plan))
            }),
        };
        let ln_odds = ln_odds.unwrap_or(f64::INFINITY);
        if self.work.is_spent() {
            return f64::INFINITY;
        }
        self.known.borrow_mut().insert(asked, ln_odds);
        ln_odds
    }

    /// Like `ln_odds`, but without a plan, which takes up to a second with several slots or many
    /// items. A search has no time for 100 such plans.
    fn ln_odds_without_plan(&self, sizes: &[u64]) -> Option<f64> {
        const MANY: u64 = 250_000;
        if self.targets.slots == 1 && self.items < MANY {
            return None;
        }
        let lost = match self.targets.odds {
            Odds::Crisis(_) => Lost::Any,
            Odds::Filled(_) | Odds::Churn(_) => Lost::Number,
        };
        let ln_target = ln(self.targets.odds.value());
        ln_odds(&self.layout(sizes).ok()?, self.items, lost, ln_target, self.close, self.work)
    }

    fn ln_planned_odds(&self, plan: &MultilevelPlan) -> f64 {
        match self.targets.odds {
            Odds::Crisis(_) => plan.ln_crisis_probability(),
            // If rare, it is one item.
            _ => ln(plan.expected_stash()).max(plan.ln_crisis_probability()),
        }
    }

    fn fits(&self, sizes: &[u64]) -> bool {
        exp(self.ln_odds(sizes)) <= self.targets.odds.value()
    }

    fn planned(&self, mut sizes: Vec<u64>) -> Result<Option<PlannedTable>, LayoutError> {
        let items = self.items;
        if self.kind == Kind::SecondChance || matches!(self.targets.odds, Odds::Churn(_)) {
            let expected_stash = exp(self.ln_odds(&sizes));
            let layout = self.layout(&sizes)?;
            return Ok(Some(PlannedTable { layout, items, expected_stash, is_exact: false, filled: None }));
        }
        // The search's last digit may differ from the plan's, which must meet the targets.
        while sizes[0] <= MAX_PLACES {
            let layout = self.layout(&sizes)?;
            let plan = plan_within(&layout, items, self.work)?;
            if exp(self.ln_planned_odds(&plan)) <= self.targets.odds.value() {
                let expected_stash = plan.expected_stash();
                return Ok(Some(PlannedTable {
                    layout,
                    items,
                    expected_stash,
                    is_exact: true,
                    filled: Some(plan),
                }));
            }
            sizes[0] += 1 + sizes[0] / 1000;
        }
        Ok(None)
    }

    /// Finds the sizes of all levels, if possible.
    fn smallest(&mut self) -> Option<Vec<u64>> {
        /// Rounds with few items, and with all, where each takes a second for 100,000 items.
        const ROUNDS: u32 = 25;
        const LAST_ROUNDS: u32 = 3;
        let (all, few) = (self.items, self.few());
        let slots = f64::from(self.targets.slots);
        let levels = 0..self.targets.levels;
        let mut sizes: Vec<f64> = levels.map(|level| exp(-0.9 * f64::from(level))).collect();
        // More slots allow a higher load: about that of tables solved before. Only the time depends
        // on it.
        let first = if self.targets.slots == 1 {
            2.0 * all as f64
        } else {
            (1.0 + 5.0 / (slots * slots)) * all as f64 / slots / sizes.iter().sum::<f64>()
        };
        sizes.iter_mut().for_each(|size| *size *= first);
        if all <= few {
            let precision = if self.targets.slots == 1 { 1e-4 } else { 1e-3 };
            sizes = self.divide(sizes, ROUNDS, precision)?;
            self.close = Close::Fine;
            return self.polish(whole(&sizes));
        }
        let fewer = few as f64 / all as f64;
        self.items = few;
        let divided = self.divide(sizes.iter().map(|size| size * fewer).collect(), ROUNDS, 1e-3);
        self.items = all;
        if let Some(divided) = divided {
            sizes = divided.into_iter().map(|size| size / fewer).collect();
        }
        sizes = self.divide(sizes, LAST_ROUNDS, 1e-4)?;
        self.close = Close::Fine;
        self.polish(whole(&sizes))
    }

    /// The items with which a plan is fast; all if that takes no longer.
    fn few(&self) -> u64 {
        match (self.kind, self.targets.odds) {
            (Kind::Plain, Odds::Crisis(_) | Odds::Filled(_)) if self.targets.slots == 1 => 2000,
            _ => u64::MAX,
        }
    }

    /// Finds the best division among the levels, in about as many buckets as it takes.
    fn divide(&self, mut sizes: Vec<f64>, rounds: u32, precision: f64) -> Option<Vec<f64>> {
        sizes = self.scaled(&sizes, precision, None)?;
        let mut best = sizes.clone();
        let total = |sizes: &[f64]| -> f64 { whole(sizes).iter().sum::<u64>() as f64 };
        for _ in 0..rounds {
            let at = whole(&sizes);
            let here = self.ln_odds(&at);
            let falls: Vec<f64> = (0..at.len())
                .map(|level| {
                    let mut more = at.clone();
                    more[level] += (at[level] / 50).max(1);
                    let by = ln(more[level] as f64 / at[level] as f64);
                    ((here - self.ln_odds(&more)) / by).max(0.0)
                })
                .collect();
            let (all, sum) = (total(&sizes), falls.iter().sum::<f64>());
            if !(sum > 0.0 && sum.is_finite()) {
                break;
            }
            for (size, fall) in sizes.iter_mut().zip(&falls) {
                // Halfway, by the mean of logarithms, because the derivatives change with the
                // sizes.
                *size = sqrt(*size * (all * fall / sum).max(0.5));
            }
            sizes = self.scaled(&sizes, precision, Some(sum))?;
            if total(&sizes) < total(&best) {
                let settled = total(&sizes) > total(&best) * (1.0 - precision);
                best.clone_from(&sizes);
                if settled {
                    break;
                }
            }
        }
        Some(best)
    }

    /// Multiplies all sizes by the least number with which they meet the odds, to some precision.
    ///
    /// `fall`, if known, is about how fast the logarithm of the odds falls with that of all sizes.
    fn scaled(&self, sizes: &[f64], precision: f64, fall: Option<f64>) -> Option<Vec<f64>> {
        const MAX_STEPS: u32 = 60;
        let ln_target = ln(self.targets.odds.value());
        let times = |ln_factor: f64| -> Vec<f64> { sizes.iter().map(|size| size * exp(ln_factor)).collect() };
        let over = |ln_factor: f64| {
            let sizes = times(ln_factor);
            if sizes.iter().sum::<f64>() > MAX_SIZE {
                f64::NEG_INFINITY
            } else {
                self.ln_odds(&whole(&sizes)) - ln_target
            }
        };
        // A bracket around the least size that meets the odds.
        let (mut low, mut high) = (0.0, 0.0);
        let here = over(0.0);
        let (mut at_low, mut at_high) = (here, here);
        const FIRST_STEP: f64 = 0.05;
        // Slightly beyond the expected crossing.
        let mut step = fall.map_or(FIRST_STEP, |fall| (here.abs() / fall + 0.4 * precision).min(FIRST_STEP));
        while at_high > 0.0 {
            (low, at_low) = (high, at_high);
            high += step;
            at_high = over(high);
            step *= 2.0;
        }
        while at_low <= 0.0 {
            (high, at_high) = (low, at_low);
            low -= step;
            if whole(&times(low)).iter().all(|&size| size == 1) {
                break;
            }
            at_low = over(low);
            step *= 2.0;
        }
        // The logarithm is nearly linear: tries its crossing, or the middle if that is too near an
        // end.
        for _ in 0..MAX_STEPS {
            let width = high - low;
            if width <= precision {
                break;
            }
            let crossing = low + width * at_low / (at_low - at_high);
            let middle = low + width / 2.0;
            let at = if crossing.is_finite() {
                crossing.clamp(low + width / 16.0, high - width / 16.0)
            } else {
                middle
            };
            let value = over(at);
            if value <= 0.0 { (high, at_high) = (at, value) } else { (low, at_low) = (at, value) }
        }
        let sizes = times(high);
        (sizes.iter().sum::<f64>() <= MAX_SIZE).then_some(sizes)
    }

    /// Finds whole sizes, none of which can lose 1% or one bucket.
    fn polish(&self, mut sizes: Vec<u64>) -> Option<Vec<u64>> {
        // Makes the first level fit, where a bucket matters least.
        let first = sizes[0];
        let mut high = first;
        while !self.fits(&sizes) {
            high = high + high / 256 + 1;
            if high as f64 > MAX_SIZE {
                return None;
            }
            sizes[0] = high;
        }
        // Drops useless levels.
        while sizes.len() > 1 && self.fits(&sizes[..sizes.len() - 1]) {
            sizes.pop();
        }
        loop {
            for level in (0..sizes.len()).rev() {
                loop {
                    let size = sizes[level];
                    let step = (size / 100).max(1);
                    if step >= size {
                        break;
                    }
                    sizes[level] = size - step;
                    if !self.fits(&sizes) {
                        sizes[level] = size;
                        break;
                    }
                }
            }
            let (size, step) = (sizes[0], (sizes[0] / 100).max(1));
            sizes[0] = self.least_first(&sizes, size.saturating_sub(step));
            // What the first level gave up, no other can give up too; but if 1% is one bucket, try
            // again.
            if sizes[0] == size || sizes.iter().all(|size| *size >= 100) {
                return Some(sizes);
            }
        }
    }

    /// Finds the least first level above a number that is too small. The other levels stay as they
    /// are, which fits.
    fn least_first(&self, sizes: &[u64], mut low: u64) -> u64 {
        /// The logarithm is nearly linear; otherwise halving finds it.
        const MAX_CROSSINGS: u32 = 4;
        let mut tried = sizes.to_vec();
        let ln_target = ln(self.targets.odds.value());
        let mut over = |size: u64| {
            tried[0] = size;
            if size == 0 { f64::INFINITY } else { self.ln_odds(&tried) - ln_target }
        };
        let mut high = sizes[0];
        let (mut at_low, mut at_high) = (over(low), over(high));
        for step in 0.. {
            if high - low <= 1 {
                break;
            }
            let crossing = at_low / (at_low - at_high);
            let share = if step < MAX_CROSSINGS && crossing.is_finite() { crossing } else { 0.5 };
            let size = (low + ceil(share * (high - low) as f64) as u64).clamp(low + 1, high - 1);
            let value = over(size);
            if value <= 0.0 { (high, at_high) = (size, value) } else { (low, at_low) = (size, value) }
        }
        high
    }
}

fn whole(sizes: &[f64]) -> Vec<u64> {
    sizes.iter().map(|size| ceil(size.clamp(1.0, MAX_PLACES as f64)) as u64).collect()
}

/// The stash under churn; unknown if its correction is too large to apply.
fn stash(state: &moves::SteadyState) -> f64 {
    if state.expected_stash == state.limit_of_stash && state.limit_of_stash > 0.0 {
        return f64::INFINITY;
    }
    state.expected_stash
}

/// Finds the fewest levels of restricted hashing, with the policy that has the smallest stash.
fn smallest_restricted(targets: &TableTargets) -> Option<PlannedTable> {
    let Odds::Churn(most) = targets.odds else { return None };
    for levels in 1..=targets.levels {
        for keep in [Keep::Random, Keep::Greedy(Ties::Random)] {
            let restriction = Restriction { fanout: 2, maps: Maps::Shifts, keep };
            let layout = MultilevelLayout::geometric(targets.items, 0.5, levels)
                .and_then(|layout| layout.with_moves(Moves::Restricted(restriction)));
            let plan = moves::restricted(targets.items, levels, restriction.fanout, keep);
            let (Ok(layout), Ok(plan)) = (layout, plan) else { continue };
            if plan.expected_stash <= most {
                let expected_stash = plan.expected_stash;
                let items = targets.items;
                return Some(PlannedTable { layout, items, expected_stash, filled: None, is_exact: false });
            }
        }
    }
    None
}
