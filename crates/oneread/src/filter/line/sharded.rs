//! A line filter for many threads: parts with a lock each.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use super::{BuildError, Full, LineFilter, LineLayout, NotPresent, Portable};
use crate::hash::{Digest, Digester, Domain, reduce};
use crate::plan;

/// Parts of a filter. Two threads meet in one of 256 parts once in 256 operations.
const PARTS: u64 = 256;

/// A [`LineFilter`] that many threads insert into, look up in and remove from at once, through `&self`.
///
/// Its keys are divided among 256 filters with a lock each. Once an operation has returned, every later one sees what it did.
///
/// # Costs
/// A lock and an unlock an operation, and the imbalance of the parts: they are planned for keys enough that the fullest is not too full.
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
    /// The part of a digest, locked. A thread that panicked meanwhile did so outside of a change: no user code runs within.
    #[inline]
    fn part(&self, digest: Digest) -> MutexGuard<'_, LineFilter<D>> {
        let part = reduce(digest.word(Domain::LINE, 2), PARTS) as usize;
        self.parts[part].0.lock().unwrap_or_else(PoisonError::into_inner)
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
