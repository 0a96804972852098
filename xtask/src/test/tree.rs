//! Checks that the root of the tree holds only what belongs there.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::shell::root;

/// The allowed files of the root. Add a new one here.
const ALLOWED: [&str; 18] = [
    ".cargo",
    ".ci",
    ".git",
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "clippy.toml",
    "crates",
    "docs",
    "fuzz",
    "rustfmt.toml",
    "xtask",
];

/// Refuses files in the root that are neither listed here nor ignored by git.
pub(super) fn check() -> Result<()> {
    let mut foreign = Vec::new();
    for entry in fs::read_dir(root())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !ALLOWED.contains(&name.as_str()) && name != "target" && !is_ignored(&name) {
            foreign.push(name);
        }
    }
    foreign.sort();
    if !foreign.is_empty() {
        bail!(
            "these do not belong in the root: {}; remove them, or list them in xtask/src/test/tree.rs",
            foreign.join(", ")
        );
    }
    Ok(())
}

/// Whether git ignores a name. Without git, or outside a clone, nothing is ignored.
fn is_ignored(name: &str) -> bool {
    let mut git = Command::new("git");
    git.args(["check-ignore", "--quiet", "--", name]).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}
