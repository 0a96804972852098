//! `cargo xtask fuzz`: coverage-guided fuzzing.

use anyhow::{Context, Result, bail};

use crate::needs::{Need, cargo_fuzz};
use crate::shell::{nightly, step};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The target, a file of `fuzz/fuzz_targets`; all of them in turn if none is named.
    target: Option<String>,
    /// Seconds to fuzz each target.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let targets = targets()?;
    let chosen = match args.target {
        None => targets,
        Some(name) if targets.contains(&name) => vec![name],
        Some(name) => bail!("there is no fuzz target `{name}`: choose among {}", targets.join(", ")),
    };
    Need::Nightly.ensure("fuzz")?;
    Need::CargoFuzz.ensure("fuzz")?;
    fuzz(&chosen, args.seconds)
}

/// Fuzzes all targets, which share `seconds`: a step of `cargo xtask test --all`.
pub(crate) fn share(seconds: u64) -> Result<()> {
    let targets = targets()?;
    fuzz(&targets, (seconds / targets.len() as u64).max(1))
}

fn fuzz(targets: &[String], seconds: u64) -> Result<()> {
    // Builds all targets first, so that a target's time is spent on fuzzing only.
    step("build", nightly(cargo_fuzz()).args(["fuzz", "build"]))?;
    for target in targets {
        let limit = format!("-max_total_time={seconds}");
        step(
            "fuzz",
            nightly(cargo_fuzz()).args(["fuzz", "run", target, "--", &limit, "-rss_limit_mb=2048"]),
        )?;
    }
    Ok(())
}

fn targets() -> Result<Vec<String>> {
    let folder = "fuzz/fuzz_targets";
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {folder}"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}
