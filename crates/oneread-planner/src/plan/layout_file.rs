//! Layouts as JSON files: what `--layout-out` writes and `--layout` reads.
//!
//! A file is an object with a `kind` and the fields of the library's layouts; those of a table and
//! of its summary are side by side:
//!
//! ```json
//! { "kind": "multilevel", "levels": [40000, 10000], "slots": 1 }
//! { "kind": "summary-interpolation", "levels": [40000, 10000], "slots": 1,
//!   "fingerprint_bits": 55 }
//! { "kind": "summary-single", "levels": [40000, 10000], "slots": 1,
//!   "cells": 120000, "hashes": 15 }
//! { "kind": "summary-multiple", "levels": [40000, 10000], "slots": 1,
//!   "filters": [{ "bits": 106000, "hashes": 7 }, { "bits": 87500, "hashes": 49 }],
//!   "list": { "levels": 2, "items": 4, "fingerprint_bits": 60 } }    (only if there is a list)
//! { "kind": "dleft", "buckets": [4096, 4096, 4096], "bucket_bits": 64, "semisort": "paper",
//!   "group": 1, "ties": "left" }
//! { "kind": "bloom", "bits": 8000, "hashes": 6, "scheme": "independent" }
//! ```
//!
//! Files are not trusted: their numbers are checked like flags, when a layout is made of them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use oneread::hash::probes::SchemeName;
use oneread::layout::{ListLayout, MultilevelLayout, Semisort, SummaryLayout, Ties};
use serde::{Deserialize, Serialize};

use crate::args::plan::{BitsAndHashes, Files};

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum LayoutFile {
    Multilevel {
        levels: Vec<u64>,
        slots: u64,
    },
    SummaryInterpolation {
        levels: Vec<u64>,
        slots: u64,
        fingerprint_bits: u64,
    },
    SummarySingle {
        levels: Vec<u64>,
        slots: u64,
        cells: u64,
        hashes: u64,
    },
    SummaryMultiple {
        levels: Vec<u64>,
        slots: u64,
        filters: Vec<BitsAndHashes>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list: Option<ListLayout>,
    },
    Dleft {
        /// The buckets of each sub-table.
        buckets: Vec<u64>,
        bucket_bits: u64,
        semisort: Semisort,
        group: u64,
        ties: Ties,
    },
    Bloom {
        bits: u64,
        hashes: u64,
        scheme: SchemeName,
    },
}

impl LayoutFile {
    pub(super) fn of_table(table: &MultilevelLayout) -> Self {
        Self::Multilevel { levels: table.levels().to_vec(), slots: table.slots().into() }
    }

    pub(super) fn of_summary(table: &MultilevelLayout, summary: &SummaryLayout) -> Result<Self> {
        let (levels, slots) = (table.levels().to_vec(), table.slots().into());
        Ok(match summary {
            SummaryLayout::Interpolation(layout) => Self::SummaryInterpolation {
                levels,
                slots,
                fingerprint_bits: layout.fingerprint_bits().into(),
            },
            SummaryLayout::Single(layout) => {
                Self::SummarySingle { levels, slots, cells: layout.cells(), hashes: layout.hashes().into() }
            }
            SummaryLayout::Multiple(layout) => {
                let filter = |&(bits, hashes): &(u64, u32)| BitsAndHashes { bits, hashes: hashes.into() };
                let filters = layout.filters().iter().map(filter).collect();
                Self::SummaryMultiple { levels, slots, filters, list: layout.list() }
            }
            _ => bail!("--layout-out: this kind has no file that `plan` reads"),
        })
    }

    /// Reads the layout of a plan, if a file is named.
    pub(super) fn read(files: &Files) -> Result<Option<Self>> {
        files.layout.as_deref().map(Self::open).transpose()
    }

    fn open(path: &Path) -> Result<Self> {
        /// Far more than the most levels take.
        const MAX_BYTES: u64 = 1 << 20;
        let layout = || {
            let mut text = Vec::new();
            let file = File::open(path).context("cannot open it")?;
            file.take(MAX_BYTES).read_to_end(&mut text).context("cannot read it")?;
            serde_json::from_slice(&text)
                .map_err(|error| anyhow!("it is no layout ({error}): make one with --layout-out"))
        };
        layout().with_context(|| path.display().to_string())
    }

    /// The contents of a file.
    pub(super) fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The error for a layout of another kind.
    pub(super) fn refuse<T>(self, expected: &str) -> Result<T> {
        let found = match self {
            Self::Multilevel { .. } => "multilevel",
            Self::SummaryInterpolation { .. } => "summary interpolation",
            Self::SummarySingle { .. } => "summary single",
            Self::SummaryMultiple { .. } => "summary multiple",
            Self::Dleft { .. } => "dleft",
            Self::Bloom { .. } => "bloom",
        };
        bail!("expected a layout for `plan {expected}`, found one for `plan {found}`: name another file")
    }
}
