//! `oneread store seal`: turns a live store into one sealed file.

use anyhow::Result;
use oneread_store::{Occupant, Sealed, Store, StoreOptions};
use serde::Serialize;

use super::facts;
use super::{explained, opened, target};
use crate::args::store::Seal;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    items: u64,
    /// The bytes of that file.
    disk_bytes: u64,
    /// The bytes of all keys and values.
    raw_bytes: u64,
}

pub(super) fn run(args: &Seal) -> Result<()> {
    let lock = target::locked(&args.path)?;
    let report = opened(&args.path, || {
        if lock.occupant() == Occupant::Sealed {
            let stats = Sealed::open(&args.path).map_err(explained)?.stats();
            let raw_bytes = stats.key_bytes + stats.value_bytes;
            return Ok(Report { items: stats.items, disk_bytes: stats.disk_bytes, raw_bytes });
        }
        let store = Store::open_locked(lock, StoreOptions::new()).map_err(explained)?;
        let report = store.seal().map_err(explained)?;
        Ok(Report { items: report.items, disk_bytes: report.disk_bytes, raw_bytes: report.raw_bytes })
    })?;
    if args.json {
        return print_json(&report);
    }
    let rows =
        [("items", report.items.to_string()), ("file", facts::file(report.disk_bytes, report.raw_bytes))];
    print(&facts::table(rows))
}
