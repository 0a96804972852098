//! `oneread plan`: computes the odds of a layout before anything is built.
//!
//! Each subcommand is a [`Subject`]: flags that can be set, and a report made of them.

mod bloom;
mod deletions;
mod dleft;
mod layout_file;
mod multilevel;
mod plot;
mod report;
mod restricted;
mod solve;
mod summary;
mod sweep;
mod table;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use oneread::layout::LayoutError;

use crate::args::plan::{Command, Plan, Summary};
use crate::output::{print, print_json};
use report::Report;
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

    /// Writes the requested files.
    fn save(&self, _: &Self::Planned) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Multilevel(args) => plan(*args),
        Command::Summary(Summary::Interpolation(args)) => plan(*args),
        Command::Summary(Summary::Single(args)) => plan(*args),
        Command::Summary(Summary::Multiple(args)) => plan(*args),
        Command::Deletions(args) => plan(*args),
        Command::Dleft(args) => plan(*args),
        Command::Bloom(args) => plan(*args),
        Command::Restricted(args) => plan(*args),
        Command::Solve(command) => solve::run(command),
    }
}

fn plan<S: Subject>(Plan { mut subject, output }: Plan<S>) -> Result<()> {
    subject.load()?;
    if let Some(sweep) = &output.sweep {
        return sweep.run(subject, &output);
    }
    let planned = subject.plan(None)?;
    let report = subject.report(&planned)?;
    subject.save(&planned)?;
    if output.json { print_json(&report.document()) } else { print(&report.tables()) }
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
