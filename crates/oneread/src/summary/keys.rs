//! Where summaries meet keys: what [`Filter`], a core and a digester, can do if the core names
//! levels.

use core::ops::Deref;

use super::batch::in_chunks;
use super::{BuildError, ChangeError, LevelSet, Summary};
use crate::filter::Filter;
use crate::hash::{Digest, Digester};

/// A core that names the levels of digests.
pub trait NameLevels {
    fn lookup(&self, digest: Digest) -> LevelSet;
    fn lookup_many(&self, digests: &[Digest], answer: impl FnMut(LevelSet));
}

/// A core that follows the changes of a table: the methods of [`Summary`].
pub trait FollowTable: NameLevels + Sized {
    const CAN_REMOVE: bool;
    fn level_count(&self) -> usize;
    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError>;
    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError>;
    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError>;
    fn reset(&mut self);
    fn emptied(&self) -> Result<Self, BuildError>;
    fn byte_len(&self) -> u64;
}

impl<C: NameLevels, D> Filter<C, D> {
    /// Returns the levels where a key can be.
    #[inline]
    pub fn levels_of<Q: ?Sized>(&self, key: &Q) -> LevelSet
    where
        D: Digester<Q>,
    {
        self.core().lookup(self.digest(key))
    }

    /// Returns the levels where the key of a digest can be.
    #[inline]
    pub fn levels_of_digest(&self, digest: Digest) -> LevelSet {
        self.core().lookup(digest)
    }

    /// Calls `answer` with the levels of each key, in order. Faster than single lookups when the
    /// summary is not cache-resident.
    pub fn levels_of_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(LevelSet),
    ) where
        D: Digester<Q>,
    {
        let digests = keys.into_iter().map(|key| self.digest(key));
        in_chunks(digests, |digests| self.core().lookup_many(digests, &mut answer));
    }
}

impl<C: FollowTable, D> Summary for Filter<C, D> {
    type Digester = D;

    fn digester(&self) -> &D {
        Self::digester(self)
    }

    fn level_count(&self) -> usize {
        self.core().level_count()
    }

    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        self.core().lookup(digest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        self.core().lookup_many(digests, answer);
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        self.core_mut().insert(digest, level)
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        self.core_mut().remove(digest, level)
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        self.core_mut().relocate(digest, from, to)
    }

    fn can_remove(&self) -> bool {
        C::CAN_REMOVE
    }

    fn reset(&mut self) {
        self.core_mut().reset();
    }

    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        D: Clone,
    {
        Ok(Self::of(self.core().emptied()?, Self::digester(self).clone()))
    }

    fn byte_len(&self) -> u64 {
        self.core().byte_len()
    }
}

/// Gives access to the core's read-only methods.
impl<C: NameLevels, D> Deref for Filter<C, D> {
    type Target = C;

    fn deref(&self) -> &C {
        self.core()
    }
}

/// The constructors of a summary; their last parameter is a digester or a seed.
macro_rules! constructors {
    ($summary:ident, $core:ty, $($argument:ident: $kind:ty),+) => {
        impl $summary {
            /// Creates an empty summary with a random seed.
            ///
            /// # Errors
            /// As [`with_digester`](Self::with_digester).
            #[cfg(feature = "std")]
            pub fn new($($argument: $kind),+) -> Result<Self, BuildError> {
                Self::with_digester($($argument),+, crate::hash::Portable::random())
            }

            /// Creates an empty summary that is the same for the same seed.
            ///
            /// # Errors
            /// As [`with_digester`](Self::with_digester).
            pub fn with_seed($($argument: $kind),+, seed: u64) -> Result<Self, BuildError> {
                Self::with_digester($($argument),+, crate::hash::Portable::with_seed(seed))
            }
        }

        impl<D> $summary<D> {
            /// Creates an empty summary for digests of `digester`.
            ///
            /// # Errors
            /// If the number of levels is 0 or too large, or if memory runs out.
            pub fn with_digester($($argument: $kind),+, digester: D) -> Result<Self, BuildError> {
                Ok(Self::of(<$core>::empty($($argument),+)?, digester))
            }
        }
    };
}
pub(super) use constructors;
