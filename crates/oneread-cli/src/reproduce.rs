//! `oneread reproduce`: judges the papers' claims.

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use oneread_lab::digits::number;
use oneread_lab::experiment::{Effort, Run};
use oneread_lab::results::{self, Answered, Claim, Folder, Results, report};
use oneread_lab::{Experiment, Paper, Question, Verdict, papers, questions};
use serde::Serialize;

use crate::Outcome;
use crate::args;
use crate::output::{Align, print, print_json, table};

pub(crate) fn run(args: &args::Reproduce) -> Result<Outcome> {
    let (experiments, questions) = selected(&args.papers);
    if args.list {
        list(&experiments, &questions, args.json)?;
        return Ok(Outcome::Done);
    }
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let run = Run { seed: args.seed, effort };
    let mut folder = args.out.as_ref().map(|path| Folder::open(path, run)).transpose()?;
    if let (Some(path), Some(true)) = (&args.out, folder.as_ref().map(Folder::is_begun_anew)) {
        eprintln!(
            "note: {} has results of another version, seed or effort; they are replaced",
            path.display()
        );
    }

    let kept = folder
        .as_ref()
        .map_or(0, |folder| folder.kept_of(&experiments) + folder.kept_of_questions(&questions));
    let all = experiments.len() + questions.len();
    if args.full && kept < all {
        eprintln!("note: {}", estimate(&args.papers));
    }
    let progress = ProgressBar::new(all as u64).with_position(kept as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} claims in {elapsed} {msg}")?);
    // Drawn at once: the first claim may take a while.
    progress.tick();
    let done = |id: &str| {
        progress.set_message(id.to_owned());
        progress.inc(1);
    };
    let (judged, answered) = (|claim: &Claim| done(&claim.id), |answered: &Answered| done(&answered.id));
    let results = match &mut folder {
        Some(folder) => folder.run(&experiments, judged).and_then(|claims| {
            let answers = folder.answer(&questions, answered)?;
            Ok(Results::new(run, claims, answers))
        }),
        None => {
            let claims = results::run(&experiments, run, judged);
            Ok(Results::new(run, claims, results::answer(&questions, run, answered)))
        }
    };
    progress.finish_and_clear();

    let results = results?;
    let outcome = if results.none_fails() { Outcome::Done } else { Outcome::Negative };
    if args.json {
        print_json(&results)?;
    } else {
        print(&text(&results))?;
    }
    Ok(outcome)
}

/// The named papers, or all, in the order of reports.
fn wanted(papers: &[Paper]) -> impl Iterator<Item = Paper> {
    Paper::ALL.into_iter().filter(|paper| papers.is_empty() || papers.contains(paper))
}

/// The experiments and questions of some papers.
fn selected(papers: &[Paper]) -> (Vec<Experiment>, Vec<Question>) {
    (wanted(papers).flat_map(papers::of).collect(), wanted(papers).flat_map(questions::of).collect())
}

/// Estimates the time of a full run.
fn estimate(papers: &[Paper]) -> String {
    let minutes: f64 = wanted(papers).map(papers::full_core_minutes).sum();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let minutes = minutes / cores as f64;
    let time = match minutes {
        ..90.0 => format!("{minutes:.0} minutes"),
        _ => format!("{:.1} hours", minutes / 60.0),
    };
    format!(
        "a full run of this takes about {time} with {cores} cores, by estimate; with --out it can be interrupted"
    )
}

/// A claim before it is judged.
#[derive(Serialize)]
struct Listed<'a> {
    paper: Paper,
    id: &'a str,
    claim: &'a str,
    printed: &'a str,
}

/// A question before it is answered.
#[derive(Serialize)]
struct Asked<'a> {
    paper: Paper,
    id: &'a str,
    question: &'a str,
    source: &'a str,
}

fn list(experiments: &[Experiment], questions: &[Question], json: bool) -> Result<()> {
    let listed: Vec<_> = experiments
        .iter()
        .map(|experiment| Listed {
            paper: experiment.paper(),
            id: experiment.id(),
            claim: experiment.claim(),
            printed: experiment.printed().text(),
        })
        .collect();
    let asked: Vec<_> = questions
        .iter()
        .map(|question| Asked {
            paper: question.paper(),
            id: question.id(),
            question: question.question(),
            source: question.source(),
        })
        .collect();
    if json {
        return print_json(&serde_json::json!({ "claims": listed, "questions": asked }));
    }
    let headings = ["id", "printed", "claim"].map(str::to_owned);
    let rows = listed.iter().map(|claim| [claim.id, claim.printed, claim.claim].map(str::to_owned));
    let asked = asked.iter().map(|asked| [asked.id, "?", asked.question].map(str::to_owned));
    let rows: Vec<_> = [headings].into_iter().chain(rows).chain(asked).collect();
    print(&table([Align::Left; 3], &rows))
}

/// Formats a table for each paper with a line per claim, the number of each verdict, then questions
/// and answers.
fn text(results: &Results) -> String {
    let Results { claims, answers, .. } = results;
    let headings = ["verdict", "claim", "printed", "calculated", "measured", ""].map(str::to_owned);
    let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Left, Align::Left];
    let tables = report::by_paper(claims).map(|(paper, claims)| {
        let rows = claims.iter().map(|claim| {
            // Claims that hold need no note here; `--json` and `--out` have all notes.
            let note = if claim.verdict == Verdict::Holds { "" } else { &claim.note };
            let id = claim.id.split_once('/').map_or(claim.id.as_str(), |(_, name)| name);
            [
                claim.verdict.to_string(),
                id.to_owned(),
                claim.printed.clone(),
                claim.calculated.map(number).unwrap_or_default(),
                report::measured(claim),
                note.to_owned(),
            ]
        });
        let rows: Vec<_> = [headings.clone()].into_iter().chain(rows).collect();
        format!("{paper}: {}\n\n{}\n\n", paper.title(), table(aligns, &rows))
    });
    let answers =
        answers.iter().map(|Answered { question, answer, .. }| format!("{question}\n  {answer}\n\n"));
    tables.collect::<String>() + &answers.collect::<String>() + &report::summary(claims) + "."
}
