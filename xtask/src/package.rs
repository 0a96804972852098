//! Every crate that is published, packed and built from its package alone.

use anyhow::Result;

use crate::shell::{cargo, step};

/// In the order of their dependencies.
const PUBLISHED: [&str; 6] =
    ["oneread", "oneread-study", "oneread-store", "oneread-lab", "oneread-cli", "oneread-redis"];

pub(crate) fn run() -> Result<()> {
    // Built with the commit that is checked, whether or not it is committed yet.
    let mut package = cargo(["package", "--allow-dirty", "--quiet"]);
    for name in PUBLISHED {
        package.args(["-p", name]);
    }
    step("package", &mut package)
}
