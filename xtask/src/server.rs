//! The tests of the server, with the clients that users have.

use anyhow::Result;

use crate::needs::clients_python;
use crate::shell::{cargo, step};

/// The tests of the crate, and of the command's guide: a step of `cargo xtask test --all`.
pub(crate) fn test() -> Result<()> {
    let tests = ["test", "--features", "arrow", "-p", "oneread-server", "--", "--include-ignored"];
    step("tests of the crate", cargo(tests).env("ONEREAD_PYTHON", clients_python()))?;
    let tests = ["test", "--features", "server", "-p", "oneread-cli", "the_readme_and_the_guides"];
    step("commands of the guide", &mut cargo(tests))?;
    let lints = ["clippy", "--all-targets", "--features", "arrow", "-p", "oneread-server"];
    step("lints", cargo(lints).args(["--", "-D", "warnings"]))
}
