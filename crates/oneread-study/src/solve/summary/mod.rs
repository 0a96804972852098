//! The smallest summary of a table, of each kind.

mod multiple;
mod one;

use alloc::vec::Vec;

use libm::{log as ln, log1p as ln_1p};
use oneread::hash::probes::SchemeName;
use oneread::layout::{
    InterpolationLayout, LayoutError, MAX_PLACES, MultipleFiltersLayout, Quantity, SingleFilterLayout,
    SummaryLayout,
};
use oneread::plan::bloom;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::{Relax, Solution, Target, Unsolved};
use oneread::plan::summary::SummaryPlan;
use oneread::workspace::{StepBudget, check_fraction, least_possible, rounded_up};

/// The targets of a summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryTargets {
    /// The highest probability that a level is named for an absent key.
    pub false_positive: f64,
    /// The cost allowed for lookups of present keys.
    pub goal: Goal,
    /// The most bytes, including one bit per bucket; `None` for no limit.
    pub bytes: Option<u64>,
}

/// The cost allowed for lookups of present keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// As in the papers: a bound on the probability that any key ever takes a second read, or finds
    /// no room.
    Guarantee {
        /// The highest probability of failures and crises together.
        failure: f64,
    },
    /// An average over the keys, which takes a far smaller summary.
    Average {
        /// The most expected reads per hit beyond the first.
        extra_reads: f64,
    },
}

impl Goal {
    const fn target(self) -> Target {
        match self {
            Self::Guarantee { .. } => Target::Failure,
            Self::Average { .. } => Target::ExtraReads,
        }
    }

    const fn value(self) -> f64 {
        match self {
            Self::Guarantee { failure: value } | Self::Average { extra_reads: value } => value,
        }
    }

    const fn with_value(self, value: f64) -> Self {
        match self {
            Self::Guarantee { .. } => Self::Guarantee { failure: value },
            Self::Average { .. } => Self::Average { extra_reads: value },
        }
    }
}

/// A kind of summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryKind {
    /// A sorted array of strings.
    Interpolation,
    /// One filter of cells.
    Single,
    /// A filter per level, possibly with a list for the deepest levels.
    Multiple,
}

impl SummaryKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Interpolation, Self::Single, Self::Multiple];

    /// The kind of a planned summary.
    #[must_use]
    pub const fn of(plan: &SummaryPlan) -> Self {
        match plan.layout() {
            SummaryLayout::Interpolation(_) => Self::Interpolation,
            SummaryLayout::Single(_) => Self::Single,
            _ => Self::Multiple,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interpolation => "interpolation",
            Self::Single => "single",
            Self::Multiple => "multiple",
        }
    }
}

impl SummaryTargets {
    /// The targets that a plan misses, apart from the bytes.
    #[must_use]
    pub fn missed(&self, plan: &SummaryPlan) -> Vec<Target> {
        let goal = match self.goal {
            Goal::Guarantee { failure } => plan.failure_and_crisis() > failure,
            Goal::Average { extra_reads } => plan.extra_reads_per_hit() > extra_reads,
        };
        let false_positive = plan.false_positive() > self.false_positive;
        let missed = [(false_positive, Target::FalsePositive), (goal, self.goal.target())];
        missed.into_iter().filter(|(missed, _)| *missed).map(|(_, target)| target).collect()
    }
}

/// Finds the smallest summary of a planned table that meets the targets, of one kind or of all.
/// With all kinds, the best of each other kind is a runner-up.
///
/// Failures are limited by the larger of the paper's bound and the exact expectation, so that a
/// guarantee holds by both. That is the bound: the formula of partitioned filters for multiple
/// filters, a few percent higher, and the expected pairs for interpolation.
///
/// # What is smallest
/// For interpolation and the single filter, all numbers of hash functions are tried, each with its
/// fewest bits or cells. For multiple filters, the first filter is the smallest for its false
/// positives. No other filter can lose a bit unless another gains one, with any number of hash
/// functions; and exchanges of 1 to 64 bits between the largest and each other save nothing. Lists
/// are tried from every level on that has up to 128 keys on average.
///
/// # Errors
/// If a target is not between 0 and 1, or if the targets exclude each other: if crises alone exceed
/// the allowed failures, or if the bytes do not suffice.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread::plan::multilevel::MultilevelPlan;
/// use oneread_study::solve::{self, Goal, SummaryKind, SummaryTargets};
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// // No summary fails less often than the table runs out of room.
/// let goal = Goal::Guarantee { failure: 1e-12 };
/// let targets = SummaryTargets { false_positive: 0.00617, goal, bytes: None };
/// assert!(solve::summary(&table, &targets, None).is_err());
///
/// // The paper's odds, in fewer than its 32,450 bytes.
/// let targets = SummaryTargets { goal: Goal::Guarantee { failure: 4.98e-12 }, ..targets };
/// let solution = solve::summary(&table, &targets, None)?;
/// assert_eq!(SummaryKind::of(&solution.best), SummaryKind::Multiple);
/// assert!(solution.best.total_bytes() < 32_300);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn summary(
    table: &MultilevelPlan,
    targets: &SummaryTargets,
    kind: Option<SummaryKind>,
) -> Result<Solution<SummaryPlan>, Unsolved> {
    check(targets)?;
    let kinds: Vec<SummaryKind> = match kind {
        Some(kind) => Vec::from([kind]),
        None => SummaryKind::ALL.to_vec(),
    };
    if let Goal::Guarantee { failure } = targets.goal {
        let crisis = table.crisis_probability();
        if crisis >= failure {
            let relax = Relax { target: Target::Failure, asked: failure, possible: rounded_up(crisis) };
            // A table that is certainly too small for its items leaves no failures to allow.
            let is_possible = relax.possible < 1.0;
            return Err(Unsolved::Infeasible(is_possible.then_some(relax).into_iter().collect()));
        }
    }
    let work = StepBudget::new("a search for a summary", MAX_STEPS);
    let mut found: Vec<SummaryPlan> = Vec::new();
    for &kind in &kinds {
        found.extend(of_kind(table, targets, kind, &work)?);
    }
    work.check()?;
    found.sort_by_key(SummaryPlan::total_bytes);
    if found.is_empty() {
        return Err(Unsolved::Infeasible(relaxed(table, targets, &kinds, &work)?));
    }
    let best = found.remove(0);
    if targets.bytes.is_some_and(|bytes| best.total_bytes() > bytes) {
        let mut relax = relaxed(table, targets, &[SummaryKind::of(&best)], &work)?;
        let (asked, possible) = (targets.bytes.unwrap_or(0) as f64, best.total_bytes() as f64);
        relax.insert(0, Relax { target: Target::Bytes, asked, possible });
        return Err(Unsolved::Infeasible(relax));
    }
    let most = targets.bytes.unwrap_or(u64::MAX);
    found.retain(|planned| planned.total_bytes() <= most);
    Ok(Solution { binds: binds(&best, targets)?, best, runners_up: found })
}

/// The most steps of calculation that a search may take: some seconds.
const MAX_STEPS: f64 = 3e9;

fn check(targets: &SummaryTargets) -> Result<(), LayoutError> {
    check_fraction(Quantity::FalsePositives, targets.false_positive)?;
    let quantity = match targets.goal {
        Goal::Guarantee { .. } => Quantity::Failure,
        Goal::Average { .. } => Quantity::ExtraReads,
    };
    check_fraction(quantity, targets.goal.value())
}

/// Finds the smallest of one kind, without a limit on bytes.
fn of_kind(
    table: &MultilevelPlan,
    targets: &SummaryTargets,
    kind: SummaryKind,
    work: &StepBudget,
) -> Result<Option<SummaryPlan>, LayoutError> {
    Ok(match kind {
        SummaryKind::Interpolation => one::interpolation(table, targets),
        SummaryKind::Single => one::single(table, targets, work),
        SummaryKind::Multiple => of_filters(table, targets, work)?,
    })
}

/// The logarithm of the failures, or of the extra reads of all hits together, that are allowed, if
/// any.
fn ln_allowed(table: &MultilevelPlan, goal: Goal) -> Option<f64> {
    /// The largest difference between sums of the same terms in different orders.
    const ROUNDING: f64 = 1e-12;
    let ln = match goal {
        Goal::Guarantee { failure } => {
            let crisis = table.crisis_probability();
            if crisis >= failure {
                return None;
            }
            ln(failure) + ln_1p(-crisis / failure)
        }
        Goal::Average { extra_reads } => ln(extra_reads * table.items() as f64),
    };
    Some(ln - ROUNDING)
}

fn of_filters(
    table: &MultilevelPlan,
    targets: &SummaryTargets,
    work: &StepBudget,
) -> Result<Option<SummaryPlan>, LayoutError> {
    /// How much stricter the limit becomes if a filter's exact odds exceed those of the search.
    const STRICTER: f64 = 0.01;
    const MAX_TRIES: u32 = 20;
    let first = bloom::for_rate_with(table.items(), targets.false_positive, SchemeName::Independent)?;
    let Some(mut ln_allowed) = ln_allowed(table, targets.goal) else { return Ok(None) };
    let (mut bits, hashes) = (first.bits(), first.hashes());
    for _ in 0..MAX_TRIES {
        let found = multiple::Search::new(table, targets.goal, ln_allowed, work).solve();
        let Some(deeper) = found.into_iter().next() else { return Ok(None) };
        loop {
            let mut filters = Vec::from([(bits, hashes)]);
            filters.extend_from_slice(&deeper.filters);
            let layout = MultipleFiltersLayout::new(filters)?;
            let layout = match deeper.list {
                Some(list) => layout.with_list(list)?,
                None => layout,
            };
            let plan = SummaryPlan::with_table(table.clone(), &layout.into())?;
            match targets.missed(&plan).as_slice() {
                [] => return Ok(Some(plan)),
                // Missed only by rounding: the filter was the smallest for the rate.
                [Target::FalsePositive] if bits < MAX_PLACES => bits += 1,
                _ => break,
            }
        }
        ln_allowed -= STRICTER;
    }
    Ok(None)
}

/// The targets that a smaller summary would miss.
fn binds(best: &SummaryPlan, targets: &SummaryTargets) -> Result<Vec<Target>, LayoutError> {
    let smaller: Option<SummaryLayout> = match best.layout() {
        SummaryLayout::Interpolation(layout) => {
            InterpolationLayout::new(layout.fingerprint_bits() - 1).ok().map(Into::into)
        }
        SummaryLayout::Single(layout) => {
            let hashes = layout.hashes();
            let cells = layout.cells().saturating_sub(u64::from(hashes));
            SingleFilterLayout::new(cells, hashes).ok().map(Into::into)
        }
        SummaryLayout::Multiple(layout) => {
            let mut binds = Vec::new();
            let (first, deeper) = layout.filters().split_at(1);
            if first[0].0 > 1 {
                binds.push(Target::FalsePositive);
            }
            if deeper.iter().any(|&(bits, _)| bits > 1) || layout.list().is_some() {
                binds.push(targets.goal.target());
            }
            return Ok(binds);
        }
        _ => None,
    };
    let Some(smaller) = smaller else { return Ok(Vec::new()) };
    Ok(targets.missed(&SummaryPlan::with_table(best.table().clone(), &smaller)?))
}

/// Finds how far each target alone must be relaxed for one of the kinds to meet them all.
fn relaxed(
    table: &MultilevelPlan,
    targets: &SummaryTargets,
    kinds: &[SummaryKind],
    work: &StepBudget,
) -> Result<Vec<Relax>, LayoutError> {
    let serves = |targets: &SummaryTargets| -> Result<bool, LayoutError> {
        let most = targets.bytes.unwrap_or(u64::MAX);
        for &kind in kinds {
            if of_kind(table, targets, kind, work)?.is_some_and(|planned| planned.total_bytes() <= most) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let mut relax = Vec::new();
    let mut search = |target, asked: f64, with: &dyn Fn(f64) -> SummaryTargets| -> Result<(), LayoutError> {
        /// A probability near 1 is as good as no target.
        const MOST: f64 = 0.999;
        let possible = least_possible(asked, MOST, |value| serves(&with(value)))?;
        relax.extend(possible.map(|possible| Relax { target, asked, possible }));
        Ok(())
    };
    search(Target::FalsePositive, targets.false_positive, &|value| SummaryTargets {
        false_positive: value,
        ..*targets
    })?;
    search(targets.goal.target(), targets.goal.value(), &|value| SummaryTargets {
        goal: targets.goal.with_value(value),
        ..*targets
    })?;
    Ok(relax)
}
