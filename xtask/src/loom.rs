//! `cargo xtask test loom`: tries every interleaving of two threads in a tiny filter.

use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{cargo, root, step};

pub(crate) fn run() -> Result<()> {
    // This setting recompiles everything, so it has its own target folder.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    step(
        "loom",
        cargo(["test", "-p", "oneread", "--lib", "interleavings"])
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_TARGET_DIR", target.join("loom")),
    )
}
