//! The Python package: its tests, and its benchmark beside other packages.

use std::process::Command;

use anyhow::Result;

use crate::needs::package_python;
use crate::shell::step;

/// Builds the package as users do, and runs its tests: a step of `cargo xtask test --all`.
pub(crate) fn test() -> Result<()> {
    install(&["--config-settings=build-args=--profile dev"])?;
    step(
        "pytest",
        python().args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/oneread-python/tests"]),
    )
}

/// Compares the package with others; `--quick` takes fewer keys.
pub(crate) fn bench(is_quick: bool) -> Result<()> {
    step("other packages", python().args(["-m", "pip", "install", "--quiet", "lmdb"]))?;
    for peer in ["rbloom", "pybloomfiltermmap3", "fastbloom-rs"] {
        // Without it, its rows say that it could not be installed.
        _ = step(peer, python().args(["-m", "pip", "install", "--quiet", peer]));
    }
    install(&[])?;
    let mut bench = python();
    bench.arg("crates/oneread-python/bench/compare.py");
    step("bench", if is_quick { bench.arg("--quick") } else { &mut bench })
}

fn install(options: &[&str]) -> Result<()> {
    let mut pip = python();
    pip.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", "--no-build-isolation"]);
    step("the package", pip.args(options).arg("./crates/oneread-python"))
}

/// The interpreter of the environment, whose programs (`maturin`) come first.
fn python() -> Command {
    let program = package_python();
    let folder = program.parent().expect("a program lies in a folder");
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("PATH") {
        path.push(":");
        path.push(others);
    }
    let mut command = Command::new(&program);
    // Nothing is left beside the sources.
    command.env("PATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
