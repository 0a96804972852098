use std::error::Error;

use oneread_study::hash::family::{FamilyError, KeyError};

#[test]
fn family_errors_say_what_was_expected_what_was_found_and_what_to_do() {
    let errors = [
        (FamilyError::ZeroBuckets, "expected at least 1 bucket, found 0: use at least one"),
        (
            FamilyError::TooManyBuckets { expected: 7, found: 8 },
            "expected at most 7 buckets, found 8: use fewer buckets, or a larger prime or range",
        ),
        (
            FamilyError::NotPrime { found: 91 },
            "expected a prime, found 91: pick a prime, such as 2305843009213693951 (2^61 - 1)",
        ),
        (
            FamilyError::PrimeTooSmall { expected: 12, found: 11 },
            "expected a prime of at least 12, found 11: use a larger prime or fewer buckets",
        ),
        (
            FamilyError::OutsideField { expected: 7, found: 9 },
            "expected a parameter below the prime 7, found 9: reduce it, or draw it",
        ),
        (
            FamilyError::ZeroMultiplier,
            "expected a multiplier of at least 1, found 0: use another, or the family `Linear`",
        ),
        (
            FamilyError::EvenMultiplier { found: 36 },
            "expected an odd multiplier, found 36: set its lowest bit",
        ),
        (
            FamilyError::ParameterTooWide { expected: 10, found: 1025 },
            "expected a parameter of at most 10 bits, found 1025: drop its high bits",
        ),
        (
            FamilyError::ResultBits { expected: 32, found: 33 },
            "expected 1 to 32 result bits, found 33: change the number of buckets",
        ),
        (
            FamilyError::PrecisionBits { at_least: 10, at_most: 16, found: 9 },
            "expected 10 to 16 bits of precision, found 9: change it, or use fewer result bits",
        ),
        (
            FamilyError::CharacterBits { expected: 16, found: 17 },
            "expected characters of 1 to 16 bits, found 17: 8 is the usual width",
        ),
        (
            FamilyError::TableEntries { expected: 24, found: 23 },
            "expected 24 table entries, found 23: give every table all its entries",
        ),
        (
            FamilyError::ZeroCoefficients,
            "expected at least 1 coefficient, found 0: k coefficients give k-independence",
        ),
        (FamilyError::ZeroDimension, "expected at least 1 component, found 0: use at least one"),
        (
            FamilyError::OutOfMemory { found: 99 },
            "no memory for 99 parameters of 64 bits: use a family with fewer parameters",
        ),
        (
            FamilyError::OuterUniverse(KeyError::OutsideUniverse { expected: 7, found: 9 }),
            "the inner function has values the outer one refuses: expected a key below 7, found 9: use a larger prime, \
             or wrap the function in `Reduced`",
        ),
    ];
    for (error, message) in errors {
        let error: Box<dyn Error> = Box::new(error);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn key_errors_say_what_was_expected_what_was_found_and_what_to_do() {
    let errors = [
        (
            KeyError::OutsideUniverse { expected: 7, found: 9 },
            "expected a key below 7, found 9: use a larger prime, or wrap the function in `Reduced`",
        ),
        (
            KeyError::ComponentOutsideField { position: 2, expected: 7, found: 9 },
            "expected components below 7, found 9 at position 2: use a larger prime",
        ),
        (
            KeyError::Length { expected: 3, found: 2 },
            "expected 3 components, found 2: make the function for that dimension",
        ),
        (
            KeyError::StringTooLong { expected: 3, found: 4 },
            "expected at most 3 bytes, found 4: make the function for longer strings",
        ),
    ];
    for (error, message) in errors {
        let error: Box<dyn Error> = Box::new(error);
        assert_eq!(error.to_string(), message);
    }
}
