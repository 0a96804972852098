//! `cargo xtask bench`: builds and runs the comparison benches.

use anyhow::Result;

use crate::needs::Need;
use crate::shell::{cargo, step};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Arguments for the benches: subjects (`hash`, `filters`, `plan`, …), `--quick`, `--out DIR`,
    /// `--list`. The subjects `redis` and `dataset`, which start servers of their own, and `python`
    /// run alone.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let is_quick = args.rest.iter().any(|argument| argument == "--quick");
    if args.rest.first().is_some_and(|subject| subject == "dataset") {
        return crate::dataset::bench(is_quick);
    }
    if args.rest.first().is_some_and(|subject| subject == "redis") {
        return crate::redis::bench(is_quick);
    }
    if args.rest.first().is_some_and(|subject| subject == "python") {
        Need::PythonPackages.ensure("bench python")?;
        return crate::python::bench(is_quick);
    }
    step("bench", cargo(["run", "--release", "-p", "oneread-bench", "--"]).args(args.rest))
}
