//! The flags of `oneread reproduce`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use oneread_lab::Paper;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread reproduce                        everything, in some minutes
  oneread reproduce lecture less-hashing   two of the papers
  oneread reproduce --out results          kept in a folder, with a page to read: report.html
  oneread reproduce --full --out results   with the papers' numbers of trials; interrupted, it goes on there

A claim holds, or is a misprint (and two methods agree on what is right), or is undecided, or fails: our own
numbers contradict each other.

Exit codes: 0 no claim fails, 1 one does, 2 bad use or a failure.")]
pub(crate) struct Reproduce {
    /// The papers; all by default.
    #[arg(value_name = "PAPER", value_parser = paper())]
    pub(crate) papers: Vec<Paper>,
    /// Measures for hours, with as many trials as the papers, for smaller standard errors; first
    /// estimates the time.
    #[arg(long)]
    pub(crate) full: bool,
    /// Prints the claims without judging them.
    #[arg(long, conflicts_with_all = ["full", "out", "seed"])]
    pub(crate) list: bool,
    /// Keeps results in a folder: report.html and report.md to read, results.json, tables and
    /// pictures. Reuses its results of this version, seed and effort.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The seed of the measurements.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Prints one JSON document instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

fn paper() -> impl TypedValueParser<Value = Paper> {
    PossibleValuesParser::new(Paper::ALL.map(Paper::name)).map(|name| name.parse().expect("one of the names"))
}
