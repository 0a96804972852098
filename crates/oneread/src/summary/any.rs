//! A summary of a kind that is known only when it is made.

use alloc::vec::Vec;

use super::{
    BuildError, ChangeError, InterpolationSummary, JoinError, LevelSet, MultiFilterSummary,
    SingleFilterSummary, Summary,
};
use crate::bytes::{Identified, Kind, LoadError, Saved};
use crate::hash::{Digest, Portable};
use crate::layout::{MultilevelLayout, SummaryLayout};

/// The summary of a [`SummaryLayout`], of whatever kind: what a plan leads to.
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
    /// A sorted array of strings.
    Interpolation(InterpolationSummary<D>),
    /// One filter of cells.
    Single(SingleFilterSummary<D>),
    /// A filter for each level.
    Multiple(MultiFilterSummary<D>),
}

impl<D> AnySummary<D> {
    /// An empty summary of a table, for digests of this digester.
    ///
    /// # Errors
    /// If multiple filters are not as many as there are levels, or if there is no memory for it.
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
    /// The summary as the bytes of its own kind.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Interpolation(summary) => summary.to_bytes(),
            Self::Single(summary) => summary.to_bytes(),
            Self::Multiple(summary) => summary.to_bytes(),
        }
    }

    /// Loads a summary of whichever of its kinds the bytes hold, with the digester that they name.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes; [`LoadError::DigesterNeeded`] if the digester has a
    /// secret.
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
            // Anything else is an error, which tells what it is.
            _ => Saved::from_bytes(bytes).map(Self::Multiple),
        }
    }

    /// Loads a summary that was made with this digester.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes; [`LoadError::Digester`] if another digester or seed made
    /// them.
    pub fn from_bytes_with(bytes: &[u8], digester: D) -> Result<Self, LoadError> {
        match Kind::of(bytes)? {
            Kind::InterpolationSummary => Saved::from_bytes_with(bytes, digester).map(Self::Interpolation),
            Kind::SingleFilterSummary => Saved::from_bytes_with(bytes, digester).map(Self::Single),
            _ => Saved::from_bytes_with(bytes, digester).map(Self::Multiple),
        }
    }
}
