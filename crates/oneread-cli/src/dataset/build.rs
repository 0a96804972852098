//! `oneread dataset build`: builds a version from files.

use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use oneread_dataset::blocking::Waiting;
use oneread_dataset::{
    Dataset, Draft, DraftOptions, Duplicates, Error, Schema, Splitter, SplitterOptions, WriterOptions,
};
use serde::Serialize;

use super::{at, rows};
use crate::args::dataset::Build;
use crate::args::store as store_args;
use crate::output::{Align, print, print_json, table};

/// A build, which begins when the first file shows its columns.
pub(super) struct Building<'a> {
    args: &'a Build,
    dataset: Dataset,
    waiting: Waiting,
    begun: Option<(Draft, Splitter)>,
    rows: u64,
    progress: ProgressBar,
}

impl Building<'_> {
    /// Begins with the schema of the first file; that of others must be the same.
    pub(super) fn schema(&mut self, schema: Schema) -> Result<()> {
        if let Some((draft, _)) = &self.begun {
            if *draft.schema() != schema {
                bail!("its columns are others than those of the first file: name the same with --key and --value");
            }
            return Ok(());
        }
        let mut options = DraftOptions::new()
            .shards(self.args.shards as u32)
            .seed(self.args.seed)
            .miss_rate(self.args.rate)
            .schema(schema);
        if let Some(version) = &self.args.version {
            options = options.version(version);
        }
        let draft = self.waiting.on(self.dataset.begin(&options))?;
        let mut writer = WriterOptions::new().memory_bytes(self.args.memory as usize).duplicates(
            match self.args.duplicates {
                store_args::Duplicates::Last => Duplicates::LastWins,
                store_args::Duplicates::Error => Duplicates::Refuse,
            },
        );
        if let Some(folder) = &self.args.temporary {
            writer = writer.temporary_folder(folder);
        }
        let splitter = Splitter::new(&draft, &SplitterOptions::new(writer));
        self.begun = Some((draft, splitter));
        Ok(())
    }

    /// Adds a row; `line` is where it stands.
    pub(super) fn insert(&mut self, line: u64, key: &[u8], value: &[u8]) -> Result<()> {
        /// Rows between two updates of the progress bar.
        const STEP: u64 = 1 << 12;
        let Some((_, splitter)) = &mut self.begun else { bail!("it has rows before its columns") };
        splitter.insert(key, value).map_err(|error| match error {
            Error::Store { source, .. } => anyhow!("row {line}: {source}"),
            Error::Row { what } => anyhow!("row {line}: {what}"),
            error => error.into(),
        })?;
        self.rows += 1;
        if self.rows.is_multiple_of(STEP) {
            self.progress.set_message(HumanCount(self.rows).to_string());
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Report {
    version: String,
    published: bool,
    rows: u64,
    items: u64,
    shards: u32,
    disk_bytes: u64,
    ram_bytes: u64,
    ram_bytes_per_key: f64,
    reads_per_hit: f64,
    reads_per_miss: f64,
    seconds: f64,
    rows_per_second: f64,
}

pub(super) fn run(args: &Build) -> Result<()> {
    let start = Instant::now();
    if args.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        bail!("stdin can be read only once: name - once");
    }
    if args.vector.is_some() && args.value.len() != 1 {
        bail!("a vector is in one column: name it with --value");
    }
    let (dataset, waiting) = at(&args.url)?;
    let progress = ProgressBar::new_spinner()
        .with_style(ProgressStyle::with_template("{spinner} {bytes}, {msg} rows in {elapsed}")?);
    let mut building =
        Building { args, dataset, waiting, begun: None, rows: 0, progress: progress.clone() };
    for file in &args.files {
        rows::read(file, args, &progress, &mut building).with_context(|| file.display().to_string())?;
    }
    progress.finish_and_clear();
    let Building { dataset, waiting, begun, rows, .. } = building;
    let Some((draft, splitter)) = begun else { bail!("the files have no rows") };
    let bar = ProgressBar::new(rows).with_style(ProgressStyle::with_template(
        "{bar:20} {human_pos}/{human_len} rows in shards, {msg}, {eta} left",
    )?);
    let manifest = waiting.on(splitter.finish(&dataset, |progress| {
        bar.set_position(progress.done);
        bar.set_message(format!("{} of {} shards", progress.shards, args.shards));
    }));
    bar.finish_and_clear();
    let manifest = manifest.map_err(|error| match error {
        Error::Store { source: oneread_store::Error::DuplicateKey { key }, .. } => {
            anyhow!("the key \"{}\" comes twice: remove one, or add --duplicates last", key.escape_ascii())
        }
        error => error.into(),
    })?;
    if args.publish {
        waiting.on(dataset.publish(draft.version()))?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let report = Report {
        version: draft.version().to_owned(),
        published: args.publish,
        rows,
        items: manifest.items,
        shards: manifest.shard_count(),
        disk_bytes: manifest.disk_bytes,
        ram_bytes: manifest.ram_bytes,
        ram_bytes_per_key: manifest.ram_bytes as f64 / manifest.items.max(1) as f64,
        reads_per_hit: manifest.reads_per_hit,
        reads_per_miss: manifest.reads_per_miss,
        seconds,
        rows_per_second: rows as f64 / seconds,
    };
    if args.json {
        return print_json(&report);
    }
    let state = if report.published { "current" } else { "finished: `oneread dataset publish` makes it current" };
    let lines = [
        ("version", report.version.clone()),
        ("state", state.to_owned()),
        ("keys", format!("{} of {} rows", HumanCount(report.items), HumanCount(rows))),
        ("shards", format!("{} of {} in all", report.shards, HumanBytes(report.disk_bytes))),
        ("memory of a reader", format!("{}, {:.2} bytes per key", HumanBytes(report.ram_bytes), report.ram_bytes_per_key)),
        ("planned requests", format!("{:.3} per hit, {:.4} per miss", report.reads_per_hit, report.reads_per_miss)),
        ("took", format!("{}, {} rows per second", HumanDuration(start.elapsed()), HumanCount(report.rows_per_second as u64))),
    ];
    let lines: Vec<_> = lines.into_iter().map(|(name, value)| [name.to_owned(), value]).collect();
    print(&table([Align::Left, Align::Left], &lines))
}
