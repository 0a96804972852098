//! Buckets whose remainders have one length: no table of states is needed to read them.
//!
//! `bucket` does the same with a table row per bucket. Here the pattern of a key is made once for
//! all its buckets, a new cell goes after the others, and the state is the number of cells, which
//! is faster (`docs/decisions/dleft-buckets.md`). Equal remainders are rare and left to `bucket`.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use super::DLeftCounting;
use super::bucket::{Outcome, close};
use super::choices::Choices;
use super::format::{LOAD_AT, STATE_AT};
use crate::bits::Words;
use crate::filter::Full;
use crate::hash::Digest;
use crate::layout::{DLeftCountingLayout, Remainders};

/// More states than buckets with remainders of one length have.
const STATES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct FixedCells {
    /// A 1 in the lowest bit of each cell, whether it is in use or not.
    ones: u128,
    /// By the number of cells in use: a 1 in the highest bit of each of their remainders. A bucket
    /// of a damaged file may have any number, of which the lowest bits count.
    tops: [u128; STATES],
    /// The shift from a word to a remainder.
    shift: u32,
    /// The number of bits of a cell.
    width: u32,
    counter_bits: u32,
    capacity: u32,
}

/// The remainder of a word, repeated in each cell.
#[derive(Clone, Copy)]
pub(super) struct Pattern(u128);

impl FixedCells {
    /// Returns `None` if remainders have several lengths.
    pub(super) fn new(layout: DLeftCountingLayout) -> Option<Self> {
        if layout.remainders() != Remainders::Fixed {
            return None;
        }
        let (capacity, counter_bits) = (layout.capacity(), layout.counter_bits());
        let width = DLeftCountingLayout::cell_bits(capacity);
        let remainder_bits = width - counter_bits;
        let cells = |count: u32| (0..count).fold(0u128, |ones, cell| ones | 1 << (cell * width));
        let tops = |load: usize| {
            let is_load = load <= capacity as usize;
            if is_load { cells(load as u32) << (remainder_bits - 1) } else { 0 }
        };
        Some(Self {
            ones: cells(capacity),
            tops: core::array::from_fn(tops),
            shift: u64::BITS - remainder_bits,
            width,
            counter_bits,
            capacity,
        })
    }

    #[inline(always)]
    pub(super) fn pattern(&self, word: u64) -> Pattern {
        Pattern(u128::from(word >> self.shift).wrapping_mul(self.ones))
    }

    /// The number of cells in use.
    #[inline(always)]
    fn load(&self, bucket: u128) -> usize {
        (bucket >> STATE_AT) as usize
    }

    /// The load, in the form of [`Row`](super::format::Row).
    #[inline(always)]
    pub(super) fn load_above(&self, bucket: u128) -> u64 {
        (self.load(bucket) as u64) << LOAD_AT
    }

    /// The highest bit of the first cell with the remainder, and possibly bits above it; 0 if there
    /// is none.
    #[inline(always)]
    pub(super) fn found(&self, bucket: u128, pattern: Pattern) -> u128 {
        let differing = bucket ^ pattern.0;
        // A cell that is 0 borrows from the one above it. The cells in use are the first ones; the
        // others are masked out.
        differing.wrapping_sub(self.ones) & !differing & self.tops[self.load(bucket) % STATES]
    }

    /// Returns the bucket with one more cell, if there is room.
    #[inline(always)]
    pub(super) fn with(&self, bucket: u128, word: u64) -> Option<u128> {
        let load = self.load(bucket) as u32;
        if load >= self.capacity {
            return None;
        }
        // Less than 120 bits.
        let at = (load * self.width) & 127;
        Some((bucket | u128::from(word >> self.shift) << at).wrapping_add(1 << STATE_AT))
    }

    /// Returns the bucket without the cell that [`found`](Self::found) found (not 0), if it is the
    /// only one and counts one key, which is the usual case.
    #[inline(always)]
    pub(super) fn without(&self, bucket: u128, found: u128) -> Option<u128> {
        let counter = (bucket >> (found.trailing_zeros() + 1)) as u32 & ((1 << self.counter_bits) - 1);
        if found & found.wrapping_sub(1) != 0 || counter != 0 {
            return None;
        }
        // Not 0, as there is a cell.
        let removed = (bucket >> STATE_AT) as u8 - 1;
        Some(close(bucket, found, self.counter_bits, self.width, removed))
    }
}

impl DLeftCounting<Vec<u64>> {
    /// Inserts like `place_as`.
    #[inline(always)]
    pub(super) fn place_fixed<const SUBTABLES: u32>(&mut self, choices: Choices) -> Result<Outcome, Full> {
        let fixed = self.format.fixed.as_ref().expect("remainders of one length");
        let pattern = fixed.pattern(choices.word);
        let (mut found, mut least) = (0, u64::MAX);
        for subtable in 0..self.subtables::<SUBTABLES>() {
            let at = choices.bucket(subtable);
            let bucket = self.bucket(at);
            found |= fixed.found(bucket, pattern);
            least = least.min(fixed.load_above(bucket) | at as u64);
        }
        if found != 0 {
            return self.join(choices);
        }
        let best = (least & ((1 << LOAD_AT) - 1)) as usize;
        let bucket = fixed.with(self.bucket(best), choices.word).ok_or(Full)?;
        self.set_bucket(best, bucket);
        self.len += 1;
        Ok(Outcome::New)
    }

    /// Removes like `take_with`.
    #[inline(always)]
    pub(super) fn take_fixed<const SUBTABLES: u32>(&mut self, choices: Choices) -> Option<bool> {
        let fixed = self.format.fixed.as_ref().expect("remainders of one length");
        let pattern = fixed.pattern(choices.word);
        let (mut at, mut all) = (0, 0);
        // Backwards, so that the first match remains.
        for subtable in (0..self.subtables::<SUBTABLES>()).rev() {
            let place = choices.bucket(subtable);
            let found = fixed.found(self.bucket(place), pattern);
            at = select_unpredictable(found != 0, place, at);
            all |= found;
        }
        if all == 0 {
            return None;
        }
        let bucket = self.bucket(at);
        let less = match fixed.without(bucket, all) {
            Some(less) => less,
            None => self.format.remove(bucket, choices.word)?,
        };
        Some(self.put_less(at, bucket, less))
    }
}

impl<S: Words> DLeftCounting<S> {
    #[inline(always)]
    pub(super) fn contains_fixed<const SUBTABLES: u32>(&self, digest: Digest) -> bool {
        let fixed = self.format.fixed.as_ref().expect("remainders of one length");
        let choices = self.chooser.choices(digest);
        let pattern = fixed.pattern(choices.word);
        let mut found = 0;
        for subtable in 0..self.subtables::<SUBTABLES>() {
            found |= fixed.found(self.bucket(choices.bucket(subtable)), pattern);
        }
        found != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::Format;
    use super::*;
    use crate::bits::extract;
    use crate::hash::{Digester, Domain, Portable};
    use crate::layout::Repeats;

    #[test]
    fn buckets_without_a_table_are_as_with_one() {
        let words = Portable::with_seed(1);
        for (capacity, counter_bits) in
            (4..=12).flat_map(|capacity| (0..=2).map(move |bits| (capacity, bits)))
        {
            let layout = DLeftCountingLayout::new(3, 1)
                .and_then(|layout| {
                    layout.with_policies(Remainders::Fixed, capacity, counter_bits, Repeats::Stick)
                })
                .unwrap();
            let (format, fixed) = (Format::new(layout).unwrap(), FixedCells::new(layout).unwrap());
            let (mut bucket, mut seen) = (0, [0; 4]);
            for step in 0..if cfg!(miri) { 30 } else { 1000u64 } {
                // Otherwise stuck cells would fill it.
                if step % 50 == 0 {
                    bucket = 0;
                }
                let random = words.digest(&step).word(Domain::DLEFT_COUNTING, 0);
                // One of sixteen remainders, 0 and all ones among them.
                let word = (random & 15) * (u64::MAX / 15);
                let found = fixed.found(bucket, fixed.pattern(word));
                assert_eq!(found, format.found(bucket, word), "{layout:?}, {bucket:x}");
                assert_eq!(fixed.load_above(bucket), format.row(bucket, word).load);
                let after = if random >> 32 & 3 == 0 && found != 0 {
                    seen[0] += 1;
                    let less = fixed.without(bucket, found);
                    assert_eq!(less, format.remove_found(bucket, word, found), "{layout:?}, {bucket:x}");
                    less.or_else(|| format.remove(bucket, word))
                } else if found != 0 {
                    seen[1] += 1;
                    format.insert(bucket, word).ok().map(|(more, _)| more)
                } else {
                    let more = fixed.with(bucket, word);
                    seen[2 + usize::from(more.is_none())] += 1;
                    assert_eq!(more, format.add(bucket, word, extract), "{layout:?}, {bucket:x}");
                    more
                };
                bucket = after.unwrap_or(bucket);
                assert!(format.is_valid(bucket), "{layout:?}, {bucket:x}");
            }
            assert!(cfg!(miri) || seen.iter().all(|&count| count > 10), "{layout:?}: {seen:?}");
            // A state that no bucket has.
            assert_eq!(fixed.with(bucket | 0xf0 << STATE_AT, 0), None);
        }
    }
}
