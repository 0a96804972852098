//! The open questions by paper, answered by experiment.

use crate::papers::questions_of;
use crate::{Paper, Question};

/// The questions that a paper leaves open, in the order of its sections.
#[must_use]
pub fn of(paper: Paper) -> Vec<Question> {
    questions_of(paper)
}

/// All questions, in the order of the papers.
#[must_use]
pub fn all() -> Vec<Question> {
    Paper::ALL.into_iter().flat_map(of).collect()
}
