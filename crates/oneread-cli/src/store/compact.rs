//! `oneread store compact`: shrinks the files of a live store.

use anyhow::Result;
use oneread_store::{Occupant, Sealed, Store, StoreOptions};
use serde::Serialize;

use super::facts;
use super::{explained, opened, target};
use crate::args::store::Compact;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    items: u64,
    /// The bytes of all files, before and after.
    disk_bytes_before: u64,
    disk_bytes: u64,
    /// The bytes of all keys and values.
    raw_bytes: u64,
}

pub(super) fn run(args: &Compact) -> Result<()> {
    let lock = target::locked(&args.path)?;
    let report = opened(&args.path, || {
        if lock.occupant() == Occupant::Sealed {
            let stats = Sealed::open(&args.path).map_err(explained)?.stats();
            return Ok(Report {
                items: stats.items,
                disk_bytes_before: stats.disk_bytes,
                disk_bytes: stats.disk_bytes,
                raw_bytes: stats.key_bytes + stats.value_bytes,
            });
        }
        let store = Store::open_locked(lock, StoreOptions::new()).map_err(explained)?;
        let disk_bytes_before = store.stats().map_err(explained)?.disk_bytes;
        let store = store.compact().map_err(explained)?;
        let stats = store.stats().map_err(explained)?;
        store.close().map_err(explained)?;
        Ok(Report {
            items: stats.items,
            disk_bytes_before,
            disk_bytes: stats.disk_bytes,
            raw_bytes: stats.key_bytes + stats.value_bytes,
        })
    })?;
    if args.json {
        return print_json(&report);
    }
    print(&facts::table([
        ("items", report.items.to_string()),
        ("files before", facts::file(report.disk_bytes_before, report.raw_bytes)),
        ("files", facts::file(report.disk_bytes, report.raw_bytes)),
    ]))
}
