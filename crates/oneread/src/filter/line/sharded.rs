//! A line filter for many threads: parts with a lock each.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use super::places::Places;
use super::{BuildError, Full, LineFilter, LineLayout, NotPresent, Portable};
use crate::bits::Lines;
use crate::filter::batch::{BATCH, CACHED_BYTES};
use crate::hash::{Digest, Digester, Domain, reduce};
use crate::plan;

/// Parts of a filter. Two threads meet in one of 256 parts once in 256 operations.
const PARTS: u64 = 256;

/// Keys that are sorted by their parts at once: 128 for each part, so that its lines are taken from other threads once for several keys.
const SORTED: usize = 1 << 15;

/// A [`LineFilter`] that many threads insert into, look up in and remove from at once, through `&self`.
///
/// Its keys are divided among 256 filters with a lock each. Once an operation has returned, every later one sees what it did.
///
/// # Costs
/// A lock and an unlock an operation, and the imbalance of the parts: they are planned for keys enough that the fullest is not too full.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate, or fill the filter early.
///
/// # Example
/// ```
/// use oneread::filter::ShardedLineFilter;
///
/// let filter = ShardedLineFilter::with_rate(100_000, 0.001)?;
/// assert!(!filter.contains("key"));
/// std::thread::scope(|scope| _ = scope.spawn(|| filter.insert("key")));
/// assert!(filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
#[derive(Debug)]
pub struct ShardedLineFilter<D = Portable> {
    digester: D,
    /// Each in cache lines of its own: locks are written.
    parts: Vec<Part<D>>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Part<D>(Mutex<LineFilter<D>>);

impl ShardedLineFilter {
    /// A filter that holds `items` keys at a false-positive rate of at most `rate`, with a random seed.
    ///
    /// # Errors
    /// If there is no such filter (see [`plan::line::for_rate`]), or no memory for it.
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        let layout = plan::line::for_rate(plan::line::fullest_part(items, PARTS), rate)?;
        Self::with_digester(layout, Portable::random())
    }
}

impl<D: Clone> ShardedLineFilter<D> {
    /// 256 empty filters of this layout for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn with_digester(layout: LineLayout, digester: D) -> Result<Self, BuildError> {
        let part = |_| Ok(Part(Mutex::new(LineFilter::with_digester(layout, digester.clone())?)));
        let parts = (0..PARTS).map(part).collect::<Result<_, BuildError>>()?;
        Ok(Self { digester, parts })
    }
}

impl<D> ShardedLineFilter<D> {
    /// The part of a digest, locked.
    #[inline]
    fn part(&self, digest: Digest) -> MutexGuard<'_, LineFilter<D>> {
        self.lock(part_of(digest))
    }

    /// A part, locked. A thread that panicked meanwhile did so outside of a change: no user code runs within.
    #[inline]
    fn lock(&self, part: usize) -> MutexGuard<'_, LineFilter<D>> {
        self.parts[part].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the homes of digests in a part, unless all parts lie in a cache.
    #[inline]
    fn ask(&self, part: &LineFilter<D>, digests: &[(u32, Digest)]) {
        let table = &part.table;
        if table.layout.byte_len() * PARTS >= CACHED_BYTES as u64 {
            for &(_, digest) in digests {
                table.lines.prefetch_line(table.places.of(Places::word(digest)).line);
            }
        }
    }

    /// Inserts a key; says whether it may have been there before.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it; nothing is changed then.
    #[inline]
    pub fn insert<Q: ?Sized>(&self, key: &Q) -> Result<bool, Full>
    where
        D: Digester<Q>,
    {
        self.insert_digest(self.digester.digest(key))
    }

    /// Inserts the key of a digest; says whether it may have been there before.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it; nothing is changed then.
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> Result<bool, Full> {
        self.part(digest).insert_digest(digest)
    }

    /// Inserts many keys, faster than one after the other: each part is locked once for many of them.
    ///
    /// # Errors
    /// [`Full`] if there was no room for some; all others are inserted.
    pub fn insert_many<'q, Q: ?Sized + 'q>(&self, keys: impl IntoIterator<Item = &'q Q>) -> Result<(), Full>
    where
        D: Digester<Q>,
    {
        let mut sorted = Sorted::new(keys.into_iter().map(|key| self.digester.digest(key)));
        let mut done = Ok(());
        while sorted.take() {
            for (part, digests) in sorted.parts() {
                let mut part = self.lock(part);
                for digests in digests.chunks(BATCH) {
                    self.ask(&part, digests);
                    for &(_, digest) in digests {
                        done = part.insert_digest(digest).and(done);
                    }
                }
            }
        }
        done
    }

    /// Removes many keys that were inserted, faster than one after the other.
    ///
    /// # Errors
    /// If some are certainly not there; all others are removed.
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        let mut sorted = Sorted::new(keys.into_iter().map(|key| self.digester.digest(key)));
        let mut done = Ok(());
        while sorted.take() {
            for (part, digests) in sorted.parts() {
                let mut part = self.lock(part);
                for digests in digests.chunks(BATCH) {
                    self.ask(&part, digests);
                    for &(_, digest) in digests {
                        done = part.remove_digest(digest).and(done);
                    }
                }
            }
        }
        done
    }

    /// Looks many keys up, faster than one after the other; `answer` gets the answers in the order of the keys.
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        let mut sorted = Sorted::new(keys.into_iter().map(|key| self.digester.digest(key)));
        let mut answers = Vec::new();
        while sorted.take() {
            answers.clear();
            answers.resize(sorted.came.len(), false);
            for (part, digests) in sorted.parts() {
                let part = self.lock(part);
                for digests in digests.chunks(BATCH) {
                    self.ask(&part, digests);
                    for &(number, digest) in digests {
                        answers[number as usize] = part.contains_digest(digest);
                    }
                }
            }
            answers.iter().for_each(|&found| answer(found));
        }
    }

    /// Removes a key that was inserted.
    ///
    /// # Errors
    /// If the key is certainly not there; nothing is changed then.
    #[inline]
    pub fn remove<Q: ?Sized>(&self, key: &Q) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        self.remove_digest(self.digester.digest(key))
    }

    /// Removes the key of a digest that was inserted.
    ///
    /// # Errors
    /// If the key is certainly not there; nothing is changed then.
    #[inline]
    pub fn remove_digest(&self, digest: Digest) -> Result<(), NotPresent> {
        self.part(digest).remove_digest(digest)
    }

    /// Whether a key may be in the set; `false` is certain.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.contains_digest(self.digester.digest(key))
    }

    /// Whether the key of a digest may be in the set; `false` is certain.
    #[inline]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.part(digest).contains_digest(digest)
    }

    /// The parts one after the other, locked.
    fn each(&self) -> impl Iterator<Item = MutexGuard<'_, LineFilter<D>>> {
        self.parts.iter().map(|part| part.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of keys: insertions less removals, counted part by part.
    pub fn len(&self) -> u64 {
        self.each().map(|part| part.len()).sum()
    }

    /// Whether all keys have been removed, or none was inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The probability that a key which is not in the set is taken to be, with the keys that there are now.
    pub fn false_positive_rate(&self) -> f64 {
        self.each().map(|part| part.false_positive_rate()).sum::<f64>() / PARTS as f64
    }

    /// The memory of its lines and stashes.
    pub fn byte_len(&self) -> usize {
        self.each().map(|part| part.byte_len()).sum()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.each().for_each(|mut part| part.clear());
    }
}

/// The number of a digest's part.
#[inline]
fn part_of(digest: Digest) -> usize {
    reduce(digest.word(Domain::LINE, 2), PARTS) as usize
}

/// Digests sorted by their parts, as many at a time as [`SORTED`].
struct Sorted<I> {
    digests: I,
    /// In the order in which they came, with their numbers.
    came: Vec<(u32, Digest)>,
    sorted: Vec<(u32, Digest)>,
    /// Where those of each part begin among the sorted ones, and where the last of all ends.
    starts: [usize; PARTS as usize + 1],
}

impl<I: Iterator<Item = Digest>> Sorted<I> {
    fn new(digests: I) -> Self {
        Self { digests, came: Vec::new(), sorted: Vec::new(), starts: [0; PARTS as usize + 1] }
    }

    /// Takes the next ones; says whether there are any.
    fn take(&mut self) -> bool {
        self.came.clear();
        self.came.extend((0..).zip(self.digests.by_ref().take(SORTED)));
        self.starts.fill(0);
        self.came.iter().for_each(|&(_, digest)| self.starts[part_of(digest) + 1] += 1);
        for part in 0..PARTS as usize {
            self.starts[part + 1] += self.starts[part];
        }
        let mut next = self.starts;
        self.sorted.clone_from(&self.came);
        for &numbered in &self.came {
            let next = &mut next[part_of(numbered.1)];
            self.sorted[*next] = numbered;
            *next += 1;
        }
        !self.came.is_empty()
    }

    /// The parts that have some, with them.
    fn parts(&self) -> impl Iterator<Item = (usize, &[(u32, Digest)])> {
        let parts = self.starts.windows(2).enumerate();
        parts
            .map(|(part, range)| (part, &self.sorted[range[0]..range[1]]))
            .filter(|(_, some)| !some.is_empty())
    }
}
