//! `cargo xtask bench`: the comparison benches, built for this machine's best common denominator.

use anyhow::Result;

use crate::shell::{cargo, step};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Handed on: the subjects (`hash`, `filters`, `maps`, `plan`, …), `--quick`, `--out DIR`, `--list`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: Args) -> Result<()> {
    step("bench", cargo(["run", "--release", "-p", "oneread-bench", "--"]).args(args.rest))
}
