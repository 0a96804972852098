//! Open questions of the papers, with an experiment that answers each.

use std::fmt;

use crate::Paper;
use crate::experiment::{Context, Error, Run};
use crate::picture::Picture;

type Look = dyn Fn(&Context) -> Result<Answer, Error> + Send + Sync;

/// A question that a paper asks or leaves open. Nothing is printed, so there is no verdict: the
/// answer is numbers and their meaning.
///
/// ```
/// use oneread_lab::{Paper, questions};
///
/// let questions = questions::all();
/// assert!(questions.iter().any(|question| question.paper() == Paper::Summaries));
/// assert!(questions[0].question().ends_with('?'));
/// ```
pub struct Question {
    paper: Paper,
    id: String,
    question: String,
    source: String,
    look: Box<Look>,
}

/// Numbers and their meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer in a sentence or two, with the numbers found.
    pub text: String,
    /// The numbers.
    pub picture: Picture,
}

impl Question {
    /// A question; its id is the paper's name, a slash and `name`, and never changes.
    pub fn new(
        paper: Paper,
        name: impl fmt::Display,
        question: impl Into<String>,
        source: impl Into<String>,
        look: impl Fn(&Context) -> Result<Answer, Error> + Send + Sync + 'static,
    ) -> Self {
        let (question, source) = (question.into(), source.into());
        Self { paper, id: format!("{paper}/{name}"), question, source, look: Box::new(look) }
    }

    /// The paper that leaves it open.
    #[must_use]
    pub const fn paper(&self) -> Paper {
        self.paper
    }

    /// Its name in reports and files.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The question.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The section that leaves it open, and how.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// Whatever made it fail.
    pub fn find(&self, run: Run) -> Result<Answer, Error> {
        (self.look)(&Context::of(&self.id, run))
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("id", &self.id)
            .field("question", &self.question)
            .finish_non_exhaustive()
    }
}
