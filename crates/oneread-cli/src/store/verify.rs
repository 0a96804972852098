//! `oneread store verify`: checks that a store is undamaged.

use std::path::Path;

use anyhow::Result;
use indicatif::HumanCount;
use oneread_store::{Error, FileReader, Progress, Sealed, Store, Verification, verify_with_progress};
use serde::Serialize;

use super::any::settled;
use super::{opened, progress, reader};
use crate::Outcome;
use crate::args::store::Verify;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    whole: bool,
    /// The number of pages read, keys on undamaged ones, and large values.
    pages: u64,
    items: u64,
    runs: u64,
    damage: Vec<String>,
}

pub(super) fn run(args: &Verify) -> Result<Outcome> {
    let bar = progress::pages()?;
    let told = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let report = opened(&args.path, || settled(|| Ok(report(&args.path, reader(&args.path)?, told))))?;
    drop(bar);
    if args.json {
        print_json(&report)?;
    } else {
        print(&report.text())?;
    }
    Ok(if report.whole { Outcome::Done } else { Outcome::Negative })
}

/// Verifies a store in its current state, sealed or live.
fn report(path: &Path, reader: FileReader, told: impl FnMut(Progress)) -> Result<Report, Error> {
    let is_live = |reader: &FileReader| matches!(Sealed::open_in(reader), Err(Error::Live { .. }));
    if !is_live(&reader) {
        let found = verify_with_progress(&reader, told)?;
        // A damaged header may be mid-write by a process that makes the store live.
        if found.is_whole() || !is_live(&reader) {
            return Ok(Report::of(&found));
        }
    }
    // Dropping it releases its lock.
    drop(reader);
    live(path)
}

/// Verifies a live store, which may be changing.
fn live(path: &Path) -> Result<Report, Error> {
    match Store::open_read_only(path).and_then(|store| store.verify()) {
        Ok(found) => Ok(Report::of(&found)),
        // The damage keeps it from being opened.
        Err(error) if error.is_damage() => {
            Ok(Report { whole: false, pages: 0, items: 0, runs: 0, damage: vec![error.to_string()] })
        }
        Err(error) => Err(error),
    }
}

impl Report {
    fn of(found: &Verification) -> Self {
        Self {
            whole: found.is_whole(),
            pages: found.pages,
            items: found.items,
            runs: found.runs,
            damage: found.damage.iter().map(ToString::to_string).collect(),
        }
    }

    fn text(&self) -> String {
        let (pages, items) = (HumanCount(self.pages), HumanCount(self.items));
        if self.whole {
            return format!("whole: {items} keys on {pages} pages");
        }
        let places = if self.damage.len() == 1 { "place" } else { "places" };
        format!(
            "damaged in {} {places}: {pages} pages were read, {items} keys are on whole ones\n{}",
            HumanCount(self.damage.len() as u64),
            self.damage.join("\n")
        )
    }
}
