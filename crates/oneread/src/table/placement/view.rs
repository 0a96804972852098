//! The places of a saved table, read where they lie: `docs/format.md`, kind 16.

use alloc::vec::Vec;
use core::ops::Range;

use super::geometry::Geometry;
use super::occupancy::ones_in;
use crate::bits::{LittleEndian, OutOfMemory, Words, reserved};
use crate::bytes::LoadError;
use crate::hash::Digest;
use crate::layout::MultilevelLayout;

/// Words between two counts: a search adds up at most a cache line of bits.
const WORDS_A_COUNT: usize = 8;

/// Which places are in use, and how many are before each: items are saved in the order of their places.
#[derive(Clone)]
pub(in crate::table) struct SavedPlaces<'a> {
    geometry: Geometry,
    bits: LittleEndian<'a>,
    /// The places in use before each eight words.
    counts: Vec<u64>,
    len: u64,
    /// The stash up to the last place in use.
    stash: Range<usize>,
}

impl<'a> SavedPlaces<'a> {
    /// The places that words begin with, and the words behind their bits and hints. The bits are read once, to count them.
    pub(in crate::table) fn over(
        layout: &MultilevelLayout,
        generation: u32,
        words: LittleEndian<'a>,
    ) -> Result<(Self, LittleEndian<'a>), LoadError> {
        let short = || LoadError::Invalid { what: "the payload is shorter than its layout says" };
        let places = layout.capacity() + u64::from(layout.stash());
        let (bits, rest) = words.split(places.div_ceil(64)).ok_or_else(short)?;
        // Lookups have no use for hints.
        let hints = layout.moves().hints().map_or(0, |_| layout.buckets().div_ceil(2));
        let (_, rest) = rest.split(hints).ok_or_else(short)?;
        let places = usize::try_from(places).map_err(|_| OutOfMemory { bytes: places / 8 })?;
        let beyond = ones_in(&bits, places..bits.len() * 64, |word| word).next();
        if beyond.is_some() {
            return Err(LoadError::Invalid { what: "a place in use that there is not" });
        }
        let mut counts = reserved(bits.len().div_ceil(WORDS_A_COUNT) as u64)?;
        let mut len = 0;
        for at in 0..bits.len() {
            if at % WORDS_A_COUNT == 0 {
                counts.push(len);
            }
            len += u64::from(bits.word(at).count_ones());
        }
        let geometry = Geometry::new(layout, generation);
        let stash = geometry.stash();
        let end = ones_in(&bits, stash.clone(), |word| word).last().map_or(stash.start, |last| last + 1);
        Ok((Self { geometry, bits, counts, len, stash: stash.start..end }, rest))
    }

    /// The places in use.
    pub(in crate::table) fn len(&self) -> u64 {
        self.len
    }

    /// The first item that satisfies a test, of those where a digest's item can be, in the order of a lookup. Items are told by their
    /// number among all.
    pub(in crate::table) fn find<T>(
        &self,
        digest: Digest,
        mut test: impl FnMut(u64) -> Option<T>,
    ) -> Option<T> {
        let first = Some(self.geometry.first(digest));
        let buckets = core::iter::successors(first, |&bucket| self.geometry.next(digest, bucket));
        let ranges = buckets.map(|bucket| self.geometry.places_of(bucket)).chain([self.stash.clone()]);
        let mut places = ranges.flat_map(|range| ones_in(&self.bits, range, |word| word));
        places.find_map(|place| test(self.number(place)))
    }

    /// The places in use before this one.
    fn number(&self, place: usize) -> u64 {
        let (word, counted) = (place / 64, place / 64 / WORDS_A_COUNT);
        let ones = |at: usize| u64::from(self.bits.word(at).count_ones());
        let before = self.bits.word(word) & ((1 << (place % 64)) - 1);
        let in_between = (counted * WORDS_A_COUNT..word).map(ones).sum::<u64>();
        self.counts[counted] + in_between + u64::from(before.count_ones())
    }
}
