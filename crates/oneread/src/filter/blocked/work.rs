//! The operations of a blocked filter on many places, written once for all instruction sets.

use super::Place;
use crate::bits::{Line, Lines};
use crate::filter::simd::{InstructionSet, Work};

/// Inserts at all places.
pub(super) struct InsertAll<'a, I> {
    pub(super) lines: &'a mut [Line],
    pub(super) places: I,
}

impl<I: Iterator<Item = Place>> Work for InsertAll<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<V: InstructionSet>(self, set: V) {
        for place in self.places {
            set.set_bits(&mut self.lines[place.block], place.bits);
        }
    }
}

/// Tests all places, and calls `answer` for each.
pub(super) struct ContainsAll<'a, S, I, A> {
    pub(super) lines: &'a S,
    pub(super) places: I,
    pub(super) answer: A,
}

impl<S: Lines, I: Iterator<Item = Place>, A: FnMut(bool)> Work for ContainsAll<'_, S, I, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: InstructionSet>(mut self, set: V) {
        for place in self.places {
            (self.answer)(self.lines.read_line(place.block, |line| set.has_bits(line, place.bits)));
        }
    }
}
