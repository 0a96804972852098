//! What is told of a store that was verified.

use std::fmt;

/// Something in a store that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The header; then nothing else could be checked.
    Header {
        /// What is wrong.
        what: String,
    },
    /// A part of the summary. Pages were checked without it, each by itself.
    Summary {
        /// What is wrong.
        what: String,
    },
    /// A page, and with it the keys on it.
    Page {
        /// Its number among those of all segments.
        page: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A large value, or what lies between two.
    Run {
        /// Where among the bytes of all runs.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A number in the header is not that of what is there, though all checksums are right.
    Count {
        /// Which number.
        what: &'static str,
        /// What the header says.
        expected: u64,
        /// What is there.
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

/// What [`verify()`](crate::verify()) found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// Pages read.
    pub pages: u64,
    /// Keys on whole pages. Of a live store, all keys: changes in its log count as if they were on
    /// pages already.
    pub items: u64,
    /// Large values read.
    pub runs: u64,
    /// All that is not as it was written.
    pub damage: Vec<Damage>,
}

impl Verification {
    /// Whether everything is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
    }

    /// Compares what was counted with what the store says: what, expected, found.
    pub(crate) fn count(&mut self, counts: impl IntoIterator<Item = (&'static str, u64, u64)>) {
        let wrong = counts.into_iter().filter(|(_, expected, found)| expected != found);
        self.damage.extend(wrong.map(|(what, expected, found)| Damage::Count { what, expected, found }));
    }
}
