//! `oneread plan`: computes the odds of a layout before anything is built.
//!
//! Each subcommand is a [`Subject`]: flags that can be set, and a report made of them.

mod bloom;
mod deletions;
mod dleft;
mod layout_file;
mod multilevel;
mod plot;
mod restricted;
mod solve;
mod summary;
mod sweep;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use oneread::layout::LayoutError;
use oneread_lab::picture::{Picture, svg};

use crate::args::plan::{Command, LayoutOut, Plan, Summary};
use crate::args::solve::Solve;
use crate::document::{Document, csv};
use crate::report::Report;
use layout_file::LayoutFile;
use plot::Chart;
use sweep::Numbers;

/// A plan: flags that can be set, and a report made of them.
trait Subject: Args {
    /// The result of the calculation, shared by the report and all files.
    type Planned;

    /// The flags that take one number, by their names in the output.
    fn numbers(&mut self) -> Numbers<'_>;

    /// Sets the flags from a layout file, if one is named.
    fn load(&mut self) -> Result<()> {
        Ok(())
    }

    /// Calculates. `last` is the result for the previous value of a sweep, parts of which may be
    /// reused.
    fn plan(&self, last: Option<&Self::Planned>) -> Result<Self::Planned>;

    fn report(&self, planned: &Self::Planned) -> Result<Report>;

    /// The files to write: a layout, a drawing.
    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (None, None)
    }

    /// What a layout file holds.
    fn layout_file(&self, _: &Self::Planned) -> Result<LayoutFile> {
        bail!("--layout-out: this plan has no layout")
    }

    /// What a drawing shows.
    fn charts(&self, _: &Self::Planned) -> Result<Vec<Chart>> {
        Ok(Vec::new())
    }
}

/// A question to the planner: a subcommand of `oneread plan` and its flags.
#[derive(Args)]
pub struct Question {
    #[command(subcommand)]
    command: Command,
}

/// An answer of the planner.
#[derive(Clone, Debug)]
pub struct Answer {
    found: Found,
    json: bool,
    /// The charts, if asked for.
    pub pictures: Vec<Picture>,
    /// The files that flags ask for, with their contents.
    pub files: Vec<(PathBuf, String)>,
}

#[derive(Clone, Debug)]
enum Found {
    Report(Report),
    /// A row for each value.
    Sweep(Vec<Document>),
}

impl Answer {
    /// What the command prints: tables, CSV, or JSON if a flag says so.
    ///
    /// # Errors
    /// If a number has no JSON, which does not happen.
    pub fn text(&self) -> Result<String> {
        match &self.found {
            _ if self.json => self.json(),
            Found::Report(report) => Ok(report.tables()),
            Found::Sweep(rows) => Ok(csv(rows)),
        }
    }

    /// What the command prints with `--json`.
    ///
    /// # Errors
    /// If a number has no JSON, which does not happen.
    pub fn json(&self) -> Result<String> {
        Ok(match &self.found {
            Found::Report(report) => serde_json::to_string_pretty(&report.document())?,
            Found::Sweep(rows) => serde_json::to_string_pretty(rows)?,
        })
    }

    /// The named numbers, unless it is a sweep.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        match &self.found {
            Found::Report(report) => Some(report),
            Found::Sweep(_) => None,
        }
    }
}

/// What a plan is asked beside its numbers.
struct Asked<'a> {
    pictures: bool,
    progress: &'a mut dyn FnMut(usize, usize),
}

impl Question {
    /// Answers. `progress` is told how many plans of a sweep are done, of how many.
    ///
    /// # Errors
    /// If flags are missing or wrong, or if targets exclude each other: a sentence that says what
    /// to change.
    pub fn answer(self, progress: &mut dyn FnMut(usize, usize)) -> Result<Answer> {
        self.asked(&mut Asked { pictures: false, progress })
    }

    /// Answers, with the charts that `--plot` would draw.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn answer_with_pictures(self) -> Result<Answer> {
        self.asked(&mut Asked { pictures: true, progress: &mut |_, _| () })
    }

    fn asked(self, asked: &mut Asked<'_>) -> Result<Answer> {
        match self.command {
            Command::Multilevel(args) => plan(*args, asked),
            Command::Summary(Summary::Interpolation(args)) => plan(*args, asked),
            Command::Summary(Summary::Single(args)) => plan(*args, asked),
            Command::Summary(Summary::Multiple(args)) => plan(*args, asked),
            Command::Deletions(args) => plan(*args, asked),
            Command::Dleft(args) => plan(*args, asked),
            Command::Bloom(args) => plan(*args, asked),
            Command::Restricted(args) => plan(*args, asked),
            Command::Solve(Solve::Table(args)) => plan(*args, asked),
            Command::Solve(Solve::Summary(args)) => plan(*args, asked),
            Command::Solve(Solve::Filter(args)) => plan(*args, asked),
            Command::Solve(Solve::Store(args)) => plan(*args, asked),
            Command::Solve(Solve::Map(args)) => plan(*args, asked),
        }
    }
}

fn plan<S: Subject>(Plan { mut subject, output }: Plan<S>, asked: &mut Asked<'_>) -> Result<Answer> {
    subject.load()?;
    if let Some(sweep) = &output.sweep {
        let rows = sweep.run(subject, &output, asked.progress)?;
        let (pictures, files) = (Vec::new(), Vec::new());
        return Ok(Answer { found: Found::Sweep(rows), json: output.json, pictures, files });
    }
    let planned = subject.plan(None)?;
    let report = subject.report(&planned)?;
    let (layout, plot) = subject.outputs();
    let mut files = Vec::new();
    if let Some(path) = layout.and_then(|layout| layout.layout_out.as_deref()) {
        files.push((path.to_owned(), subject.layout_file(&planned)?.text()?));
    }
    let mut pictures = Vec::new();
    if asked.pictures || plot.is_some() {
        pictures = subject.charts(&planned)?.into_iter().map(Chart::picture).collect();
    }
    if let Some(path) = plot {
        files.push((path.to_owned(), svg::row(&pictures)));
    }
    Ok(Answer { found: Found::Report(report), json: output.json, pictures, files })
}

/// Unwraps a flag, which is missing only if a sweep named another flag.
fn given<T>(value: Option<T>, flag: &str) -> Result<T> {
    value.with_context(|| format!("--{flag} is missing: give it, or sweep over it"))
}

/// Converts a number that must be small.
fn small(number: u64, flag: &str) -> Result<u32> {
    u32::try_from(number).map_err(|_| anyhow!("--{flag} cannot be {number}: give a smaller number"))
}

/// Explains a layout error in terms of flags.
fn refused(flags: &'static str) -> impl Fn(LayoutError) -> anyhow::Error {
    move |error| match error {
        LayoutError::Zero { what } => {
            anyhow!("{flags}: expected at least 1 of the {what}, found 0: give 1 or more")
        }
        LayoutError::TooLarge { what, expected, found } => {
            anyhow!("{flags}: expected at most {expected} {what}, found {found}: give fewer")
        }
        LayoutError::Hashes { expected, found } => {
            anyhow!("{flags}: expected 1 to {expected} hashes, found {found}: give another number")
        }
        other => anyhow!("{flags}: {other}"),
    }
}
