//! The experiments, by paper.
//!
//! Each paper is a folder or a file. A claim names its section, and its id never changes.

/// Defines `new`, which makes an experiment of one paper.
macro_rules! experiment_of {
    ($paper:expr) => {
        fn new(
            name: impl std::fmt::Display,
            claim: impl Into<String>,
            printed: $crate::Printed,
            look: impl Fn(&$crate::experiment::Context) -> Result<$crate::Finding, $crate::experiment::Error>
            + Send
            + Sync
            + 'static,
        ) -> $crate::Experiment {
            $crate::Experiment::new($paper, name, claim, printed, look)
        }
    };
}
use experiment_of;

mod dleft;
mod lecture;
mod less_hashing;
mod moves;
mod random;
mod summaries;

use crate::{Experiment, Paper, Question};

/// The experiments of a paper, in the order of its sections.
#[must_use]
pub fn of(paper: Paper) -> Vec<Experiment> {
    match paper {
        Paper::Summaries => summaries::experiments(),
        Paper::DLeft => dleft::experiments(),
        Paper::LessHashing => less_hashing::experiments(),
        Paper::Moves => moves::experiments(),
        Paper::Lecture => lecture::experiments(),
    }
}

/// The questions that a paper leaves open, in the order of its sections.
pub(crate) fn questions_of(paper: Paper) -> Vec<Question> {
    match paper {
        Paper::Summaries => summaries::questions(),
        Paper::DLeft => dleft::questions(),
        Paper::Moves => moves::questions(),
        Paper::LessHashing | Paper::Lecture => Vec::new(),
    }
}

/// About how many minutes of one core a full run of a paper takes, as measured.
#[must_use]
pub const fn full_core_minutes(paper: Paper) -> f64 {
    match paper {
        Paper::Summaries => 26.0,
        Paper::Moves => 72.0,
        Paper::Lecture => 4.0,
        Paper::LessHashing => 6.0,
        Paper::DLeft => 3.0,
    }
}

/// All experiments, in the order of the papers.
#[must_use]
pub fn all() -> Vec<Experiment> {
    Paper::ALL.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_experiment_has_an_id_of_its_own_that_begins_with_its_paper() {
        let mut ids = HashSet::new();
        for experiment in all() {
            let id = experiment.id().to_owned();
            assert!(id.starts_with(&format!("{}/", experiment.paper())), "{id}");
            assert!(
                id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./".contains(c)),
                "{id}"
            );
            assert!(ids.insert(id), "{experiment:?} is there twice");
        }
    }
}
