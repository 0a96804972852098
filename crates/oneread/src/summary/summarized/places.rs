//! Where the items of a table are, by level: what a lookup that knows the level needs.

use alloc::vec::Vec;
use core::ops::Range;

use crate::bits::OutOfMemory;
use crate::hash::Digest;
use crate::layout::{Moves, MultilevelLayout};
use crate::table::placement::{Location, Move, Placement};

/// The places of a table, numbered as the table does.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Knows the bucket of a digest in a level, and nothing of what is where.
    buckets: Placement,
    /// Where the places of each level begin, and where those of the stash do.
    starts: Vec<usize>,
    slots: usize,
    end: usize,
}

impl Places {
    /// Those of a table with this layout and hash functions of this generation.
    pub(super) fn new(layout: &MultilevelLayout, generation: u32) -> Result<Self, OutOfMemory> {
        let slots = layout.slots() as usize;
        let mut starts = Vec::from([0]);
        let mut start = 0;
        for &buckets in layout.levels() {
            start += buckets as usize * slots;
            starts.push(start);
        }
        // Of all policies only restricted hashing says where buckets are; the others would only take memory for hints.
        let without_hints = match layout.moves() {
            Moves::Restricted(_) => layout.clone(),
            _ => layout.clone().with_moves(Moves::None).unwrap_or_else(|_| layout.clone()),
        };
        let buckets = Placement::with_generation(&without_hints, generation)?;
        Ok(Self { buckets, starts, slots, end: start + layout.stash() as usize })
    }

    pub(super) fn generation(&self) -> u32 {
        self.buckets.generation()
    }

    pub(super) fn level_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places of a digest's bucket in a level.
    #[inline]
    pub(super) fn of(&self, digest: Digest, level: usize) -> Range<usize> {
        let start = self.starts[level] + self.buckets.bucket(digest, level) as usize * self.slots;
        start..start + self.slots
    }

    pub(super) fn stash(&self) -> Range<usize> {
        self.starts[self.level_count()]..self.end
    }

    /// The places of a level; the stash is the level after the last.
    pub(super) fn in_level(&self, level: usize) -> Range<usize> {
        self.starts[level]..self.starts.get(level + 1).copied().unwrap_or(self.end)
    }

    /// The place of a location.
    pub(super) fn place(&self, location: Location) -> usize {
        self.starts[location.level] + location.bucket as usize * self.slots + location.slot as usize
    }
}

/// A step of an item, and the place that the item has in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: usize,
}

/// The moves in their order, each with the place where its item is now: an item may have been moved several times.
pub(super) fn steps(moves: &[Move]) -> Vec<Step> {
    // Backwards: where the items that were at a place before the moves seen so far are in the end.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    for &Move { from, to } in moves.iter().rev() {
        let end = match ends.iter().position(|&(place, _)| place == to) {
            Some(at) => ends.swap_remove(at).1,
            None => to,
        };
        ends.push((from, end));
        steps.push(Step { from, to, end });
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_moves_twice_is_where_it_came_to_last() {
        let moves = [(1, 2), (3, 1), (2, 5), (1, 2)].map(|(from, to)| Move { from, to });
        // The first went from 1 by 2 to 5, the second from 3 by 1 to 2.
        let expected = [(1, 2, 5), (3, 1, 2), (2, 5, 5), (1, 2, 2)];
        assert_eq!(steps(&moves), expected.map(|(from, to, end)| Step { from, to, end }));
    }
}
