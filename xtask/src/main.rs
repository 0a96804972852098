//! Every chore of the project, with its own set-up: `cargo xtask --help`.

mod bench;
mod choosing;
mod frontier;
mod fuzz;
mod loom;
mod miri;
mod needs;
mod package;
mod redis;
mod report;
mod shell;
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
    /// What a change must pass, with the Rust toolchain alone; `--all` for everything else too.
    Test(test::Args),
    /// Measures oneread beside its peers and prints a table a subject.
    Bench(bench::Args),
    /// Measures all filters and draws what bits a key buy, in accuracy and in speed: on an idle
    /// machine.
    Frontier(frontier::Args),
    /// Runs under Miri the tests that touch unsafe code, or that panic in the middle of a change;
    /// or all.
    Miri(miri::Args),
    /// Writes the tables of docs/choosing.md anew, from what the solvers say.
    Choosing,
    /// Feeds hostile input to a fuzz target, or to all of them in turn.
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
