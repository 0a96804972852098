//! `oneread plan`: the odds of a layout, before anything is built.
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
use oneread::layout::LayoutError;

use crate::args::plan::{Output, Plan, Summary};
use crate::output::{print, print_json};
use report::Report;
use sweep::Number;

pub(crate) use solve::Solved;
pub(crate) use sweep::Sweep;
pub(crate) use table::PlannedTable;

/// Something to be planned.
trait Subject {
    fn output(&self) -> &Output;

    /// The flags that take one number, by their names in the output.
    fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)>;

    /// Sets the flags that a layout file says, if one is named.
    fn load(&mut self) -> Result<()> {
        Ok(())
    }

    fn report(&self) -> Result<Report>;

    /// Writes the files that are asked for.
    fn save(&self) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn run(command: Plan) -> Result<()> {
    match command {
        Plan::Multilevel(args) => plan(*args),
        Plan::Summary(Summary::Interpolation(args)) => plan(*args),
        Plan::Summary(Summary::Single(args)) => plan(*args),
        Plan::Summary(Summary::Multiple(args)) => plan(*args),
        Plan::Deletions(args) => plan(*args),
        Plan::Dleft(args) => plan(args),
        Plan::Bloom(args) => plan(args),
        Plan::Restricted(args) => plan(args),
        Plan::Solve(command) => solve::run(command),
    }
}

fn plan(mut subject: impl Subject) -> Result<()> {
    subject.load()?;
    if let Some(sweep) = subject.output().sweep.clone() {
        return sweep.run(subject);
    }
    let report = subject.report()?;
    subject.save()?;
    if subject.output().json { print_json(&report.document()) } else { print(&report.tables()) }
}

/// A flag that is there, unless its sweep was over another one.
fn given<T>(value: Option<T>, flag: &str) -> Result<T> {
    value.with_context(|| format!("--{flag} is missing: give it, or sweep over it"))
}

/// A number of which there are never many.
fn small(number: u64, flag: &str) -> Result<u32> {
    u32::try_from(number).map_err(|_| anyhow!("--{flag} cannot be {number}: give a smaller number"))
}

/// What the library says of flags, with advice for whoever gives numbers and not sets.
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
