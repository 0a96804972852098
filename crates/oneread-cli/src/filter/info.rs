//! `oneread filter info`: describes a filter file.

use anyhow::{Context, Result};
use serde::Serialize;

use super::any::InPlace;
use super::digester::AnyDigester;
use super::facts::Facts;
use super::file;
use crate::args;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    facts: Facts,
    /// Whether the checksum of the payload was verified.
    verified: bool,
}

pub(super) fn run(args: &args::Info) -> Result<()> {
    let contents = file::open(&args.file)?;
    let verified = !args.no_verify;
    let filter =
        InPlace::<AnyDigester>::open(&contents, verified).with_context(|| args.file.display().to_string())?;
    let report = Report { facts: Facts::of(&filter, None, contents.len() as u64), verified };
    if args.json {
        print_json(&report)
    } else {
        print(&report.facts.text([("checksum", if verified { "right" } else { "not compared" }.to_owned())]))
    }
}
