//! The result of verifying a store.

use std::fmt;

/// A kind of damage to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The header; then nothing else could be checked.
    Header {
        /// What is wrong.
        what: String,
    },
    /// A part of the summary. Each page was still checked by itself.
    Summary {
        /// What is wrong.
        what: String,
    },
    /// A page, and the keys on it.
    Page {
        /// The number of the page in the store.
        page: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A large value, or a gap between two.
    Run {
        /// Its offset among the bytes of all runs.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A count in the header is wrong, though all checksums are right.
    Count {
        /// Which count.
        what: &'static str,
        /// What the header says.
        expected: u64,
        /// The actual count.
        found: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { what } => write!(f, "header: {what}"),
            Self::Summary { what } => write!(f, "summary: {what}"),
            Self::Page { page, what } => write!(f, "page {page}: {what}"),
            Self::Run { offset, what } => write!(f, "large value at {offset}: {what}"),
            Self::Count { what, expected, found } => {
                write!(f, "expected {expected} {what}, as the header says, found {found}")
            }
        }
    }
}

/// The result of [`verify()`](crate::verify()).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The number of pages read.
    pub pages: u64,
    /// Keys on undamaged pages. For a live store, all keys: changes in its log count as merged.
    pub items: u64,
    /// The number of large values read.
    pub runs: u64,
    /// All damage found.
    pub damage: Vec<Damage>,
}

impl Verification {
    /// Reports whether the store is undamaged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
    }

    /// Compares counts with what the store says: (which, expected, found).
    pub(crate) fn count(&mut self, counts: impl IntoIterator<Item = (&'static str, u64, u64)>) {
        let wrong = counts.into_iter().filter(|(_, expected, found)| expected != found);
        self.damage.extend(wrong.map(|(what, expected, found)| Damage::Count { what, expected, found }));
    }
}
