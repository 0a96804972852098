//! Very many keys at once: gathered by the part of the filter that they lie in, so that a cache line is brought for several of them.
//!
//! Asking for lines early hides how long one takes to come, not how many can come in a second (see `parts`, which does the same for a Bloom
//! filter). So keys are gathered by parts of the filter, and those of a part dealt with one after the other while the lines of the next part
//! come, in order.

use alloc::vec::Vec;
use core::ops::Range;

use super::batch::BATCH;
use crate::bits::{Words, zeroed};

/// The memory of gathered keys, as a share of the filter's. With a quarter, lookups took 1.4 times as long.
const SHARE: f64 = 0.5;

/// The logarithm of the fewest words of a part: 64 KiB, so that it, the next one and their keys lie in a second-level cache.
pub(super) const LEAST_SHIFT: u32 = 13;

/// The most parts: each has a line that is being written, and all of these should be near.
const MOST_PARTS: u64 = 1024;

/// The words of a cache line.
const LINE: usize = 8;

/// Keys gathered by parts.
pub(super) struct Gathered<K> {
    /// Those of part p from p · capacity on.
    keys: Vec<K>,
    /// How many there are of each part.
    filled: Vec<u32>,
    /// The most of a part.
    capacity: usize,
    /// The logarithm of a part's words.
    shift: u32,
    /// The lines that a key visits.
    lines_each: usize,
    /// How many there are of all parts.
    count: u32,
}

/// What is to be known of a filter.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) words: u64,
    /// The lines that a key visits.
    pub(super) lines_each: u64,
    /// The logarithm of the most words of a part that keys can tell their places in.
    pub(super) most_shift: u32,
}

impl Shape {
    fn bytes(self) -> u64 {
        self.words * size_of::<u64>() as u64
    }
}

impl<K: Copy + Default> Gathered<K> {
    /// For a filter and at least so many keys, if that pays and there is memory: no more than a share of the filter's, whatever is
    /// said of the keys.
    ///
    /// It pays if more lines are visited than there are.
    pub(super) fn new(shape: Shape, keys: u64) -> Option<Self> {
        let Shape { words, lines_each, most_shift } = shape;
        if keys.saturating_mul(lines_each) < words >> LINE.ilog2() {
            return None;
        }
        let mut shift = LEAST_SHIFT;
        while words >> shift >= MOST_PARTS {
            shift += 1;
        }
        if shift > most_shift {
            return None;
        }
        let parts = words.div_ceil(1 << shift);
        let all = (shape.bytes() as f64 * SHARE) as u64 / size_of::<K>() as u64;
        // An odd number of lines: the keys of all parts that are written now would else lie in the same few sets of a cache.
        let line_keys = (LINE * size_of::<u64>() / size_of::<K>()) as u64;
        let capacity = all.min(keys) / parts / (2 * line_keys) * (2 * line_keys) + line_keys;
        Some(Self {
            keys: zeroed(K::default(), parts * capacity).ok()?,
            filled: zeroed(0, parts).ok()?,
            capacity: capacity as usize,
            shift,
            lines_each: lines_each as usize,
            count: 0,
        })
    }

    /// The logarithm of a part's words.
    #[inline(always)]
    pub(super) fn shift(&self) -> u32 {
        self.shift
    }

    /// How many keys can be gathered at most.
    pub(super) fn most(&self) -> u64 {
        self.keys.len() as u64
    }

    /// How many keys there are.
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.filled.len()
    }

    /// Adds a key to the part of a word; `key` gets the number of those that came before it. Says whether the part is full then.
    #[inline(always)]
    pub(super) fn add(&mut self, word: usize, key: impl FnOnce(u32) -> K) -> bool {
        let part = word >> self.shift;
        let filled = &mut self.filled[part];
        self.keys[part * self.capacity + *filled as usize] = key(self.count);
        *filled += 1;
        self.count += 1;
        *filled as usize == self.capacity
    }

    /// A part, with what is to be known before its keys are visited.
    pub(super) fn part(&mut self, part: usize) -> Part<'_, K> {
        let lines = (1 << self.shift) / LINE;
        let is_near = |part: usize| {
            self.filled.get(part).is_some_and(|&filled| self.lines_each * filled as usize >= lines)
        };
        let (start, next) = (part << self.shift, (part + 1) << self.shift);
        let coming = if is_near(part + 1) { next..next + (1 << self.shift) } else { 0..0 };
        let is_near = part > 0 && is_near(part);
        let keys = &mut self.keys[part * self.capacity..][..self.filled[part] as usize];
        let words_each = coming.len().div_ceil(keys.len().div_ceil(BATCH).max(1)).next_multiple_of(LINE);
        Part { keys, ahead: Ahead { start, is_near, coming, words_each } }
    }

    /// Forgets all keys of a part but the first.
    pub(super) fn keep_first(&mut self, part: usize, keys: u32) {
        self.filled[part] = keys;
    }

    pub(super) fn clear(&mut self) {
        self.filled.fill(0);
        self.count = 0;
    }
}

/// The keys of a part, in order.
pub(super) struct Part<'a, K> {
    pub(super) keys: &'a mut [K],
    pub(super) ahead: Ahead,
}

/// What to ask for before it is needed.
pub(super) struct Ahead {
    /// The first word of the part.
    pub(super) start: usize,
    /// Whether the lines of the part were asked for while the part before was visited.
    is_near: bool,
    /// The words of the next part, unless so few of its lines are needed that they had better be asked for one by one.
    coming: Range<usize>,
    /// How many of them for each batch of keys.
    words_each: usize,
}

impl Ahead {
    /// Called before the keys of a batch are visited; `visited` tells what words a key visits, of the part that starts with the one given.
    #[inline(always)]
    pub(super) fn ask<S: Words, K: Copy, const N: usize>(
        &mut self,
        words: &S,
        keys: &[K],
        visited: impl Fn(K, usize) -> [usize; N],
    ) {
        if !self.is_near {
            for &key in keys {
                visited(key, self.start).into_iter().for_each(|at| words.prefetch(at));
            }
        }
        let end = self.coming.end.min(self.coming.start + self.words_each);
        for at in (self.coming.start..end).step_by(LINE) {
            words.prefetch(at);
        }
        self.coming.start = end;
    }
}
