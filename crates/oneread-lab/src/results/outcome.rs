//! What claims and answers have in common: each is the outcome of an experiment, is stored under
//! its id, and is made again when the text of the experiment has changed.

use rayon::prelude::*;

use super::{Answered, Claim, Results, answered, judged};
use crate::experiment::Run;
use crate::{Experiment, Question, Verdict};

/// The outcome of one experiment.
pub(super) trait Outcome: Clone + Send {
    /// An experiment on a claim, or one on an open question.
    type Subject: Sync;

    /// Runs the experiment.
    fn of(subject: &Self::Subject, run: Run) -> Self;

    /// Whether this outcome of an earlier run still stands. One of a failed experiment does not.
    fn stands_for(&self, subject: &Self::Subject) -> bool;

    fn id(&self) -> &str;

    fn list(results: &Results) -> &Vec<Self>;

    fn list_mut(results: &mut Results) -> &mut Vec<Self>;
}

impl Outcome for Claim {
    type Subject = Experiment;

    fn of(experiment: &Experiment, run: Run) -> Self {
        judged(experiment, run)
    }

    fn stands_for(&self, experiment: &Experiment) -> bool {
        self.id == experiment.id()
            && self.claim == experiment.claim()
            && self.printed == experiment.printed().text()
            && self.verdict != Verdict::Fails
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn list(results: &Results) -> &Vec<Self> {
        &results.claims
    }

    fn list_mut(results: &mut Results) -> &mut Vec<Self> {
        &mut results.claims
    }
}

impl Outcome for Answered {
    type Subject = Question;

    fn of(question: &Question, run: Run) -> Self {
        answered(question, run)
    }

    fn stands_for(&self, question: &Question) -> bool {
        self.id == question.id()
            && self.question == question.question()
            && self.source == question.source()
            && self.picture.is_some()
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn list(results: &Results) -> &Vec<Self> {
        &results.answers
    }

    fn list_mut(results: &mut Results) -> &mut Vec<Self> {
        &mut results.answers
    }
}

/// Runs experiments on all threads; the outcomes are in their order.
pub(super) fn all<O: Outcome>(subjects: Vec<&O::Subject>, run: Run, done: impl Fn(&O) + Sync) -> Vec<O> {
    // One experiment per task: some take a thousand times as long as others.
    let outcomes = subjects.into_par_iter().with_max_len(1).map(|subject| {
        let outcome = O::of(subject, run);
        done(&outcome);
        outcome
    });
    outcomes.collect()
}
