//! The papers, by their short names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A paper whose claims are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// Simple Summaries for Hashing With Choices.
    Summaries,
    /// Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment. Its short name is one word.
    #[serde(rename = "dleft")]
    DLeft,
    /// Less Hashing, Same Performance.
    LessHashing,
    /// On the Performance of Multiple Choice Hash Tables with Moves on Deletes and Inserts.
    Moves,
    /// Lecture notes on hashing.
    Lecture,
}

impl Paper {
    /// All papers, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Summaries, Self::DLeft, Self::LessHashing, Self::Moves, Self::Lecture];

    /// The short name, as used on the command line and in the ids of experiments.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Summaries => "summaries",
            Self::DLeft => "dleft",
            Self::LessHashing => "less-hashing",
            Self::Moves => "moves",
            Self::Lecture => "lecture",
        }
    }

    /// Authors, title and year.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Summaries => "Kirsch, Mitzenmacher: Simple Summaries for Hashing With Choices, 2008",
            Self::DLeft => {
                "Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: Bloom Filters via d-Left Hashing and Dynamic Bit \
                 Reassignment, 2006"
            }
            Self::LessHashing => {
                "Kirsch, Mitzenmacher: Less Hashing, Same Performance: Building a Better Bloom Filter, 2006"
            }
            Self::Moves => {
                "Kirsch, Mitzenmacher: On the Performance of Multiple Choice Hash Tables with Moves on Deletes and \
                 Inserts, 2008"
            }
            Self::Lecture => "Lecture notes, chapter 6: Hashing",
        }
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Paper {
    type Err = UnknownPaper;

    fn from_str(name: &str) -> Result<Self, UnknownPaper> {
        Self::ALL.into_iter().find(|paper| paper.name() == name).ok_or(UnknownPaper)
    }
}

/// No paper has this short name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPaper;

impl fmt::Display for UnknownPaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Paper::ALL.map(Paper::name).join(", ");
        write!(f, "no paper of that name: choose among {names}")
    }
}

impl std::error::Error for UnknownPaper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paper_has_one_name_everywhere() {
        assert_eq!("summary".parse::<Paper>(), Err(UnknownPaper));
        for paper in Paper::ALL {
            assert_eq!(paper.name().parse(), Ok(paper));
            assert_eq!(serde_json::to_string(&paper).unwrap(), format!("{:?}", paper.name()));
        }
    }
}
