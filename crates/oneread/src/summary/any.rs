//! A summary whose kind is chosen at run time.

use alloc::vec::Vec;

use super::{
    BuildError, ChangeError, InterpolationSummary, JoinError, LevelSet, MultiFilterSummary,
    SingleFilterSummary, Summary,
};
use crate::bytes::{Identified, Kind, LoadError, Saved};
use crate::hash::{Digest, Portable};
use crate::layout::{MultilevelLayout, SummaryLayout};

/// A summary of any [`SummaryLayout`], as plans return it.
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Portable};
/// use oneread::layout::{MultilevelLayout, SingleFilterLayout};
/// use oneread::summary::{AnySummary, Summary};
///
/// let table = MultilevelLayout::new([400, 100, 50])?;
/// let layout = SingleFilterLayout::new(1200, 15)?.into();
/// let mut summary = AnySummary::with_digester(&layout, &table, Portable::with_seed(1))?;
/// let key = summary.digester().digest("key");
/// assert!(summary.lookup(key).is_empty());
/// summary.insert(key, 2)?;
/// assert_eq!(summary.lookup(key).first(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnySummary<D = Portable> {
    /// A sorted array of strings with levels.
    Interpolation(InterpolationSummary<D>),
    /// One filter of cells.
    Single(SingleFilterSummary<D>),
    /// A filter per level.
    Multiple(MultiFilterSummary<D>),
}

impl<D> AnySummary<D> {
    /// Creates an empty summary of `table` for digests of `digester`.
    ///
    /// # Errors
    /// If `layout` has filters for another number of levels, or if memory runs out.
    pub fn with_digester(
        layout: &SummaryLayout,
        table: &MultilevelLayout,
        digester: D,
    ) -> Result<Self, JoinError> {
        let levels = table.level_count();
        let summary = match layout {
            SummaryLayout::Interpolation(layout) => {
                Self::Interpolation(InterpolationSummary::with_digester(*layout, levels, digester)?)
            }
            SummaryLayout::Single(layout) => {
                Self::Single(SingleFilterSummary::with_digester(*layout, levels, digester)?)
            }
            SummaryLayout::Multiple(layout) => {
                Self::Multiple(MultiFilterSummary::with_digester(layout.clone(), digester)?)
            }
        };
        summary.check_table(table)?;
        Ok(summary)
    }

    fn inner(&self) -> &dyn Summary<Digester = D> {
        match self {
            Self::Interpolation(summary) => summary,
            Self::Single(summary) => summary,
            Self::Multiple(summary) => summary,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Summary<Digester = D> {
        match self {
            Self::Interpolation(summary) => summary,
            Self::Single(summary) => summary,
            Self::Multiple(summary) => summary,
        }
    }
}

impl<D> Summary for AnySummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        self.inner().digester()
    }

    fn level_count(&self) -> usize {
        self.inner().level_count()
    }

    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        match self {
            Self::Interpolation(summary) => summary.lookup(digest),
            Self::Single(summary) => summary.lookup(digest),
            Self::Multiple(summary) => summary.lookup(digest),
        }
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        self.inner().lookup_many(digests, answer);
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        self.inner_mut().insert(digest, level)
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        self.inner_mut().remove(digest, level)
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        self.inner_mut().relocate(digest, from, to)
    }

    fn can_remove(&self) -> bool {
        self.inner().can_remove()
    }

    fn reset(&mut self) {
        self.inner_mut().reset();
    }

    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        D: Clone,
    {
        Ok(match self {
            Self::Interpolation(summary) => Self::Interpolation(summary.emptied()?),
            Self::Single(summary) => Self::Single(summary.emptied()?),
            Self::Multiple(summary) => Self::Multiple(summary.emptied()?),
        })
    }

    fn byte_len(&self) -> u64 {
        self.inner().byte_len()
    }
}

impl<D: Identified> AnySummary<D> {
    /// Encodes the summary as the bytes of its own kind.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Interpolation(summary) => summary.to_bytes(),
            Self::Single(summary) => summary.to_bytes(),
            Self::Multiple(summary) => summary.to_bytes(),
        }
    }

    /// Loads a summary of any kind, with the digester that the bytes name.
    ///
    /// # Errors
    /// If the bytes are invalid; [`LoadError::DigesterNeeded`] if the digester has a secret.
    ///
    /// # Example
    /// ```
    /// use oneread::hash::{Digester, Portable};
    /// use oneread::layout::{InterpolationLayout, MultilevelLayout};
    /// use oneread::summary::{AnySummary, Summary};
    ///
    /// let table = MultilevelLayout::new([40, 10])?;
    /// let layout = InterpolationLayout::new(50)?.into();
    /// let mut summary = AnySummary::with_digester(&layout, &table, Portable::with_seed(1))?;
    /// let key = summary.digester().digest("key");
    /// summary.insert(key, 1)?;
    /// let loaded: AnySummary = AnySummary::from_bytes(&summary.to_bytes())?;
    /// assert_eq!(loaded.lookup(key).first(), Some(1));
    /// assert!(<AnySummary>::from_bytes(b"something else").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        match Kind::of(bytes)? {
            Kind::InterpolationSummary => Saved::from_bytes(bytes).map(Self::Interpolation),
            Kind::SingleFilterSummary => Saved::from_bytes(bytes).map(Self::Single),
            // Any other kind is an error, which names the kind found.
            _ => Saved::from_bytes(bytes).map(Self::Multiple),
        }
    }

    /// Loads a summary that `digester` was used for.
    ///
    /// # Errors
    /// If the bytes are invalid; [`LoadError::Digester`] if they name another digester or seed.
    pub fn from_bytes_with(bytes: &[u8], digester: D) -> Result<Self, LoadError> {
        match Kind::of(bytes)? {
            Kind::InterpolationSummary => Saved::from_bytes_with(bytes, digester).map(Self::Interpolation),
            Kind::SingleFilterSummary => Saved::from_bytes_with(bytes, digester).map(Self::Single),
            _ => Saved::from_bytes_with(bytes, digester).map(Self::Multiple),
        }
    }
}
