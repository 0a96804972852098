//! `cargo xtask bench`: builds and runs the comparison benches.

use anyhow::Result;

use crate::needs::Need;
use crate::shell::{cargo, step};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments for the benches: subjects (`hash`, `filters`, `plan`, …), `--quick`, `--out DIR`,
    /// `--list`. The subjects `redis` (which starts its own server) and `python` run alone.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: Args) -> Result<()> {
    if args.rest.first().is_some_and(|subject| subject == "redis") {
        return crate::redis::bench(args.rest.iter().any(|argument| argument == "--quick"));
    }
    if args.rest.first().is_some_and(|subject| subject == "python") {
        Need::PythonPackages.ensure("bench python")?;
        return crate::python::bench(args.rest.iter().any(|argument| argument == "--quick"));
    }
    step("bench", cargo(["run", "--release", "-p", "oneread-bench", "--"]).args(args.rest))
}
