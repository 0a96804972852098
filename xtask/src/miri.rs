//! `cargo xtask miri`: undefined behaviour, looked for by an interpreter.

use anyhow::Result;

use crate::shell::{ensure, nightly_cargo, step, with_args};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only tests whose names contain this.
    filter: Vec<String>,
}

pub(crate) fn run(args: Args) -> Result<()> {
    ensure(
        "Miri",
        || nightly_cargo(["miri", "--version"]),
        &mut with_args("rustup", &["component", "add", "miri", "rust-src", "--toolchain", "nightly"]),
    )?;
    // Tests that are too long for an interpreter are ignored under `cfg(miri)`, each with its reason.
    step("miri", nightly_cargo(["miri", "test", "-p", "oneread", "--lib", "--tests", "--"]).args(args.filter))
}
