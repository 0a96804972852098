//! `oneread store import`: imports rows into a store.

pub(crate) mod delimited;
pub(crate) mod input;
pub(crate) mod jsonl;
pub(super) mod live;
mod zstd;

use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{HumanCount, ProgressBar};
use oneread_store::{Builder, Duplicates, Error, Occupant, Options};
use serde::Serialize;

use super::facts::{self, Built};
use super::progress;
use super::rows::delimiter;
use super::target::{self, Target};
use crate::args::store::{self as args, Import};
use crate::output::{print, print_json};
use input::Input;

/// The most fields of a row, since their positions are kept in memory.
const MAX_FIELDS: usize = 1 << 16;

/// Receives the rows of a file: the line, and the key and value or what is wrong with it.
type Sink<'a> = dyn FnMut(u64, Result<(&[u8], &[u8]), String>) -> Result<()> + 'a;

pub(super) fn run(args: &Import) -> Result<()> {
    let start = Instant::now();
    let inputs: Vec<_> =
        args.files.iter().map(|file| Input::new(file, args.format)).collect::<Result<_>>()?;
    if args.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        bail!("stdin can be read only once: name - once");
    }
    // From here on nobody else changes the store, however long reading the rows takes.
    let lock = target::locked(&args.path)?;
    if lock.occupant() == Occupant::Live && !args.replace {
        return live::run(args, &inputs, live::open(args, lock)?, start);
    }
    let target = Target::of(&args.path, lock, args.replace)?;
    let options = Options::new()
        .miss_rate(args.rate)
        .memory_bytes(args.memory as usize)
        .temporary_folder(target.folder())
        .seed(args.seed)
        .duplicates(match args.duplicates {
            args::Duplicates::Last => Duplicates::LastWins,
            args::Duplicates::Error => Duplicates::Refuse,
        });
    let mut builder = Builder::new(options)?;
    let Rows { rows, skipped, first_skipped } =
        Rows::read(&inputs, args, &mut |key, value| builder.insert(key, value))?;
    let placing = progress::records(builder.len())?;
    let built = target.write(builder, |progress| placing.set_position(progress.done))?;
    placing.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let report = Report {
        rows,
        skipped,
        first_skipped,
        replaced: built.replaced,
        store: Built::of(&built),
        spilled_bytes: built.spilled_bytes,
        seconds,
        rows_per_second: rows as f64 / seconds,
    };
    if args.json { print_json(&report) } else { print(&report.text()) }
}

/// The result of reading.
#[derive(Default)]
struct Rows {
    /// All rows read, including bad ones.
    rows: u64,
    skipped: u64,
    first_skipped: Option<String>,
}

/// Receives the pairs.
type Insert<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Error> + 'a;

impl Rows {
    fn read(inputs: &[Input<'_>], args: &Import, insert: &mut Insert<'_>) -> Result<Self> {
        let mut rows = Self::default();
        let progress = progress::bytes(inputs.iter().map(|input| input.bytes).sum())?;
        for input in inputs {
            rows.read_file(input, args, &progress, insert).with_context(|| input.name.clone())?;
        }
        progress.finish_and_clear();
        Ok(rows)
    }

    fn read_file(
        &mut self,
        input: &Input<'_>,
        args: &Import,
        progress: &ProgressBar,
        insert: &mut Insert<'_>,
    ) -> Result<()> {
        /// Rows between two updates of the progress bar.
        const STEP: u64 = 1 << 12;
        let reader = input.open(progress)?;
        let sink = &mut |line, pair: Result<(&[u8], &[u8]), String>| {
            self.rows += 1;
            if self.rows.is_multiple_of(STEP) {
                progress.set_message(HumanCount(self.rows).to_string());
            }
            let inserted = match pair {
                Ok((key, value)) => match insert(key, value) {
                    Ok(()) => Ok(()),
                    Err(error @ (Error::KeyTooLong { .. } | Error::ValueTooLong { .. })) => {
                        Err(error.to_string())
                    }
                    Err(error) => return Err(error.into()),
                },
                Err(why) => Err(why),
            };
            match inserted {
                Ok(()) => Ok(()),
                Err(why) if args.skip_bad => {
                    self.skipped += 1;
                    self.first_skipped.get_or_insert_with(|| format!("{}, line {line}: {why}", input.name));
                    Ok(())
                }
                // The name of the file comes before it.
                Err(why) => Err(anyhow!("line {line}: {why}")),
            }
        };
        match delimiter(input.format) {
            Some(delimiter) => delimited::read(reader, delimiter, args, sink),
            None => jsonl::read(reader, args, sink),
        }
    }
}

/// The library's error, with the flag that helps.
pub(super) fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::DuplicateKey { key } => {
            anyhow!("the key \"{}\" comes twice: remove one, or add --duplicates last", key.escape_ascii())
        }
        error => error.into(),
    }
}

#[derive(Serialize)]
struct Report {
    /// The rows read, including repeated keys.
    rows: u64,
    /// Rows that could not be read.
    skipped: u64,
    first_skipped: Option<String>,
    /// Rows whose key came again.
    replaced: u64,
    #[serde(flatten)]
    store: Built,
    spilled_bytes: u64,
    seconds: f64,
    rows_per_second: f64,
}

impl Report {
    fn text(&self) -> String {
        let mut rows = vec![("rows", HumanCount(self.rows).to_string())];
        if let Some(first) = &self.first_skipped {
            rows.push(("skipped", format!("{}, the first: {first}", HumanCount(self.skipped))));
        }
        if self.replaced > 0 {
            rows.push(("replaced", format!("{} by later rows of the same key", HumanCount(self.replaced))));
        }
        rows.extend(self.store.rows());
        let rate = HumanCount(self.rows_per_second as u64);
        rows.push(("took", format!("{:.1} s, {rate} rows per second", self.seconds)));
        facts::table(rows)
    }
}
