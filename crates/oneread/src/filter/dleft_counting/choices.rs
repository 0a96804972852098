//! The buckets of a key, one per sub-table, by permutations.
//!
//! A digest gives a place b among the B buckets of a sub-table, and a word. The word's highest bits
//! (and its lowest, if all buckets imply it) are the minimal remainder r. In sub-table i the key is
//! at
//!
//! ```text
//!   P_i(b, r) = (b + s_i(r) mod B, r)        with s_0 = 0 and s_i(r) a hash of r among 0 … B − 1
//! ```
//!
//! For any B and any `s_i` this is a permutation of the pairs (b, r): r does not change, so its
//! shift is known, and b is the bucket minus the shift, mod B. So the bucket and the minimal
//! remainder of a cell determine b and r, and with them all other buckets of its keys. Two keys
//! with the same bucket *and* minimal remainder in one sub-table have the same in all. This makes
//! removals unambiguous; with independent hash functions they are not.
//!
//! The shifts are not linear in r. With r times a constant, mod B, differences of shifts would be
//! shifts again. The buckets within two steps of one would be about R rather than R², which spreads
//! loads badly.

use crate::hash::{Digest, Domain, reduce};
use crate::layout::DLeftCountingLayout;

/// The first words of the domain are the place and the remainder of a key; the words from here on
/// are the shifts.
const SHIFTS: u32 = 2;

/// An arbitrary constant: the other half of the digest of a minimal remainder.
const REMAINDER: u64 = 0x243f_6a88_85a3_08d3;

/// The constants of a filter that determine a key's choices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chooser {
    buckets_each: u64,
    /// The shift from a word to the stored bits of the minimal remainder.
    minimal_shift: u32,
    /// 1 if the lowest bit of the word belongs to the minimal remainder, else 0.
    told: u32,
}

/// The possible locations of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// The place b.
    place: u64,
    /// The minimal remainder r.
    minimal: u64,
    /// The remainder: its highest bits are the minimal one; the state of a bucket may imply its
    /// lowest.
    pub(super) word: u64,
    buckets_each: u64,
}

impl Chooser {
    pub(super) fn new(layout: DLeftCountingLayout) -> Self {
        Self {
            buckets_each: layout.buckets_each(),
            minimal_shift: u64::BITS - layout.minimal_stored_bits(),
            told: u32::from(layout.always_told()),
        }
    }

    #[inline(always)]
    pub(super) fn choices(&self, digest: Digest) -> Choices {
        let place = reduce(digest.word(Domain::DLEFT_COUNTING, 0), self.buckets_each);
        self.of(place, digest.word(Domain::DLEFT_COUNTING, 1))
    }

    #[inline(always)]
    fn of(&self, place: u64, word: u64) -> Choices {
        let minimal = word >> self.minimal_shift << self.told | word & u64::from(self.told);
        Choices { place, minimal, word, buckets_each: self.buckets_each }
    }
}

impl Choices {
    /// The bucket in a sub-table, counted from the first bucket of the first sub-table.
    #[inline(always)]
    pub(super) fn bucket(&self, subtable: u32) -> usize {
        if subtable == 0 {
            return self.place as usize;
        }
        // Both are below 2^39.
        let shifted = self.place + shift(self.minimal, subtable, self.buckets_each);
        let own = shifted.min(shifted.wrapping_sub(self.buckets_each));
        (u64::from(subtable) * self.buckets_each + own) as usize
    }
}

/// The shift of a minimal remainder's place in sub-table i.
#[inline(always)]
fn shift(minimal: u64, subtable: u32, buckets_each: u64) -> u64 {
    if subtable == 0 {
        return 0;
    }
    let hash = Digest::from_halves(minimal, REMAINDER).word(Domain::DLEFT_COUNTING, SHIFTS + subtable);
    reduce(hash, buckets_each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn every_choice_is_a_permutation_of_buckets_and_minimal_remainders() {
        for buckets in [1, 2, 3, 7, 8, 100, 257] {
            let layout = DLeftCountingLayout::new(4, buckets).unwrap().with_counter_bits(2).unwrap();
            let bits = layout.minimal_bits();
            assert!(layout.always_told());
            let chooser = Chooser::new(layout);
            for subtable in 0..4 {
                let mut seen = vec![false; (buckets << bits) as usize];
                for place in 0..buckets {
                    for minimal in 0..1 << bits {
                        let choices = chooser.of(place, minimal >> 1 << (65 - bits) | minimal & 1);
                        assert_eq!(choices.minimal, minimal);
                        let own = choices.bucket(subtable) as u64 - u64::from(subtable) * buckets;
                        let at = (own << bits | minimal) as usize;
                        assert!(own < buckets && !seen[at], "{buckets} buckets, sub-table {subtable}");
                        seen[at] = true;
                    }
                }
                assert!(seen.iter().all(|&seen| seen));
            }
        }
    }

    #[test]
    fn choices_in_different_subtables_are_unrelated() {
        // Of 2^11 minimal remainders and 1000 buckets, two sub-tables shift alike 2.05 times on
        // average; 20 times are never seen (Poisson tail below 1e-12).
        for subtable in 1..8 {
            for other in 0..subtable {
                let alike = (0..2048)
                    .filter(|&minimal| shift(minimal, subtable, 1000) == shift(minimal, other, 1000));
                assert!(alike.count() < 20);
            }
        }
    }
}
