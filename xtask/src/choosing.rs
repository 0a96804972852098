//! `cargo xtask choosing`: the tables of docs/choosing.md, from what the solvers say.

use anyhow::Result;

use crate::shell::{cargo, step};

/// The test that compares the table writes it instead.
pub(crate) fn run() -> Result<()> {
    let mut test = cargo(["test", "-p", "oneread-cli", "--test", "choosing"]);
    step("choosing", test.env("ONEREAD_UPDATE_CHOOSING", "1"))
}
