//! The operations of a blocked filter, written once for all instruction sets.

use alloc::vec::Vec;

use super::super::batch::BATCH;
use super::Place;
use super::simd::{Vector, Work};
use crate::bits::{Line, Lines};
use crate::hash::Digest;

/// The places of the next few digests, and whether there may be more.
#[inline(always)]
pub(super) fn next_places(
    digests: &mut impl Iterator<Item = Digest>,
    blocks: u64,
    places: &mut [Place; BATCH],
) -> (usize, bool) {
    let mut count = 0;
    for (place, digest) in places.iter_mut().zip(digests) {
        *place = Place::of(digest, blocks);
        count += 1;
    }
    (count, count == BATCH)
}

pub(super) struct Insert<'a, F> {
    pub(super) lines: &'a mut Vec<Line>,
    pub(super) digest: F,
}

impl<F: FnOnce() -> Digest> Work for Insert<'_, F> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        let place = Place::of((self.digest)(), self.lines.as_slice().len() as u64);
        vector.insert(&mut self.lines[place.block], place)
    }
}

pub(super) struct InsertMany<'a, I> {
    pub(super) lines: &'a mut Vec<Line>,
    pub(super) digests: I,
}

impl<I: Iterator<Item = Digest>> Work for InsertMany<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(mut self, vector: V) {
        let mut places = [Place::default(); BATCH];
        let blocks = self.lines.as_slice().len() as u64;
        let mut more = true;
        while more {
            let count;
            (count, more) = next_places(&mut self.digests, blocks, &mut places);
            places[..count].iter().for_each(|place| self.lines.prefetch_line(place.block));
            for &place in &places[..count] {
                vector.insert(&mut self.lines[place.block], place);
            }
        }
    }
}

pub(super) struct Contains<'a, S, F> {
    pub(super) lines: &'a S,
    pub(super) blocks: u64,
    pub(super) digest: F,
}

impl<S: Lines, F: FnOnce() -> Digest> Work for Contains<'_, S, F> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        let place = Place::of((self.digest)(), self.blocks);
        self.lines.read_line(place.block, |line| vector.contains(line, place))
    }
}

pub(super) struct ContainsMany<'a, S, I, A> {
    pub(super) lines: &'a S,
    pub(super) blocks: u64,
    pub(super) digests: I,
    pub(super) answer: A,
}

impl<S: Lines, I: Iterator<Item = Digest>, A: FnMut(bool)> Work for ContainsMany<'_, S, I, A> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(mut self, vector: V) {
        let mut places = [Place::default(); BATCH];
        let mut more = true;
        while more {
            let count;
            (count, more) = next_places(&mut self.digests, self.blocks, &mut places);
            places[..count].iter().for_each(|place| self.lines.prefetch_line(place.block));
            for &place in &places[..count] {
                (self.answer)(self.lines.read_line(place.block, |line| vector.contains(line, place)));
            }
        }
    }
}
