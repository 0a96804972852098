//! A line filter for many threads: parts with a lock each.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use super::places::Places;
use super::{BuildError, Full, LineLayout, LineTable, NotPresent, Portable};
use crate::bits::{Line, Lines};
use crate::filter::Filter;
use crate::filter::batch::{BATCH, CACHED_BYTES};
use crate::filter::cores::{
    Build, ChangeShared, Clear, CountCopies, Counted, FilterCore, HasLayout, Insert, Remove, RemoveShared,
    Shared,
};
use crate::hash::{Digest, Domain, reduce};
use crate::plan;

/// Parts of a filter. Two threads collide in a part once in 256 operations.
const PARTS: u64 = 256;

/// Keys that are sorted by part at once: 128 per part, so that one transfer of its lines from other
/// threads serves several keys.
const SORTED: usize = 1 << 15;

/// A [`LineFilter`](super::LineFilter) that many threads insert into, look up in and remove from,
/// through `&self`.
///
/// Its keys are divided among 256 filters with a lock each. Once an operation has returned, every
/// later one sees its effect.
///
/// # Costs
/// Each operation locks and unlocks a part. Loads of the parts vary, and the plan leaves room for
/// the fullest.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
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
pub type ShardedLineFilter<D = Portable> = Filter<Shared<Sharded>, D>;

/// The core of [`ShardedLineFilter`].
#[derive(Debug)]
pub struct Sharded {
    layout: LineLayout,
    /// Each in cache lines of its own, since locks are written.
    parts: Vec<Part>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Part(Mutex<LineTable<Vec<Line>>>);

impl ShardedLineFilter {
    /// A filter that holds `items` keys at a false-positive rate of at most `rate`, with a random
    /// seed.
    ///
    /// # Errors
    /// If there is no such filter (see [`plan::line::for_rate`]), or no memory for it.
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        let layout = plan::line::for_rate(plan::line::fullest_part(items, PARTS), rate)?;
        Self::with_digester(layout, Portable::random())
    }
}

/// 256 empty filters of a layout.
impl Build for Shared<Sharded> {
    fn build(layout: LineLayout) -> Result<Self, BuildError> {
        let part = |_| Ok(Part(Mutex::new(LineTable::build(layout)?)));
        let parts = (0..PARTS).map(part).collect::<Result<_, BuildError>>()?;
        Ok(Self(Sharded { layout, parts }))
    }
}

impl Sharded {
    /// The part of a digest, locked.
    #[inline]
    fn part(&self, digest: Digest) -> MutexGuard<'_, LineTable<Vec<Line>>> {
        self.lock(part_of(digest))
    }

    /// A part, locked. A thread that panicked did so outside of a change: no user code runs inside.
    #[inline]
    fn lock(&self, part: usize) -> MutexGuard<'_, LineTable<Vec<Line>>> {
        self.parts[part].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prefetches the homes of digests in a part, unless a cache holds all parts.
    #[inline]
    fn ask(&self, part: &LineTable<Vec<Line>>, digests: &[(u32, Digest)]) {
        let table = &part.table;
        if table.layout.byte_len() * PARTS >= CACHED_BYTES as u64 {
            for &(_, digest) in digests {
                table.lines.prefetch_line(table.places.of(Places::word(digest)).line);
            }
        }
    }

    /// Calls `change` for each digest, and locks each part once for many of them.
    fn change_many<E>(
        &self,
        digests: impl Iterator<Item = Digest>,
        change: impl Fn(&mut LineTable<Vec<Line>>, Digest) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sorted = Sorted::new(digests);
        let mut done = Ok(());
        while sorted.take() {
            for (part, digests) in sorted.parts() {
                let mut part = self.lock(part);
                for digests in digests.chunks(BATCH) {
                    self.ask(&part, digests);
                    for &(_, digest) in digests {
                        done = change(&mut part, digest).and(done);
                    }
                }
            }
        }
        done
    }

    /// The parts one after the other, locked.
    fn each(&self) -> impl Iterator<Item = MutexGuard<'_, LineTable<Vec<Line>>>> {
        self.parts.iter().map(|part| part.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChangeShared for Sharded {
    type Inserted = Result<bool, Full>;

    #[inline]
    fn insert(&self, digest: Digest) -> Result<bool, Full> {
        self.part(digest).insert(digest)
    }

    fn insert_many(&self, digests: impl Iterator<Item = Digest>, _scratch: u64) -> Result<(), Full> {
        self.change_many(digests, |part, digest| part.insert(digest).map(drop))
    }
}

impl RemoveShared for Sharded {
    #[inline]
    fn insert_if_absent(&self, digest: Digest) -> Result<bool, Full> {
        // One lock for both: another thread with the same digest waits.
        let mut part = self.part(digest);
        if part.contains(digest) { Ok(true) } else { part.insert(digest) }
    }

    #[inline]
    fn remove(&self, digest: Digest) -> Result<(), NotPresent> {
        self.part(digest).remove(digest)
    }

    fn remove_many(&self, digests: impl Iterator<Item = Digest>) -> Result<(), NotPresent> {
        self.change_many(digests, LineTable::remove)
    }
}

impl FilterCore for Sharded {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        self.part(digest).contains(digest)
    }

    fn contains_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        _scratch: u64,
        mut answer: impl FnMut(bool),
    ) {
        let mut sorted = Sorted::new(digests);
        let mut answers = Vec::new();
        while sorted.take() {
            answers.clear();
            answers.resize(sorted.came.len(), false);
            for (part, digests) in sorted.parts() {
                let part = self.lock(part);
                for digests in digests.chunks(BATCH) {
                    self.ask(&part, digests);
                    for &(number, digest) in digests {
                        answers[number as usize] = part.contains(digest);
                    }
                }
            }
            answers.iter().for_each(|&found| answer(found));
        }
    }

    fn prefetch_all(&self, _: &[Digest]) {}

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn byte_len(&self) -> usize {
        self.each().map(|part| part.byte_len()).sum()
    }

    fn false_positive_rate(&self) -> f64 {
        self.each().map(|part| part.false_positive_rate()).sum::<f64>() / PARTS as f64
    }
}

/// The layout of each part.
impl HasLayout for Sharded {
    type Layout = LineLayout;

    fn layout(&self) -> LineLayout {
        self.layout
    }
}

impl Counted for Sharded {
    fn len(&self) -> u64 {
        self.each().map(|part| part.len()).sum()
    }
}

impl CountCopies for Sharded {
    fn count(&self, digest: Digest) -> u64 {
        self.part(digest).count(digest)
    }
}

impl Clear for Sharded {
    type Cleared = ();

    fn clear(&mut self) {
        self.each().for_each(|mut part| part.clear());
    }
}

/// The number of a digest's part.
#[inline]
fn part_of(digest: Digest) -> usize {
    reduce(digest.word(Domain::LINE, 2), PARTS) as usize
}

/// Digests sorted by part, [`SORTED`] at a time.
struct Sorted<I> {
    digests: I,
    /// In their original order, with their numbers.
    came: Vec<(u32, Digest)>,
    sorted: Vec<(u32, Digest)>,
    /// The start of each part's digests among the sorted ones, and the end of the last.
    starts: [usize; PARTS as usize + 1],
}

impl<I: Iterator<Item = Digest>> Sorted<I> {
    fn new(digests: I) -> Self {
        Self { digests, came: Vec::new(), sorted: Vec::new(), starts: [0; PARTS as usize + 1] }
    }

    /// Takes the next digests; reports whether there are any.
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

    /// The parts with digests, and these.
    fn parts(&self) -> impl Iterator<Item = (usize, &[(u32, Digest)])> {
        let parts = self.starts.windows(2).enumerate();
        parts
            .map(|(part, range)| (part, &self.sorted[range[0]..range[1]]))
            .filter(|(_, some)| !some.is_empty())
    }
}
