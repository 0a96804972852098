//! `cargo xtask miri`: finds undefined behaviour by interpretation.

use anyhow::Result;

use crate::needs::Need;
use crate::shell::{nightly_cargo, step};

/// The tests of everything with unsafe code, sized for an interpreter, which is a thousand times
/// slower; and of maps whose keys and values panic in the middle of a change. They take some
/// minutes; all others would take hours.
const SUBSET: [&str; 7] = [
    "bits::",
    "filter::blocked::simd",
    "filter::interpreter",
    "table::bounded::group",
    "table::bounded::panics",
    "table::bounded::tests",
    "table::maps::bounded",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only tests whose names contain one of these. The default: tests of unsafe code and of panics
    /// during a change.
    filter: Vec<String>,
    /// All tests that are not ignored under Miri; takes hours.
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

/// Tests that are too long for an interpreter are ignored under `cfg(miri)`, with the reason.
fn interpret(filter: &[String]) -> Result<()> {
    let mut miri = nightly_cargo(["miri", "test", "-p", "oneread", "--lib", "--tests", "--"]);
    // Property tests save a failing case to a file, which isolation forbids. Two cases each, to
    // save time.
    miri.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", "2");
    step("miri", miri.args(filter))
}
