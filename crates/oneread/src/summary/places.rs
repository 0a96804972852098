//! The places of multiple filters: bits or counters.

use alloc::vec::Vec;
use core::fmt;

use super::{BuildError, probe};
use crate::bits::{Counters, Words, counter_words, zero_words};
use crate::hash::Digest;
use crate::layout::{
    Counting, CountingFiltersLayout, LayoutError, MAX_HASHES, MultipleFiltersLayout, Quantity,
};

/// One of the filters.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The first of its places.
    pub(super) start: u64,
    pub(super) places: u64,
    pub(super) hashes: u32,
}

impl Span {
    /// The place of a probe.
    #[inline(always)]
    pub(super) fn place(self, digest: Digest, index: u32) -> u64 {
        self.start + probe(digest, index, self.places)
    }

    #[inline(always)]
    pub(super) fn all(self, digest: Digest) -> impl Iterator<Item = u64> {
        (0..self.hashes).map(move |index| self.place(digest, index))
    }
}

/// Places that can be read.
pub trait ReadPlaces {
    type Layout: Clone + fmt::Debug;
    type Words: Words;
    /// Whether all filters and the list share one array of words.
    const ONE_RUN: bool;

    fn layout(&self) -> &Self::Layout;
    fn filters(layout: &Self::Layout) -> &MultipleFiltersLayout;
    fn list_words(&self) -> &Self::Words;
    fn stored_bytes(&self) -> usize;
    fn prefetch(&self, filter: usize, place: u64);
    /// Reports whether all of `places` are non-zero.
    fn all_set(&self, filter: usize, places: impl Iterator<Item = u64>) -> bool;
}

/// Places that can be changed.
pub trait ChangePlaces: ReadPlaces + Sized {
    const CAN_REMOVE: bool;
    fn empty(layout: Self::Layout) -> Result<Self, BuildError>;
    /// Adds a key to a filter (`comes`), or removes it.
    fn change(&mut self, at: usize, span: Span, digest: Digest, comes: bool);
    fn list_words_mut(&mut self) -> &mut Vec<u64>;
    fn clear(&mut self);
    fn byte_len(&self) -> u64;
}

/// A bit per place.
#[derive(Clone)]
pub struct Bits<S> {
    pub(super) layout: MultipleFiltersLayout,
    pub(super) words: S,
}

/// A counter per place.
#[derive(Clone)]
pub struct Counts<S> {
    pub(super) layout: CountingFiltersLayout,
    /// The counters of each filter.
    pub(super) counters: Vec<Counters<S>>,
    pub(super) list: S,
}

impl<S: Words> Bits<S> {
    #[inline(always)]
    pub(super) fn bit(&self, at: u64) -> bool {
        self.words.word((at / 64) as usize) >> (at % 64) & 1 == 1
    }
}

impl<S: Words> ReadPlaces for Bits<S> {
    type Layout = MultipleFiltersLayout;
    type Words = S;
    const ONE_RUN: bool = true;

    fn layout(&self) -> &MultipleFiltersLayout {
        &self.layout
    }

    fn filters(layout: &MultipleFiltersLayout) -> &MultipleFiltersLayout {
        layout
    }

    fn list_words(&self) -> &S {
        &self.words
    }

    fn stored_bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    #[inline(always)]
    fn prefetch(&self, _: usize, place: u64) {
        self.words.prefetch((place / 64) as usize);
    }

    #[inline(always)]
    fn all_set(&self, _: usize, mut places: impl Iterator<Item = u64>) -> bool {
        places.all(|place| self.bit(place))
    }
}

impl ChangePlaces for Bits<Vec<u64>> {
    const CAN_REMOVE: bool = false;

    fn empty(layout: MultipleFiltersLayout) -> Result<Self, BuildError> {
        Ok(Self { words: zero_words(layout.bits().div_ceil(64))?, layout })
    }

    fn change(&mut self, _: usize, span: Span, digest: Digest, comes: bool) {
        debug_assert!(comes, "a bit cannot be taken back");
        for place in span.all(digest) {
            self.words[(place / 64) as usize] |= 1 << (place % 64);
        }
    }

    fn list_words_mut(&mut self) -> &mut Vec<u64> {
        &mut self.words
    }

    fn clear(&mut self) {
        self.words.fill(0);
    }

    fn byte_len(&self) -> u64 {
        self.layout.byte_len()
    }
}

impl<S: Words> ReadPlaces for Counts<S> {
    type Layout = CountingFiltersLayout;
    type Words = S;
    const ONE_RUN: bool = false;

    fn layout(&self) -> &CountingFiltersLayout {
        &self.layout
    }

    fn filters(layout: &CountingFiltersLayout) -> &MultipleFiltersLayout {
        layout.filters()
    }

    fn list_words(&self) -> &S {
        &self.list
    }

    fn stored_bytes(&self) -> usize {
        self.counters.iter().map(|counters| counters.words().len() * size_of::<u64>()).sum()
    }

    #[inline(always)]
    fn prefetch(&self, filter: usize, place: u64) {
        self.counters[filter].prefetch(place);
    }

    #[inline(always)]
    fn all_set(&self, filter: usize, mut places: impl Iterator<Item = u64>) -> bool {
        let counters = &self.counters[filter];
        places.all(|place| counters.get(place) > 0)
    }
}

impl ChangePlaces for Counts<Vec<u64>> {
    const CAN_REMOVE: bool = true;

    fn empty(layout: CountingFiltersLayout) -> Result<Self, BuildError> {
        let list = zero_words(layout.filters().list_bits().div_ceil(64))?;
        let mut counters = Vec::new();
        for (&(places, _), &(bits, _)) in layout.filters().filters().iter().zip(layout.counters()) {
            let too_large =
                LayoutError::TooLarge { what: Quantity::Counters, expected: u64::MAX, found: places };
            let words = zero_words(counter_words(places, bits).ok_or(too_large)?)?;
            counters.push(Counters::new(words, bits));
        }
        Ok(Self { layout, counters, list })
    }

    fn change(&mut self, at: usize, span: Span, digest: Digest, comes: bool) {
        let (bits, counting) = self.layout.counters()[at];
        let mut counters = self.counters[at].cells(bits);
        let mut places = [0; MAX_HASHES as usize];
        for index in 0..span.hashes as usize {
            let place = span.place(digest, index as u32);
            places[index] = place;
            if counting == Counting::EachProbe || !places[..index].contains(&place) {
                if comes {
                    counters.increment(place)
                } else {
                    counters.decrement(place)
                };
            }
        }
    }

    fn list_words_mut(&mut self) -> &mut Vec<u64> {
        &mut self.list
    }

    fn clear(&mut self) {
        self.counters.iter_mut().for_each(Counters::clear);
        self.list.fill(0);
    }

    fn byte_len(&self) -> u64 {
        self.layout.byte_len()
    }
}
