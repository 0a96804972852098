//! The façade of all structures that hash keys: a core, a digester and every public method.
//!
//! Filters have all of it; sketches and summaries share how they are made, saved and compared.

mod changes;
mod joins;
mod parts;
mod queries;
mod saving;
mod shared;

use core::fmt;

use super::cores::{Build, ForRate, HasLayout};
use super::{BuildError, MergeError};
use crate::hash::{Digest, Digester, Portable};

/// A filter, a sketch or a summary of keys: a `Core` that takes digests, and a digester `D` that
/// makes them.
///
/// Its forms have names, such as [`BloomFilter`](super::BloomFilter), whose docs state promises and
/// costs. Insertion returns `bool`, whether the key may have been present, or a `Result` of that in
/// forms that can be full.
#[derive(Clone)]
pub struct Filter<Core, D = Portable> {
    core: Core,
    digester: D,
}

impl<C: Build> Filter<C> {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// Like [`with_digester`](Self::with_digester).
    #[cfg(feature = "std")]
    pub fn new(layout: C::Layout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout with this seed.
    ///
    /// # Errors
    /// Like [`with_digester`](Self::with_digester).
    pub fn with_seed(layout: C::Layout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }
}

impl<C: ForRate> Filter<C> {
    /// The smallest filter that holds `items` keys at a false-positive rate of at most `rate`, with
    /// a random seed.
    ///
    /// The form's planner ([`plan`](crate::plan)) decides, with its default policies. For filters
    /// that age with removals it plans for some of these.
    ///
    /// # Errors
    /// If there is no such filter, or no memory for it.
    #[cfg(feature = "std")]
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::new(C::for_rate(items, rate)?)
    }
}

impl<C: Build, D> Filter<C, D> {
    /// An empty filter of this layout with this digester.
    ///
    /// # Errors
    /// If the filter does not support this layout, or if there is no memory for it.
    pub fn with_digester(layout: C::Layout, digester: D) -> Result<Self, BuildError> {
        Ok(Self::of(C::build(layout)?, digester))
    }
}

impl<C, D> Filter<C, D> {
    #[inline]
    pub(crate) const fn of(core: C, digester: D) -> Self {
        Self { core, digester }
    }

    #[inline]
    pub(crate) const fn core(&self) -> &C {
        &self.core
    }

    #[inline]
    pub(crate) const fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    pub(crate) const fn parts_mut(&mut self) -> (&mut C, &D) {
        (&mut self.core, &self.digester)
    }

    pub(crate) fn into_core(self) -> C {
        self.core
    }

    /// The same keys in another core.
    pub(crate) fn map<E>(self, change: impl FnOnce(C) -> E) -> Filter<E, D> {
        Filter { core: change(self.core), digester: self.digester }
    }

    /// The digester of its keys.
    pub const fn digester(&self) -> &D {
        &self.digester
    }

    /// The digest of a key.
    #[inline]
    pub(crate) fn digest<Q: ?Sized>(&self, key: &Q) -> Digest
    where
        D: Digester<Q>,
    {
        self.digester.digest(key)
    }

    pub(super) fn check_digester<E>(&self, other: &Filter<E, D>) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        if self.digester == other.digester { Ok(()) } else { Err(MergeError::Digesters) }
    }
}

impl<C: HasLayout, D> Filter<C, D> {
    /// The layout of the filter.
    pub fn layout(&self) -> C::Layout {
        self.core.layout()
    }
}

impl<C: fmt::Debug, D> fmt::Debug for Filter<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}
