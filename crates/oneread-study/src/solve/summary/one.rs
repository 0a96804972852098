//! The kinds that are one structure: few parameters, all of which are tried.

use oneread::layout::{InterpolationLayout, MAX_HASHES, MAX_PLACES, SingleFilterLayout};
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::summary::SummaryPlan;
use oneread::workspace::{
    StepBudget, exp, extra_reads_of_cells, least, least_near, ln, ln_failure_of_cells, ln_names_of_cells,
};

use super::multiple::STEPS_A_NUMBER;
use super::{Goal, SummaryTargets};

/// The shortest strings: each bit halves all odds.
pub(super) fn interpolation(table: &MultilevelPlan, targets: &SummaryTargets) -> Option<SummaryPlan> {
    let plan = |bits: u64| {
        let layout = InterpolationLayout::new(bits as u32).ok()?;
        SummaryPlan::with_table(table.clone(), &layout.into()).ok()
    };
    let serves = |bits| plan(bits).is_some_and(|plan| targets.missed(&plan).is_empty());
    let most = u64::from(InterpolationLayout::MAX_FINGERPRINT_BITS);
    if !serves(most) {
        return None;
    }
    plan(least(0, most, serves))
}

/// The fewest cells with any number of hash functions. For one number, the odds fall as the cells
/// rise: a hash function hits a given cell less often.
pub(super) fn single(
    table: &MultilevelPlan,
    targets: &SummaryTargets,
    work: &StepBudget,
) -> Option<SummaryPlan> {
    let ln_allowed = super::ln_allowed(table, targets.goal)?;
    let numbers: usize = table.passed_on().iter().map(|passed_on| passed_on.iter().count()).sum();
    let steps = STEPS_A_NUMBER * numbers as f64;
    let serves = |layout: SingleFilterLayout| {
        // The cheaper check first.
        exp(ln_names_of_cells(layout, table.items())) <= targets.false_positive
            && work.take(steps)
            && match targets.goal {
                Goal::Guarantee { .. } => ln_failure_of_cells(table, layout) <= ln_allowed,
                Goal::Average { .. } => {
                    ln(extra_reads_of_cells(table, layout).0 * table.items() as f64) <= ln_allowed
                }
            }
    };
    let mut best: Option<SingleFilterLayout> = None;
    // Near the best, so that the others need one evaluation each.
    const LIKELIEST: u32 = 12;
    for hashes in (LIKELIEST..=MAX_HASHES).chain(1..LIKELIEST) {
        let of = |bands: u64| SingleFilterLayout::new(bands.saturating_mul(hashes.into()), hashes);
        // Only fewer cells than the best so far are of interest.
        let most = best.map_or(MAX_PLACES, |best| best.cells() - 1) / u64::from(hashes);
        if most == 0 {
            continue;
        }
        let guess = best.map_or(table.items().saturating_mul(12) / u64::from(hashes), |_| most);
        let found = least_near(guess, guess / 256, 4, most, |bands| of(bands).is_ok_and(&serves));
        if let Some(layout) = found.and_then(|bands| of(bands).ok()) {
            best = Some(layout);
        }
    }
    SummaryPlan::with_table(table.clone(), &best?.into()).ok()
}
