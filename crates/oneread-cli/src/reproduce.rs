//! `oneread reproduce`: the papers' claims, judged.

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use oneread_lab::digits::number;
use oneread_lab::experiment::{Effort, Run};
use oneread_lab::results::{self, Claim, Folder, Results, report};
use oneread_lab::{Experiment, Paper, Verdict, papers};
use serde::Serialize;

use crate::Outcome;
use crate::args;
use crate::output::{Align, print, print_json, table};

pub(crate) fn run(args: &args::Reproduce) -> Result<Outcome> {
    let experiments = selected(&args.papers);
    if args.list {
        list(&experiments, args.json)?;
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

    let kept = folder.as_ref().map_or(0, |folder| folder.kept_of(&experiments));
    let progress = ProgressBar::new(experiments.len() as u64).with_position(kept as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} claims in {elapsed} {msg}")?);
    // Drawn at once: the first claim may take a while.
    progress.tick();
    let done = |claim: &Claim| {
        progress.set_message(claim.id.clone());
        progress.inc(1);
    };
    let claims = match &mut folder {
        Some(folder) => folder.run(&experiments, done),
        None => Ok(results::run(&experiments, run, done)),
    };
    progress.finish_and_clear();

    let claims = claims?;
    let outcome = if results::none_fails(&claims) { Outcome::Done } else { Outcome::Negative };
    if args.json {
        print_json(&Results::new(run, claims))?;
    } else {
        print(&text(&claims))?;
    }
    Ok(outcome)
}

/// The experiments of some papers, of all if none is named, in the order of reports.
fn selected(papers: &[Paper]) -> Vec<Experiment> {
    let wanted = |paper: &Paper| papers.is_empty() || papers.contains(paper);
    Paper::ALL.into_iter().filter(wanted).flat_map(papers::of).collect()
}

/// A claim that nobody has looked at.
#[derive(Serialize)]
struct Listed<'a> {
    paper: Paper,
    id: &'a str,
    claim: &'a str,
    printed: &'a str,
}

fn list(experiments: &[Experiment], json: bool) -> Result<()> {
    let listed: Vec<_> = experiments
        .iter()
        .map(|experiment| Listed {
            paper: experiment.paper(),
            id: experiment.id(),
            claim: experiment.claim(),
            printed: experiment.printed().text(),
        })
        .collect();
    if json {
        return print_json(&serde_json::json!({ "claims": listed }));
    }
    let headings = ["id", "printed", "claim"].map(str::to_owned);
    let rows = listed.iter().map(|claim| [claim.id, claim.printed, claim.claim].map(str::to_owned));
    let rows: Vec<_> = [headings].into_iter().chain(rows).collect();
    print(&table([Align::Left; 3], &rows))
}

/// A table for each paper, a line for each claim, and how many had which verdict.
fn text(claims: &[Claim]) -> String {
    let headings = ["verdict", "claim", "printed", "calculated", "measured", ""].map(str::to_owned);
    let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Left, Align::Left];
    let tables = report::by_paper(claims).map(|(paper, claims)| {
        let rows = claims.iter().map(|claim| {
            // What holds needs no words; `--json` and `--out` have them all.
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
    tables.collect::<String>() + &report::summary(claims) + "."
}
