//! `cargo xtask choosing`: writes the tables of docs/choosing.md from the solvers' results.

use anyhow::Result;

use crate::shell::{cargo, step};

/// The test that compares the tables can also write them.
pub(crate) fn run() -> Result<()> {
    let mut test = cargo(["test", "-p", "oneread-cli", "--test", "it", "choosing"]);
    step("choosing", test.env("ONEREAD_UPDATE_CHOOSING", "1"))
}
