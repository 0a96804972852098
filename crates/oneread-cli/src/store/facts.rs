//! The facts of a store: rows of a table for people, fields of a document for programs.

use indicatif::{HumanBytes, HumanCount};
use oneread_store::Report;
use serde::Serialize;

use crate::output::{self, Align};

/// The result of a build.
#[derive(Clone, Serialize)]
pub(crate) struct Built {
    pub(crate) items: u64,
    pub(crate) pages: u64,
    pub(crate) disk_bytes: u64,
    /// The bytes of all keys and values.
    pub(crate) raw_bytes: u64,
    pub(crate) utilisation: f64,
    pub(crate) ram_bytes_per_key: f64,
    pub(crate) planned_reads_per_hit: f64,
    pub(crate) planned_reads_per_miss: f64,
}

impl Built {
    pub(crate) fn of(report: &Report) -> Self {
        Self {
            items: report.items,
            pages: report.pages,
            disk_bytes: report.disk_bytes,
            raw_bytes: report.raw_bytes,
            utilisation: report.utilisation,
            ram_bytes_per_key: report.ram_bytes_per_key,
            planned_reads_per_hit: report.reads_per_hit,
            planned_reads_per_miss: report.reads_per_miss,
        }
    }

    pub(super) fn rows(&self) -> [(&'static str, String); 6] {
        [
            ("items", HumanCount(self.items).to_string()),
            ("file", file(self.disk_bytes, self.raw_bytes)),
            ("utilisation", percent(self.utilisation)),
            ("memory", format!("{:.2} bytes per key", self.ram_bytes_per_key)),
            ("reads per hit", format!("{:.4} planned", self.planned_reads_per_hit)),
            ("reads per miss", format!("{:.4} planned", self.planned_reads_per_miss)),
        ]
    }
}

/// Formats the length of a file, with its ratio to the bytes of keys and values. For a small store
/// shows these bytes instead: the fixed size of a store file dominates, and the ratio would say
/// nothing.
pub(super) fn file(disk_bytes: u64, raw_bytes: u64) -> String {
    /// Above this, the fixed pages of a store are a few percent.
    const TELLING: u64 = 1 << 18;
    let bytes = format!("{} bytes ({})", HumanCount(disk_bytes), HumanBytes(disk_bytes));
    if raw_bytes < TELLING {
        let noun = if raw_bytes == 1 { "byte" } else { "bytes" };
        return format!("{bytes}, for {} {noun} of keys and values", HumanCount(raw_bytes));
    }
    format!("{bytes}, {:.2} times its keys and values", disk_bytes as f64 / raw_bytes as f64)
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// One row per name and value.
pub(super) fn table(rows: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect();
    output::table([Align::Left, Align::Left], &rows)
}
