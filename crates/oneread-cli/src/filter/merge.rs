//! `oneread filter merge`: merges several filters into one.

use std::path::Path;

use anyhow::{Context, Result, bail};
use oneread::bytes::Identified;
use oneread::filter::MergeError;

use super::any::Owned;
use super::digester::describe;
use super::facts::Facts;
use super::file::{self, Target};
use crate::args;
use crate::output::{print, print_json};

pub(super) fn run(args: &args::Merge) -> Result<()> {
    let target = Target::new(&args.out, args.output.force)?;
    let mut files = args.files.iter();
    let first = files.next().context("no filters to merge")?;
    let mut merged = load(first)?;
    if !merged.can_merge() {
        bail!(
            "{} is {}, and such filters cannot be merged: build one of all lines, or use --kind counting",
            first.display(),
            description(&merged)
        );
    }
    for file in files {
        let other = load(file)?;
        let (ours, theirs) = (description(&merged), description(&other));
        if let Err(error) = merged.merge(other) {
            let advice = match error {
                MergeError::Layouts => "build one --like the other",
                MergeError::Digesters => "build one --like the other, or both with the same --seed",
                MergeError::TooManyLayers => "joined they have too many layers: build one of all lines",
                MergeError::Full => {
                    "joined they have more keys in a bucket than it can hold: build both with --items for all lines together"
                }
                _ => "they cannot be joined",
            };
            bail!("{} is {ours}, and {} is {theirs}: {advice}", first.display(), file.display());
        }
    }
    let bytes = target.write(|writer| merged.save(writer))?;
    let facts = Facts::of(&merged, None, bytes);
    if args.output.json { print_json(&facts) } else { print(&facts.text([])) }
}

fn load(path: &Path) -> Result<Owned> {
    Owned::load(&file::open(path)?).with_context(|| path.display().to_string())
}

/// Everything that must be equal.
fn description(filter: &Owned) -> String {
    let (_, seed) = describe(&filter.digester().identity());
    format!("{} with seed {}", filter.layout(), seed.unwrap_or_default())
}
