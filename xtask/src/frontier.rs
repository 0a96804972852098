//! `cargo xtask frontier`: the pictures of all filters, measured and drawn.

use anyhow::Result;

use crate::shell::{cargo, step};

/// Where the README's pictures are.
const PICTURES: &str = "docs/measured";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Draws what was measured before.
    #[arg(long)]
    draw_only: bool,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let bench = || cargo(["run", "--release", "-p", "oneread-bench", "--"]);
    if !args.draw_only {
        step("frontier", bench().arg("frontier"))?;
    }
    step("pictures", bench().args(["--draw", PICTURES]))
}
