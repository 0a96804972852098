//! The project's chores: `cargo xtask --help`.

mod bench;
mod choosing;
mod dataset;
mod frontier;
mod fuzz;
mod loom;
mod miri;
mod needs;
mod package;
mod python;
mod redis;
mod report;
mod server;
mod shell;
mod studio;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The chores of oneread.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run the checks that every change must pass; `--all` adds the slow ones.
    Test(test::Args),
    /// Measure oneread beside other crates; print one table per subject.
    Bench(bench::Args),
    /// Measure all filters and draw accuracy and speed by bits per key; needs an idle machine.
    Frontier(frontier::Args),
    /// Run under Miri the tests of unsafe code and of panics during a change, or all tests.
    Miri(miri::Args),
    /// Rewrite the tables of docs/choosing.md from the solvers' results.
    Choosing,
    /// Fuzz one target, or all of them in turn.
    Fuzz(fuzz::Args),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    std::env::set_current_dir(shell::root())?;
    match Args::parse().chore {
        Chore::Test(args) => test::run(&args),
        Chore::Bench(args) => bench::run(args),
        Chore::Frontier(args) => frontier::run(args),
        Chore::Miri(args) => miri::run(args),
        Chore::Choosing => choosing::run(),
        Chore::Fuzz(args) => fuzz::run(args),
    }
}
