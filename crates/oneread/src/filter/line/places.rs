//! The possible lines of a fingerprint: its home, and the one other line that its quotient
//! determines.

use super::slots::Fingerprint;
use crate::hash::{Digest, Domain, reduce};
use crate::layout::LineLayout;

/// A line and a fingerprint in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) fingerprint: Fingerprint,
}

/// Fingerprints of lower quotients may leave their homes; it is the largest threshold.
pub(super) const MOVABLE: u32 = LineLayout::MAX_LEAVING;

/// The places of a layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    lines: u64,
    remainder_bits: u32,
    /// A fingerprint of quotient q has the lines A and `sums[q]` − A.
    sums: [u64; MOVABLE as usize],
}

impl Places {
    pub(super) fn new(layout: LineLayout) -> Self {
        // Any digest will do: these are unrelated constants.
        let sum =
            |quotient| reduce(Digest::from_hash64(quotient as u64).word(Domain::LINE, 1), layout.lines());
        Self {
            lines: layout.lines(),
            remainder_bits: layout.remainder_bits(),
            sums: core::array::from_fn(sum),
        }
    }

    /// The word of a digest that determines its place.
    #[inline(always)]
    pub(super) fn word(digest: Digest) -> u64 {
        digest.word(Domain::LINE, 0)
    }

    /// Divides the number of a word's fingerprint, ⌊word · fingerprints / 2^64⌋, into line,
    /// quotient and remainder.
    ///
    /// Each step multiplies what the one before left over, so that no bit is used twice.
    #[inline(always)]
    pub(super) fn of(&self, word: u64) -> Place {
        let line = u128::from(word) * u128::from(self.lines);
        let quotient = u128::from(line as u64) * u128::from(LineLayout::QUOTIENTS);
        let remainder = quotient as u64 >> (u64::BITS - self.remainder_bits);
        Place {
            line: (line >> 64) as usize,
            fingerprint: Fingerprint { quotient: (quotient >> 64) as u32, remainder: remainder as u32 },
        }
    }

    /// The place with this number.
    pub(super) fn at(&self, number: u64) -> Place {
        let (quotients, remainder) =
            (number >> self.remainder_bits, number as u32 & ((1 << self.remainder_bits) - 1));
        let (line, quotient) =
            (quotients / u64::from(LineLayout::QUOTIENTS), quotients % u64::from(LineLayout::QUOTIENTS));
        Place { line: line as usize, fingerprint: Fingerprint { quotient: quotient as u32, remainder } }
    }

    /// The number of a place: below [`LineLayout::fingerprints`].
    pub(super) fn number(&self, place: Place) -> u64 {
        let Fingerprint { quotient, remainder } = place.fingerprint;
        let quotients = place.line as u64 * u64::from(LineLayout::QUOTIENTS) + u64::from(quotient);
        quotients << self.remainder_bits | u64::from(remainder)
    }

    /// The other line of a quotient below [`MOVABLE`]; it may be the same one.
    #[inline(always)]
    pub(super) fn other(&self, line: usize, quotient: u32) -> usize {
        let (sum, line) = (self.sums[quotient as usize], line as u64);
        (if sum >= line { sum - line } else { sum + self.lines - line }) as usize
    }
}
