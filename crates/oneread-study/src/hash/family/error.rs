//! Invalid parameters of a family, and invalid keys.

use core::fmt;

/// Parameters for which a family is not defined, or for which its theorem does not hold.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, FamilyError, Linear};
///
/// let seven = AnyPrime::new(7)?;
/// // Eight buckets do not fit in a field of seven elements; seven do.
/// let error = Linear::new(seven, 1, 0, 8).unwrap_err();
/// assert_eq!(error, FamilyError::TooManyBuckets { expected: 7, found: 8 });
/// assert!(Linear::new(seven, 1, 0, 7).is_ok());
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FamilyError {
    /// A function needs at least one bucket to map to.
    ZeroBuckets,
    /// More buckets than the reduced range has values.
    TooManyBuckets {
        /// The largest number of buckets allowed: the prime, or the range of the inner function.
        expected: u128,
        /// The requested number of buckets.
        found: u128,
    },
    /// The modulus of a field is not a prime.
    NotPrime {
        /// The composite number, or 0 or 1.
        found: u64,
    },
    /// The prime is too small for the theorem that the constructor promises.
    PrimeTooSmall {
        /// The smallest prime the theorem allows is at least this (4m, 2km, 4dm, or 257 for bytes).
        expected: u128,
        /// The prime of the field.
        found: u64,
    },
    /// A parameter is not an element of the field.
    OutsideField {
        /// The prime; parameters are below it.
        expected: u64,
        /// The parameter.
        found: u64,
    },
    /// The multiplier of a family that excludes constant functions is zero.
    ZeroMultiplier,
    /// The multiplier of a multiply-shift function is even.
    EvenMultiplier {
        /// The multiplier.
        found: u128,
    },
    /// A parameter of a multiply-shift function has more bits than its precision.
    ParameterTooWide {
        /// The precision (w′ in the lecture): parameters are below 2 to this power.
        expected: u32,
        /// The parameter.
        found: u128,
    },
    /// The number of result bits is zero, or more than the family supports.
    ResultBits {
        /// The largest number of result bits; the smallest is 1.
        expected: u32,
        /// The requested number of bits.
        found: u32,
    },
    /// The precision of a multiply-shift function is too low for its theorem, or too high for its
    /// word.
    PrecisionBits {
        /// The lowest precision (w + ℓ − 1 in the lecture).
        at_least: u32,
        /// The highest precision: twice the bits of a key.
        at_most: u32,
        /// The requested precision.
        found: u32,
    },
    /// The width of a tabulated character is zero, or makes tables that are too large.
    CharacterBits {
        /// The largest width; the smallest is 1.
        expected: u32,
        /// The requested width.
        found: u32,
    },
    /// The tables of a tabulation function have too few or too many entries.
    TableEntries {
        /// The number of characters times the entries of one table.
        expected: usize,
        /// The number of entries given.
        found: usize,
    },
    /// A polynomial without coefficients (k = 0).
    ZeroCoefficients,
    /// A vector or a string without components (d = 0, or L = 0).
    ZeroDimension,
    /// The memory for the parameters could not be reserved.
    OutOfMemory {
        /// The requested number of 64-bit parameters.
        found: usize,
    },
    /// The outer function of a composition does not accept every value of the inner one.
    OuterUniverse(KeyError),
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroBuckets => write!(f, "expected at least 1 bucket, found 0: use at least one"),
            Self::TooManyBuckets { expected, found } => write!(
                f,
                "expected at most {expected} buckets, found {found}: use fewer buckets, or a larger prime or range"
            ),
            Self::NotPrime { found } => {
                write!(
                    f,
                    "expected a prime, found {found}: pick a prime, such as 2305843009213693951 (2^61 - 1)"
                )
            }
            Self::PrimeTooSmall { expected, found } => write!(
                f,
                "expected a prime of at least {expected}, found {found}: use a larger prime or fewer buckets"
            ),
            Self::OutsideField { expected, found } => {
                write!(
                    f,
                    "expected a parameter below the prime {expected}, found {found}: reduce it, or draw it"
                )
            }
            Self::ZeroMultiplier => {
                write!(f, "expected a multiplier of at least 1, found 0: use another, or the family `Linear`")
            }
            Self::EvenMultiplier { found } => {
                write!(f, "expected an odd multiplier, found {found}: set its lowest bit")
            }
            Self::ParameterTooWide { expected, found } => {
                write!(
                    f,
                    "expected a parameter of at most {expected} bits, found {found}: drop its high bits"
                )
            }
            Self::ResultBits { expected, found } => {
                write!(f, "expected 1 to {expected} result bits, found {found}: change the number of buckets")
            }
            Self::PrecisionBits { at_least, at_most, found } => write!(
                f,
                "expected {at_least} to {at_most} bits of precision, found {found}: change it, or use fewer result bits"
            ),
            Self::CharacterBits { expected, found } => {
                write!(f, "expected characters of 1 to {expected} bits, found {found}: 8 is the usual width")
            }
            Self::TableEntries { expected, found } => {
                write!(
                    f,
                    "expected {expected} table entries, found {found}: give every table all its entries"
                )
            }
            Self::ZeroCoefficients => {
                write!(f, "expected at least 1 coefficient, found 0: k coefficients give k-independence")
            }
            Self::ZeroDimension => write!(f, "expected at least 1 component, found 0: use at least one"),
            Self::OutOfMemory { found } => {
                write!(f, "no memory for {found} parameters of 64 bits: use a family with fewer parameters")
            }
            Self::OuterUniverse(error) => {
                write!(f, "the inner function has values the outer one refuses: {error}")
            }
        }
    }
}

impl core::error::Error for FamilyError {}

/// A key that is not in the universe of the function.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, HashFunction, KeyError, Linear};
///
/// let function = Linear::new(AnyPrime::new(7)?, 1, 0, 7)?;
/// assert_eq!(function.hash(&7), Err(KeyError::OutsideUniverse { expected: 7, found: 7 }));
/// assert_eq!(function.hash(&6), Ok(6));
/// # Ok::<(), oneread_study::hash::family::FamilyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// A number that is not below the size of the universe.
    OutsideUniverse {
        /// The size of the universe: keys are below it.
        expected: u64,
        /// The key.
        found: u64,
    },
    /// A vector with a component that is not an element of the field.
    ComponentOutsideField {
        /// The position of the first such component, counted from 0.
        position: usize,
        /// The prime: components are below it.
        expected: u64,
        /// The component.
        found: u64,
    },
    /// A vector with too few or too many components.
    Length {
        /// The dimension of the function.
        expected: usize,
        /// The length of the vector.
        found: usize,
    },
    /// A string that is longer than the limit the function was made for.
    StringTooLong {
        /// The longest length, in bytes.
        expected: usize,
        /// The length of the string, in bytes.
        found: usize,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideUniverse { expected, found } => write!(
                f,
                "expected a key below {expected}, found {found}: use a larger prime, or wrap the function in `Reduced`"
            ),
            Self::ComponentOutsideField { position, expected, found } => write!(
                f,
                "expected components below {expected}, found {found} at position {position}: use a larger prime"
            ),
            Self::Length { expected, found } => {
                write!(
                    f,
                    "expected {expected} components, found {found}: make the function for that dimension"
                )
            }
            Self::StringTooLong { expected, found } => {
                write!(
                    f,
                    "expected at most {expected} bytes, found {found}: make the function for longer strings"
                )
            }
        }
    }
}

impl core::error::Error for KeyError {}
