//! Large batches, partitioned by cache block.
//!
//! Prefetching hides the latency of a cache line, but not the limit on lines per second. So the
//! entries of a large batch are sorted by *blocks* of the filter, each of which fits a second-level
//! cache. When one block's buffer is full, all blocks are visited in order. The entries of one
//! block share its lines, and meanwhile the lines of the next block are prefetched in sequence.
//! `docs/decisions/batches.md` says which operations gain from it.

use alloc::vec::Vec;
use core::ops::Range;

use super::BATCH;
use crate::bits::zeroed;

/// Most of a smaller filter fits a third-level cache, where prefetching alone is faster.
pub(in crate::filter) const LARGE_BYTES: u64 = 32 << 20;

/// The most memory that a batch takes, unless the caller sets another bound.
pub(in crate::filter) const DEFAULT_SCRATCH: u64 = 256 << 20;

/// The logarithm of the fewest words of a block: 64 KiB, so that a second-level cache holds a
/// block, the next one and their entries.
pub(in crate::filter) const MIN_SHIFT: u32 = 13;

/// The most blocks. The last cache line of each block's buffer is being written, and all of these
/// should stay cached.
const MAX_BLOCKS: u64 = 1024;

/// The words of a cache line.
const LINE: usize = 8;

/// What the partition needs to know about a filter and a batch.
#[derive(Clone, Copy)]
pub(in crate::filter) struct Shape {
    /// The words of the filter.
    pub(in crate::filter) words: u64,
    /// The lines that an entry visits.
    pub(in crate::filter) lines_each: u64,
    /// The logarithm of the most words of a block that an entry can address.
    pub(in crate::filter) max_shift: u32,
    /// A lower bound on the entries of the batch.
    pub(in crate::filter) entries: u64,
    /// The memory of all entries, apart from one cache line per block.
    pub(in crate::filter) scratch: u64,
}

/// Entries of a batch, sorted by the block of the filter that they visit.
pub(in crate::filter) struct Partition<E> {
    /// The entries of block b begin at b · capacity.
    entries: Vec<E>,
    /// The number of entries in each block.
    filled: Vec<u32>,
    /// The most entries of a block.
    capacity: usize,
    /// The logarithm of a block's words.
    shift: u32,
    lines_each: usize,
    /// The number of entries in all blocks.
    count: u32,
}

impl<E: Copy + Default> Partition<E> {
    /// Makes a partition. Returns `None` if there is no memory, or if it would not pay: the batch
    /// visits fewer lines than the filter has, or a round fewer than half of them.
    pub(in crate::filter) fn new(shape: Shape) -> Option<Self> {
        let Shape { words, lines_each, max_shift, entries, scratch } = shape;
        let affordable = scratch / size_of::<E>() as u64;
        let lines = words / LINE as u64;
        if entries.saturating_mul(lines_each) < lines || affordable.saturating_mul(2 * lines_each) < lines {
            return None;
        }
        let mut shift = MIN_SHIFT;
        while words >> shift >= MAX_BLOCKS {
            shift += 1;
        }
        if shift > max_shift {
            return None;
        }
        let blocks = words.div_ceil(1 << shift);
        // Some blocks get more entries than others, and the first full one ends the round for all.
        let wanted = entries.saturating_add(entries / 8);
        // An odd number of lines per block: otherwise the lines being written would share a few
        // sets of the cache.
        let line_entries = (LINE * size_of::<u64>() / size_of::<E>()) as u64;
        let pairs = affordable.min(wanted).min(u64::from(u32::MAX) / 2) / blocks / (2 * line_entries);
        let capacity = pairs * 2 * line_entries + line_entries;
        Some(Self {
            entries: zeroed(E::default(), blocks * capacity).ok()?,
            filled: zeroed(0, blocks).ok()?,
            capacity: capacity as usize,
            shift,
            lines_each: lines_each as usize,
            count: 0,
        })
    }

    /// The logarithm of a block's words.
    #[inline(always)]
    pub(in crate::filter) fn shift(&self) -> u32 {
        self.shift
    }

    /// The most entries of a round.
    pub(in crate::filter) fn capacity(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(in crate::filter) fn blocks(&self) -> usize {
        self.filled.len()
    }

    /// Adds an entry to the block of a word; `entry` gets the number of entries before it. Reports
    /// whether the block is full now: then all blocks must be visited and cleared before the next
    /// entry is added.
    #[inline(always)]
    #[must_use]
    pub(in crate::filter) fn add(&mut self, word: usize, entry: impl FnOnce(u32) -> E) -> bool {
        let number = self.count;
        self.count += 1;
        self.push(word, entry(number))
    }

    /// Like [`add`](Self::add), but does not count entries: each would wait for the one before.
    #[inline(always)]
    fn push(&mut self, word: usize, entry: E) -> bool {
        let block = word >> self.shift;
        let filled = &mut self.filled[block];
        self.entries[block * self.capacity + *filled as usize] = entry;
        *filled += 1;
        *filled as usize == self.capacity
    }

    /// The entries of a block, in the order in which they were added.
    pub(in crate::filter) fn block(&mut self, block: usize) -> Block<'_, E> {
        let words = 1 << self.shift;
        // Lines in sequence arrive so fast that it pays to prefetch all if every second one is
        // needed.
        let is_dense = |block: usize| {
            self.filled
                .get(block)
                .is_some_and(|&filled| 2 * self.lines_each * filled as usize >= words / LINE)
        };
        let (start, next) = (block * words, (block + 1) * words);
        let coming = if is_dense(block + 1) { next..next + words } else { 0..0 };
        let is_prefetched = block > 0 && is_dense(block);
        let entries = &mut self.entries[block * self.capacity..][..self.filled[block] as usize];
        let words_each = coming.len().div_ceil(entries.len().div_ceil(BATCH).max(1)).next_multiple_of(LINE);
        Block { entries, ahead: Ahead { start, is_prefetched, coming, words_each } }
    }

    /// Discards all entries of a block but the first `entries`.
    pub(in crate::filter) fn truncate(&mut self, block: usize, entries: u32) {
        self.filled[block] = entries;
    }

    pub(in crate::filter) fn clear(&mut self) {
        self.filled.fill(0);
        self.count = 0;
    }

    /// Looks items up: `add` adds one to the partition, `look_up` writes the answers of a block at
    /// the entries' numbers, and `answer` gets all of them in order.
    ///
    /// `answers` has room for one round.
    pub(in crate::filter) fn look_up<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        add: impl Fn(&mut Self, T) -> bool,
        look_up: impl Fn(Block<'_, E>, &mut [bool]),
        answers: &mut [bool],
        mut answer: impl FnMut(bool),
    ) {
        let mut finish_round = |partition: &mut Self| {
            (0..partition.blocks()).for_each(|block| look_up(partition.block(block), answers));
            answers[..partition.count as usize].iter().for_each(|&found| answer(found));
            partition.clear();
        };
        for item in items {
            if add(self, item) {
                finish_round(self);
            }
        }
        finish_round(self);
    }
}

/// The locations of a batch of keys that set bits or add to counters, in bits from the start of
/// their blocks.
pub(in crate::filter) type BitPartition = Partition<u32>;

impl BitPartition {
    /// The logarithm of the most words whose bits a `u32` can count.
    pub(in crate::filter) const MAX_SHIFT: u32 = u32::BITS - u64::BITS.ilog2();

    /// Adds the location of a bit.
    #[inline(always)]
    #[must_use]
    pub(in crate::filter) fn add_bit(&mut self, bit: u64) -> bool {
        let mask = u32::MAX >> (Self::MAX_SHIFT - self.shift);
        self.push((bit / 64) as usize, bit as u32 & mask)
    }

    /// Visits each location, block by block, and clears the partition.
    ///
    /// Not inlined, to keep the loop that adds locations fast.
    #[inline(never)]
    pub(in crate::filter) fn visit(&mut self, filter: &mut impl VisitLocations) {
        for block in 0..self.blocks() {
            let Block { entries, mut ahead } = self.block(block);
            let start = ahead.start;
            for entries in entries.chunks(BATCH) {
                let prefetch = |word| filter.prefetch(word);
                ahead.prefetch(prefetch, entries, |offset, start| [start + offset as usize / 64]);
                entries.iter().for_each(|&offset| filter.visit(start, offset));
            }
            filter.finish_block(start);
        }
        self.clear();
    }
}

/// The work at the locations of a batch.
pub(in crate::filter) trait VisitLocations {
    /// Prefetches a word.
    fn prefetch(&self, word: usize);
    /// Visits the bit `offset` bits after the start of word `start`.
    fn visit(&mut self, start: usize, offset: u32);
    /// Called when all locations of the block that starts at this word were visited.
    fn finish_block(&mut self, _start: usize) {}
}

/// The entries of a block.
pub(in crate::filter) struct Block<'a, E> {
    pub(in crate::filter) entries: &'a mut [E],
    pub(in crate::filter) ahead: Ahead,
}

/// What to prefetch while a block is visited.
pub(in crate::filter) struct Ahead {
    /// The first word of the block.
    pub(in crate::filter) start: usize,
    /// Whether the lines of the block were prefetched while the block before was visited.
    is_prefetched: bool,
    /// The words of the next block; empty if few of its lines are needed, which are then prefetched
    /// one by one.
    coming: Range<usize>,
    /// The number of these words to prefetch per batch of entries.
    words_each: usize,
}

impl Ahead {
    /// Call before the entries of a batch are visited. `prefetch` prefetches a word; `visited`
    /// gives the words that an entry visits in the block that starts at the given word.
    #[inline(always)]
    pub(in crate::filter) fn prefetch<E: Copy, const N: usize>(
        &mut self,
        prefetch: impl Fn(usize),
        entries: &[E],
        visited: impl Fn(E, usize) -> [usize; N],
    ) {
        if !self.is_prefetched {
            for &entry in entries {
                visited(entry, self.start).into_iter().for_each(&prefetch);
            }
        }
        let end = self.coming.end.min(self.coming.start + self.words_each);
        for at in (self.coming.start..end).step_by(LINE) {
            prefetch(at);
        }
        self.coming.start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Domain, Portable, reduce};

    /// Sums its arguments, and checks that blocks come in order.
    struct Sum {
        block_words: u64,
        sum: u128,
        count: u64,
        blocks: Vec<usize>,
    }

    impl VisitLocations for Sum {
        fn prefetch(&self, _: usize) {}

        fn visit(&mut self, start: usize, offset: u32) {
            assert!(u64::from(offset) < 64 * self.block_words);
            self.sum += u128::from(64 * start as u64 + u64::from(offset)).pow(2);
            self.count += 1;
        }

        fn finish_block(&mut self, start: usize) {
            self.blocks.push(start);
        }
    }

    #[test]
    fn every_location_is_visited_once() {
        // One block, several, and the maximum, the last of them not whole.
        let sizes = [1 << 10, 5 << 20, (1 << 29) + (3 << 20) + 77_u64];
        for &bits in if cfg!(miri) { &sizes[..1] } else { &sizes[..] } {
            let visits = if cfg!(miri) { 3000 } else { 3_000_000 };
            let (words, scratch) = (bits.div_ceil(64), bits / 32);
            let max_shift = BitPartition::MAX_SHIFT;
            let shape = Shape { words, lines_each: 1, max_shift, entries: visits, scratch };
            let mut partition = BitPartition::new(shape).unwrap();
            assert!(partition.capacity() * 4 <= scratch + 64 * partition.blocks() as u64);
            let block_words = 1 << partition.shift();
            let mut sum = Sum { block_words, sum: 0, count: 0, blocks: Vec::new() };
            let mut expected = 0u128;
            for key in 0..visits {
                let word = Portable::with_seed(1).digest(&key).word(Domain::new(0), 0);
                // Some locations are repeated.
                let location = reduce(if key % 3 == 0 { 7 << 50 } else { word }, bits);
                expected += u128::from(location).pow(2);
                if partition.add_bit(location) {
                    partition.visit(&mut sum);
                }
            }
            partition.visit(&mut sum);
            assert_eq!((sum.count, sum.sum), (visits, expected), "{bits} bits");
            let starts = (0..words as usize).step_by(block_words as usize);
            assert!(
                sum.blocks.chunks(partition.blocks()).all(|round| starts.clone().eq(round.iter().copied()))
            );
        }
    }

    #[test]
    fn few_visits_little_memory_and_filters_beyond_all_measure_are_not_partitioned() {
        let partition = |words, entries, scratch| {
            let max_shift = BitPartition::MAX_SHIFT;
            BitPartition::new(Shape { words, lines_each: 1, max_shift, entries, scratch }).is_some()
        };
        assert!(!partition(1 << 14, (1 << 11) - 1, u64::MAX));
        assert!(partition(1 << 14, 1 << 11, 1 << 12));
        assert!(!partition(1 << 14, 1 << 11, (1 << 12) - 1));
        assert!(!partition(1 << 37, u64::MAX, u64::MAX));
    }
}
