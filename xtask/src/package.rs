//! Packs every published crate and builds it from its package.

use anyhow::Result;

use crate::shell::{cargo, step};

/// In the order of their dependencies.
const PUBLISHED: [&str; 9] = [
    "oneread",
    "oneread-study",
    "oneread-store",
    "oneread-dataset",
    "oneread-lab",
    "oneread-planner",
    "oneread-server",
    "oneread-cli",
    "oneread-redis",
];

pub(crate) fn run() -> Result<()> {
    // The work tree is checked, committed or not.
    let mut package = cargo(["package", "--allow-dirty", "--quiet"]);
    for name in PUBLISHED {
        package.args(["-p", name]);
    }
    step("package", &mut package)
}
