//! The cores of filters, which take digests and know neither keys nor digesters.
//!
//! To add a filter, write a core that implements [`FilterCore`] and the traits of its other
//! operations, and name [`Filter`](super::Filter) over it. Only this crate can name these traits.

use alloc::vec::Vec;

use super::batch::in_batches;
use super::{BuildError, MergeError, NotPresent};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, WordArray, Zeros};
use crate::hash::Digest;
use crate::layout::LayoutError;

/// A set of digests that can be looked up.
pub trait FilterCore {
    fn contains(&self, digest: Digest) -> bool;

    /// Prefetches what the digests' operations read, unless the filter is small enough for a cache.
    fn prefetch_all(&self, digests: &[Digest]);

    /// Calls `answer` for each digest, in order; a large batch may take `scratch` bytes of memory.
    #[inline]
    fn contains_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        _scratch: u64,
        mut answer: impl FnMut(bool),
    ) {
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            digests.iter().for_each(|&digest| answer(self.contains(digest)));
        });
    }

    fn is_empty(&self) -> bool;
    fn byte_len(&self) -> usize;
    fn false_positive_rate(&self) -> f64;
}

/// A core made from a layout.
pub trait HasLayout {
    type Layout: Copy;
    fn layout(&self) -> Self::Layout;
}

/// A core that can be empty.
pub trait Build: HasLayout + Sized {
    fn build(layout: Self::Layout) -> Result<Self, BuildError>;
}

/// A core with a planner, which knows the smallest one for a number of keys and a rate.
pub trait ForRate: Build {
    fn for_rate(items: u64, rate: f64) -> Result<Self::Layout, LayoutError>;
}

/// What an insertion returns: whether the key may have been present, or an error.
pub trait Outcome: Sized {
    /// The result of many insertions.
    type Many;
    /// Reports that the key may have been present.
    const PRESENT: Self;
    /// Inserts until one fails.
    fn all(outcomes: impl Iterator<Item = Self>) -> Self::Many;
    fn has_failed(many: &Self::Many) -> bool;
}

impl Outcome for bool {
    type Many = ();
    const PRESENT: Self = true;

    #[inline]
    fn all(outcomes: impl Iterator<Item = Self>) {
        outcomes.for_each(drop);
    }

    #[inline]
    fn has_failed((): &()) -> bool {
        false
    }
}

impl<E> Outcome for Result<bool, E> {
    type Many = Result<(), E>;
    const PRESENT: Self = Ok(true);

    #[inline]
    fn all(mut outcomes: impl Iterator<Item = Self>) -> Result<(), E> {
        outcomes.try_for_each(|outcome| outcome.map(drop))
    }

    #[inline]
    fn has_failed(many: &Result<(), E>) -> bool {
        many.is_err()
    }
}

/// The result of many insertions into a core.
pub(super) type ManyInserted<O> = <O as Outcome>::Many;

/// A core that takes more digests.
pub trait Insert: FilterCore {
    type Inserted: Outcome;
    fn insert(&mut self, digest: Digest) -> Self::Inserted;

    /// Inserts up to the first digest that fails; a large batch may take `scratch` bytes of memory.
    #[inline]
    fn insert_many(
        &mut self,
        digests: impl Iterator<Item = Digest>,
        _scratch: u64,
    ) -> ManyInserted<Self::Inserted> {
        let mut many = Outcome::all(core::iter::empty::<Self::Inserted>());
        in_batches(digests, |digests| {
            if !Self::Inserted::has_failed(&many) {
                self.prefetch_all(digests);
                many = Outcome::all(digests.iter().map(|&digest| self.insert(digest)));
            }
        });
        many
    }
}

/// A core from which digests can be removed.
pub trait Remove: Insert {
    fn remove(&mut self, digest: Digest) -> Result<(), NotPresent>;

    /// Removes up to the first digest that is absent.
    #[inline]
    fn remove_many(&mut self, digests: impl Iterator<Item = Digest>) -> Result<(), NotPresent> {
        let mut result = Ok(());
        in_batches(digests, |digests| {
            if result.is_ok() {
                self.prefetch_all(digests);
                result = digests.iter().try_for_each(|&digest| self.remove(digest));
            }
        });
        result
    }
}

/// A core that can be cleared.
pub trait Clear {
    type Cleared;
    fn clear(&mut self) -> Self::Cleared;
}

/// A core that can take over the digests of another.
pub trait Union<C> {
    fn union(&mut self, other: &C) -> Result<(), MergeError>;
}

/// A core that can be intersected with another.
pub trait Intersect<C> {
    fn intersect(&mut self, other: &C) -> Result<(), MergeError>;
}

/// A core that can be compared with another: equal layouts and equal bits.
pub trait Same<C> {
    fn is_same(&self, other: &C) -> bool;
}

/// A core that is not [`Shared`].
pub trait Unshared {}

impl<C: Union<E>, E> Union<Shared<E>> for C {
    fn union(&mut self, other: &Shared<E>) -> Result<(), MergeError> {
        self.union(&other.0)
    }
}

impl<C: Intersect<E>, E> Intersect<Shared<E>> for C {
    fn intersect(&mut self, other: &Shared<E>) -> Result<(), MergeError> {
        self.intersect(&other.0)
    }
}

impl<C: Same<E>, E> Same<Shared<E>> for Shared<C> {
    fn is_same(&self, other: &Shared<E>) -> bool {
        self.0.is_same(&other.0)
    }
}

impl<C: Same<E>, E: Unshared> Same<E> for Shared<C> {
    fn is_same(&self, other: &E) -> bool {
        self.0.is_same(other)
    }
}

impl<C: Same<E> + Unshared, E> Same<Shared<E>> for C {
    fn is_same(&self, other: &Shared<E>) -> bool {
        self.is_same(&other.0)
    }
}

/// A core that counts its keys.
pub trait Counted {
    fn len(&self) -> u64;
}

/// A core that counts the copies of each key.
pub trait CountCopies {
    fn count(&self, digest: Digest) -> u64;
}

/// A core whose bits tell about how many keys it has.
pub trait Estimate {
    /// The number of bits, or counters, that are not 0.
    fn ones(&self) -> u64;
    fn estimated_items(&self) -> f64;
}

/// A core that a container stores as a layout and words.
pub trait SavedCore: Sized {
    const KIND: Kind;
    /// The storage of its words.
    type Storage;
    fn layout_block(&self) -> LayoutBlock;
    fn payload_length(&self) -> u64;
    /// Passes the payload to `sink` in pieces, the same ones every time.
    fn write_payload(&self, sink: &mut dyn FnMut(&[u8]));
    fn read(layout: &LayoutBlock, source: &mut impl Source<Self::Storage>) -> Result<Self, LoadError>;

    /// Checks the content once the checksum of the payload has matched, so that damage is reported
    /// as damage.
    fn check_content(&self) -> Result<(), LoadError> {
        Ok(())
    }
}

/// A saved core in memory, whose large arrays are copied apart from all else.
pub trait Apart: SavedCore<Storage: Zeros> {
    /// Adds the words that [`read`](SavedCore::read) copies, in order.
    fn records(&self, _: &mut Vec<u64>) {}

    /// Adds the arrays that [`read`](SavedCore::read) takes, in order.
    fn arrays<'a>(&'a self, arrays: &mut Vec<&'a dyn WordArray>);
    fn arrays_mut<'a>(&'a mut self, arrays: &mut Vec<&'a mut dyn WordArray>);
}

/// A core that many threads can change.
pub trait ChangeShared: FilterCore {
    type Inserted: Outcome;
    fn insert(&self, digest: Digest) -> Self::Inserted;
    fn insert_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        scratch: u64,
    ) -> ManyInserted<Self::Inserted>;
}

/// A core from which many threads can remove.
pub trait RemoveShared: ChangeShared {
    /// Inserts a digest unless it is present, as one atomic operation.
    fn insert_if_absent(&self, digest: Digest) -> Self::Inserted;
    fn remove(&self, digest: Digest) -> Result<(), NotPresent>;
    fn remove_many(&self, digests: impl Iterator<Item = Digest>) -> Result<(), NotPresent>;
}

/// A core that is changed through `&self`.
#[derive(Clone, Debug)]
pub struct Shared<C>(pub(super) C);

impl<C: FilterCore> FilterCore for Shared<C> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        self.0.contains(digest)
    }

    #[inline]
    fn prefetch_all(&self, digests: &[Digest]) {
        self.0.prefetch_all(digests);
    }

    #[inline]
    fn contains_many(&self, digests: impl Iterator<Item = Digest>, scratch: u64, answer: impl FnMut(bool)) {
        self.0.contains_many(digests, scratch, answer);
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn byte_len(&self) -> usize {
        self.0.byte_len()
    }

    fn false_positive_rate(&self) -> f64 {
        self.0.false_positive_rate()
    }
}

impl<C: HasLayout> HasLayout for Shared<C> {
    type Layout = C::Layout;

    fn layout(&self) -> C::Layout {
        self.0.layout()
    }
}

impl<C: Estimate> Estimate for Shared<C> {
    fn ones(&self) -> u64 {
        self.0.ones()
    }

    fn estimated_items(&self) -> f64 {
        self.0.estimated_items()
    }
}

impl<C: Counted> Counted for Shared<C> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<C: CountCopies> CountCopies for Shared<C> {
    fn count(&self, digest: Digest) -> u64 {
        self.0.count(digest)
    }
}

impl<C: Clear> Clear for Shared<C> {
    type Cleared = C::Cleared;

    fn clear(&mut self) -> C::Cleared {
        self.0.clear()
    }
}
