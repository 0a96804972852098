//! `oneread store verify`: whether a store is as it was written.

use anyhow::Result;
use indicatif::HumanCount;
use oneread_store::{Progress, verify_with_progress};
use serde::Serialize;

use super::{explained, opened, progress, reader};
use crate::Outcome;
use crate::args::store::Verify;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    whole: bool,
    /// Pages read, keys on whole ones, and large values.
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
    let found = opened(&args.path, || verify_with_progress(&reader(&args.path)?, told).map_err(explained))?;
    drop(bar);
    let report = Report {
        whole: found.is_whole(),
        pages: found.pages,
        items: found.items,
        runs: found.runs,
        damage: found.damage.iter().map(ToString::to_string).collect(),
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&report.text())?;
    }
    Ok(if report.whole { Outcome::Done } else { Outcome::Negative })
}

impl Report {
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
