//! A list of the few keys at the deepest levels.
//!
//! # Invariants
//! 1. For each key at one of the list's levels, an entry has its string and level, or the spilled
//!    level is at least as deep.
//! 2. The spilled level falls only in a reset.
//!
//! # Layout
//! ```text
//!  level spilled │ level, string │ level, string │ …
//! ```
//! Levels count from 1 here, where 1 is the first level without a filter. Level 0 marks a free
//! entry, whose string is 0 too.

use alloc::vec::Vec;

use super::DOMAIN;
use super::fields::{read, read_wide, write, write_wide};
use crate::bits::Words;
use crate::bytes::LoadError;
use crate::hash::Digest;
use crate::layout::{ListLayout, MAX_HASHES, MultipleFiltersLayout};

/// The position of a list among the words of a summary, and its layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    layout: ListLayout,
    /// The first bit of the list.
    start: u64,
    /// The first level without a filter.
    first: usize,
}

impl List {
    /// Returns the list of a layout, if it has one, starting at bit `start`.
    pub(super) fn of(layout: &MultipleFiltersLayout, start: u64) -> Option<Self> {
        layout.list().map(|list| Self { layout: list, start, first: layout.filters().len() })
    }

    /// The string of a digest, from words that no filter draws.
    #[inline]
    fn string(&self, digest: Digest) -> u128 {
        let word = |index| u128::from(digest.word(DOMAIN, MAX_HASHES + index));
        (word(0) << 64 | word(1)) >> (128 - self.layout.fingerprint_bits())
    }

    /// The first bit of an entry.
    #[inline]
    fn entry(&self, at: u64) -> u64 {
        let level_bits = self.layout.level_bits();
        let entry_bits = u64::from(level_bits + self.layout.fingerprint_bits());
        self.start + u64::from(level_bits) + at * entry_bits
    }

    #[inline]
    fn level(&self, words: &impl Words, at: u64) -> u64 {
        read(words, self.entry(at), self.layout.level_bits())
    }

    #[inline]
    fn string_at(&self, words: &impl Words, at: u64) -> u128 {
        let bit = self.entry(at) + u64::from(self.layout.level_bits());
        read_wide(words, bit, self.layout.fingerprint_bits())
    }

    fn spilled(&self, words: &impl Words) -> u64 {
        read(words, self.start, self.layout.level_bits())
    }

    fn set(&self, words: &mut [u64], at: u64, level: u64, string: u128) {
        let (bit, level_bits) = (self.entry(at), self.layout.level_bits());
        write(words, bit, level, level_bits);
        write_wide(words, bit + u64::from(level_bits), string, self.layout.fingerprint_bits());
    }

    fn entry_with(&self, words: &impl Words, level: u64, string: u128) -> Option<u64> {
        let is_it = |&at: &u64| self.level(words, at) == level && self.string_at(words, at) == string;
        (0..self.layout.items()).find(is_it)
    }

    /// Returns the deepest level of the list where a key can be.
    pub(super) fn deepest(&self, words: &impl Words, digest: Digest) -> Option<usize> {
        let string = self.string(digest);
        let mut deepest = self.spilled(words);
        for at in 0..self.layout.items() {
            let level = self.level(words, at);
            if level > deepest && self.string_at(words, at) == string {
                deepest = level;
            }
        }
        // A damaged file may contain levels that are too deep.
        let deepest = deepest.min(self.layout.levels() as u64) as usize;
        (deepest > 0).then(|| self.first + deepest - 1)
    }

    /// Reports whether a key can be at exactly this level of the list.
    pub(super) fn has(&self, words: &impl Words, digest: Digest, level: usize) -> bool {
        let level = self.written(level);
        self.spilled(words) >= level || self.entry_with(words, level, self.string(digest)).is_some()
    }

    /// Encodes a level.
    fn written(&self, level: usize) -> u64 {
        (level - self.first) as u64 + 1
    }

    /// Inserts a key at a level; does nothing for levels outside the list.
    pub(super) fn insert(&self, words: &mut Vec<u64>, digest: Digest, level: usize) {
        if level < self.first {
            return;
        }
        let level = self.written(level);
        match (0..self.layout.items()).find(|&at| self.level(words, at) == 0) {
            Some(free) => self.set(words, free, level, self.string(digest)),
            None => {
                let spilled = self.spilled(words).max(level);
                write(words, self.start, spilled, self.layout.level_bits());
            }
        }
    }

    /// Removes a key from a level. A key that spilled has no entry, and the spilled level stays.
    pub(super) fn remove(&self, words: &mut Vec<u64>, digest: Digest, level: usize) {
        if level < self.first {
            return;
        }
        if let Some(at) = self.entry_with(words, self.written(level), self.string(digest)) {
            self.set(words, at, 0, 0);
        }
    }

    /// Moves a key to another level. Its entry is reused, so that a full list does not spill.
    pub(super) fn relocate(&self, words: &mut Vec<u64>, digest: Digest, from: usize, to: usize) {
        let string = self.string(digest);
        let entry = if from < self.first { None } else { self.entry_with(words, self.written(from), string) };
        match entry {
            Some(at) if to >= self.first => self.set(words, at, self.written(to), string),
            Some(at) => self.set(words, at, 0, 0),
            None => self.insert(words, digest, to),
        }
    }

    /// Returns the number of used entries, and whether a key spilled.
    pub(super) fn load(&self, words: &impl Words) -> (u64, bool) {
        let used = (0..self.layout.items()).filter(|&at| self.level(words, at) > 0).count();
        (used as u64, self.spilled(words) > 0)
    }

    /// Checks that the words are a valid list.
    pub(super) fn check(&self, words: &impl Words) -> Result<(), LoadError> {
        let levels = self.layout.levels() as u64;
        let is_entry = |at| match self.level(words, at) {
            0 => self.string_at(words, at) == 0,
            level => level <= levels,
        };
        if self.spilled(words) <= levels && (0..self.layout.items()).all(is_entry) {
            Ok(())
        } else {
            Err(LoadError::Invalid { what: "a list of keys at levels outside the list" })
        }
    }
}
