//! Imports rows into a live store.

use std::time::Instant;

use anyhow::{Result, bail};
use indicatif::HumanCount;
use oneread_store::{Batch, Store, StoreLock, StoreOptions, SyncPolicy};
use serde::Serialize;

use super::input::Input;
use super::{Rows, explained};
use crate::args::store::{Duplicates, Import};
use crate::output::{print, print_json};
use crate::store::facts;
use crate::store::opened;

/// The rows per batch.
const TOGETHER: usize = 256;

#[derive(Serialize)]
struct Report {
    rows: u64,
    skipped: u64,
    first_skipped: Option<String>,
    /// The number of keys after the import.
    items: u64,
    disk_bytes: u64,
    seconds: f64,
    rows_per_second: f64,
}

/// Opens the live store whose lock is held.
pub(super) fn open(args: &Import, lock: StoreLock) -> Result<Store> {
    if matches!(args.duplicates, Duplicates::Error) {
        bail!("{}: --duplicates error works only for a new store, and this one is live", args.path.display());
    }
    // No sync per change is needed: only the end is acknowledged.
    let options = StoreOptions::new().sync(SyncPolicy::Never);
    opened(&args.path, || Store::open_locked(lock, options).map_err(explained))
}

pub(in crate::store) fn run(args: &Import, inputs: &[Input<'_>], store: Store, start: Instant) -> Result<()> {
    let mut batch = Batch::new();
    let read = Rows::read(inputs, args, &mut |key, value| {
        batch.put(key, value)?;
        if batch.len() >= TOGETHER {
            store.batch(&mut batch)?;
            batch.clear();
        }
        Ok(())
    });
    let rows = match read {
        Ok(rows) => rows,
        // Earlier rows stay.
        Err(error) => {
            let done = || store.batch(&mut batch).and_then(|()| store.close());
            return opened(&args.path, || done().map_err(explained)).and(Err(error));
        }
    };
    let done = || {
        store.batch(&mut batch)?;
        store.checkpoint()?;
        let stats = store.stats()?;
        store.close()?;
        Ok(stats)
    };
    let stats = opened(&args.path, || done().map_err(explained))?;
    let seconds = start.elapsed().as_secs_f64();
    let report = Report {
        rows: rows.rows,
        skipped: rows.skipped,
        first_skipped: rows.first_skipped,
        items: stats.items,
        disk_bytes: stats.disk_bytes,
        seconds,
        rows_per_second: rows.rows as f64 / seconds,
    };
    if args.json {
        return print_json(&report);
    }
    let mut table = vec![("rows", HumanCount(report.rows).to_string())];
    if let Some(first) = &report.first_skipped {
        table.push(("skipped", format!("{}, the first: {first}", HumanCount(report.skipped))));
    }
    table.push(("items", HumanCount(report.items).to_string()));
    table.push(("files", facts::file(report.disk_bytes, stats.key_bytes + stats.value_bytes)));
    let rate = HumanCount(report.rows_per_second as u64);
    table.push(("took", format!("{seconds:.1} s, {rate} rows per second")));
    print(&facts::table(table))
}
