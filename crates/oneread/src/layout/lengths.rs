//! The lengths of fingerprints, by the loads of the buckets that share their bits.
//!
//! A fingerprint cannot grow: the bits that a bucket has dropped are gone. In a single bucket,
//! lengths fall with the load anyway. In a group they could rise: with one fingerprint more, the
//! quotient may stay the same while the state implies one bit more. So a length is the least over
//! all paths to these loads.

use alloc::vec::Vec;

use super::{DLeftLayout, Division};

/// The most buckets in a group of a filter.
pub(crate) const MAX_GROUP: usize = 4;

/// The lengths for all loads of a group.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    layout: DLeftLayout,
    /// Indexed by the number whose digits are the loads.
    of_loads: Vec<[u8; MAX_GROUP]>,
}

impl Lengths {
    /// Computes the lengths for a layout whose groups have at most [`MAX_GROUP`] buckets.
    pub(crate) fn new(layout: DLeftLayout) -> Self {
        let group = layout.group() as usize;
        let digits = layout.capacity() as usize + 1;
        let mut lengths = Self { layout, of_loads: Vec::new() };
        for number in 0..digits.pow(group as u32) {
            let mut loads = [0; MAX_GROUP];
            let mut left = number;
            for load in &mut loads[..group] {
                *load = (left % digits) as u32;
                left /= digits;
            }
            let mut least = lengths.divided(&loads[..group]);
            for grown in (0..group).filter(|&bucket| loads[bucket] > 0) {
                let mut before = loads;
                before[grown] -= 1;
                // A smaller number, whose lengths are already computed.
                let before_lengths = lengths.of_loads[lengths.number(&before[..group])];
                for bucket in (0..group).filter(|&bucket| before[bucket] > 0) {
                    least[bucket] = least[bucket].min(before_lengths[bucket]);
                }
            }
            lengths.of_loads.push(least);
        }
        lengths
    }

    fn number(&self, loads: &[u32]) -> usize {
        let digits = self.layout.capacity() as usize + 1;
        loads.iter().rev().fold(0, |number, &load| number * digits + load as usize)
    }

    /// Yields the loads of a group, with the length of the fingerprints in each of its buckets.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Vec<u32>, &[u8])> {
        let group = self.layout.group() as usize;
        let digits = self.layout.capacity() + 1;
        self.of_loads.iter().zip(0u32..).map(move |(lengths, number)| {
            let loads = (0..group as u32).map(|bucket| number / digits.pow(bucket) % digits).collect();
            (loads, &lengths[..group])
        })
    }

    /// The length of the fingerprints in each bucket of a group with these loads, with implied
    /// bits.
    pub(crate) fn of(&self, loads: &[u32]) -> &[u8] {
        &self.of_loads[self.number(loads)][..loads.len()]
    }

    /// The lengths from division alone; 0 for an empty bucket.
    fn divided(&self, loads: &[u32]) -> [u8; MAX_GROUP] {
        let mut lengths = [0; MAX_GROUP];
        let total: u32 = loads.iter().sum();
        if total == 0 {
            return lengths;
        }
        let stored = self.layout.stored_bits(total);
        let space = self.layout.bucket_bits().fingerprint_space() * loads.len() as u32;
        let mut left = match self.layout.division() {
            Division::Uneven if stored < DLeftLayout::MAX_STORED_BITS => space - stored * total,
            _ => 0,
        };
        for (length, &load) in lengths.iter_mut().zip(loads).filter(|(_, load)| **load > 0) {
            let more = load <= left;
            left -= if more { load } else { 0 };
            *length = (stored + u32::from(more) + self.layout.told_bits(load)) as u8;
        }
        lengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::BucketBits::{Bits64, Bits128};

    fn grouped(bits: crate::layout::BucketBits, group: u32) -> DLeftLayout {
        DLeftLayout::new(3, 64, bits).unwrap().with_group(group).unwrap()
    }

    #[test]
    fn a_single_bucket_divides_its_bits() {
        let lengths = Lengths::new(grouped(Bits64, 1));
        let all: Vec<u8> = (0..=6).map(|load| lengths.of(&[load])[0]).collect();
        assert_eq!(all, [0, 60, 30, 20, 16, 13, 10]);
        let lengths = Lengths::new(grouped(Bits128, 1));
        let all: Vec<u8> = (0..=11).map(|load| lengths.of(&[load])[0]).collect();
        assert_eq!(all, [0, 61, 61, 41, 31, 25, 22, 19, 16, 14, 13, 10]);
    }

    #[test]
    fn the_examples_of_the_paper() {
        let equal = grouped(Bits64, 4).with_semisort(crate::layout::Semisort::None);
        assert_eq!(Lengths::new(equal).of(&[5, 4, 4, 3]), [15; 4]);
        assert_eq!(Lengths::new(equal).of(&[5, 5, 4, 4]), [13; 4]);
        let uneven = equal.with_division(Division::Uneven);
        assert_eq!(Lengths::new(uneven).of(&[5, 5, 4, 4]), [14, 13, 13, 13]);
    }

    #[test]
    fn no_fingerprint_ever_grows() {
        for bits in [Bits64, Bits128] {
            for division in [Division::Equal, Division::Uneven] {
                let layout = grouped(bits, 2).with_division(division);
                let lengths = Lengths::new(layout);
                for [a, b] in
                    (0..=layout.capacity()).flat_map(|a| (0..layout.capacity()).map(move |b| [a, b]))
                {
                    let (before, after) = (lengths.of(&[a, b]), lengths.of(&[a, b + 1]));
                    assert!(
                        after[0] <= before[0] && (b == 0 || after[1] <= before[1]),
                        "{bits:?} {division:?} {a} {b}"
                    );
                }
            }
        }
    }
}
