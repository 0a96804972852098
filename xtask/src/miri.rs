//! `cargo xtask miri`: undefined behaviour, looked for by an interpreter.

use anyhow::Result;

use crate::shell::{ensure, nightly_cargo, step, with_args};

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
    ensure(
        "Miri",
        || nightly_cargo(["miri", "--version"]),
        &mut with_args("rustup", &["component", "add", "miri", "rust-src", "--toolchain", "nightly"]),
    )?;
    let filter =
        if args.filter.is_empty() && !args.all { SUBSET.map(str::to_owned).to_vec() } else { args.filter };
    // Tests that are too long for an interpreter are ignored under `cfg(miri)`, each with its reason.
    step("miri", nightly_cargo(["miri", "test", "-p", "oneread", "--lib", "--tests", "--"]).args(filter))
}
