//! Judged claims and answered questions: made by parallel experiments, stored in a [`Folder`],
//! written as a [report].

mod csv;
mod folder;
pub mod html;
mod outcome;
pub mod pictures;
pub mod report;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use crate::experiment::Run;
use crate::picture::Picture;
use crate::verdict::judge;
use crate::{Experiment, Finding, Paper, Question, Verdict};

pub use folder::{Folder, FolderError};

/// A claim of a paper, the finding, and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The paper that makes the claim.
    pub paper: Paper,
    /// The id of the experiment.
    pub id: String,
    /// The claim in a sentence.
    pub claim: String,
    /// The printed figure or statement.
    pub printed: String,
    /// The calculated value.
    pub calculated: Option<f64>,
    /// The measured value.
    pub measured: Option<f64>,
    /// The standard error of the measured value; 0 if all cases were counted.
    pub standard_error: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// A note for the reader, or the reason of a failure without a number.
    pub note: String,
    /// Several numbers, where the paper has a figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
}

/// A question that a paper leaves open, and the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The paper that leaves it open.
    pub paper: Paper,
    /// The id of the experiment.
    pub id: String,
    /// The question.
    pub question: String,
    /// The section that leaves it open, and how.
    pub source: String,
    /// The answer; without a picture, the reason why there is none.
    pub answer: String,
    /// The numbers.
    pub picture: Option<Picture>,
}

/// Claims and the run that judged them, as printed in JSON and stored in a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The version of this crate.
    pub version: String,
    /// Seed and effort.
    #[serde(flatten)]
    pub run: Run,
    /// In the order of the experiments.
    pub claims: Vec<Claim>,
    /// In the order of the questions.
    #[serde(default)]
    pub answers: Vec<Answered>,
}

impl Results {
    /// Claims and answers of this version.
    #[must_use]
    pub fn new(run: Run, claims: Vec<Claim>, answers: Vec<Answered>) -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), run, claims, answers }
    }

    /// The results that this version was published with, of `docs/results.json`.
    ///
    /// # Errors
    /// If the sources were copied without that file.
    pub fn published() -> Result<Self, serde_json::Error> {
        serde_json::from_str(include_str!("../../results.json"))
    }

    /// Whether no claim fails and every question is answered; this determines the command's exit
    /// code.
    #[must_use]
    pub fn none_fails(&self) -> bool {
        none_fails(&self.claims) && self.answers.iter().all(|answered| answered.picture.is_some())
    }
}

/// Runs experiments on all threads and judges their findings. The claims are in the order of the
/// experiments, and do not depend on the number of threads. `done` is called for each claim as it
/// comes.
///
/// An experiment that returns an error or panics becomes a failed claim, with the reason as its
/// note.
pub fn run(experiments: &[Experiment], run: Run, done: impl Fn(&Claim) + Sync) -> Vec<Claim> {
    outcome::all(experiments.iter().collect(), run, done)
}

/// Answers questions, as [`run`] judges claims. If the experiment of a question returns an error or
/// panics, the answer has no picture.
pub fn answer(questions: &[Question], run: Run, done: impl Fn(&Answered) + Sync) -> Vec<Answered> {
    outcome::all(questions.iter().collect(), run, done)
}

fn answered(question: &Question, run: Run) -> Answered {
    let (answer, picture) = match caught(|| question.find(run)) {
        Ok(answer) => (answer.text, Some(answer.picture)),
        Err(reason) => (reason, None),
    };
    Answered {
        paper: question.paper(),
        id: question.id().to_owned(),
        question: question.question().to_owned(),
        source: question.source().to_owned(),
        answer,
        picture,
    }
}

/// Whether no claim fails.
#[must_use]
pub fn none_fails(claims: &[Claim]) -> bool {
    claims.iter().all(|claim| claim.verdict != Verdict::Fails)
}

fn judged(experiment: &Experiment, run: Run) -> Claim {
    let (finding, verdict) = match caught(|| experiment.find(run)) {
        Ok(finding) => {
            let verdict = judge(experiment.printed(), &finding);
            (with_witness(finding, verdict), verdict)
        }
        Err(reason) => (Finding::default().note(reason), Verdict::Fails),
    };
    Claim {
        paper: experiment.paper(),
        id: experiment.id().to_owned(),
        claim: experiment.claim().to_owned(),
        printed: experiment.printed().text().to_owned(),
        calculated: finding.calculated,
        measured: finding.measured.map(|measured| measured.value),
        standard_error: finding.measured.map(|measured| measured.standard_error),
        verdict,
        note: finding.note,
        picture: finding.picture,
    }
}

/// What an experiment found, or its error or panic message.
fn caught<T>(look: impl FnOnce() -> Result<T, crate::experiment::Error>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(look)) {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(panic) => {
            // The payload of `panic!`: a literal or a formatted text.
            let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = literal.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(format!("panicked: {}", message.unwrap_or_else(|| "no message".to_owned())))
        }
    }
}

/// Notes the second witness against the paper, unless it is a measurement, which is shown anyway.
fn with_witness(finding: Finding, verdict: Verdict) -> Finding {
    if verdict != Verdict::Misprint || finding.measured.is_some() {
        return finding;
    }
    let witness = "a second method of calculation agrees";
    let note =
        if finding.note.is_empty() { witness.to_owned() } else { format!("{}; {witness}", finding.note) };
    finding.note(note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Printed;
    use crate::experiment::Effort;

    const RUN: Run = Run { seed: 1, effort: Effort::Quick };

    #[test]
    fn errors_and_panics_are_claims_that_fail_and_others_go_on() {
        let experiment = |name, look: fn() -> Result<Finding, crate::experiment::Error>| {
            Experiment::new(Paper::Moves, name, "a claim", Printed::number("1"), move |_| look())
        };
        let experiments = [
            experiment("fine", || Ok(Finding::calculated(1.0))),
            experiment("error", || Err("no such layout".into())),
            experiment("panic", || panic!("{} is wrong", 7)),
            experiment("fine-too", || Ok(Finding::calculated(1.0))),
        ];
        let claims = run(&experiments, RUN, |_| ());
        let summary: Vec<_> =
            claims.iter().map(|claim| (claim.id.as_str(), claim.verdict, claim.note.as_str())).collect();
        let expected = [
            ("moves/fine", Verdict::Holds, ""),
            ("moves/error", Verdict::Fails, "no such layout"),
            ("moves/panic", Verdict::Fails, "panicked: 7 is wrong"),
            ("moves/fine-too", Verdict::Holds, ""),
        ];
        assert_eq!(summary, expected);
        assert!(none_fails(&claims[..1]) && !none_fails(&claims));
    }

    #[test]
    fn a_claim_on_which_our_own_numbers_differ_fails() {
        let measured = crate::finding::Measured { value: 1.5, standard_error: 0.1 };
        let experiments = [1.2, 1.0].map(|calculated| {
            Experiment::new(Paper::Moves, calculated, "a claim", Printed::number("1.2"), move |_| {
                Ok(Finding::calculated(calculated).and_measured(measured))
            })
        });
        let verdicts: Vec<_> = run(&experiments, RUN, |_| ()).iter().map(|claim| claim.verdict).collect();
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Fails]);
    }

    #[test]
    fn a_misprint_says_who_the_second_witness_is() {
        let experiment = |note: &'static str| {
            Experiment::new(Paper::Moves, "a", "a claim", Printed::number("1"), move |_| {
                Ok(Finding::calculated(2.0).confirmed_by(2.0).note(note))
            })
        };
        let notes: Vec<_> = run(&[experiment(""), experiment("b")], RUN, |_| ())
            .into_iter()
            .map(|claim| claim.note)
            .collect();
        let witness = "a second method of calculation agrees".to_owned();
        assert_eq!(notes, [witness.clone(), format!("b; {witness}")]);
    }

    #[test]
    fn claims_are_the_same_for_any_number_of_threads() {
        let experiment = |number: u64| {
            Experiment::new(Paper::Moves, number, "a claim", Printed::number("1"), move |context| {
                Ok(Finding::measured(context.trials(10 * number, |seed| (seed % 1009) as f64 / 7.0)))
            })
        };
        let experiments: Vec<_> = (1..40).rev().map(experiment).collect();
        let claims = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&experiments, RUN, |_| ()))
        };
        assert_eq!(claims(1), claims(3));
    }

    #[test]
    fn the_document_has_the_fields_that_are_promised() {
        let printed = Printed::number("1");
        let experiments =
            [Experiment::new(Paper::DLeft, "a", "b", printed, |_| Ok(Finding::calculated(1.0)))];
        let results = Results::new(RUN, run(&experiments, RUN, |_| ()), Vec::new());
        let expected = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "seed": 1,
            "effort": "quick",
            "claims": [{
                "paper": "dleft",
                "id": "dleft/a",
                "claim": "b",
                "printed": "1",
                "calculated": 1.0,
                "measured": null,
                "standard_error": null,
                "verdict": "holds",
                "note": "",
            }],
            "answers": [],
        });
        assert_eq!(serde_json::to_value(&results).unwrap(), expected);
    }
}
