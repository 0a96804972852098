//! The buckets that a key can be in, one in each sub-table, by permutations.
//!
//! A digest gives a place b among the B buckets of a sub-table, and a word, the highest bits of
//! which (and the lowest, where buckets always tell it) are the minimal remainder r. Sub-table i
//! takes the key at
//!
//! ```text
//!   P_i(b, r) = (b + s_i(r) mod B, r)        with s_0 = 0 and s_i(r) a hash of r among 0 … B − 1
//! ```
//!
//! For any B and whatever the `s_i`, this is a permutation of the pairs (b, r): r is not changed,
//! so that its shift is known, and b is the bucket less the shift, mod B. So from the bucket and
//! the minimal remainder of a cell follow b and r, and with them all other buckets that its keys
//! can be in: two keys that have the same bucket *and* minimal remainder in one sub-table have so
//! in all. This is what makes removals unambiguous; independent hash functions would not do.
//!
//! The shifts are not linear in r. Were they r times a constant, mod B, the differences of shifts
//! would be shifts again, and the buckets reached from one in two steps some R rather than R²: a
//! bad spread of loads.

use crate::hash::{Digest, Domain, reduce};
use crate::layout::DLeftCountingLayout;

/// The first words of the domain are the place and the remainder of a key; from here on those of
/// the shifts.
const SHIFTS: u32 = 2;

/// Any constant: the other half of the digest that stands for a minimal remainder.
const REMAINDER: u64 = 0x243f_6a88_85a3_08d3;

/// What it takes to find a key's choices, worked out once for a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chooser {
    buckets_each: u64,
    /// How far down a word is shifted to be the stored bits of the minimal remainder.
    minimal_shift: u32,
    /// 1 if the lowest bit of the word is one of the minimal remainder's, else 0.
    told: u32,
}

/// Where a key can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// b.
    place: u64,
    /// r.
    minimal: u64,
    /// The remainder: its highest bits are the minimal one, its lowest may be told by a bucket's
    /// state.
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
    /// The bucket in a sub-table, counted from the first of the first sub-table.
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

/// How far sub-table i shifts the place of a minimal remainder.
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
        // Of 2^11 minimal remainders and 1000 buckets, two sub-tables shift alike some 2.05 times;
        // 20 are never seen (Poisson tail below 1e-12).
        for subtable in 1..8 {
            for other in 0..subtable {
                let alike = (0..2048)
                    .filter(|&minimal| shift(minimal, subtable, 1000) == shift(minimal, other, 1000));
                assert!(alike.count() < 20);
            }
        }
    }
}
