//! `cargo xtask test`: what a change must pass, in the order in which it fails fastest.

use anyhow::Result;

use crate::redis;
use crate::shell::{cargo, ensure, step, with_args};

pub(crate) fn run() -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        ensure(
            component,
            || cargo([tool, "--version"]),
            &mut with_args("rustup", &["component", "add", component]),
        )?;
    }
    // Saved filters are read back by an independent program.
    ensure(
        "python3",
        || with_args("python3", &["--version"]),
        &mut with_args("apt-get", &["install", "-y", "python3"]),
    )?;
    let clients = redis::set_up()?;
    step("formatting", &mut cargo(["fmt", "--all", "--check"]))?;
    step(
        "lints",
        cargo(["clippy", "--workspace", "--all-targets", "--all-features"]).args(["--", "-D", "warnings"]),
    )?;
    // Without std nothing but the library's own features may be on, hence the package by itself.
    step(
        "no_std lints",
        cargo(["clippy", "-p", "oneread", "--no-default-features"]).args(["--", "-D", "warnings"]),
    )?;
    step("no_std build", &mut cargo(["build", "-p", "oneread", "--no-default-features"]))?;
    step(
        "docs",
        cargo(["doc", "--workspace", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    step("package", &mut cargo(["package", "-p", "oneread", "--allow-dirty", "--quiet"]))?;
    // Doc tests belong to `cargo test` too. Ignored tests are the long ones, not the broken ones.
    let mut tests = cargo(["test", "--workspace", "--all-features"]);
    step("tests", clients.tell(&mut tests).args(["--", "--include-ignored"]))?;
    crate::report::run()?;
    crate::loom::run()?;
    eprintln!("\n── all passed");
    Ok(())
}
