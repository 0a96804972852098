//! `cargo xtask readme`: the table of structures in the README, from what the solvers say.

use anyhow::Result;

use crate::shell::{cargo, step};

/// The test that compares the table writes it instead.
pub(crate) fn run() -> Result<()> {
    let mut test = cargo(["test", "-p", "oneread-cli", "--test", "readme"]);
    step("README", test.env("ONEREAD_UPDATE_README", "1"))
}
