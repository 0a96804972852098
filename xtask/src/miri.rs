//! `cargo xtask miri`: undefined behaviour, looked for by an interpreter.

use anyhow::Result;

use crate::needs::Need;
use crate::shell::{nightly_cargo, step};

/// The tests that an interpreter can tell us something about: of the files with unsafe code, and of tables whose keys and values panic
/// in the middle of a change. An interpreter is a thousand times slower, so that the others wait for `--all`.
const SUBSET: [&str; 8] = [
    "bits::",
    "filter::atomic",
    "filter::blocked",
    "filter::bloom",
    "filter::counting",
    "table::bounded",
    "table::panics",
    "table::surface",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only tests whose names contain one of these; without any, those that touch unsafe code or panic amid a change.
    filter: Vec<String>,
    /// All tests that are not left out under Miri: hours.
    #[arg(long, conflicts_with = "filter")]
    all: bool,
}

pub(crate) fn run(args: Args) -> Result<()> {
    Need::Nightly.ensure("miri")?;
    Need::Miri.ensure("miri")?;
    if args.all {
        interpret(&[])
    } else if args.filter.is_empty() {
        subset()
    } else {
        interpret(&args.filter)
    }
}

/// The tests of unsafe code: a step of `cargo xtask test --all`.
pub(crate) fn subset() -> Result<()> {
    interpret(&SUBSET.map(str::to_owned))
}

/// Tests that are too long for an interpreter are ignored under `cfg(miri)`, each with its reason.
fn interpret(filter: &[String]) -> Result<()> {
    step("miri", nightly_cargo(["miri", "test", "-p", "oneread", "--lib", "--tests", "--"]).args(filter))
}
