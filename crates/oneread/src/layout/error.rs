//! Parameters that no layout can have.

use core::fmt;

use crate::hash::probes::SchemeName;

use super::{MAX_HASHES, MAX_PLACES, Quantity};

/// Parameters no structure can have, or a goal no layout can meet.
///
/// # Example
/// ```
/// use oneread::layout::{BloomLayout, LayoutError};
///
/// assert_eq!(BloomLayout::new(1000, 65), Err(LayoutError::Hashes { expected: 64, found: 65 }));
/// assert!(BloomLayout::new(1000, 64).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A structure without any of these.
    Zero {
        /// What there must be at least one of.
        what: Quantity,
    },
    /// More of these than one structure may have.
    TooLarge {
        /// What there are too many of.
        what: Quantity,
        /// The most there may be.
        expected: u64,
        /// The number requested; `u64::MAX` also stands for anything above it.
        found: u64,
    },
    /// No hash functions (rows, in a count-min sketch), or too many.
    Hashes {
        /// The most there may be; the least is 1.
        expected: u32,
        /// The number requested.
        found: u32,
    },
    /// A scheme that gives each hash a band of the table needs a place in each band.
    MoreHashesThanPlaces {
        /// The scheme.
        scheme: SchemeName,
        /// The number of hashes, and so the least number of bits or counters.
        expected: u32,
        /// The number of bits or counters.
        found: u64,
    },
    /// A counter is narrower or wider than a counting filter supports.
    CounterBits {
        /// The narrowest.
        at_least: u32,
        /// The widest.
        at_most: u32,
        /// The width requested.
        found: u32,
    },
    /// A bucket of a d-left filter that can delete does not support `found` cells.
    Cells {
        /// The fewest.
        at_least: u32,
        /// The most.
        at_most: u32,
        /// The number requested. Eleven cells are as short as twelve, and not supported.
        found: u32,
    },
    /// A line filter does not support remainders of `found` bits: only 8, 9, 10, 12 or 16.
    RemainderBits {
        /// The bits requested.
        found: u32,
    },
    /// A rate, an error or a ratio that is not strictly between 0 and 1.
    Fraction {
        /// Which number.
        what: Quantity,
        /// The number; may be NaN.
        found: f64,
    },
    /// A number of bits per key that is not positive and finite.
    BitsPerKey {
        /// The number.
        found: f64,
    },
    /// Each layer of a growing filter must be at least twice as large as the one before.
    Growth {
        /// The least factor.
        expected: u32,
        /// The factor requested.
        found: u32,
    },
    /// A summary of multiple filters needs one for each level of its table.
    FilterForEachLevel {
        /// The levels of the table.
        expected: usize,
        /// The filters of the summary.
        found: usize,
    },
    /// No layout within the limits meets the rate with probes of this scheme. Independent probes
    /// meet it.
    OutOfReachOfScheme {
        /// The requested scheme.
        scheme: SchemeName,
        /// The requested rate.
        rate: f64,
        /// The number of items.
        items: u64,
    },
    /// A calculation would exceed its limit of steps, which bounds its time on every machine.
    TooMuchWork {
        /// Which: "a plan of a table", "a search for a table", ….
        what: &'static str,
        /// The most steps.
        expected: u64,
    },
    /// No layout within the limits meets the rate.
    OutOfReach {
        /// The requested rate.
        rate: f64,
        /// The number of items.
        items: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { what } => write!(f, "expected at least 1 of: {what}; found 0: use at least one"),
            Self::TooLarge { what, expected, found } => {
                let advice = match what.grows_with_the_set() {
                    true => "use fewer, or divide the set among several",
                    false => "use fewer",
                };
                write!(f, "expected at most {expected} {what}, found {found}: {advice}")
            }
            Self::Hashes { expected, found } => {
                write!(
                    f,
                    "expected 1 to {expected} hashes, found {found}: choose another number, or allow a higher rate"
                )
            }
            Self::MoreHashesThanPlaces { scheme, expected, found } => write!(
                f,
                "the scheme {scheme} needs at least {expected} places for {expected} hashes, found {found}: \
                 use fewer hashes or a larger table"
            ),
            Self::CounterBits { at_least, at_most, found } => {
                write!(
                    f,
                    "expected counters of {at_least} to {at_most} bits, found {found}: choose one of these; 4 is the usual width of a counting filter"
                )
            }
            Self::Cells { at_least, at_most, found } => {
                write!(f, "expected {at_least} to {at_most} cells per bucket, but not 11, found {found}")
            }
            Self::RemainderBits { found } => {
                write!(
                    f,
                    "expected remainders of 8, 9, 10, 12 or 16 bits, found {found}: choose one of these"
                )
            }
            Self::Fraction { what, found } => {
                write!(
                    f,
                    "expected a number between 0 and 1 (both excluded) as {what}, found {found}: \
                     0.01 means one in a hundred"
                )
            }
            Self::BitsPerKey { found } => {
                write!(f, "expected a positive number of bits for each key, found {found}: 8 to 20 are usual")
            }
            Self::Growth { expected, found } => {
                write!(
                    f,
                    "expected a growth of at least {expected}, found {found}: 2 doubles with each layer"
                )
            }
            Self::FilterForEachLevel { expected, found } => write!(
                f,
                "expected {expected} filters, one for each level of the table, found {found}: give each level a filter"
            ),
            Self::OutOfReachOfScheme { scheme, rate, items } => write!(
                f,
                "the {scheme} scheme cannot keep {items} items at the rate {rate:e} within 2^{} bits: use the {} \
                 scheme, or allow a higher rate",
                MAX_PLACES.ilog2(),
                SchemeName::Independent
            ),
            Self::TooMuchWork { what, expected } => write!(
                f,
                "{what} takes more than {expected} steps of calculation, the most there may be: use fewer items, \
                 levels or slots, or for odds that are less extreme"
            ),
            Self::OutOfReach { rate, items } => write!(
                f,
                "no layout within the limits (2^{} bits, {MAX_HASHES} hashes) keeps {items} items at the rate \
                 {rate:e}: allow a higher rate, or divide the set among several",
                MAX_PLACES.ilog2()
            ),
        }
    }
}

impl core::error::Error for LayoutError {}

/// Checks a number of places.
pub(super) fn check_places(what: Quantity, found: u64, most: u64) -> Result<(), LayoutError> {
    match found {
        0 => Err(LayoutError::Zero { what }),
        _ if found > most => Err(LayoutError::TooLarge { what, expected: most, found }),
        _ => Ok(()),
    }
}

/// Checks a number of hash functions.
pub(super) fn check_hashes(found: u32) -> Result<(), LayoutError> {
    if (1..=MAX_HASHES).contains(&found) {
        Ok(())
    } else {
        Err(LayoutError::Hashes { expected: MAX_HASHES, found })
    }
}

/// Checks a rate, an error or a ratio: strictly between 0 and 1, which excludes NaN.
pub(crate) fn check_fraction(what: Quantity, found: f64) -> Result<(), LayoutError> {
    if found > 0.0 && found < 1.0 { Ok(()) } else { Err(LayoutError::Fraction { what, found }) }
}

/// The places out of `places` that a scheme uses: equal bands leave out the remainder.
pub(super) fn places_used(scheme: SchemeName, places: u64, hashes: u32) -> Result<u64, LayoutError> {
    if !scheme.is_banded() {
        return Ok(places);
    }
    if places < u64::from(hashes) {
        return Err(LayoutError::MoreHashesThanPlaces { scheme, expected: hashes, found: places });
    }
    Ok(places - places % u64::from(hashes))
}
