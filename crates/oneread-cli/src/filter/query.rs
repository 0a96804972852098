//! `oneread filter query`: prints the lines that may be in the set.

use std::io::{self, StdoutLock, Write};

use anyhow::{Context, Result};
use indicatif::ProgressBar;

use super::any::InPlace;
use super::digester::LineDigester;
use super::{file, progress};
use crate::lines::{Batch, Lines};
use crate::{Outcome, args};

pub(super) fn run(args: &args::Query) -> Result<Outcome> {
    let contents = file::open(&args.file)?;
    let filter = InPlace::<LineDigester>::open(&contents, !args.no_verify)
        .with_context(|| args.file.display().to_string())?;
    let mut out = io::stdout().lock();
    // On a terminal the lines themselves show progress; in a pipe the terminal belongs to another
    // program.
    let progress = if is_file(&out) { progress::lines(None)? } else { ProgressBar::hidden() };
    let mut lines = Lines::new(io::stdin().lock());
    let mut printed = Vec::new();
    let mut outcome = Outcome::Negative;
    while let Some(batch) = lines.next_batch()? {
        select(&filter, batch, args.invert, &mut printed);
        if !printed.is_empty() {
            outcome = Outcome::Done;
        }
        // Flushed per batch, for interactive use: programs that write lines wait for answers.
        out.write_all(&printed).and_then(|()| out.flush()).context("cannot write the output")?;
        printed.clear();
        progress.inc(batch.count());
    }
    Ok(outcome)
}

/// Appends the lines that may be in the set, or with `invert` the others, each with a newline.
fn select(filter: &InPlace<'_, LineDigester>, batch: Batch<'_>, invert: bool, printed: &mut Vec<u8>) {
    let mut lines = batch.lines();
    filter.contains_many(batch.lines(), |found| {
        let line = lines.next().expect("an answer a line");
        if found != invert {
            printed.extend_from_slice(line);
            printed.push(b'\n');
        }
    });
}

/// Reports whether the output is redirected to a file.
#[cfg(unix)]
fn is_file(out: &StdoutLock<'_>) -> bool {
    use std::os::fd::AsFd;
    let metadata = out.as_fd().try_clone_to_owned().and_then(|fd| std::fs::File::from(fd).metadata());
    metadata.is_ok_and(|metadata| metadata.is_file())
}

/// Reports whether the output is redirected to a file, which is not known here.
#[cfg(not(unix))]
fn is_file(_: &StdoutLock<'_>) -> bool {
    false
}
