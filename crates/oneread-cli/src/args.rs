//! All subcommands and flags.

pub(crate) mod dataset;
mod reproduce;
#[cfg(feature = "server")]
pub(crate) mod serve;
pub(crate) mod store;
#[cfg(feature = "server")]
pub(crate) mod studio;

use std::any::TypeId;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;
use oneread::hash::Portable;
use oneread::hash::probes::SchemeName;
use oneread::layout::{CountingLayout, MAX_HASHES};
use oneread_planner::{Question, Simulated, parse};

use parse::{scheme, whole_in};
pub(crate) use reproduce::Reproduce;

/// A billion records of 100 bytes take about 120 GB and an hour.
const MAX_KEYS: u64 = 1_000_000_000;

/// Longer values would only measure how fast the disk writes.
const MAX_VALUE_BYTES: u64 = 1 << 20;

/// The rate of a filter without --rate.
const DEFAULT_RATE: f64 = 0.01;

/// 2^−64: the rate of the most hashes at their best size. Digests of 128 bits would allow little
/// less.
const MIN_RATE: f64 = 1.0 / (1u128 << MAX_HASHES) as f64;

/// The seed of a filter or store without --seed, so that nobody can prepare colliding keys.
fn random_seed() -> u64 {
    Portable::random().seed()
}

/// The usual width of a counter: at the planned load, fewer than one in 10^13 saturates.
const DEFAULT_COUNTER_BITS: u32 = 4;

/// A key-value store with 1 page read per hit, filters, tables, and planners that compute their
/// odds.
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

/// Parses the arguments of this process.
pub(crate) fn parsed() -> Result<Args, clap::Error> {
    Args::from_arg_matches_mut(&mut command().try_get_matches()?)
}

/// All subcommands and flags.
pub(crate) fn command() -> clap::Command {
    with_negative_numbers(Args::command())
}

/// Lets numbers begin with a minus, so that the error is about the number and not about an unknown
/// flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let of = arg.get_value_parser().type_id();
        if of == TypeId::of::<f64>() {
            arg.allow_hyphen_values(true)
        } else if of == TypeId::of::<u64>() || of == TypeId::of::<u32>() {
            arg.allow_negative_numbers(true)
        } else {
            arg
        }
    });
    command.mut_subcommands(with_negative_numbers)
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Plans and builds a store of a million records, looks up keys, and shows times and reads.
    Demo(Demo),
    /// Builds, publishes and reads datasets: sharded, versioned stores in folders and object
    /// stores.
    #[cfg(feature = "dataset")]
    #[command(subcommand)]
    Dataset(dataset::Dataset),
    /// Builds, publishes and reads datasets: sharded, versioned stores (not in this build).
    #[cfg(not(feature = "dataset"))]
    Dataset(Missing),
    /// Builds, queries, describes and merges filters: files that say which lines are certainly not
    /// in a set.
    #[command(subcommand)]
    Filter(Filter),
    /// Prints the completions for a shell, which offers subcommands and flags on Tab.
    Completions(Completions),
    /// Prints the manual page, or writes those of all subcommands.
    Man(Man),
    /// Computes the odds of tables, summaries and filters before anything is built.
    Plan(Question),
    /// Checks the papers: calculates and measures every printed figure, and says which hold.
    Reproduce(Reproduce),
    /// Serves stores and datasets over HTTP and the Redis protocol.
    #[cfg(feature = "server")]
    Serve(serve::Serve),
    /// Serves stores and datasets over HTTP and the Redis protocol (not in this build).
    #[cfg(not(feature = "server"))]
    Serve(Missing),
    /// Simulates a design before it is built.
    Simulate(Simulated),
    /// Opens the planner as pages on loopback: charts, draggable levels, answers to copy.
    #[cfg(feature = "server")]
    Studio(studio::Studio),
    /// Opens the planner as pages on loopback (not in this build).
    #[cfg(not(feature = "server"))]
    Studio(Missing),
    /// Creates, reads and checks stores: files with 1 page read per hit, 0.01 per miss.
    #[command(subcommand)]
    Store(store::Store),
}

/// Any arguments of a command that this build lacks.
#[cfg(not(all(feature = "dataset", feature = "server")))]
#[derive(clap::Args)]
pub(crate) struct Missing {
    /// Any arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<std::ffi::OsString>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread completions bash > ~/.local/share/bash-completion/completions/oneread
  oneread completions zsh > ~/.zfunc/_oneread
  oneread completions fish > ~/.config/fish/completions/oneread.fish")]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread man | man -l -
  oneread man --out ~/.local/share/man/man1; man oneread-store-get")]
pub(crate) struct Man {
    /// Writes the pages of all subcommands to this folder: oneread.1, oneread-store.1, ….
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "\
The keys are key-000000000000, key-000000000001, …; the files go to a temporary folder and are removed at the end, unless
--keep names another. Then look around:
  oneread demo --keep .
  oneread store get oneread-demo.store key-000000000042")]
pub(crate) struct Demo {
    /// The number of records.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        value_parser = whole_in(1..=MAX_KEYS),
    )]
    pub(crate) keys: u64,
    /// The bytes of each value; keys have 16.
    #[arg(
        long,
        value_name = "B",
        default_value_t = 100,
        value_parser = value_bytes,
    )]
    pub(crate) value_bytes: u32,
    /// Keeps the store in this folder, as oneread-demo.store.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// The seed of the hash functions and of the looked-up keys.
    #[arg(long, value_name = "X", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Prints one JSON document instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  oneread filter build seen.filter --rate 0.001 < seen.txt   a filter of the lines of a file
  oneread filter query seen.filter < new.txt                 the lines that may be among them
  oneread filter query seen.filter --invert < new.txt        the lines that certainly are not

A key is a line of bytes in any encoding, up to its newline and without it: nothing is stripped (a line that
ends in \\r\\n has the \\r in its key), an empty line is a key, and so is a last line without a newline. Lines are
shorter than 16 MiB.")]
pub(crate) enum Filter {
    /// Builds a filter of the lines on stdin.
    Build(Build),
    /// Prints the lines on stdin that may be in the set of a filter.
    Query(Query),
    /// Describes a filter: its kind, how full it is, and its error rate.
    Info(Info),
    /// Adds the lines on stdin to a filter.
    #[command(after_help = "\
Example:
  oneread filter add seen.filter < more.txt

The filter has room for as many lines as it was built for: beyond them its rate rises, and a line or d-left
filter becomes full. Then there is an error, and FILE stays as it was. FILE is replaced whole or not at all;
another command that would write it meanwhile is refused.")]
    Add(Change),
    /// Removes the lines on stdin from a filter.
    #[command(after_help = "\
Example:
  oneread filter remove seen.filter < gone.txt

Filters of the kinds line, dleft-counting and counting can remove lines. Remove only lines that were added, and
as often as they were: a line that is not in the set, but is taken for one that is, takes that one with it.
FILE is replaced whole or not at all; another command that would write it meanwhile is refused.")]
    Remove(Change),
    /// Merges filters into one that has all their keys.
    Merge(Merge),
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// The fewest bits for a known number of keys.
    Bloom,
    /// A little larger, and the fastest: a lookup reads one cache line.
    Blocked,
    /// A counter for each bit, so that lines can be removed.
    Counting,
    /// For an unknown number of keys: keeps the rate at any size, in 1.3 to 4.4 times the bits.
    Growing,
    /// The fewest bits for low rates, from 1 in 1000 on: 16 bits per key for 1 in 2400. A lookup
    /// reads one page. Can be full.
    #[value(name = "dleft")]
    DLeft,
    /// Like dleft, but lines can be removed, in about a third of counting's bits. Can be
    /// full, cannot be merged.
    #[value(name = "dleft-counting")]
    DLeftCounting,
    /// The fewest bits with removal: 13.2 bits per key for 1 in 1400. A lookup reads
    /// one cache line, rarely two. Can be full.
    Line,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread filter build seen.filter < seen.txt                        at a rate of 1%
  oneread filter build seen.filter --bits-per-key 12 < seen.txt      in 12 bits per line
  zcat *.gz | oneread filter build all.filter --kind growing         of a stream, in one pass
  oneread filter build a.filter --items 1000000 < a.txt              with room for a million lines
  oneread filter build b.filter --like a.filter < b.txt              to be merged with a.filter
  oneread filter build rare.filter --kind dleft --rate 0.0004 < a    at a low rate

A d-left filter with many more lines than --items says can be full; then there is an error, and no file.
FILE appears whole or not at all. A command that is killed leaves FILE.unfinished, which the next one
removes.")]
pub(crate) struct Build {
    /// The file to write.
    pub(crate) file: PathBuf,
    /// The false-positive rate: 0.01 means that one in a hundred lines outside the set is taken for
    /// a key.
    #[arg(long, value_name = "P", default_value_t = DEFAULT_RATE, value_parser = rate)]
    pub(crate) rate: f64,
    /// The size in bits per key, instead of the rate.
    #[arg(long, value_name = "B", conflicts_with = "rate", value_parser = bits_per_key)]
    pub(crate) bits_per_key: Option<f64>,
    /// The kind of filter.
    #[arg(long, value_enum, default_value_t = Kind::Bloom)]
    pub(crate) kind: Kind,
    /// The number of lines to make room for, counting repeated lines each time.
    ///
    /// Without it the lines are counted first, which takes 16 bytes per line of disk space beside
    /// FILE. Only filters with room for the same number can be merged. A growing filter needs no
    /// number; here it is the room of the first layer, 100000 by default.
    #[arg(long, value_name = "N", value_parser = whole_in(1..=u64::MAX))]
    pub(crate) items: Option<u64>,
    /// The seed of the hash function [default: random].
    ///
    /// Only filters with the same seed can be merged: name one, or use --like. Those who know the
    /// seed can choose lines that collide.
    #[arg(long, value_name = "S", default_value_t = random_seed(), hide_default_value = true)]
    pub(crate) seed: u64,
    /// Takes kind, size and seed from another filter, so that the two can be merged.
    #[arg(
        long,
        value_name = "FILTER",
        conflicts_with_all = ["rate", "bits_per_key", "kind", "items", "seed", "hashes", "scheme", "counter_bits"],
    )]
    pub(crate) like: Option<PathBuf>,
    /// The number of hashes per key, instead of the best one (bloom, counting).
    #[arg(long, value_name = "K", value_parser = value_parser!(u32).range(1..=i64::from(MAX_HASHES)))]
    pub(crate) hashes: Option<u32>,
    /// How hashes are derived from a key (bloom, counting).
    #[arg(long, value_name = "NAME", value_parser = scheme())]
    pub(crate) scheme: Option<SchemeName>,
    /// The width of a counter (counting) [default: 4].
    #[arg(long, value_name = "B", value_parser = value_parser!(u32).range(counter_bits()))]
    pub(crate) counter_bits: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Build {
    pub(crate) fn counter_bits_or_default(&self) -> u32 {
        self.counter_bits.unwrap_or(DEFAULT_COUNTER_BITS)
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
Lines come out in the order they came in, each with a newline after it. A line that is in the set is always
printed; one that is not is printed at the rate that `oneread filter info FILE` shows.

Exit codes: 0 at least one line was printed, 1 none was, 2 bad use or a failure.")]
pub(crate) struct Query {
    /// The filter.
    pub(crate) file: PathBuf,
    /// Prints the lines that are certainly not in the set instead.
    #[arg(long)]
    pub(crate) invert: bool,
    /// Trusts the file: skips reading all of it to verify its checksum.
    #[arg(long)]
    pub(crate) no_verify: bool,
}

#[derive(clap::Args)]
pub(crate) struct Info {
    /// The filter.
    pub(crate) file: PathBuf,
    /// Describes the filter even if the checksum of its contents is wrong.
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// Prints one JSON document; fields that a kind does not have are null.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Change {
    /// The filter.
    pub(crate) file: PathBuf,
    /// Prints one JSON document; fields that a kind does not have are null.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread filter build mon --items 1000000 < mon.txt
  oneread filter build tue --like mon < tue.txt
  oneread filter merge week mon tue

Filters of the same kind, size and seed can be merged: build one --like the other. Counters are added,
the layers of growing filters are joined, and their rates add up. A bucket of a d-left filter holds a few keys of both:
give --items for all lines together. D-left counting filters cannot be merged.")]
pub(crate) struct Merge {
    /// The file to write.
    pub(crate) out: PathBuf,
    /// The filters, two or more.
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Flags of the commands that write a file.
#[derive(clap::Args)]
pub(crate) struct Output {
    /// Replaces an existing file.
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints one JSON document; fields that a kind does not have are null.
    #[arg(long)]
    pub(crate) json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (MIN_RATE..1.0).contains(&rate) => Ok(rate),
        _ => Err(format!("expected a number from {MIN_RATE:.1e} to below 1: 0.01 is one in a hundred")),
    }
}

fn bits_per_key(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(bits) if bits > 0.0 && bits.is_finite() => Ok(bits),
        _ => Err("expected a number above 0: 8 to 20 are usual".to_owned()),
    }
}

fn value_bytes(text: &str) -> Result<u32, String> {
    Ok(parse::within(parse::bytes(text)?, &(0..=MAX_VALUE_BYTES))? as u32)
}

fn counter_bits() -> RangeInclusive<i64> {
    CountingLayout::MIN_COUNTER_BITS.into()..=CountingLayout::MAX_COUNTER_BITS.into()
}
