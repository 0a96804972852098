//! The rule that judges a finding.
//!
//! A *calculation* and a *measurement* are two witnesses; another method of calculation is a third.
//! They are compared with each other before the paper:
//!
//! 1. **fails** if the witnesses contradict each other: a measurement more than four standard
//!    errors from the calculation (plus the calculation's own error bounds), a second calculation
//!    more than a relative 1e-6 away, a value that is not a number, or no value at all. Then our
//!    own work is wrong, and the paper cannot be judged.
//! 2. **holds** if the calculation agrees with the printed figure, within the rounding of the
//!    printed digits. An approximate calculation agrees if a value in its range does; a measurement
//!    beside it must agree as well.
//! 3. **misprint** if it does not agree, and another witness confirms that: the second calculation,
//!    or a measurement without an agreeing value within four standard errors.
//! 4. **undecided** if the calculation does not agree, but no other witness confirms that. A single
//!    witness may be wrong about what the paper did.
//!
//! Without a calculation, the measurement alone **holds** if an agreeing value is within four
//! standard errors and the measurement is fine enough: all values within four standard errors
//! agree, or these errors are less than a tenth of the printed number. Otherwise it is
//! **undecided**: too coarse, or the only witness against the paper.
//!
//! Chance exceeds four standard errors once in 16,000 measurements. There are some hundred
//! experiments with a fixed seed. A failure under another seed therefore deserves a second seed;
//! one that stays is not chance.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Measured};
use crate::printed::Printed;

/// The most standard errors by which a measurement may be off.
pub const STANDARD_ERRORS: f64 = 4.0;

/// The largest relative difference between two exact methods of calculation.
const METHODS_APART: f64 = 1e-6;

/// The largest relative difference between a calculation and a complete count: some roundings of
/// floats.
const ROUNDING: f64 = 1e-9;

/// The largest share of the printed number that four standard errors may be, for a measurement to
/// decide.
const COARSEST: f64 = 0.1;

/// The verdict on a printed figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is right.
    Holds,
    /// It is wrong, and two methods agree on what is right.
    Misprint,
    /// It cannot be decided.
    Undecided,
    /// Our own numbers contradict each other, or there are none.
    Fails,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Self; 4] = [Self::Holds, Self::Misprint, Self::Undecided, Self::Fails];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Misprint => "misprint",
            Self::Undecided => "undecided",
            Self::Fails => "fails",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Judges a finding by [the rule](self).
#[must_use]
pub fn judge(printed: &Printed, finding: &Finding) -> Verdict {
    if !is_sound(finding) {
        return Verdict::Fails;
    }
    let (below, above) = finding.off_by;
    match (finding.calculated, finding.measured) {
        (Some(calculated), measured) => {
            let refuted = measured.is_some_and(|measured| !within_errors(printed, measured));
            let agrees = meets(printed, calculated - below, calculated + above);
            match (agrees, refuted) {
                (true, false) => Verdict::Holds,
                (false, true) => Verdict::Misprint,
                (false, false) if finding.confirmed.is_some() => Verdict::Misprint,
                _ => Verdict::Undecided,
            }
        }
        (None, Some(measured)) if within_errors(printed, measured) && can_tell(printed, measured) => {
            Verdict::Holds
        }
        (None, _) => Verdict::Undecided,
    }
}

/// Whether there are numbers, and none contradicts another.
fn is_sound(finding: &Finding) -> bool {
    let Finding { calculated, off_by: (below, above), confirmed, measured, .. } = finding;
    let values = [*calculated, *confirmed, measured.map(|m| m.value), measured.map(|m| m.standard_error)];
    if values.iter().all(Option::is_none) || values.iter().flatten().any(|value| !value.is_finite()) {
        return false;
    }
    let Some(calculated) = *calculated else { return true };
    let confirmed =
        confirmed.is_none_or(|value| (value - calculated).abs() <= METHODS_APART * calculated.abs());
    let measured = measured.is_none_or(|Measured { value, standard_error }| {
        let slack = STANDARD_ERRORS * standard_error + ROUNDING * calculated.abs();
        (calculated - below - slack..=calculated + above + slack).contains(&value)
    });
    confirmed && measured
}

/// Whether any value between `low` and `high` agrees.
fn meets(printed: &Printed, low: f64, high: f64) -> bool {
    low <= *printed.agreeing().end() && high >= *printed.agreeing().start()
}

/// Whether any value within four standard errors agrees.
fn within_errors(printed: &Printed, measured: Measured) -> bool {
    let slack = STANDARD_ERRORS * measured.standard_error + ROUNDING * measured.value.abs();
    meets(printed, measured.value - slack, measured.value + slack)
}

/// Whether the measurement is fine enough to distinguish the printed value from others.
fn can_tell(printed: &Printed, measured: Measured) -> bool {
    let slack = STANDARD_ERRORS * measured.standard_error;
    let all_agree = printed.agrees(measured.value - slack) && printed.agrees(measured.value + slack);
    all_agree || printed.value().is_some_and(|number| slack <= COARSEST * number.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, standard_error: f64) -> Measured {
        Measured { value, standard_error }
    }

    #[track_caller]
    fn assert_judged(printed: &Printed, finding: &Finding, expected: Verdict) {
        assert_eq!(judge(printed, finding), expected, "{printed:?}\n{finding:?}");
    }

    #[test]
    fn a_calculation_that_rounds_to_the_printed_number_holds() {
        let printed = Printed::number("1.62");
        assert_judged(&printed, &Finding::calculated(1.6241), Verdict::Holds);
        assert_judged(&printed, &Finding::calculated(1.6241).confirmed_by(1.6241), Verdict::Holds);
        // A coarse measurement does not contradict it.
        let coarse = Finding::calculated(1.6241).and_measured(measured(1.0, 0.3));
        assert_judged(&printed, &coarse, Verdict::Holds);
    }

    #[test]
    fn a_misprint_takes_two_witnesses() {
        let printed = Printed::number("6.0e-4");
        assert_judged(&printed, &Finding::calculated(5.902e-4), Verdict::Undecided);
        assert_judged(&printed, &Finding::calculated(5.902e-4).confirmed_by(5.902e-4), Verdict::Misprint);
        let fine = Finding::calculated(5.902e-4).and_measured(measured(5.9e-4, 1e-6));
        assert_judged(&printed, &fine, Verdict::Misprint);
        // Within four errors of 5.9e-4 there is 5.95e-4, which rounds to the printed number.
        let coarse = Finding::calculated(5.902e-4).and_measured(measured(5.9e-4, 2e-6));
        assert_judged(&printed, &coarse, Verdict::Undecided);
        assert_judged(&printed, &Finding::measured(measured(5.9e-4, 1e-6)), Verdict::Undecided);
    }

    #[test]
    fn witnesses_that_contradict_each_other_fail_whatever_is_printed() {
        for printed in [Printed::number("1.0"), Printed::number("2.0"), Printed::number("3.0")] {
            let apart = Finding::calculated(1.0).and_measured(measured(2.0, 0.2));
            assert_judged(&printed, &apart, Verdict::Fails);
            assert_judged(&printed, &Finding::calculated(1.0).confirmed_by(1.001), Verdict::Fails);
            let counted = Finding::calculated(1.0).and_measured(Measured::exhaustive(1.001));
            assert_judged(&printed, &counted, Verdict::Fails);
        }
    }

    #[test]
    fn nothing_and_what_is_not_a_number_fail() {
        let printed = Printed::statement("true", f64::NEG_INFINITY..=f64::INFINITY);
        assert_judged(&printed, &Finding::default(), Verdict::Fails);
        assert_judged(&printed, &Finding::calculated(f64::NAN), Verdict::Fails);
        assert_judged(&printed, &Finding::calculated(f64::INFINITY), Verdict::Fails);
        assert_judged(&printed, &Finding::measured(measured(1.0, f64::NAN)), Verdict::Fails);
    }

    #[test]
    fn an_approximation_may_be_off_by_what_it_says() {
        let printed = Printed::number("3.0");
        let finding = Finding::calculated(1.0).and_measured(measured(3.0, 0.1));
        assert_judged(&printed, &finding, Verdict::Fails);
        assert_judged(&printed, &finding.clone().at_most_higher_by(2.5), Verdict::Holds);
        let too_low = Finding::calculated(5.0).and_measured(measured(3.0, 0.1));
        assert_judged(&printed, &too_low.clone().at_most_higher_by(2.5), Verdict::Fails);
        assert_judged(&printed, &too_low.off_by(2.5), Verdict::Holds);
        // The range 1 to 3.5 includes the printed value, but the measurement does not.
        let measured_lower = Finding::calculated(1.0).at_most_higher_by(2.5).and_measured(measured(2.0, 0.1));
        assert_judged(&printed, &measured_lower, Verdict::Undecided);
    }

    #[test]
    fn a_measurement_alone_holds_if_it_could_have_told() {
        let number = Printed::number("1.198");
        assert_judged(&number, &Finding::measured(measured(1.2, 0.01)), Verdict::Holds);
        assert_judged(&number, &Finding::measured(measured(1.2, 0.1)), Verdict::Undecided);
        assert_judged(&number, &Finding::measured(measured(1.3, 0.01)), Verdict::Undecided);
        let more_than_twice = Printed::statement("more than twice", 2.0..=f64::INFINITY);
        assert_judged(&more_than_twice, &Finding::measured(measured(2.5, 0.1)), Verdict::Holds);
        assert_judged(&more_than_twice, &Finding::measured(measured(2.5, 0.2)), Verdict::Undecided);
        assert_judged(&more_than_twice, &Finding::measured(Measured::exhaustive(2.0)), Verdict::Holds);
    }

    #[test]
    fn nothing_is_said_about_a_figure_that_is_lost() {
        for finding in [Finding::calculated(1.0), Finding::measured(measured(1.0, 0.01))] {
            assert_judged(&Printed::lost(), &finding, Verdict::Undecided);
        }
    }

    #[test]
    fn a_true_bound_holds_however_loose() {
        let bound = Printed::at_most("7.78e-16");
        assert_judged(&bound, &Finding::calculated(6.6e-24), Verdict::Holds);
        assert_judged(&bound, &Finding::calculated(8e-16).confirmed_by(8e-16), Verdict::Misprint);
    }
}
