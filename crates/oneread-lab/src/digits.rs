//! Formats numbers with only their significant digits.

use std::ops::Range;

/// The most digits shown: as many as the longest printed figures have.
const DIGITS: i32 = 6;

/// The digits of a standard error.
const DIGITS_OF_ERROR: i32 = 2;

/// The powers of ten written without an exponent.
const WRITTEN_OUT: Range<i32> = -3..7;

/// A number with six digits: plain if that is short, else with an exponent.
///
/// ```
/// use oneread_lab::digits::number;
///
/// assert_eq!(number(8504.1803), "8504.18");
/// assert_eq!(number(6.641359e-24), "6.64136e-24");
/// assert_eq!(number(14.0), "14");
/// ```
#[must_use]
pub fn number(value: f64) -> String {
    let is_short = value.fract() == 0.0 && WRITTEN_OUT.contains(&power_of_ten(value));
    if value == 0.0 || !value.is_finite() || is_short { value.to_string() } else { rounded(value, DIGITS) }
}

/// A number and its standard error, both rounded to the second digit of the error.
///
/// ```
/// use oneread_lab::digits::with_error;
///
/// assert_eq!(with_error(96.5995, 0.21389), "96.60 ± 0.21");
/// assert_eq!(with_error(7.32289e-9, 5.1e-11), "(7.323 ± 0.051)e-9");
/// ```
#[must_use]
pub fn with_error(value: f64, error: f64) -> String {
    let power = power_of_ten(value.abs().max(error));
    let last = power_of_ten(error) + 1 - DIGITS_OF_ERROR;
    let most_decimals = |power: i32| (DIGITS - 1 - power).max(0);
    if WRITTEN_OUT.contains(&power) {
        let decimals = (-last).clamp(0, most_decimals(power)) as usize;
        format!("{value:.decimals$} ± {}", rounded(error, DIGITS_OF_ERROR))
    } else {
        let unit = 10f64.powi(power);
        let decimals = (power - last).clamp(0, most_decimals(0)) as usize;
        format!("({:.decimals$} ± {})e{power}", value / unit, rounded(error / unit, DIGITS_OF_ERROR))
    }
}

fn rounded(value: f64, digits: i32) -> String {
    let power = power_of_ten(value);
    if WRITTEN_OUT.contains(&power) {
        format!("{value:.*}", (digits - 1 - power).max(0) as usize)
    } else {
        format!("{value:.*e}", (digits - 1) as usize)
    }
}

/// The power of ten of a number's first digit.
fn power_of_ten(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_mean_something() {
        let cases = [
            (0.0, "0"),
            (-2.997_4e-5, "-2.99740e-5"),
            (0.879_360_7, "0.879361"),
            (99_775.0, "99775"),
            (1_234_567.8, "1234568"),
            (12_345_678.9, "1.23457e7"),
            (1e300, "1.00000e300"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn an_error_says_where_the_digits_end() {
        let cases = [
            (8504.38, 2.222_9, "8504.4 ± 2.2"),
            (1234.5, 25.0, "1234 ± 25"),
            (0.35, 0.042_38, "0.350 ± 0.042"),
            (0.0, 0.005_01, "0.0000 ± 0.0050"),
            (0.001_463_811_15, 3.2e-11, "0.00146381 ± 3.2e-11"),
            (1e-12, 2.345e-14, "(1.000 ± 0.023)e-12"),
            (0.0, 1e-5, "(0.0 ± 1.0)e-5"),
        ];
        for (value, error, expected) in cases {
            assert_eq!(with_error(value, error), expected);
        }
    }
}
