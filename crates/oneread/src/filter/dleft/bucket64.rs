//! A bucket of 64 bits: a state of four bits, and up to six fingerprints that share the other 60.
//!
//! # Invariants
//! 1. A bucket of load a holds the top ⌊60/a⌋ bits of each of its fingerprints, in lanes of that
//!    width, lane 0 lowest.
//! 2. Fingerprints whose sorting bit is 0 come first. At loads 4 and 5 the state says how many
//!    these are, which implies the bit: it no longer fits the lane. At loads 1 to 3 it is in the
//!    lane; at load 6 it is lost.
//! 3. Bits above the lanes and below the state are 0.
//!
//! # Layout
//! ```text
//!  state   bits 59 … 0: the lanes                        bit 63 … 60: the state
//!  0       empty                                         fingerprint, from its top bit:
//!  1       60
//!  2       30 30                                         |<-- 10 -->|
//!  3       20 20 20                                      |<---- 12 ---->|  |
//!  4–8     15 15 15 15, 0 … 4 of them with 0             |<------ 15 ------>|s|
//!  9–14    12 12 12 12 12, 0 … 5 of them with 0          |<------- 20, 30, 60 -------- …
//!  15      10 10 10 10 10 10                              s, the sorting bit, is the sixteenth
//! ```
//! The paper sorts by the first bit. With the sixteenth, a lane is the top of the fingerprint at
//! every load: one shift.

/// The bits of a bucket that hold fingerprints.
pub(super) const SPACE: u32 = 60;

/// The most fingerprints in a bucket.
pub(super) const CAPACITY: u32 = 6;

/// The index of the sorting bit in a fingerprint of 64 bits.
const SORTING_BIT: u32 = 48;

/// The load of a state.
#[inline(always)]
pub(super) const fn load(bucket: u64) -> u32 {
    // Four bits per state, state 0 lowest.
    const LOADS: u64 = 0x6555_5554_4444_3210;
    (LOADS >> ((bucket >> SPACE) * 4)) as u32 & 15
}

/// A number that grows with the load.
#[inline(always)]
pub(super) fn rank(bucket: u64) -> u32 {
    u32::from(LANES.shift[(bucket >> SPACE) as usize])
}

/// The [`rank`] of a full bucket.
pub(super) const FULL: u32 = u64::BITS - lane_bits(CAPACITY);

/// The number of fingerprints with sorting bit 0, if the state tells it.
const fn told_zeros(state: usize) -> Option<u32> {
    match state {
        4..=8 => Some(state as u32 - 4),
        9..=14 => Some(state as u32 - 9),
        _ => None,
    }
}

/// The width of a lane at a load.
const fn lane_bits(load: u32) -> u32 {
    SPACE / load
}

/// What a lookup needs to know about a bucket, by its state and the sorting bit of the fingerprint.
/// Stored by columns, so that the state is the index, and a column is two registers of 64 bytes.
#[repr(C, align(64))]
pub(super) struct Lanes {
    /// The lowest bit of each lane that can match, by sorting bit and state.
    pub(super) ones: [[u64; 16]; 2],
    /// The highest bit of each lane that can match.
    highs: [[u64; 16]; 2],
    /// The shift from a fingerprint to a lane. An empty bucket has no lane.
    pub(super) shift: [u8; 16],
    /// Joined with a state, makes a shuffle index: its lowest byte selects a byte of `shift`; the
    /// others, whose highest bits are set, select 0.
    pub(super) nothing: u64,
}

pub(super) static LANES: Lanes = {
    let mut table =
        Lanes { ones: [[0; 16]; 2], highs: [[0; 16]; 2], shift: [0; 16], nothing: 0x8080_8080_8080_8000 };
    let mut state = 1;
    while state < 16 {
        let load = load((state as u64) << SPACE);
        let width = lane_bits(load);
        table.shift[state] = (u64::BITS - width) as u8;
        let mut lane = 0;
        while lane < load {
            let mut sorting = 0;
            while sorting < 2 {
                let can_match = match told_zeros(state) {
                    Some(zeros) => (lane < zeros) == (sorting == 0),
                    None => true,
                };
                if can_match {
                    table.ones[sorting][state] |= 1 << (lane * width);
                    table.highs[sorting][state] |= 1 << (lane * width + width - 1);
                }
                sorting += 1;
            }
            lane += 1;
        }
        state += 1;
    }
    table
};

/// The index in [`LANES`] for the sorting bit of a fingerprint.
#[inline(always)]
pub(super) const fn sorting_bit(fingerprint: u64) -> usize {
    (fingerprint >> SORTING_BIT) as usize & 1
}

/// The lowest bits of the lanes that can match a fingerprint, by state.
#[inline(always)]
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) fn column(fingerprint: u64) -> *const u64 {
    // Equals `LANES.ones[sorting_bit(fingerprint)]`, with one shift instead of two.
    let words = fingerprint >> (SORTING_BIT - 4) & 16;
    LANES.ones.as_flattened()[words as usize..].as_ptr()
}

/// Returns a number other than 0 if a bucket has a fingerprint, as far as it is kept there.
///
/// A lane is 0 in `difference` if it is equal. Subtracting 1 from every lane then borrows, and sets
/// the highest bit of the lane where it was 0. A borrow may disturb the lanes above, but occurs
/// only if a lane is equal: the answer is exact.
#[inline(always)]
pub(super) fn matches(bucket: u64, fingerprint: u64) -> u64 {
    let (state, sorting) = ((bucket >> SPACE) as usize, sorting_bit(fingerprint));
    let (ones, highs) = (LANES.ones[sorting][state], LANES.highs[sorting][state]);
    let difference = bucket ^ (fingerprint >> LANES.shift[state]).wrapping_mul(ones);
    difference.wrapping_sub(ones) & !difference & highs
}

/// What an insertion needs to know about a bucket, by its state. Stored by columns, like [`Lanes`];
/// the row of a full bucket is unused.
struct Growth {
    /// The bits of the lanes that remain when they become narrower.
    keep: [u64; 16],
    /// The sorting bits in the lanes.
    sorting: [u64; 16],
    /// The number of fingerprints with sorting bit 0, or the number from which to subtract the ones
    /// among `sorting`.
    zeros: [u8; 16],
    /// The new width of the lanes.
    width: [u8; 16],
    /// The shift from a fingerprint to a lane of that width.
    shift: [u8; 16],
    /// The new state by the new fingerprint's sorting bit, if all others have 0 or the state tells
    /// how many have.
    state: [[u64; 16]; 2],
    /// All ones if the number of ones among `sorting` is to be subtracted from that state.
    tells: [u64; 16],
}

static GROWTH: Growth = {
    let mut table = Growth {
        keep: [0; 16],
        sorting: [0; 16],
        zeros: [0; 16],
        width: [SPACE as u8; 16],
        shift: [(u64::BITS - SPACE) as u8; 16],
        state: [[1 << SPACE; 16]; 2],
        tells: [0; 16],
    };
    let mut state = 1;
    while state < 15 {
        let load = load((state as u64) << SPACE);
        let (before, width) = (lane_bits(load), lane_bits(load + 1));
        table.width[state] = width as u8;
        table.shift[state] = (u64::BITS - width) as u8;
        let mut lane = 0;
        while lane < load {
            table.keep[state] |= ((1 << width) - 1) << (lane * before + before - width);
            if told_zeros(state).is_none() {
                table.sorting[state] |= 1 << (lane * before + before - (u64::BITS - SORTING_BIT));
            }
            lane += 1;
        }
        let zeros = match told_zeros(state) {
            Some(zeros) => zeros,
            None => load,
        };
        table.zeros[state] = zeros as u8;
        let mut sorting = 0;
        while sorting < 2 {
            let next = match load {
                1 | 2 => load + 1,
                3 => 4 + zeros + (1 - sorting),
                4 => 9 + zeros + (1 - sorting),
                _ => 15,
            };
            table.state[sorting as usize][state] = (next as u64) << SPACE;
            sorting += 1;
        }
        if load == 3 {
            table.tells[state] = u64::MAX;
        }
        state += 1;
    }
    table
};

/// Returns the bucket with one more fingerprint. It must have room.
///
/// `extract` collects the bits of a word that a mask selects, lowest first.
#[inline(always)]
pub(super) fn with(bucket: u64, fingerprint: u64, extract: impl Fn(u64, u64) -> u64) -> u64 {
    let state = (bucket >> SPACE) as usize;
    let ones = u64::from((bucket & GROWTH.sorting[state]).count_ones());
    let lanes = extract(bucket, GROWTH.keep[state]);
    // Between those with sorting bit 0 and the others.
    let at = (u64::from(GROWTH.zeros[state]) - ones) * u64::from(GROWTH.width[state]);
    let above = lanes & u64::MAX << at;
    let below = lanes ^ above;
    let lane = fingerprint >> GROWTH.shift[state];
    let after = GROWTH.state[sorting_bit(fingerprint)][state] - ((ones & GROWTH.tells[state]) << SPACE);
    // A lane of 60 bits is shifted out by 60, never by 64.
    after | above << GROWTH.width[state] | lane << at | below
}

/// Reports whether insertions can make this bucket: an empty one has no bits, and fingerprints with
/// sorting bit 0 come first. All states exist, and no load leaves bits between its lanes and the
/// state.
pub(super) fn is_valid(bucket: u64) -> bool {
    // The sorting bits in the lanes, at loads 1 to 3. At higher loads the order is in the state, or
    // lost.
    let all = GROWTH.sorting[(bucket >> SPACE) as usize];
    let ones = bucket & all;
    let from_first_one = if ones == 0 { 0 } else { u64::MAX << ones.trailing_zeros() };
    (load(bucket) > 0 || bucket == 0) && ones == all & from_first_one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::extract;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// What a bucket of a load keeps of a fingerprint: its lane, and the sorting bit if the bucket
    /// keeps it.
    fn kept(fingerprint: u64, load: u32) -> (u64, Option<usize>) {
        let told = matches!(load, 4 | 5).then(|| sorting_bit(fingerprint));
        (fingerprint >> (64 - 60 / load), told)
    }

    proptest! {
        /// The model of a bucket is a list of fingerprints.
        #[test]
        fn a_bucket_has_what_was_inserted_and_what_cannot_be_told_from_it(
            inserted in prop::collection::vec(any::<u64>(), 1..=6),
            others in prop::collection::vec((0..6usize, 0..64u32), 200),
        ) {
            let mut bucket = 0;
            for (count, &fingerprint) in inserted.iter().enumerate() {
                prop_assert_eq!(load(bucket), count as u32);
                bucket = with(bucket, fingerprint, extract);
                prop_assert!(is_valid(bucket));
                let load = count as u32 + 1;
                let list: Vec<_> = inserted[..=count].iter().map(|&fingerprint| kept(fingerprint, load)).collect();
                // Neighbours of the inserted ones by one bit: the bucket can tell some of them
                // apart.
                let near = others.iter().map(|&(at, bit)| inserted[at % inserted.len()] ^ 1 << bit);
                for other in inserted.iter().copied().chain(near) {
                    prop_assert_eq!(matches(bucket, other) != 0, list.contains(&kept(other, load)), "load {}", load);
                }
            }
        }
    }

    #[test]
    fn states_are_those_of_the_paper() {
        let loads: Vec<u32> = (0..16).map(|state| load(state << 60)).collect();
        assert_eq!(loads, [0, 1, 2, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6]);
    }

    #[test]
    fn what_no_insertion_makes_is_not_valid() {
        assert!(is_valid(0) && !is_valid(1) && !is_valid(1 << 59));
        // Two lanes of 30 bits, whose sixteenth is bit 14; three of 20, with bit 4.
        let two = |first: u64, second: u64| is_valid(2 << 60 | second << 44 | first << 14);
        assert!(two(0, 0) && two(0, 1) && two(1, 1) && !two(1, 0));
        let three = |bits: [u64; 3]| is_valid(3 << 60 | bits[2] << 44 | bits[1] << 24 | bits[0] << 4);
        assert!(
            three([0, 0, 1])
                && three([0, 1, 1])
                && !three([1, 0, 0])
                && !three([0, 1, 0])
                && !three([1, 0, 1])
        );
    }
}
