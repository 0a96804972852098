//! `cargo xtask fuzz`: coverage-guided hostile input.

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, ensure, nightly_cargo, step};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The target, a file of `fuzz/fuzz_targets`; all of them in turn if none is named.
    target: Option<String>,
    /// For how many seconds to fuzz each target.
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
    ensure("cargo-fuzz", || cargo(["fuzz", "--version"]), &mut cargo(["install", "cargo-fuzz", "--locked"]))?;
    for target in chosen {
        let limit = format!("-max_total_time={}", args.seconds);
        step("fuzz", nightly_cargo(["fuzz", "run", &target, "--"]).args([&limit, "-rss_limit_mb=2048"]))?;
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
