//! Open questions: section VIII-B on fewer hash functions, section XII on deletions, buckets and
//! real hash functions.

mod buckets;
mod functions;
mod probes;
mod workloads;

use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::question::Answer;
use crate::{Paper, Question};

pub(in super::super) fn questions() -> Vec<Question> {
    vec![probes::question(), workloads::question(), buckets::question(), functions::question()]
}

fn new(
    name: &str,
    question: &str,
    source: &str,
    look: impl Fn(&Context) -> Result<Answer, Error> + Send + Sync + 'static,
) -> Question {
    Question::new(Paper::Summaries, format!("open/{name}"), question, source, look)
}

/// The means of several quantities over trials.
fn means<const N: usize>(trials: Vec<Result<[f64; N], Error>>) -> Result<[Measured; N], Error> {
    let trials: Vec<[f64; N]> = trials.into_iter().collect::<Result<_, _>>()?;
    Ok(std::array::from_fn(|at| Measured::mean(&trials.iter().map(|trial| trial[at]).collect::<Vec<_>>())))
}
