//! The cells of one bucket: found, added, counted, removed.
//!
//! Here a key is a *word*, its remainder. A bucket holds as many bits of it as it has room for: the
//! highest, and the lowest if the state implies it. The *string* of a cell is what it says about a
//! word. If two strings belong to one word, the shorter is a function of the longer, by cutting.
//! The following needs nothing else.
//!
//! # Why a removal never makes another key vanish
//! Claim: at any time each key of the bucket can be *assigned* to a cell with its own string, so
//! that no cell has more keys than it counts, unless it is stuck. So every key of the bucket is
//! found. By cases:
//! - *Empty bucket*: nothing to assign.
//! - *Inserted key*: it is assigned to the new cell, to the cell whose count went up, or to the
//!   equal stuck cell.
//! - *Cut*: a cell's keys have the cut string too. Equal strings are cut to equal ones, so cells
//!   that are stuck together stay so: the sum of their counts does not fall.
//! - *Removed key x*: the removal decrements a cell v, the longest that has x's string; x was
//!   assigned to a cell u. If u = v, the others keep their cells. Otherwise u is a string of x no
//!   longer than v, and so a function of v: every key k of v has the string of u. If v had as many
//!   keys as it counted, one of them, k, moves to u, which x leaves. If v is stuck, nothing is
//!   changed and x only leaves u.
//!
//! If the removal took the shorter match instead, a key that only this cell represents could
//! vanish.
//!
//! With two sizes, some of several equal cells may be cut and others not, so that a sum could come
//! apart. There a cell is stuck by its own counter alone, and stays so when it is cut.

use super::format::{CELLS, Format, Growth, Row, STATE_AT, State};
use crate::bits::extract;
use crate::filter::Full;
use crate::layout::{DLeftCountingLayout, Repeats};

/// The effect of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A cell of its own; no other is equal.
    New,
    /// A cell of its own, beside an equal one.
    Copied,
    /// An equal cell counts it, or is stuck.
    Counted,
}

/// What equal cells can do for one more key.
enum Room {
    /// Nothing: they are stuck.
    Stuck,
    /// Count it: this is a one in the counter of a cell that can.
    Counter(u128),
    /// Another cell is needed.
    None,
}

impl Format {
    /// Reports whether a bucket holds the remainder of a word.
    #[inline(always)]
    pub(super) fn holds<const TWO_SIZES: bool>(&self, bucket: u128, word: u64) -> bool {
        if TWO_SIZES {
            let state = self.state(bucket);
            let (ones, tops) = (state.ones[0] | state.ones[1], state.tops[0] | state.tops[1]);
            let differing = bucket ^ self.remainders(state, 0, word) ^ self.remainders(state, 1, word);
            any_zero(differing, ones, tops)
        } else {
            self.found(bucket, word) != 0
        }
    }

    /// The highest bit of the first cell with the remainder of a word, in the only group that can
    /// have it, and possibly bits above it; 0 if there is none. Not for two sizes.
    #[inline(always)]
    pub(super) fn found(&self, bucket: u128, word: u64) -> u128 {
        let Row { ones, tops, shift, .. } = *self.row(bucket, word);
        zeros(bucket ^ u128::from(word >> shift).wrapping_mul(ones), ones, tops)
    }

    /// Returns the bucket without the cell that [`found`](Self::found) found (not 0), if it is the
    /// only one and counts one key, which is the usual case.
    #[inline(always)]
    pub(super) fn remove_found(&self, bucket: u128, word: u64, found: u128) -> Option<u128> {
        debug_assert!(found != 0);
        let Row { width, removed, .. } = *self.row(bucket, word);
        if found & found.wrapping_sub(1) == 0 && self.counter(bucket, found) == 0 {
            Some(close(bucket, found, self.counter_bits, u32::from(width), removed))
        } else {
            None
        }
    }

    /// Reports whether a bucket holds the minimal remainder of a word.
    #[inline(always)]
    pub(super) fn holds_minimal(&self, bucket: u128, word: u64) -> bool {
        if self.minimal_by_row {
            return self.row_holds_minimal(bucket, word, self.row(bucket, word));
        }
        let state = self.state(bucket);
        let (ones, tops) = (state.ones[0] | state.ones[1], state.tops[0] | state.tops[1]);
        let all = match self.two_sizes {
            true => self.remainders(state, 0, word) | self.remainders(state, 1, word),
            false => u128::from(word >> state.shift[0]).wrapping_mul(ones),
        };
        any_zero((bucket ^ all) & state.minimal, ones, tops)
    }

    /// Like [`holds_minimal`](Self::holds_minimal), but by the bucket's row, if that suffices.
    #[inline(always)]
    pub(super) fn row_holds_minimal(&self, bucket: u128, word: u64, row: &Row) -> bool {
        debug_assert!(self.minimal_by_row);
        let differing = bucket ^ u128::from(word >> row.shift).wrapping_mul(row.ones);
        any_zero(differing & row.minimal, row.ones, row.tops)
    }

    /// The remainder of a word, repeated in each cell of a group.
    #[inline(always)]
    fn remainders(&self, state: &State, group: usize, word: u64) -> u128 {
        u128::from(word >> state.shift[group]).wrapping_mul(state.ones[group])
    }

    /// The cells of a group with exactly the remainder of a word, by the highest bits of their
    /// remainders.
    #[inline(always)]
    fn equal(&self, bucket: u128, group: usize, word: u64) -> u128 {
        let state = self.state(bucket);
        let differing = bucket ^ self.remainders(state, group, word);
        let (ones, tops) = (state.ones[group], state.tops[group]);
        // Below the highest bit, adding all ones carries into it unless all bits are 0. No sum
        // overflows its remainder.
        !((differing & !tops).wrapping_add(tops.wrapping_sub(ones)) | differing) & tops
    }

    /// The groups that may have the remainder of a word, the one of longer remainders first; the
    /// second may repeat the first.
    #[inline(always)]
    fn groups(&self, state: &State, word: u64) -> [usize; 2] {
        let told = usize::from(word as u8 & state.told);
        if self.two_sizes { [1, 0] } else { [told; 2] }
    }

    /// The counter of the cell whose remainder has this highest bit: its count minus 1.
    #[inline(always)]
    pub(super) fn counter(&self, bucket: u128, top: u128) -> u32 {
        (bucket >> (top.trailing_zeros() + 1)) as u32 & self.most()
    }

    /// The largest value of a counter.
    #[inline(always)]
    fn most(&self) -> u32 {
        (1 << self.counter_bits) - 1
    }

    /// Inserts a word into a bucket.
    pub(super) fn insert(&self, bucket: u128, word: u64) -> Result<(u128, Outcome), Full> {
        let mut outcome = Outcome::New;
        for group in self.groups(self.state(bucket), word) {
            let equal = self.equal(bucket, group, word);
            if equal == 0 {
                continue;
            }
            outcome = Outcome::Copied;
            match self.room(bucket, equal) {
                Room::Stuck => return Ok((bucket, Outcome::Counted)),
                Room::Counter(one) => return Ok((bucket + one, Outcome::Counted)),
                Room::None => {}
            }
        }
        Ok((self.add(bucket, word, extract).ok_or(Full)?, outcome))
    }

    /// Adds a cell for a word, if there is room. `extract` is [`extract`](crate::bits::extract) or
    /// the instruction for it.
    ///
    /// The cells are always cut, even if they keep their lengths: a branch on that is
    /// unpredictable.
    #[inline(always)]
    pub(super) fn add(&self, bucket: u128, word: u64, extract: impl Fn(u64, u64) -> u64) -> Option<u128> {
        let Growth { keep, kept_low, after, at, width, shift } = *self.growth(bucket, word);
        if after == 0 {
            return None;
        }
        let low = extract(bucket as u64, keep[0]);
        let high = extract((bucket >> u64::BITS) as u64, keep[1]);
        // The upper half follows the lower: shifted by at most 64, in two steps.
        let lower = low | high << 1 << ((kept_low - 1) & 63);
        let cells = u128::from(lower) | u128::from(high >> ((64 - kept_low) & 63)) << u64::BITS;
        let above = cells >> at << at;
        let cell = u128::from(word >> shift) << at;
        // No cell has more than 30 bits, so one shift across the two words suffices.
        let cells = cells ^ above | cell | above << (width & 31);
        Some(cells | u128::from(after) << STATE_AT)
    }

    /// What the equal cells can do for one more key.
    fn room(&self, bucket: u128, equal: u128) -> Room {
        if self.is_stuck(bucket, equal) {
            return Room::Stuck;
        }
        let countable = bits(equal).find(|&top| self.counter(bucket, top) < self.most());
        countable.map_or(Room::None, |top| Room::Counter(top << 1))
    }

    /// Reports whether equal cells are saturated.
    fn is_stuck(&self, bucket: u128, equal: u128) -> bool {
        let mut counters = bits(equal).map(|top| self.counter(bucket, top));
        match self.repeats {
            Repeats::Copy => false,
            Repeats::Stick if self.two_sizes => counters.any(|counter| counter == self.most()),
            Repeats::Stick => {
                counters.map(|counter| counter + 1).sum::<u32>() >= DLeftCountingLayout::SATURATES_AT
            }
        }
    }

    /// Removes a word from the longest cell of a bucket that has its string. Returns `None` if
    /// there is no such cell.
    #[inline(never)]
    pub(super) fn remove(&self, bucket: u128, word: u64) -> Option<u128> {
        let state = self.state(bucket);
        for group in self.groups(state, word) {
            let equal = self.equal(bucket, group, word);
            // Usually there is one cell, and it counts one key.
            if equal.is_power_of_two() && self.counter(bucket, equal) == 0 {
                return Some(self.without(bucket, state, group, equal));
            }
            if equal != 0 {
                return Some(self.count_down(bucket, state, group, equal));
            }
        }
        None
    }

    #[inline(never)]
    fn count_down(&self, bucket: u128, state: &State, group: usize, equal: u128) -> u128 {
        if self.is_stuck(bucket, equal) {
            return bucket;
        }
        // The one with the smallest count, which becomes free first.
        let top = bits(equal).min_by_key(|&top| self.counter(bucket, top)).expect("an equal cell");
        if self.counter(bucket, top) > 0 {
            bucket - (top << 1)
        } else {
            self.without(bucket, state, group, top)
        }
    }

    /// Returns the bucket without the cell whose remainder has this highest bit.
    #[inline(always)]
    pub(super) fn without(&self, bucket: u128, state: &State, group: usize, top: u128) -> u128 {
        close(bucket, top, self.counter_bits, u32::from(state.width[group]), state.removed[group])
    }

    /// The number of keys that a bucket counts for a word's remainder.
    pub(super) fn count(&self, bucket: u128, word: u64) -> u32 {
        let groups = self.groups(self.state(bucket), word);
        let of_group = |group: usize| -> u32 {
            bits(self.equal(bucket, group, word)).map(|top| self.counter(bucket, top) + 1).sum()
        };
        // The second may repeat the first.
        of_group(groups[0]) + if groups[0] == groups[1] { 0 } else { of_group(groups[1]) }
    }

    /// The number of stuck cells.
    pub(super) fn stuck_cells(&self, bucket: u128) -> u64 {
        let state = self.state(bucket);
        let of_group = |group: usize| {
            let is_stuck = |&top: &u128| {
                // A word with the same remainder and implied bit.
                let remainder_bits = u64::BITS - u32::from(state.shift[group]);
                let at = top.trailing_zeros() + 1 - remainder_bits;
                let remainder = (bucket >> at) as u64 & ((1 << remainder_bits) - 1);
                let equal = self.equal(bucket, group, remainder << state.shift[group]);
                self.is_stuck(bucket, equal)
            };
            bits(state.tops[group]).filter(is_stuck).count() as u64
        };
        of_group(0) + of_group(1)
    }

    /// The cells of a bucket: the bits of each remainder, stored and implied, and the number of
    /// keys it counts.
    pub(super) fn cells(&self, bucket: u128) -> impl Iterator<Item = (u32, u32)> + '_ {
        let state = self.state(bucket);
        (0..2).flat_map(move |group| {
            let length = u64::BITS - u32::from(state.shift[group]) + u32::from(state.told);
            bits(state.tops[group]).map(move |top| (length, self.counter(bucket, top) + 1))
        })
    }
}

/// Returns the bucket without the cell of `width` bits whose remainder has the highest bit `top`,
/// in the state `removed`.
#[inline(always)]
pub(super) fn close(bucket: u128, top: u128, counter_bits: u32, width: u32, removed: u8) -> u128 {
    let at = top.trailing_zeros() + 1 + counter_bits - width;
    let before = (1u128 << at) - 1;
    let cells = bucket & CELLS;
    cells & before | (cells >> (width & 31)) & !before | u128::from(removed) << STATE_AT
}

/// The highest bit of the first of these cells that is 0, and possibly bits above it: only that
/// cell and cells above it borrow.
#[inline(always)]
fn zeros(cells: u128, ones: u128, tops: u128) -> u128 {
    cells.wrapping_sub(ones) & !cells & tops
}

/// Reports whether any of these cells is 0.
#[inline(always)]
fn any_zero(cells: u128, ones: u128, tops: u128) -> bool {
    zeros(cells, ones, tops) != 0
}

/// Iterates over the bits that are 1.
pub(super) fn bits(mut set: u128) -> impl Iterator<Item = u128> {
    core::iter::from_fn(move || {
        let lowest = set & set.wrapping_neg();
        set ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}
