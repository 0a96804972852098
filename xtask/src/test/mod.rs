//! `cargo xtask test`: the steps that a change must pass.
//!
//! Without `--all`, a step needs only the Rust toolchain and writes only to `target/`.

mod steps;
mod tree;
mod words;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::needs::Need;
use steps::STEPS;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only these steps; `--list` shows their names.
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// Run everything: also long tests, servers, browser, Miri, fuzzing and packages. Installs what
    /// is missing, and says so first.
    #[arg(long)]
    all: bool,
    /// Skip a step (repeatable); the last lines of the output list the skipped steps.
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// List the steps instead of running them.
    #[arg(long)]
    list: bool,
}

/// How thorough a step is that runs with and without `--all`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    Quick,
    Full,
}

/// One step of the test command.
struct Step {
    name: &'static str,
    /// What it checks, for `--list`.
    checks: &'static str,
    /// Whether it runs without `--all`.
    is_quick: bool,
    /// Approximate duration from scratch on two idle cores, in seconds.
    seconds: u32,
    needs: &'static [Need],
    run: fn(Effort) -> Result<()>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    for name in args.only.iter().chain(&args.skip) {
        if !STEPS.iter().any(|step| step.name == name) {
            bail!("there is no step `{name}`: `cargo xtask test --list` shows the steps");
        }
    }
    if args.list {
        list();
        return Ok(());
    }
    let is_chosen = |step: &&Step| {
        if args.only.is_empty() {
            args.all || step.is_quick
        } else {
            args.only.iter().any(|name| name == step.name)
        }
    };
    let (skipped, chosen): (Vec<&Step>, Vec<&Step>) =
        STEPS.iter().filter(is_chosen).partition(|step| args.skip.iter().any(|name| name == step.name));
    install(&chosen)?;
    let effort = if args.all { Effort::Full } else { Effort::Quick };
    let mut times = Vec::new();
    for step in chosen {
        let start = Instant::now();
        eprintln!("\n━━ {}: {}", step.name, step.checks);
        if let Err(error) = (step.run)(effort) {
            summarize(&times);
            bail!(
                "step `{}` failed after {}: {error:#}\n  repeat it alone: cargo xtask test {}",
                step.name,
                shown(start.elapsed()),
                step.name
            );
        }
        times.push((step.name, start.elapsed()));
    }
    summarize(&times);
    for step in &skipped {
        eprintln!("  skipped: {}", step.name);
    }
    eprintln!("all {} steps passed", times.len());
    Ok(())
}

/// Installs everything before the first step runs, so that a missing tool is reported at once.
fn install(steps: &[&Step]) -> Result<()> {
    let mut done: Vec<Need> = Vec::new();
    for step in steps {
        for &need in step.needs {
            if !done.contains(&need) {
                need.ensure(step.name)?;
                done.push(need);
            }
        }
    }
    Ok(())
}

fn list() {
    for (title, is_quick) in [("cargo xtask test", true), ("added by --all", false)] {
        println!("{title}:");
        for step in STEPS.iter().filter(|step| step.is_quick == is_quick) {
            println!(
                "  {:<10} {:>5}  {}",
                step.name,
                shown(Duration::from_secs(step.seconds.into())),
                step.checks
            );
            let needs: Vec<&str> = step.needs.iter().map(|need| need.name()).collect();
            if !needs.is_empty() {
                println!("  {:<10} {:>5}  needs {}", "", "", needs.join(", "));
            }
        }
    }
    println!("\nTimes are from scratch, on two idle cores. One step alone: cargo xtask test STEP");
}

fn summarize(times: &[(&str, Duration)]) {
    eprintln!();
    for (name, time) in times {
        eprintln!("  {name:<10} {:>6}", shown(*time));
    }
    let all: Duration = times.iter().map(|(_, time)| *time).sum();
    eprintln!("  {:<10} {:>6}", "together", shown(all));
}

/// Formats minutes and seconds.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
