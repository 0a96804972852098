//! The digest of a string of at most sixteen bytes, in two independent multiplications.
//!
//! `docs/decisions/digests.md` compares it with other functions.

use super::Digest;
use super::mix::{halves_of_product, number_of_seed};

/// The longest string that has a digest of this kind.
const MAX_LENGTH: usize = 16;

/// What a seed contributes to the digest of a short string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortSeed {
    /// Each number of a string is raised by one of these, times the length plus one.
    steps: [u64; 2],
    /// Odd, so that no two numbers have the same lower half of a product.
    multipliers: [u64; 2],
}

impl ShortSeed {
    pub(super) const fn new(seed: u64) -> Self {
        // The first and the second number are those of `WordSeed`.
        Self {
            steps: [number_of_seed(seed, 3), number_of_seed(seed, 4)],
            multipliers: [number_of_seed(seed, 5) | 1, number_of_seed(seed, 6) | 1],
        }
    }
}

/// The digest of a string of up to sixteen bytes; `None` if it is longer.
///
/// # When two strings share a digest
/// With uniform steps and multipliers:
/// - Strings of one length that share one of their two numbers: never, as the lower half of a
///   product with an odd number tells the other numbers apart.
/// - Other strings of one length: with probability at most 4 · 2^-128. This is not proved but
///   extrapolated from words of 3 to 7 bits, where all pairs under all multipliers were counted (a
///   test here does so for 5). The average was that of random digests. Strings that differ in the
///   top bits of both numbers reached 4 times that.
/// - Strings whose lengths differ by d: the steps make the differences of both numbers uniform, up
///   to multiples of the power of two in d. So the numbers are equal with probability at most
///   2^-120 (for lengths 0 and 16). Otherwise the digests are equal as above.
#[inline(always)]
pub(super) fn digest_short(bytes: &[u8], seed: ShortSeed) -> Option<Digest> {
    if bytes.len() > MAX_LENGTH {
        return None;
    }
    let (first, second) = numbers(bytes);
    let times = bytes.len() as u64 + 1;
    let raised = [
        first.wrapping_add(seed.steps[0].wrapping_mul(times)),
        second.wrapping_add(seed.steps[1].wrapping_mul(times)),
    ];
    let (first_low, first_high) = halves_of_product(raised[0], seed.multipliers[0]);
    let (second_low, second_high) = halves_of_product(raised[1], seed.multipliers[1]);
    Some(Digest::from_halves(first_low ^ second_high, second_low ^ first_high))
}

/// Two numbers that hold all bytes of a short string, some of them twice; together with the length
/// they identify the string.
#[inline(always)]
fn numbers(bytes: &[u8]) -> (u64, u64) {
    if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        (u64::from_le_bytes(first), u64::from_le_bytes(last))
    } else if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        (u32::from_le_bytes(first).into(), u32::from_le_bytes(last).into())
    } else if let [first, .., last] | [first @ last] = *bytes {
        (first.into(), u16::from_le_bytes([bytes[bytes.len() / 2], last]).into())
    } else {
        (0, 0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn numbers_and_length_hold_all_bytes() {
        // Every byte of the string, changed alone, changes one of the numbers.
        for length in 1..=MAX_LENGTH {
            let string: Vec<u8> = (1..).take(length).collect();
            for at in 0..length {
                let mut other = string.clone();
                other[at] = 0xff;
                assert_ne!(numbers(&string), numbers(&other), "byte {at} of {length}");
            }
        }
        assert_eq!(numbers(b""), (0, 0));
        assert_eq!(numbers(b"\x01"), (1, 0x0101));
        assert_eq!(numbers(b"\x01\x02"), (1, 0x0202));
        assert_eq!(numbers(b"\x01\x02\x03"), (1, 0x0302));
        assert_eq!(numbers(b"\x01\x02\x03\x04\x05"), (0x0403_0201, 0x0504_0302));
        assert_eq!(
            numbers(b"\x01\x02\x03\x04\x05\x06\x07\x08\x09"),
            (0x0807_0605_0403_0201, 0x0908_0706_0504_0302)
        );
        assert!(digest_short(&[0; 17], ShortSeed::new(0)).is_none());
    }
}
