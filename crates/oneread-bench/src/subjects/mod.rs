//! The subjects: one file each.

mod dleft;
mod filters;
mod frontier;
mod hash;
mod line;
mod maps;
mod plan;
mod store;
mod summaries;
mod tables;

use anyhow::Result;

use crate::measure::Bench;

/// A subject to measure beside other crates.
pub(crate) struct Subject {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// One line on what it measures.
    pub(crate) about: &'static str,
    /// Runs its contests, one after the other.
    pub(crate) run: fn(&mut Bench) -> Result<()>,
}

/// All subjects, in the order of the project.
pub(crate) const ALL: [Subject; 11] = [
    Subject { name: "hash", about: "digests and hash families beside foldhash and XXH3", run: hash::run },
    Subject {
        name: "filters",
        about: "filters beside fastbloom, sbbf, xorf, qfilter and others",
        run: filters::run,
    },
    Subject {
        name: "dleft",
        about: "d-left filters beside fastbloom, qfilter and cuckoofilter",
        run: dleft::run,
    },
    Subject {
        name: "line",
        about: "line filters beside qfilter, cuckoofilter and fastbloom",
        run: line::run,
    },
    Subject { name: "frontier", about: "bits per key, rates and times of all filters", run: frontier::run },
    Subject {
        name: "plan",
        about: "plans of tables and summaries beside the recursion that the paper prints, on one core",
        run: plan::run,
    },
    Subject {
        name: "tables",
        about: "multilevel tables and the lecture's, beside hashbrown and std",
        run: tables::run,
    },
    Subject {
        name: "maps",
        about: "the bounded map beside hashbrown, griddle and std: rates, bytes, cache lines, churn",
        run: maps::run,
    },
    Subject {
        name: "summaries",
        about: "summaries alone, beside the reads they save, a static function and hashbrown",
        run: summaries::run,
    },
    Subject {
        name: "store",
        about: "the sealed store beside embedded stores: import, lookups warm and cold, disk and memory",
        run: store::run,
    },
    Subject {
        name: "store-live",
        about: "the live store beside embedded stores: growth, churn, durable batches, disk and memory (also `store --live`)",
        run: store::live::run,
    },
];
