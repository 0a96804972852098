//! `cargo xtask test loom`: every order in which threads can meet in a tiny filter, tried one after
//! the other.

use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{cargo, root, step};

pub(crate) fn run() -> Result<()> {
    // Everything is compiled anew with this setting: in a folder of its own, so that the usual one
    // is not compiled anew afterwards.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    step(
        "loom",
        cargo(["test", "-p", "oneread", "--lib", "interleavings"])
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", target.join("loom")),
    )
}
