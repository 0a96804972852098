//! The messages of errors from plans and solvers.

use oneread::plan::OutOfRange;
use oneread::plan::solve::{Relax, Target, Unsolved};

/// A message with 300 zeros did not show how small the number was.
#[test]
fn numbers_are_short_however_small() {
    let error = OutOfRange { what: "reads per miss", at_least: 1e-8, at_most: 3.0, found: 1e-300 };
    assert_eq!(error.to_string(), "expected reads per miss from 1e-8 to 3, found 1e-300");
    let error = OutOfRange { found: f64::NAN, at_least: 0.0, at_most: 1e10, ..error };
    assert_eq!(error.to_string(), "expected reads per miss from 0 to 10000000000, found NaN");
}

#[test]
fn an_infeasible_target_says_what_to_relax() {
    let relax = Relax { target: Target::Failure, asked: 1e-12, possible: 2e-12 };
    let text = Unsolved::Infeasible(Vec::from([relax])).to_string();
    assert_eq!(text, "no layout meets all targets: allow failure 2.000e-12 instead of 1.000e-12");
}
