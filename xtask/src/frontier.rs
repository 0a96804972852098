//! `cargo xtask frontier`: measures all filters and draws the pictures.

use anyhow::Result;

use crate::shell::{cargo, step};

/// The folder of the README's pictures.
const PICTURES: &str = "docs/measured";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Draw the pictures from the last measurement.
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
