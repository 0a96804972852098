//! The subcommands and flags of `oneread plan`.
//!
//! Flags are boxed, since there are many of them.
//!
//! Numbers that a sweep may set are options, even where a plan needs them: the plan itself reports
//! a missing one.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use oneread::hash::probes::SchemeName;
use oneread::layout::{Keep, ListLayout, Semisort, Ties};
use serde::{Deserialize, Serialize};

use super::parse::{fraction, one_of, positive, scheme, whole};
use super::sweep::Sweep;

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  oneread plan multilevel --items 10000 --levels 40000,10000,5000,2500,2500
      ten thousand items in five levels: how many each level holds, and that some item finds no room in any
      once in 10^12 tables
  oneread plan multilevel --items 1e6 --first-level 2e6 --ratio 0.5 --level-count 6 --plot loads.svg
      levels that halve, drawn beside their items; --buckets-per-item 2 for a first level that grows with the items
  oneread plan summary multiple --items 10000 --levels 40000,10000,5000,2500,2500 \\
          --filters 106000:7,87500:49,5500:49,500:49,100:49
      24950 bytes of filters that name the level to read: how often they err, and what that costs in reads
  oneread plan bloom --items 1e6 --bits 8e6 --sweep hashes=1..16 > hashes.csv
      a row for each number of hashes; the fewest false positives are at 6
  oneread plan multilevel --buckets-per-item 4 --sweep items=1000..1e6 --log --steps 10 > items.csv
      ten rows, the items multiplied from one to the next
  oneread plan dleft --load 4 --plot dleft.svg --layout-out dleft.json
      a d-left filter at four items per bucket, drawn beside a Bloom filter of its size
  oneread plan dleft --load 5 --layout dleft.json
      the same filter at another load

Whole numbers may be written 10000, 10_000 or 1e4. A sweep prints CSV (with --json an array of documents): the field
that changes first, then all other numbers, then lists with a column for each entry.

A number that is too small for a float is null in JSON and empty in CSV, never 0; 0 is what cannot happen.
Probabilities that may be that small come with their natural logarithm: ln_crisis_probability is that of
crisis_probability.")]
pub(crate) enum Command {
    /// A multilevel hash table: the items of each level, and the odds that one finds no room.
    Multilevel(Box<Plan<Multilevel>>),
    /// A summary of a multilevel hash table, which names the level to read: how often it errs.
    #[command(subcommand)]
    Summary(Summary),
    /// Lazy deletions from a multilevel hash table: the items that move in a cleanup.
    Deletions(Box<Plan<Deletions>>),
    /// A d-left filter: the loads of its buckets and its false positives.
    Dleft(Box<Plan<Dleft>>),
    /// A Bloom filter: its false positives, and the best number of hashes.
    Bloom(Box<Plan<Bloom>>),
    /// Restricted hashing: the stash of a multilevel table whose cells have few next cells.
    Restricted(Box<Plan<Restricted>>),
    /// The inverse of planning: the smallest layout that meets the targets.
    #[command(subcommand)]
    Solve(super::solve::Solve),
}

#[derive(Subcommand)]
#[command(after_help = "\
Examples, the paper's three for ten thousand items:
  oneread plan summary interpolation --items 10000 --levels 40000,10000,5000,2500,2500 --fingerprint-bits 55
  oneread plan summary single --items 10000 --levels 40000,10000,5000,2500,2500 --cells 120000 --hashes 15
  oneread plan summary multiple --items 10000 --levels 40000,10000,5000,2500,2500 \\
          --filters 106000:7,87500:49,5500:49,500:49,100:49")]
pub(crate) enum Summary {
    /// A sorted string of bits for each item, beside its level.
    Interpolation(Box<Plan<Summarized<Interpolation>>>),
    /// One Bloom filter whose cells hold levels.
    Single(Box<Plan<Summarized<Single>>>),
    /// A Bloom filter for each level, of the items at this level or deeper.
    Multiple(Box<Plan<Summarized<Multiple>>>),
}

/// The flags of one plan, and those of all plans.
#[derive(clap::Args)]
pub(crate) struct Plan<S: clap::Args> {
    #[command(flatten)]
    pub(crate) subject: S,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Flags of all plans.
#[derive(clap::Args)]
pub(crate) struct Output {
    /// Prints one JSON document instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Plans for each of several values of a number, and prints CSV.
    ///
    /// FIELD is any flag that takes one number. FIELD=A..B takes each whole number from A to B; for
    /// more than 100, or for fractions, 21 values in equal steps. FIELD=A..B..STEP adds STEP from
    /// row to row, FIELD=A..B..xFACTOR multiplies by FACTOR.
    #[arg(long, value_name = "FIELD=A..B", value_parser = Sweep::parse)]
    pub(crate) sweep: Option<Sweep>,
    /// The number of values from A to B, both included.
    #[arg(long, value_name = "N", requires = "sweep", value_parser = whole)]
    pub(crate) steps: Option<u64>,
    /// Multiplies by equal factors instead of adding equal steps.
    #[arg(long, requires = "sweep")]
    pub(crate) log: bool,
}

/// Flags of plans that have a layout.
#[derive(clap::Args)]
pub(crate) struct Files {
    /// Reads the layout from a file of --layout-out, instead of from flags.
    #[arg(long, value_name = "FILE")]
    pub(crate) layout: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: LayoutOut,
}

/// The flag of all commands that have a layout or find one.
#[derive(clap::Args)]
pub(crate) struct LayoutOut {
    /// Writes the layout as JSON: its kind, and the flags that describe it.
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    pub(crate) layout_out: Option<PathBuf>,
}

/// The levels of a multilevel table: listed, or each a fraction of the one before.
#[derive(Default, clap::Args)]
pub(crate) struct Table {
    /// The buckets of each level, first to last.
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        value_parser = whole,
        conflicts_with_all = ["layout", "first_level", "buckets_per_item", "ratio", "level_count"],
    )]
    pub(crate) levels: Vec<u64>,
    /// The buckets of the first level, instead of --levels; each next level has --ratio times as
    /// many.
    #[arg(long, value_name = "M", value_parser = whole, conflicts_with_all = ["layout", "buckets_per_item"])]
    pub(crate) first_level: Option<u64>,
    /// The buckets of the first level per item, instead of --first-level.
    #[arg(long, visible_alias = "c1", value_name = "C1", value_parser = positive, conflicts_with = "layout")]
    pub(crate) buckets_per_item: Option<f64>,
    /// The size of each level relative to the one before, rounded up to whole buckets [default:
    /// 0.5].
    #[arg(long, visible_alias = "c2", value_name = "C2", value_parser = fraction, conflicts_with = "layout")]
    pub(crate) ratio: Option<f64>,
    /// The number of levels, with --first-level or --buckets-per-item [default: 5].
    #[arg(long, value_name = "V", value_parser = whole, conflicts_with = "layout")]
    pub(crate) level_count: Option<u64>,
    /// The slots per bucket [default: 1].
    #[arg(long, value_name = "S", value_parser = whole, conflicts_with = "layout")]
    pub(crate) slots: Option<u64>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan multilevel --items 10000 --levels 40000,10000,5000,2500,2500
  oneread plan multilevel --items 10000 --buckets-per-item 3 --ratio 0.5 --level-count 5 --plot loads.svg
  oneread plan multilevel --items 1e5 --buckets-per-item 3 --sweep ratio=0.3..0.6..0.05
  oneread plan multilevel --items 10000 --first-level 3000 --level-count 3 --slots 4

Fields: levels[] are the buckets of each level, expected[] the items that each holds, crisis_probability the odds that
any item finds no room, and expected_stash the items expected without room.
expected_approximate[] is the paper's equation (1), which treats what a level passes on as a fixed number; expected[]
sums over all the numbers it may pass on.")]
pub(crate) struct Multilevel {
    #[command(flatten)]
    pub(crate) items: Items,
    #[command(flatten)]
    pub(crate) table: Table,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Draws the items and the buckets of each level.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct Items {
    /// The number of items.
    #[arg(id = "items", long = "items", value_name = "N", value_parser = whole)]
    pub(crate) number: Option<u64>,
}

/// A kind of summary, and the flags of all kinds.
#[derive(clap::Args)]
pub(crate) struct Summarized<K: clap::Args> {
    #[command(flatten)]
    pub(crate) kind: K,
    #[command(flatten)]
    pub(crate) items: Items,
    #[command(flatten)]
    pub(crate) table: Table,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Draws failures and false positives against the bytes of smaller and larger summaries.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread plan summary interpolation --items 10000 --levels 40000,10000,5000,2500,2500 --sweep fingerprint-bits=50..60

Fields: false_positive is the share of absent keys for which a level is named, failure and failure_exact the odds that
any key ever takes a second read (the paper's bound, and exact), failure_by_level[] the keys expected to, by their level,
extra_reads_per_hit and reads_per_miss the buckets read, and occupancy_bytes a bit per bucket, which some tables need.")]
pub(crate) struct Interpolation {
    /// The bits of each string.
    #[arg(long, value_name = "B", value_parser = whole, conflicts_with = "layout")]
    pub(crate) fingerprint_bits: Option<u64>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread plan summary single --items 10000 --levels 40000,10000,5000,2500,2500 --cells 120000 --sweep hashes=8..20

Fields are those of `plan summary interpolation`; hashes_for_failures and hashes_for_false_positives are the best numbers
of hashes for either.")]
pub(crate) struct Single {
    /// The cells of the filter, rounded down to a multiple of the hashes.
    #[arg(long, value_name = "M", value_parser = whole, conflicts_with = "layout")]
    pub(crate) cells: Option<u64>,
    /// The number of hashes per item.
    #[arg(long, value_name = "K", value_parser = whole, conflicts_with = "layout")]
    pub(crate) hashes: Option<u64>,
    #[command(flatten)]
    pub(crate) churn: Churn,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread plan summary multiple --items 10000 --levels 40000,10000,5000,2500,2500 \\
          --filters 106000:7,87500:49,5500:49,500:49,100:49 --plot failures.svg

Fields are those of `plan summary interpolation`; filter_bits[] and filter_hashes[] are the filters of the levels.")]
pub(crate) struct Multiple {
    /// The bits and the hashes of each level's filter.
    #[arg(
        long,
        value_name = "BITS:K,BITS:K,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = bits_and_hashes,
        conflicts_with = "layout",
    )]
    pub(crate) filters: Vec<BitsAndHashes>,
    /// A list that replaces the filters of the deepest levels: how many levels, room for how many
    /// items, and the bits of a string.
    #[arg(
        long,
        value_name = "LEVELS:ITEMS:BITS",
        allow_hyphen_values = true,
        value_parser = list,
        conflicts_with = "layout",
    )]
    pub(crate) list: Option<ListLayout>,
    #[command(flatten)]
    pub(crate) churn: Churn,
}

/// The counters of filters from which keys are removed.
#[derive(clap::Args)]
pub(crate) struct Churn {
    /// Also plans a filter with counters after each item has been replaced this many times. The
    /// share of wrong levels is accurate to 3% for 10,000 items, and to 20% for 100.
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) turnovers: Option<f64>,
    /// The bits of the counters of each level [default: 4 for each].
    #[arg(long, value_name = "B,B,…", value_delimiter = ',', requires = "turnovers")]
    pub(crate) counter_bits: Vec<u32>,
}

/// One filter of several.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BitsAndHashes {
    pub(crate) bits: u64,
    pub(crate) hashes: u64,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread plan deletions --alive 9090 --deleted 909 --levels 40000,10000,5000,2500,2500

Fields: expected_moves_uniform are the items that move if any are deleted with the same probability,
expected_moves_first_level if all deleted items were at the first level.
Deleted items keep their places until the table is cleaned up; then the items behind them move up.")]
pub(crate) struct Deletions {
    /// The number of remaining items.
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) alive: Option<u64>,
    /// The number of items marked as deleted, which still take their places.
    #[arg(long, value_name = "D", value_parser = whole)]
    pub(crate) deleted: Option<u64>,
    #[command(flatten)]
    pub(crate) table: Table,
    #[command(flatten)]
    pub(crate) files: Files,
}

/// How ties between places are broken.
fn ties() -> impl TypedValueParser<Value = Ties> {
    one_of([("random", Ties::Random, "Each with the same probability"), ("left", Ties::Left, "The leftmost")])
}

/// The leading fingerprint bits that a bucket's state encodes.
fn semisort() -> impl TypedValueParser<Value = Semisort> {
    one_of([
        ("none", Semisort::None, "None"),
        ("one", Semisort::One, "One, at the loads whose zeros the state can count"),
        (
            "paper",
            Semisort::Paper,
            "As many as the state can tell: one in a 64-bit bucket, up to two in a 128-bit bucket",
        ),
    ])
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan dleft --load 4
  oneread plan dleft --subtables 3 --load 6.4 --bucket-bits 128 --semisort paper --group 4
  oneread plan dleft --sweep load=3..5..0.25

Fields: load_fraction[] is the share of buckets with 0, 1, 2, … items, false_positive and false_positive_exact the rate by
the paper's sum and exactly, overflow the share of items that find no room, and bloom_hashes and bloom_false_positive
describe a Bloom filter of the same size.")]
pub(crate) struct Dleft {
    /// The number of sub-tables, in each of which a key has one bucket [default: 3].
    #[arg(long, value_name = "D", value_parser = whole, conflicts_with = "layout")]
    pub(crate) subtables: Option<u64>,
    /// The average number of items per bucket.
    #[arg(long, value_name = "L", value_parser = positive)]
    pub(crate) load: Option<f64>,
    /// The bits of a bucket: 64 or 128 [default: 64].
    #[arg(long, value_name = "BITS", value_parser = whole, conflicts_with = "layout")]
    pub(crate) bucket_bits: Option<u64>,
    /// Which fingerprint bits are saved by sorting [default: paper].
    #[arg(long, conflicts_with = "layout", value_parser = semisort())]
    pub(crate) semisort: Option<Semisort>,
    /// The number of buckets that share their bits [default: 1].
    #[arg(long, value_name = "G", value_parser = whole, conflicts_with = "layout")]
    pub(crate) group: Option<u64>,
    /// Which of equally loaded buckets is taken [default: left].
    #[arg(long, conflicts_with = "layout", value_parser = ties())]
    pub(crate) ties: Option<Ties>,
    /// The buckets of each sub-table. This affects only the layout, since the plan assumes many
    /// buckets [default: 4096].
    #[arg(long, value_name = "N", value_parser = whole, conflicts_with = "layout")]
    pub(crate) buckets: Option<u64>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Draws the loads, and the false positives against the bits per item, beside those of a Bloom
    /// filter.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan bloom --items 1e6 --bits 8e6
  oneread plan bloom --items 1e6 --rate 0.01
      the fewest bits; --bits instead of --items gives the most items, and --hashes fixes the hashes
  oneread plan bloom --items 1e6 --sweep bits=4e6..32e6 --steps 8
  oneread plan bloom --items 100 --bits 1600 --scheme double
  oneread plan bloom --items 1e6 --bits 16e6 --plot bloom.svg

Fields: false_positive_standard is the exact rate, false_positive_textbook that of the usual formula, which is a little
too low, and false_positive_partitioned that of a filter whose hashes have a band of bits each; optimal_hashes has the
lowest rate.")]
pub(crate) struct Bloom {
    #[command(flatten)]
    pub(crate) items: Items,
    /// The bits of the filter.
    #[arg(long, value_name = "M", value_parser = whole, conflicts_with = "layout")]
    pub(crate) bits: Option<u64>,
    /// The highest false-positive rate. Without --bits, the fewest bits that reach it; without
    /// --items, the most items; with both, the fewest hashes.
    #[arg(long, value_name = "P", value_parser = fraction, conflicts_with = "layout")]
    pub(crate) rate: Option<f64>,
    /// The number of hashes per item [default: the best number].
    #[arg(long, value_name = "K", value_parser = whole, conflicts_with = "layout")]
    pub(crate) hashes: Option<u64>,
    /// How hashes are derived from an item [default: independent].
    #[arg(long, value_name = "NAME", conflicts_with = "layout", value_parser = scheme())]
    pub(crate) scheme: Option<SchemeName>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Draws the false positives against the bits per item.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread plan restricted --items 8192 --levels 6 --fanout 2 --policy greedy --ties random

Fields: expected[] are the items that each level holds, expected_stash the items expected without room.")]
pub(crate) struct Restricted {
    #[command(flatten)]
    pub(crate) items: Items,
    /// The number of levels: the first has one cell per item, each next one half of that.
    #[arg(long, value_name = "V", value_parser = whole)]
    pub(crate) levels: Option<u64>,
    /// The number of cells in the next level for the items of a cell [default: 2].
    #[arg(long, value_name = "L", value_parser = whole)]
    pub(crate) fanout: Option<u64>,
    /// Which item a cell keeps.
    #[arg(long, default_value = "random", value_parser = policy())]
    pub(crate) policy: Keep,
    /// Which of equally good items is kept (greedy).
    #[arg(long, default_value = "random", value_parser = ties())]
    pub(crate) ties: Ties,
}

fn bits_and_hashes(text: &str) -> Result<BitsAndHashes, String> {
    let numbers =
        text.split_once(':').and_then(|(bits, hashes)| Some((whole(bits).ok()?, whole(hashes).ok()?)));
    match numbers {
        Some((bits, hashes)) => Ok(BitsAndHashes { bits, hashes }),
        None => Err("expected the bits and the hashes of a filter, such as 106000:7".to_owned()),
    }
}

fn list(text: &str) -> Result<ListLayout, String> {
    let numbers: Option<Vec<u64>> = text.split(':').map(|number| whole(number).ok()).collect();
    let Some(&[levels, items, fingerprint_bits]) = numbers.as_deref() else {
        return Err("expected the levels, the items and the bits of a string, such as 2:4:60".to_owned());
    };
    let levels = usize::try_from(levels).unwrap_or(usize::MAX);
    let fingerprint_bits = u32::try_from(fingerprint_bits).unwrap_or(u32::MAX);
    ListLayout::new(levels, items, fingerprint_bits).map_err(|error| error.to_string())
}

/// Which item a cell keeps.
fn policy() -> impl TypedValueParser<Value = Keep> {
    one_of([
        ("random", Keep::Random, "Any of them, with the same probability"),
        ("greedy", Keep::Greedy(Ties::Random), "One of those whose next cell would get the most"),
    ])
}
