//! Moving remainders to other buckets of their keys, without the keys.
//!
//! From a cell's bucket and minimal remainder follow all buckets that its keys can be in (see `choices`), and a cell is the same in each of them:
//! what it holds of a remainder, its told bit and its counter.
//!
//! # Why no key vanishes
//! A cell moves alone, if no other of its bucket has its minimal remainder. Then no cell anywhere has its place and minimal remainder, by the first invariant
//! of the filter, so that where it comes to none is equal to it; and the invariant still holds. It keeps all its bits and its counter, so that the keys that
//! were assigned to it still are. The others of both buckets stay, or are cut as by an insertion.

use alloc::vec::Vec;
use core::ops::Range;

use super::bucket::bits;
use super::choices::Choices;
use super::format::{Format, STATE_AT, State};
use super::{DLeftCounting, DLeftCountingFilter};
use crate::bits::extract;
use crate::filter::Full;
use crate::filter::cores::Insert;
use crate::hash::{Digest, Digester};
#[cfg(doc)]
use crate::layout::DLeftCountingLayout;

/// A remainder of the longest length, of 31 bits, weighs 2.
const WEIGHT_BITS: u32 = 32;

/// A cell as it is, wherever it is.
struct Cell {
    group: usize,
    /// The highest bit of its remainder.
    top: u128,
    /// A word of which it holds what it can.
    word: u64,
    counter: u32,
}

/// One cell, to another bucket.
#[derive(Clone, Copy)]
struct Move {
    /// The bucket that it leaves, and what that becomes.
    from: (usize, u128),
    /// The bucket that it comes to, and what that becomes.
    to: (usize, u128),
}

impl Format {
    /// How much a bucket adds to the rate: 2^−f for each remainder of f bits.
    fn weight(&self, bucket: u128) -> u64 {
        let state = self.state(bucket);
        let of = |group: usize| match state.count[group] {
            0 => 0,
            count => u64::from(count) << (WEIGHT_BITS - length(state, group)),
        };
        of(0) + of(1)
    }

    /// Whether one more remainder would make others shorter, or has no room.
    fn is_crowded(&self, bucket: u128) -> bool {
        let number = (bucket >> STATE_AT) as u8;
        self.state(bucket).insertion.iter().any(|insertion| insertion.after == 0 || insertion.cut != number)
    }

    /// The cells of a bucket.
    fn lifted(&self, bucket: u128) -> impl Iterator<Item = Cell> + '_ {
        let state = *self.state(bucket);
        (0..2).flat_map(move |group| {
            let remainder_bits = u64::BITS - u32::from(state.shift[group]);
            bits(state.tops[group]).map(move |top| {
                let remainder = (bucket >> (top.trailing_zeros() + 1 - remainder_bits)) as u64
                    & ((1 << remainder_bits) - 1);
                let told = u64::from(state.told) & group as u64;
                Cell {
                    group,
                    top,
                    word: remainder << state.shift[group] | told,
                    counter: self.counter(bucket, top),
                }
            })
        })
    }

    /// The bucket with a cell of another one, if there is room and all bits of it are kept.
    fn with_cell(&self, bucket: u128, cell: &Cell, left: &State) -> Option<u128> {
        let added = self.add(bucket, cell.word, extract)?;
        let insertion = self.state(bucket).insertion[cell.word as usize & 1];
        let (state, group) = (self.state(added), usize::from(insertion.group));
        let is_whole = (state.shift[group], state.told) == (left.shift[cell.group], left.told);
        let counter_at = u32::from(state.last[group]) + u64::BITS - u32::from(state.shift[group]);
        is_whole.then(|| added | u128::from(cell.counter) << counter_at)
    }
}

/// The bits of a remainder, stored and told.
fn length(state: &State, group: usize) -> u32 {
    u64::BITS - u32::from(state.shift[group]) + u32::from(state.told)
}

impl<D> DLeftCountingFilter<D> {
    /// Inserts a key as [`insert`](Self::insert) does, but where it makes the fewest remainders shorter: if all its buckets are crowded, one remainder
    /// in them is moved to another bucket of its own keys, for which no keys are needed.
    ///
    /// # Source
    /// Section II-D of the paper: re-balancing online, by permutations that can be inverted.
    ///
    /// # Costs
    /// Buckets are crowded once they are as full as ever. Then all others are looked at that a remainder could go to: d·(d − 1) for each cell, 72 at
    /// six cells a bucket in four sub-tables. No more than one remainder is moved.
    ///
    /// # Errors
    /// If none of its buckets has room, and no remainder can be moved; nothing is changed then.
    ///
    /// ```
    /// use oneread::filter::DLeftCountingFilter;
    /// use oneread::layout::DLeftCountingLayout;
    ///
    /// let layout = DLeftCountingLayout::new(4, 256)?;
    /// let mut plain = DLeftCountingFilter::with_seed(layout, 1)?;
    /// let mut balanced = DLeftCountingFilter::with_seed(layout, 1)?;
    /// for key in 0..6 * 1024u64 {
    ///     plain.insert(&key)?;
    ///     balanced.insert_balanced(&key)?;
    /// }
    /// assert!((0..6 * 1024u64).all(|key| balanced.contains(&key)));
    /// assert!(balanced.false_positive_rate() < 0.8 * plain.false_positive_rate());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn insert_balanced<Q: ?Sized>(&mut self, key: &Q) -> Result<bool, Full>
    where
        D: Digester<Q>,
    {
        self.insert_digest_balanced(self.digest(key))
    }

    /// The same with the key of a digest.
    ///
    /// # Errors
    /// If none of its buckets has room, and no remainder can be moved; nothing is changed then.
    pub fn insert_digest_balanced(&mut self, digest: Digest) -> Result<bool, Full> {
        self.core_mut().insert_balanced(digest)
    }

    /// Moves remainders out of crowded buckets, to others of their keys that are not crowded by them: at most one out of each bucket of the range. Gives how many were
    /// moved.
    ///
    /// No remainder becomes shorter, and the rate stays what it is: it rises less with insertions that come. So this is work for quiet times. Buckets are
    /// numbered through all sub-tables, from 0 to [`total_buckets`](DLeftCountingLayout::total_buckets); those beyond are left out.
    ///
    /// # Costs
    /// For each crowded bucket, d − 1 reads a cell at most, until one can be moved; one read for each of the others.
    pub fn rebalance(&mut self, buckets: Range<u64>) -> u64 {
        self.core_mut().rebalance(buckets)
    }
}

impl DLeftCounting<Vec<u64>> {
    fn insert_balanced(&mut self, digest: Digest) -> Result<bool, Full> {
        let choices = self.chooser.choices(digest);
        if self.holds_minimal(&choices) {
            return self.insert(digest);
        }
        // By how much more weight there is, and then by the load.
        let direct = self.each(&choices).filter_map(|at| {
            let before = self.bucket(at);
            let after = self.format.add(before, choices.word, extract)?;
            let weight = self.format.weight(after) - self.format.weight(before);
            Some((weight, self.format.state(before).load, at, after))
        });
        let best = direct.min_by_key(|&(weight, load, ..)| (weight, load));
        let is_crowded = best.is_none_or(|(.., at, _)| self.format.is_crowded(self.bucket(at)));
        let moved = if is_crowded { self.room_by_a_move(&choices) } else { None };
        match (best, moved) {
            (Some((weight, _, at, after)), moved) if moved.is_none_or(|(by_move, ..)| weight <= by_move) => {
                self.set_bucket(at, after);
            }
            (_, Some((_, moved, after))) => {
                self.set_bucket(moved.to.0, moved.to.1);
                self.set_bucket(moved.from.0, after);
            }
            (_, None) => return Err(Full),
        }
        self.len += 1;
        Ok(false)
    }

    fn rebalance(&mut self, buckets: Range<u64>) -> u64 {
        let end = buckets.end.min(self.layout.total_buckets());
        let mut moves = 0;
        for at in buckets.start..end {
            if let Some(moved) = self.move_out_of(at as usize) {
                self.set_bucket(moved.from.0, moved.from.1);
                self.set_bucket(moved.to.0, moved.to.1);
                moves += 1;
            }
        }
        moves
    }

    /// A move that leaves a bucket less crowded, makes no other crowded, and costs nothing.
    fn move_out_of(&self, at: usize) -> Option<Move> {
        let bucket = self.bucket(at);
        if !self.format.is_crowded(bucket) {
            return None;
        }
        let costs_nothing = |moved: &Move| {
            !self.format.is_crowded(moved.to.1) && {
                let weight = |bucket| self.format.weight(bucket);
                weight(moved.from.1) + weight(moved.to.1) <= weight(bucket) + weight(self.bucket(moved.to.0))
            }
        };
        self.moves(at).find(costs_nothing)
    }

    /// The move out of a key's buckets that makes room for it with the least weight: that weight, the move, and what becomes of the bucket that was left, with
    /// the key.
    fn room_by_a_move(&self, choices: &Choices) -> Option<(u64, Move, u128)> {
        let weight = |bucket| self.format.weight(bucket);
        let options = self.each(choices).flat_map(|at| self.moves(at)).filter_map(|moved| {
            let after = self.format.add(moved.from.1, choices.word, extract)?;
            let now = weight(self.bucket(moved.from.0)) + weight(self.bucket(moved.to.0));
            // Less, if the bucket that is left becomes a new one.
            Some(((weight(after) + weight(moved.to.1)).saturating_sub(now), moved, after))
        });
        // Not into another bucket of the key, whose own room was looked at before.
        let elsewhere = options.filter(|(_, moved, _)| self.each(choices).all(|at| at != moved.to.0));
        elsewhere.min_by_key(|&(weight, ..)| weight)
    }

    /// All moves of a single cell out of a bucket.
    fn moves(&self, at: usize) -> impl Iterator<Item = Move> + '_ {
        let bucket = self.bucket(at);
        let state = self.format.state(bucket);
        let is_alone = move |choices: &Choices, top: u128| {
            let others = self.format.lifted(bucket).filter(|other| other.top != top);
            others
                .map(|other| self.chooser.backwards(at, other.word))
                .all(|other| !other.are_those_of(choices))
        };
        self.format.lifted(bucket).flat_map(move |cell| {
            let choices = self.chooser.backwards(at, cell.word);
            let places = if is_alone(&choices, cell.top) { self.layout.subtables() } else { 0 };
            let left = self.format.without(bucket, state, cell.group, cell.top);
            (0..places).map(move |subtable| choices.bucket(subtable)).filter(move |&to| to != at).filter_map(
                move |to| {
                    let joined = self.format.with_cell(self.bucket(to), &cell, state)?;
                    Some(Move { from: (at, left), to: (to, joined) })
                },
            )
        })
    }

    /// The buckets of a key.
    fn each(&self, choices: &Choices) -> impl Iterator<Item = usize> + use<> {
        let choices = *choices;
        (0..self.layout.subtables()).map(move |subtable| choices.bucket(subtable))
    }

    /// Whether a bucket of a key has its minimal remainder.
    fn holds_minimal(&self, choices: &Choices) -> bool {
        self.each(choices).any(|at| self.format.holds_minimal(self.bucket(at), choices.word))
    }
}
