//! Every subcommand and flag.

use clap::{Parser, Subcommand, value_parser};

/// A billion keys take some minutes.
const MOST_KEYS: u64 = 1_000_000_000;

/// Hashing with choices: portable digests, hash families, and the odds that go with them.
#[derive(Parser)]
#[command(
    name = "oneread",
    version,
    after_help = "Exit codes: 0 done, 1 a negative answer, 2 bad use or a failure."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Hashes a counter with every family and digester, and shows how evenly each spreads it.
    Demo(Demo),
}

#[derive(clap::Args)]
pub(crate) struct Demo {
    /// How many keys to hash: the numbers from 0.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        value_parser = value_parser!(u64).range(1..=MOST_KEYS),
    )]
    pub(crate) keys: u64,
    /// Which functions of the families to draw.
    #[arg(long, value_name = "X", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Prints one JSON document instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}
