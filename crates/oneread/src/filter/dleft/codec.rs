//! Buckets of every layout, decoded to lists of fingerprints and encoded again.
//!
//! [`bucket64`](super::bucket64) handles the default layout without lists. This file has all
//! others: buckets of 128 bits, groups, no semi-sorting, fingerprints of one length.
//!
//! # Invariants
//! 1. Fingerprints only become shorter: a bit that a load keeps or implies was kept or implied at
//!    every lower load.
//! 2. Fingerprints of a bucket are ordered by the bits that its state implies. In a single 64-bit
//!    bucket without implied bits they are ordered by their sixteenth bit, while they have it.
//!
//! # Layout
//! The state of a bucket is its top 4 (of 64) or 8 (of 128) bits. The other bits of all buckets of
//! a group, the first bucket's lowest, form one string, in which the lanes follow each other: those
//! of the first bucket, then those of the second …

use alloc::vec::Vec;

use crate::filter::Full;
use crate::layout::{BucketBits, DLeftLayout, Division, Lengths, MAX_GROUP, Semisort};

/// A state: how many fingerprints begin with each value of the implied bits. Bits that it does not
/// imply count as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    load: u32,
    counts: [u32; 4],
}

/// The index of the sorting bit of a fingerprint in a single 64-bit bucket: the sixteenth. See
/// [`super::bucket64`].
const SIXTEENTH: u32 = 48;

/// The encoding of a layout's buckets.
#[derive(Clone, Debug)]
pub(super) struct Codec {
    layout: DLeftLayout,
    /// In ascending order; the number of a state is its index.
    states: Vec<State>,
    lengths: Lengths,
}

impl Codec {
    pub(super) fn new(layout: DLeftLayout) -> Self {
        let mut states = Vec::new();
        for load in 0..=layout.capacity() {
            let values = 1 << layout.told_bits(load);
            let mut counts = [0; 4];
            compositions(load, &mut counts, 0, values, &mut |counts| states.push(State { load, counts }));
        }
        states.sort_unstable();
        debug_assert!(states.len() <= 1 << state_bits(layout.bucket_bits()));
        Self { layout, states, lengths: Lengths::new(layout) }
    }

    /// The number of words of a bucket.
    fn bucket_words(&self) -> usize {
        self.layout.bucket_bits().bits() as usize / 64
    }

    /// The number of words of a group.
    pub(super) fn group_words(&self) -> usize {
        self.bucket_words() * self.layout.group() as usize
    }

    fn space(&self) -> u32 {
        self.layout.bucket_bits().fingerprint_space()
    }

    /// The load of a bucket in a group.
    pub(super) fn load(&self, group: &[u64], bucket: usize) -> u32 {
        self.state(group, bucket).load
    }

    fn state(&self, group: &[u64], bucket: usize) -> State {
        // Bytes from elsewhere may have a state that does not exist: the bucket then counts as
        // empty.
        let empty = State { load: 0, counts: [0; 4] };
        self.states.get(self.state_number(group, bucket)).copied().unwrap_or(empty)
    }

    fn state_number(&self, group: &[u64], bucket: usize) -> usize {
        let last = group[(bucket + 1) * self.bucket_words() - 1];
        (last >> (64 - state_bits(self.layout.bucket_bits()))) as usize
    }

    /// Reports whether the states of a group exist, and no bit is set beyond its lanes.
    pub(super) fn is_valid(&self, group: &[u64]) -> bool {
        let buckets = self.layout.group() as usize;
        let mut loads = [0; MAX_GROUP];
        for (bucket, load) in loads[..buckets].iter_mut().enumerate() {
            let Some(state) = self.states.get(self.state_number(group, bucket)) else { return false };
            *load = state.load;
        }
        let loads = &loads[..buckets];
        let used: u32 = self.widths(loads).into_iter().zip(loads).map(|(width, load)| width * load).sum();
        group.chunks_exact(self.bucket_words()).zip(0..).all(|(bucket, number)| {
            let own = used.saturating_sub(number * self.space()).min(self.space());
            let bits = bucket.iter().rev().fold(0, |bits, &word| bits << 64 | u128::from(word));
            (bits & ((1 << self.space()) - 1)) >> own == 0
        })
    }

    /// The lane widths of the buckets of a group, by their loads.
    fn widths(&self, loads: &[u32]) -> Vec<u32> {
        let lengths = self.lengths.of(loads).iter();
        lengths
            .zip(loads)
            .map(|(&length, &load)| u32::from(length).saturating_sub(self.layout.told_bits(load)))
            .collect()
    }

    /// The lengths of the fingerprints in each bucket of a group, by the loads.
    pub(super) fn lengths(&self, loads: &[u32]) -> &[u8] {
        self.lengths.of(loads)
    }

    /// Reports whether the sorting bits are the top ones, which are in no lane while they are
    /// implied.
    fn tells_leading_bits(&self) -> bool {
        self.layout.bucket_bits() == BucketBits::Bits128 || self.layout.group() > 1
    }

    /// The bits of a fingerprint that the state implies at a load, as a number.
    fn told(&self, fingerprint: u64, load: u32) -> usize {
        let bits = self.layout.told_bits(load);
        if bits == 0 {
            0
        } else if self.tells_leading_bits() {
            (fingerprint >> (64 - bits)) as usize
        } else {
            (fingerprint >> SIXTEENTH) as usize & 1
        }
    }

    /// The sort key of a bucket's fingerprints: the implied bits and, in a single 64-bit bucket,
    /// the sixteenth while a lane holds it. [`bucket64`](super::bucket64), which grows such a
    /// bucket, relies on this order.
    fn order(&self, fingerprint: u64, load: u32, width: u32) -> usize {
        let holds_sixteenth = !self.tells_leading_bits() && width >= 64 - SIXTEENTH;
        if holds_sixteenth { (fingerprint >> SIXTEENTH) as usize & 1 } else { self.told(fingerprint, load) }
    }

    /// The lane of a fingerprint at a load, `width` bits wide.
    fn lane(&self, fingerprint: u64, load: u32, width: u32) -> u64 {
        let leading = if self.tells_leading_bits() { self.layout.told_bits(load) } else { 0 };
        // A lane of no bits belongs to an empty bucket.
        (fingerprint << leading).checked_shr(64 - width).unwrap_or(0)
    }

    /// A fingerprint with this lane and these implied bits in a bucket of a load; its other bits
    /// are 0.
    fn fingerprint(&self, lane: u64, width: u32, told: usize, load: u32) -> u64 {
        let bits = self.layout.told_bits(load);
        let lane = lane.checked_shl(64 - width).unwrap_or(0);
        if bits == 0 {
            lane
        } else if self.tells_leading_bits() {
            lane >> bits | (told as u64) << (64 - bits)
        } else {
            lane | (told as u64) << SIXTEENTH
        }
    }

    /// The fingerprints of each bucket of a group, as far as they are kept, and the number of bits
    /// kept in each lane.
    fn decode(&self, group: &[u64]) -> (Vec<Vec<u64>>, Vec<u32>) {
        let states: Vec<State> =
            (0..self.layout.group() as usize).map(|bucket| self.state(group, bucket)).collect();
        let loads: Vec<u32> = states.iter().map(|state| state.load).collect();
        let widths = self.widths(&loads);
        let mut at = 0;
        let mut buckets = Vec::new();
        for (state, &width) in states.iter().zip(&widths) {
            let mut bucket = Vec::new();
            for (told, &count) in state.counts.iter().enumerate() {
                for _ in 0..count {
                    let lane = self.read(group, at, width);
                    bucket.push(self.fingerprint(lane, width, told, state.load));
                    at += width;
                }
            }
            buckets.push(bucket);
        }
        (buckets, widths)
    }

    /// Reports whether a bucket has a fingerprint, as far as it is kept there.
    pub(super) fn contains(&self, group: &[u64], bucket: usize, fingerprint: u64) -> bool {
        let (buckets, widths) = self.decode(group);
        let (bucket, width) = (&buckets[bucket], widths[bucket]);
        let load = bucket.len() as u32;
        bucket.iter().any(|&other| {
            self.told(other, load) == self.told(fingerprint, load)
                && self.lane(other, load, width) == self.lane(fingerprint, load, width)
        })
    }

    /// Adds a fingerprint to a bucket that has room.
    pub(super) fn insert(&self, group: &mut [u64], bucket: usize, fingerprint: u64) {
        let (mut buckets, _) = self.decode(group);
        let own = &mut buckets[bucket];
        // Between those with sorting bit 0 and the others, as in `bucket64`, so that the bits are
        // equal.
        let leading = if self.tells_leading_bits() { 63 } else { SIXTEENTH };
        let at = own.iter().filter(|&&other| other >> leading & 1 == 0).count();
        own.insert(at, fingerprint);
        self.encode(&mut buckets, group);
    }

    /// Adds the fingerprints of another group.
    ///
    /// # Errors
    /// If a bucket has no room for both; nothing was changed.
    pub(super) fn join(&self, group: &mut [u64], other: &[u64]) -> Result<(), Full> {
        let (mut buckets, _) = self.decode(group);
        for (bucket, others) in buckets.iter_mut().zip(self.decode(other).0) {
            bucket.extend(others);
            if bucket.len() > self.layout.capacity() as usize {
                return Err(Full);
            }
        }
        self.encode(&mut buckets, group);
        Ok(())
    }

    fn encode(&self, buckets: &mut [Vec<u64>], group: &mut [u64]) {
        let loads: Vec<u32> = buckets.iter().map(|bucket| bucket.len() as u32).collect();
        let widths = self.widths(&loads);
        group.fill(0);
        let mut at = 0;
        for (number, (bucket, &width)) in buckets.iter_mut().zip(&widths).enumerate() {
            let load = bucket.len() as u32;
            bucket.sort_by_key(|&fingerprint| self.order(fingerprint, load, width));
            let mut counts = [0; 4];
            for &fingerprint in &*bucket {
                counts[self.told(fingerprint, load)] += 1;
                self.write(group, at, width, self.lane(fingerprint, load, width));
                at += width;
            }
            let state =
                self.states.binary_search(&State { load, counts }).expect("every state has its number");
            let last = &mut group[(number + 1) * self.bucket_words() - 1];
            *last |= (state as u64) << (64 - state_bits(self.layout.bucket_bits()));
        }
    }

    /// The bits of a group's string from `at` on.
    fn read(&self, group: &[u64], at: u32, width: u32) -> u64 {
        (0..width).fold(0, |lane, bit| {
            let (word, place) = self.place(at + bit);
            lane | (group[word] >> place & 1) << bit
        })
    }

    fn write(&self, group: &mut [u64], at: u32, width: u32, lane: u64) {
        for bit in 0..width {
            let (word, place) = self.place(at + bit);
            group[word] |= (lane >> bit & 1) << place;
        }
    }

    /// The position of a bit of the group's string.
    fn place(&self, at: u32) -> (usize, u32) {
        let (bucket, bit) = (at / self.space(), at % self.space());
        (bucket as usize * self.bucket_words() + bit as usize / 64, bit % 64)
    }
}

/// The bits of a bucket's state.
const fn state_bits(bucket: BucketBits) -> u32 {
    bucket.bits() - bucket.fingerprint_space()
}

/// All ways to write `left` as a sum of the counts from `at` to `values`.
fn compositions(
    left: u32,
    counts: &mut [u32; 4],
    at: usize,
    values: usize,
    found: &mut impl FnMut([u32; 4]),
) {
    if at + 1 == values {
        counts[at] = left;
        found(*counts);
        return;
    }
    for count in 0..=left {
        counts[at] = count;
        compositions(left - count, counts, at + 1, values, found);
    }
}

/// Reports whether [`bucket64`](super::bucket64) handles the buckets of a layout.
pub(super) fn is_usual(layout: DLeftLayout) -> bool {
    layout.bucket_bits() == BucketBits::Bits64
        && layout.semisort() != Semisort::None
        && layout.group() == 1
        && layout.division() != Division::Fixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::extract;
    use crate::filter::dleft::bucket64;
    use crate::hash::{Digester, Domain, Portable};
    use alloc::vec;

    fn random(seed: u64, at: u64) -> u64 {
        Portable::with_seed(seed).digest(&at).word(Domain::new(0), 0)
    }

    /// Layouts of every kind, at arbitrary sizes.
    fn layouts() -> impl Iterator<Item = DLeftLayout> {
        let ways = [BucketBits::Bits64, BucketBits::Bits128].into_iter().flat_map(|bits| {
            [Semisort::None, Semisort::One, Semisort::Paper].map(|semisort| (bits, semisort))
        });
        ways.flat_map(|(bits, semisort)| {
            let layout = DLeftLayout::new(3, 64, bits).unwrap().with_semisort(semisort);
            let grouped = |group, division| layout.with_division(division).with_group(group).unwrap();
            [
                layout,
                layout.with_division(Division::Fixed),
                grouped(2, Division::Equal),
                grouped(4, Division::Equal),
                grouped(4, Division::Uneven),
            ]
        })
    }

    #[test]
    fn the_usual_buckets_are_encoded_as_by_the_book() {
        let layout = DLeftLayout::new(3, 64, BucketBits::Bits64).unwrap();
        let codec = Codec::new(layout);
        for seed in 0..200 {
            let (mut usual, mut group) = (0, [0]);
            for at in 0..6 {
                let fingerprint = random(seed, at);
                usual = bucket64::with(usual, fingerprint, extract);
                codec.insert(&mut group, 0, fingerprint);
                assert_eq!(usual, group[0], "seed {seed}, load {}", at + 1);
            }
        }
    }

    /// In every layout, inserted keys are found in any bucket, and few others are.
    #[test]
    fn no_bucket_forgets() {
        for layout in layouts() {
            let codec = Codec::new(layout);
            let group = layout.group() as usize;
            for seed in 0..40 {
                let mut words = vec![0; codec.group_words()];
                let mut inserted: Vec<(usize, u64)> = Vec::new();
                for at in 0..u64::from(layout.group() * layout.capacity()) {
                    let (bucket, fingerprint) =
                        ((random(seed, at) % group as u64) as usize, random(seed + 1000, at));
                    if codec.load(&words, bucket) == layout.capacity() {
                        continue;
                    }
                    codec.insert(&mut words, bucket, fingerprint);
                    assert!(codec.is_valid(&words), "{layout:?}, seed {seed}");
                    inserted.push((bucket, fingerprint));
                    for &(bucket, fingerprint) in &inserted {
                        assert!(codec.contains(&words, bucket, fingerprint), "{layout:?}, seed {seed}");
                    }
                    for bucket in 0..group {
                        let count = inserted.iter().filter(|&&(own, _)| own == bucket).count() as u32;
                        assert_eq!(codec.load(&words, bucket), count, "{layout:?}");
                    }
                }
                // The shortest fingerprints have 10 bits. Of 100 others in a bucket of at most 11,
                // one is found on average. By Poisson's distribution 10 or more are found once in
                // 1e7 times; there are 30 layouts and 40 seeds.
                let found = (0..100).filter(|&at| codec.contains(&words, 0, random(seed + 2000, at))).count();
                assert!(found < 12, "{layout:?}: {found}");
            }
        }
    }

    #[test]
    fn the_paper_s_states_fill_their_bits() {
        let states = |bits, semisort| {
            Codec::new(DLeftLayout::new(3, 64, bits).unwrap().with_semisort(semisort)).states.len()
        };
        assert_eq!(states(BucketBits::Bits64, Semisort::One), 16);
        assert_eq!(states(BucketBits::Bits128, Semisort::One), 78);
        assert_eq!(states(BucketBits::Bits128, Semisort::Paper), 256);
        // Two bits cannot be implied at loads 7 and 8, unlike in the paper: C(10, 3) + C(11, 3)
        // states are too many by themselves.
        let of_three = |n: u32| n * (n - 1) * (n - 2) / 6;
        assert!(of_three(10) + of_three(11) > 256);
    }
}
