//! Where summaries meet keys: a core and a digester, and the methods that users call.

use core::fmt;
use core::ops::Deref;

use super::batch::in_chunks;
use super::{BuildError, ChangeError, LevelSet, Summary};
use crate::bits::LittleEndian;
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Rest, Saved, Source, Viewed};
use crate::hash::{Digest, Digester, Portable};

/// A summary of keys: a `Core` that takes digests, and a digester `D` that makes them.
///
/// Use its aliases, such as [`MultiFilterSummary`](super::MultiFilterSummary); their docs state
/// promises and costs. The core's read-only methods are available too.
#[derive(Clone)]
pub struct KeySummary<Core, D = Portable> {
    core: Core,
    digester: D,
}

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

/// A core that is saved as a layout and words.
pub trait WriteCore {
    fn layout_block(&self) -> LayoutBlock;
    fn payload_length(&self) -> u64;
    /// Writes the payload in pieces, the same ones every time.
    fn write_payload(&self, sink: &mut dyn FnMut(&[u8]));
}

/// A core over words of storage `S`, read from a container.
pub trait ReadCore<S>: Sized {
    const KIND: Kind;
    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError>;

    /// Checks the content after the checksum, so that damage is not reported as a forgery.
    fn check_content(&self) -> Result<(), LoadError> {
        Ok(())
    }
}

impl<C, D> KeySummary<C, D> {
    pub(super) const fn of(core: C, digester: D) -> Self {
        Self { core, digester }
    }

    /// The digester of the keys.
    pub const fn digester(&self) -> &D {
        &self.digester
    }
}

impl<C: NameLevels, D> KeySummary<C, D> {
    /// Returns the levels where a key can be.
    #[inline]
    pub fn levels_of<Q: ?Sized>(&self, key: &Q) -> LevelSet
    where
        D: Digester<Q>,
    {
        self.core.lookup(self.digester.digest(key))
    }

    /// Returns the levels where the key of a digest can be.
    #[inline]
    pub fn levels_of_digest(&self, digest: Digest) -> LevelSet {
        self.core.lookup(digest)
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
        let digests = keys.into_iter().map(|key| self.digester.digest(key));
        in_chunks(digests, |digests| self.core.lookup_many(digests, &mut answer));
    }
}

impl<C: FollowTable, D> Summary for KeySummary<C, D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.core.level_count()
    }

    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        self.core.lookup(digest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        self.core.lookup_many(digests, answer);
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        self.core.insert(digest, level)
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        self.core.remove(digest, level)
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        self.core.relocate(digest, from, to)
    }

    fn can_remove(&self) -> bool {
        C::CAN_REMOVE
    }

    fn reset(&mut self) {
        self.core.reset();
    }

    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        D: Clone,
    {
        Ok(Self::of(self.core.emptied()?, self.digester.clone()))
    }

    fn byte_len(&self) -> u64 {
        self.core.byte_len()
    }
}

/// Gives access to the core's read-only methods.
impl<C, D> Deref for KeySummary<C, D> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.core
    }
}

impl<C: fmt::Debug, D> fmt::Debug for KeySummary<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

impl<C, D> Saved for KeySummary<C, D>
where
    C: WriteCore + ReadCore<alloc::vec::Vec<u64>>,
    D: Identified,
{
    const KIND: Kind = C::KIND;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        self.core.layout_block()
    }

    fn payload_length(&self) -> u64 {
        self.core.payload_length()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.core.write_payload(sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        Ok(Self::of(C::read(layout, payload)?, digester))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.core.check_content()
    }
}

impl<'a, C: ReadCore<LittleEndian<'a>>, D: Identified> Viewed<'a> for KeySummary<C, D> {
    const KIND: Kind = C::KIND;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let mut rest = Rest::new(payload);
        let core = C::read(layout, &mut rest)?;
        rest.finish()?;
        Ok(Self::of(core, digester))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.core.check_content()
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
                Self::with_digester($($argument),+, Portable::random())
            }

            /// Creates an empty summary that is the same for the same seed.
            ///
            /// # Errors
            /// As [`with_digester`](Self::with_digester).
            pub fn with_seed($($argument: $kind),+, seed: u64) -> Result<Self, BuildError> {
                Self::with_digester($($argument),+, Portable::with_seed(seed))
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
