//! What the crates of this workspace share beneath the public API. It is not part of that API: any
//! release may change it.

pub use crate::bits::counters::counter_words;
pub use crate::bits::memory::{reserved, zeroed};
pub use crate::filter::distinct::distinct;
pub use crate::plan::binomial::{convolution, ln_upper_tail as ln_binomial_upper_tail};
pub use crate::plan::budget::StepBudget;
pub use crate::plan::differential::evolve;
pub use crate::plan::dleft::loads::Equations as DLeftEquations;
pub use crate::plan::error::check;
pub use crate::plan::float::{exp, ln, ln_one_minus_exp};
pub use crate::plan::multilevel::fast::backward::{Close, Lost, ln_odds};
pub use crate::plan::occupancy::ln_all_probes_set;
pub use crate::plan::search::{first_within, least, least_near, least_possible, rounded_up};
pub use crate::plan::summary::multiple::Part;
pub use crate::plan::summary::reads::{LevelReads, Naming, expected as expected_reads};
pub use crate::plan::summary::single::{extra_reads_of_cells, ln_failure_of_cells, ln_names_of_cells};

use alloc::vec::Vec;

use crate::layout::{LayoutError, MultilevelLayout};
use crate::plan::dleft::Loads;
use crate::plan::multilevel::{MultilevelPlan, PassedOn};

/// [`MultilevelPlan::new`] within a budget of steps.
///
/// # Errors
/// As [`MultilevelPlan::new`].
pub fn plan_within(
    layout: &MultilevelLayout,
    items: u64,
    work: &StepBudget,
) -> Result<MultilevelPlan, LayoutError> {
    MultilevelPlan::with_work(layout, items, work)
}

/// The numbers of items that a level passes on, ascending, each with the expected items that the
/// level places if that number is passed on.
pub fn placed_items(passed_on: &PassedOn) -> impl Iterator<Item = (u64, f64)> + '_ {
    passed_on.iter_placed()
}

/// Loads of a d-left table: the sub-tables' shares, and their fractions by load.
#[must_use]
pub fn dleft_loads(shares: Vec<f64>, fractions: &[f64]) -> Loads {
    Loads::new(shares, fractions)
}

/// Checks that a number is above 0 and below 1.
///
/// # Errors
/// If it is not.
pub fn check_fraction(what: crate::layout::Quantity, found: f64) -> Result<(), LayoutError> {
    crate::layout::check_fraction(what, found)
}

/// The domain of a structure in another crate of the workspace.
#[must_use]
pub const fn reserved_domain(number: u32) -> crate::hash::Domain {
    crate::hash::Domain::reserved(number)
}
