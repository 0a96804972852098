//! Parameters that no plan covers.

use core::fmt;

/// A calculator's parameter is outside its range, or NaN.
///
/// # Example
/// ```
/// use oneread::layout::Ties;
/// use oneread::plan::{OutOfRange, dleft};
///
/// let error = dleft::loads(&[1, 1, 1], Ties::Left, 40.0, 7).unwrap_err();
/// assert_eq!(error, OutOfRange { what: "load", at_least: 0.0, at_most: 32.0, found: 40.0 });
/// assert_eq!(error.to_string(), "expected load from 0 to 32, found 40");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// Which number: "load", "items", "levels", …
    pub what: &'static str,
    /// The least it may be.
    pub at_least: f64,
    /// The most it may be.
    pub at_most: f64,
    /// The number given.
    pub found: f64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, at_least, at_most, found } = self;
        write!(f, "expected {what} from {} to {}, found {}", Short(*at_least), Short(*at_most), Short(*found))
    }
}

impl core::error::Error for OutOfRange {}

/// A number in plain form, or in scientific form if that avoids many zeros.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number) = self;
        let size = number.abs();
        if size != 0.0 && size.is_finite() && !(1e-6..1e16).contains(&size) {
            write!(f, "{number:e}")
        } else {
            write!(f, "{number}")
        }
    }
}

/// Checks that a number is within a range, which excludes NaN.
pub fn check(what: &'static str, found: f64, at_least: f64, at_most: f64) -> Result<(), OutOfRange> {
    if found >= at_least && found <= at_most {
        Ok(())
    } else {
        Err(OutOfRange { what, at_least, at_most, found })
    }
}
