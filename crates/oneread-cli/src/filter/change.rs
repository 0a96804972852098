//! `oneread filter add` and `oneread filter remove`: change a filter file.

use std::fs;
use std::io;

use anyhow::{Context, Result};
use indicatif::HumanCount;
use serde::Serialize;

use super::any::Owned;
use super::facts::Facts;
use super::file::{self, Target};
use super::progress;
use crate::args::Change;
use crate::lines::Lines;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    facts: Facts,
    /// The number of lines read, including repeated ones.
    lines: u64,
    /// The number of lines to remove that were not in the filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u64>,
}

pub(super) fn add(args: &Change) -> Result<()> {
    change(args, |filter, lines| {
        let progress = progress::lines(None)?;
        while let Some(batch) = lines.next_batch()? {
            filter.insert_many(batch.lines())?;
            progress.inc(batch.count());
        }
        Ok(None)
    })
}

pub(super) fn remove(args: &Change) -> Result<()> {
    change(args, |filter, lines| {
        filter.check_removes()?;
        let progress = progress::lines(None)?;
        let mut absent = 0;
        while let Some(batch) = lines.next_batch()? {
            absent += batch.lines().map(|line| u64::from(!filter.remove(line))).sum::<u64>();
            progress.inc(batch.count());
        }
        Ok(Some(absent))
    })
}

/// Replaces a filter by the one that `apply` makes of it and the lines on stdin. The lock is held
/// from before the filter is read until it is replaced, so that no change by another is lost.
fn change(
    args: &Change,
    apply: impl FnOnce(&mut Owned, &mut Lines<io::StdinLock<'static>>) -> Result<Option<u64>>,
) -> Result<()> {
    let report = || -> Result<Report> {
        // For a link, the file that it leads to is changed.
        let path = fs::canonicalize(&args.file).context("cannot open it")?;
        let target = Target::new(&path, true)?;
        let mut filter = Owned::load(&file::open(&path)?)?;
        let mut lines = Lines::new(io::stdin().lock());
        let absent = apply(&mut filter, &mut lines)?;
        let bytes = target.write(|writer| filter.save(writer))?;
        Ok(Report { facts: Facts::of(&filter, None, bytes), lines: lines.count(), absent })
    };
    let report = report().with_context(|| format!("{}: it stays as it was", args.file.display()))?;
    if args.json { print_json(&report) } else { print(&report.text()) }
}

impl Report {
    fn text(&self) -> String {
        let lines = ("lines", HumanCount(self.lines).to_string());
        match self.absent {
            None => self.facts.text([lines]),
            Some(absent) => self.facts.text([lines, ("of them absent", HumanCount(absent).to_string())]),
        }
    }
}
