//! Messages say what was expected, what was found, and what to change.

use oneread::hash::probes::SchemeName;
use oneread::layout::{LayoutError, Quantity};

#[test]
fn messages_tell_what_to_change() {
    let scheme = SchemeName::Partitioned;
    let cases: [(LayoutError, &[&str]); 10] = [
        (LayoutError::Zero { what: Quantity::Bits }, &["1", "bits", "0", "use at least one"]),
        (LayoutError::TooLarge { what: Quantity::Bits, expected: 5, found: 6 }, &["5 bits", "6", "divide"]),
        (LayoutError::TooLarge { what: Quantity::SlotsPerBucket, expected: 5, found: 6 }, &["6: use fewer"]),
        (LayoutError::Hashes { expected: 64, found: 65 }, &["64", "65", "choose another"]),
        (
            LayoutError::MoreHashesThanPlaces { scheme, expected: 7, found: 6 },
            &["partitioned", "7", "6", "fewer hashes"],
        ),
        (LayoutError::CounterBits { at_least: 2, at_most: 8, found: 9 }, &["2 to 8", "9", "usual"]),
        (
            LayoutError::Fraction { what: Quantity::Rate, found: f64::NAN },
            &["rate", "NaN", "between 0 and 1"],
        ),
        (LayoutError::BitsPerKey { found: -1.0 }, &["-1", "positive", "usual"]),
        (LayoutError::Growth { expected: 2, found: 1 }, &["at least 2", "1", "doubles"]),
        (LayoutError::OutOfReach { rate: 1e-15, items: 7 }, &["2^46", "1e-15", "7", "allow"]),
    ];
    for (error, parts) in cases {
        let message = error.to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        assert!(!message.contains("  "), "{message:?}");
        // Dividing the set does not help a bucket.
        assert!(!message.contains("per bucket") || !message.contains("divide"), "{message:?}");
    }
}

#[test]
fn is_an_error() {
    let error: Box<dyn std::error::Error> = Box::new(LayoutError::Zero { what: Quantity::Bits });
    assert!(error.source().is_none());
}
