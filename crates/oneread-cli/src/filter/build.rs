//! `oneread filter build`: writes lines into a filter file.

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use oneread::hash::Digester;
use serde::Serialize;

use super::any::{InPlace, Owned};
use super::digester::LineDigester;
use super::facts::{Facts, share};
use super::file::{self, Target};
use super::layout::Layout;
use super::progress;
use super::spill::Spill;
use crate::args::{self, Kind};
use crate::lines::Lines;
use crate::output::{print, print_json};

/// The default first layer of a growing filter: about 170 kB at 1%, and ten layers for 10^8 lines.
const FIRST_LAYER: u64 = 100_000;

/// Flags that are valid for some number of lines are valid for this one.
const FEW_LINES: u64 = 1000;

pub(super) fn run(args: &args::Build) -> Result<()> {
    let target = Target::new(&args.file, args.output.force)?;
    let mut lines = Lines::new(io::stdin().lock());
    let counts_first = args.items.is_none() && !matches!(args.kind, Kind::Growing);
    let filter = match &args.like {
        Some(model) => stream(args, empty_like(model)?, &mut lines)?,
        None if counts_first => count_first(args, &target, &mut lines)?,
        None => stream(args, empty(args, args.items.unwrap_or(FIRST_LAYER))?, &mut lines)?,
    };
    let bytes = target.write(|writer| filter.save(writer))?;

    let lines = lines.count();
    let report = Report {
        facts: Facts::of(&filter, Some(lines), bytes),
        lines,
        planned_false_positive_rate: filter.layout().planned_rate(args.items.unwrap_or(lines)),
    };
    if args.output.json { print_json(&report) } else { print(&report.text()) }
}

/// One pass: the filter is created before the first line comes.
fn stream(args: &args::Build, mut filter: Owned, lines: &mut Lines<impl Read>) -> Result<Owned> {
    let progress = progress::lines(args.items)?;
    while let Some(batch) = lines.next_batch()? {
        filter.insert_many(batch.lines()).with_context(|| cannot(args))?;
        progress.inc(batch.count());
    }
    Ok(filter)
}

/// Two passes: spills the digests of all lines, then builds a filter of the right size.
fn count_first(args: &args::Build, target: &Target, lines: &mut Lines<impl Read>) -> Result<Owned> {
    // Reports invalid flags before any line is read.
    Layout::plan(args, FEW_LINES).with_context(|| cannot(args))?;
    let spilling = || {
        format!("{}: cannot spill digests next to it: free disk space, or give --items", args.file.display())
    };
    let mut spill = Spill::new(target.scratch()?);
    let digester = digester(args);
    let progress = progress::lines(None)?;
    while let Some(batch) = lines.next_batch()? {
        for line in batch.lines() {
            spill.push(digester.digest(line)).with_context(spilling)?;
        }
        progress.inc(batch.count());
    }
    if spill.count() == 0 {
        bail!(
            "there are no lines on stdin: for an empty filter, give the number of lines to come as --items"
        );
    }
    drop(progress);

    let mut filter = empty(args, spill.count())?;
    let progress = progress::lines(Some(spill.count()))?;
    let mut digests = spill.rewind().with_context(spilling)?;
    loop {
        let batch = digests.next_batch().with_context(spilling)?;
        if batch.is_empty() {
            return Ok(filter);
        }
        filter.insert_many(batch)?;
        progress.inc(batch.len() as u64);
    }
}

/// An empty filter for `lines` lines.
fn empty(args: &args::Build, lines: u64) -> Result<Owned> {
    let layout = Layout::plan(args, lines).with_context(|| cannot(args))?;
    Owned::new(layout, digester(args)).with_context(|| cannot(args))
}

/// An empty filter that can be merged with the one in a file.
fn empty_like(path: &Path) -> Result<Owned> {
    let like = || -> Result<Owned> {
        let contents = file::open(path)?;
        let model = InPlace::<LineDigester>::open(&contents, true)?;
        Ok(Owned::new(model.layout(), *model.digester())?)
    };
    like().with_context(|| format!("{}: cannot be the model of --like", path.display()))
}

fn digester(args: &args::Build) -> LineDigester {
    LineDigester::with_seed(args.seed)
}

fn cannot(args: &args::Build) -> String {
    format!("{}: cannot be built", args.file.display())
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    facts: Facts,
    /// The number of lines read, including repeated ones.
    lines: u64,
    /// The rate with as many distinct keys as there is room for.
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
