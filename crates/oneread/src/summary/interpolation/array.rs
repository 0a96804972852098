//! Strings queried where they lie.

use super::{Packed, Widths, levels_of, string_of};
use crate::bits::{LittleEndian, Words};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable};
use crate::layout::InterpolationLayout;
use crate::summary::LevelSet;

/// The strings of an [`InterpolationSummary`](super::InterpolationSummary) in one array of storage `S`, in blocks or not; use its named
/// form, [`InterpolationView`].
#[derive(Clone, Debug)]
pub struct InterpolationArray<D, S> {
    pub(in super::super) layout: InterpolationLayout,
    pub(in super::super) levels: usize,
    pub(in super::super) digester: D,
    pub(in super::super) widths: Widths,
    pub(in super::super) entries: Packed<S>,
    /// How many entries each block has; of one block, nothing.
    pub(in super::super) block_lengths: S,
}

/// An [`InterpolationSummary`](super::InterpolationSummary) queried where its bytes lie.
pub type InterpolationView<'a, D = Portable> = View<'a, InterpolationArray<D, LittleEndian<'a>>>;

impl<D, S: Words> InterpolationArray<D, S> {
    /// The layout it was made with.
    pub fn layout(&self) -> InterpolationLayout {
        self.layout
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The levels where a key can be.
    #[inline]
    pub fn levels_of<Q: ?Sized>(&self, key: &Q) -> LevelSet
    where
        D: Digester<Q>,
    {
        self.levels_of_digest(self.digester.digest(key))
    }

    /// The levels where the key of a digest can be.
    #[inline]
    pub fn levels_of_digest(&self, digest: Digest) -> LevelSet {
        levels_of(&self.entries, string_of(digest, self.widths), self.widths, 0)
    }
}
