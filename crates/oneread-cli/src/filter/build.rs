//! `oneread filter build`: lines into a file.

use std::io::{self, Read};

use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use oneread::hash::Digester;
use serde::Serialize;

use super::any::Owned;
use super::digester::LineDigester;
use super::facts::{Facts, share};
use super::file::Target;
use super::layout::Layout;
use super::lines::Lines;
use super::progress;
use super::spill::Spill;
use crate::args::{self, Kind};
use crate::output::{print, print_json};

pub(super) fn run(args: &args::Build) -> Result<()> {
    let target = Target::new(&args.file, args.output.force)?;
    let mut lines = Lines::new(io::stdin().lock());
    let counts_first = args.items.is_none() && !matches!(args.kind, Kind::Growing);
    let filter =
        if counts_first { count_first(args, &target, &mut lines)? } else { stream(args, &mut lines)? };
    let bytes = target.write(|writer| filter.save(writer))?;

    let lines = lines.count();
    let report = Report {
        facts: Facts::of(&filter, Some(lines), bytes),
        lines,
        planned_false_positive_rate: filter.layout().planned_rate(args.items.unwrap_or(lines)),
    };
    if args.output.json { print_json(&report) } else { print(&report.text()) }
}

/// In one pass: the filter is made before the first line comes.
fn stream(args: &args::Build, lines: &mut Lines<impl Read>) -> Result<Owned> {
    let mut filter = empty(args, args.items)?;
    let progress = progress::lines(args.items)?;
    while let Some(batch) = lines.next_batch()? {
        filter.insert_many(batch.lines())?;
        progress.inc(batch.count());
    }
    Ok(filter)
}

/// In two passes: the digests of the lines are counted, then there is a filter of the right size for them.
fn count_first(args: &args::Build, target: &Target, lines: &mut Lines<impl Read>) -> Result<Owned> {
    // Flags that make no filter are told before any line is read.
    empty(args, None)?;
    let digester = digester(args);
    let mut spill = Spill::new(target.scratch()?);
    let spilling = "cannot set digests aside in the directory of the file: make room, or give --items";
    let progress = progress::lines(None)?;
    while let Some(batch) = lines.next_batch()? {
        for line in batch.lines() {
            spill.push(digester.digest(line)).context(spilling)?;
        }
        progress.inc(batch.count());
    }
    if spill.count() == 0 {
        bail!("there are no lines on stdin: for an empty filter, say by --items how many are to come");
    }

    let mut filter = empty(args, Some(spill.count()))?;
    let progress = progress::lines(Some(spill.count()))?;
    let mut digests = spill.rewind().context(spilling)?;
    loop {
        let batch = digests.next_batch().context(spilling)?;
        if batch.is_empty() {
            return Ok(filter);
        }
        filter.insert_many(batch)?;
        progress.inc(batch.len() as u64);
    }
}

/// The filter for so many lines, without any.
fn empty(args: &args::Build, items: Option<u64>) -> Result<Owned> {
    let filter = || Ok::<_, anyhow::Error>(Owned::new(Layout::plan(args, items)?, digester(args))?);
    filter().with_context(|| format!("{}: cannot be built", args.file.display()))
}

fn digester(args: &args::Build) -> LineDigester {
    LineDigester::with_seed(args.seed)
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    facts: Facts,
    /// The lines read, each as often as it came.
    lines: u64,
    /// With as many distinct keys as there is room for.
    planned_false_positive_rate: f64,
}

impl Report {
    fn text(&self) -> String {
        self.facts.text([
            ("planned false positives", share(self.planned_false_positive_rate)),
            ("lines", HumanCount(self.lines).to_string()),
        ])
    }
}
