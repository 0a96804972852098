//! Printed figures, and the values that agree with them.

use std::ops::RangeInclusive;

/// A printed figure or statement, and the values that agree with it.
///
/// A figure agrees with all values that round to its digits: `.006` with 0.0055 to 0.0065. This
/// follows from the text, so an experiment cannot choose its tolerance.
///
/// ```
/// use oneread_lab::Printed;
///
/// assert!(!Printed::number("1.62e-5").agrees(1.626e-5));
/// assert!(Printed::number("1.62e-5").agrees(1.624e-5));
/// // Digits before `…` are truncated, not rounded.
/// assert!(Printed::number("0.0003520…").agrees(0.00035209));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    text: String,
    agreeing: RangeInclusive<f64>,
    number: Option<f64>,
}

impl Printed {
    /// A number: digits with or without a point and an exponent (`8504.18`, `.006`, `-3.00e-5`),
    /// then `…` if they continue, and optionally a space and a unit.
    ///
    /// # Panics
    /// If it does not begin with a number.
    #[must_use]
    pub fn number(text: &str) -> Self {
        let figure = text.split(' ').next().unwrap_or_default();
        let digits = figure.trim_end_matches('…');
        let number: f64 = digits.parse().unwrap_or_else(|_| panic!("`{text}` does not begin with a number"));
        let unit = unit_of_last_digit(digits);
        let (below, above) = match (digits.len() < figure.len(), number < 0.0) {
            (true, false) => (0.0, unit),
            (true, true) => (unit, 0.0),
            (false, _) => (unit / 2.0, unit / 2.0),
        };
        Self {
            text: text.to_owned(),
            agreeing: widened(number - below..=number + above),
            number: Some(number),
        }
    }

    /// An upper limit on the true value.
    ///
    /// # Panics
    /// If it is not a number.
    #[must_use]
    pub fn at_most(text: &str) -> Self {
        let number = Self::number(text);
        Self { text: format!("≤ {text}"), agreeing: f64::NEG_INFINITY..=*number.agreeing.end(), ..number }
    }

    /// A number that the paper's authors measured, with the standard error of their trials.
    ///
    /// # Panics
    /// If it is not a number.
    #[must_use]
    pub fn measured(text: &str, standard_error: f64) -> Self {
        let printed = Self::number(text);
        let slack = crate::verdict::STANDARD_ERRORS * standard_error;
        let agreeing = printed.agreeing.start() - slack..=printed.agreeing.end() + slack;
        Self { agreeing, ..printed }
    }

    /// A rate that the paper's authors counted, in steps of one over their number of queries. The
    /// last digit is taken to stand for these steps.
    ///
    /// ```
    /// use oneread_lab::Printed;
    ///
    /// // 47 in 10,000 queries have a standard error of √47.
    /// assert!(!Printed::counted("0.0047").agrees(0.0076));
    /// assert!(Printed::counted("0.0047").agrees(0.0074));
    /// ```
    ///
    /// # Panics
    /// If it is not a number.
    #[must_use]
    pub fn counted(text: &str) -> Self {
        let rate = Self::number(text).number.unwrap_or_default();
        Self::measured(text, (rate * unit_of_last_digit(text)).sqrt())
    }

    /// A statement in words, and the values of a quantity that make it true. The claim names the
    /// quantity and explains how the words were read.
    #[must_use]
    pub fn statement(text: &str, agreeing: RangeInclusive<f64>) -> Self {
        Self { text: text.to_owned(), agreeing, number: None }
    }

    /// A figure that our text has lost: no value agrees with it, so it cannot be judged.
    #[must_use]
    pub fn lost() -> Self {
        Self { text: "lost".to_owned(), agreeing: f64::INFINITY..=f64::NEG_INFINITY, number: None }
    }

    /// Also accepts values that are off by this fraction. Where a paper's digits are less exact
    /// than printed, the claim says to what precision they are judged.
    #[must_use]
    pub fn give_or_take(self, fraction: f64) -> Self {
        let (start, end) = (*self.agreeing.start(), *self.agreeing.end());
        let slack = fraction * self.number.unwrap_or(0.0).abs();
        Self { agreeing: start - slack..=end + slack, ..self }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number, if it is one.
    #[must_use]
    pub const fn value(&self) -> Option<f64> {
        self.number
    }

    /// The values that agree with it.
    #[must_use]
    pub const fn agreeing(&self) -> &RangeInclusive<f64> {
        &self.agreeing
    }

    /// Whether a value agrees with it.
    #[must_use]
    pub fn agrees(&self, value: f64) -> bool {
        self.agreeing.contains(&value)
    }
}

/// 10 to the power of the last digit's place.
fn unit_of_last_digit(digits: &str) -> f64 {
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let exponent: i32 = exponent.parse().expect("it was part of a number");
    10f64.powi(exponent - decimals)
}

/// Widens the range by float rounding, so that a value on its edge agrees.
fn widened(range: RangeInclusive<f64>) -> RangeInclusive<f64> {
    const LAST_BITS: f64 = 1e-12;
    let slack = LAST_BITS * range.start().abs().max(range.end().abs());
    range.start() - slack..=range.end() + slack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_range(printed: &Printed, start: f64, end: f64) {
        let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-9 * expected.abs();
        let range = printed.agreeing();
        assert!(close(*range.start(), start) && close(*range.end(), end), "{range:?}");
    }

    #[test]
    fn a_number_stands_for_all_that_rounds_to_it() {
        assert_range(&Printed::number(".006"), 0.0055, 0.0065);
        assert_range(&Printed::number("8504.18"), 8504.175, 8504.185);
        assert_range(&Printed::number("-3.00e-5"), -3.005e-5, -2.995e-5);
        assert_range(&Printed::number("32450"), 32449.5, 32450.5);
        assert_range(&Printed::number("100 Mb"), 99.5, 100.5);
    }

    #[test]
    fn digits_that_go_on_were_cut() {
        assert_range(&Printed::number("0.0008937…"), 0.0008937, 0.0008938);
        assert_range(&Printed::number("-2.5…"), -2.6, -2.5);
    }

    #[test]
    fn bounds_have_no_lower_end() {
        let bound = Printed::at_most("7.78e-16");
        assert!(bound.agrees(6.6e-24) && bound.agrees(7.784e-16) && !bound.agrees(7.79e-16));
        assert_eq!(bound.text(), "≤ 7.78e-16");
    }

    #[test]
    fn measurements_have_four_standard_errors_of_slack() {
        assert_range(&Printed::measured("1.0", 0.1), 0.55, 1.45);
        assert_range(&Printed::number("2.0").give_or_take(0.1), 1.75, 2.25);
    }

    #[test]
    #[should_panic(expected = "does not begin with a number")]
    fn words_are_no_number() {
        _ = Printed::number("about 5");
    }
}
