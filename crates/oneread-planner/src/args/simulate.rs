//! The flags of `oneread simulate`.

use clap::builder::{ArgPredicate, TypedValueParser};
use clap::{Subcommand, value_parser};
use oneread::layout::{HintChain, HintRule, Keep, Maps, MultilevelLayout, Restriction, Ties};
use oneread_study::simulate::{Lifetimes, Simulation};

use super::parse::{one_of, whole, whole_in};

/// The most trials; the results of all are kept in memory.
const MAX_TRIALS: u64 = 1_000_000;

/// The most steps of a trial: several days.
const MAX_STEPS: u64 = 1 << 40;

const MOST_SLOTS: i64 = MultilevelLayout::MAX_SLOTS as i64;
const MOST_FANOUT: i64 = Restriction::MAX_FANOUT as i64;

#[derive(Subcommand)]
pub(crate) enum Simulate {
    /// Fills a multilevel table, deletes and inserts many items, and counts those in its levels and
    /// stash.
    Table(Table),
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread simulate table --items 8192 --levels 11 --steps 262144
        a half-full table without moves: about four items find no room
  oneread simulate table --items 8192 --levels 4 --second-chance --hints replace --moves recursive --steps 262144
        with moves, four levels do better than eleven
  oneread simulate table --items 10000 --levels 40000,10000,5000,2500,2500 --trials 1000
        a table of any levels, filled and no more

A step deletes an item, any with the same probability unless --lifetimes says otherwise, and inserts another one. The
digests are ideal, and the placement is the one that tables of the library use. The same seed gives the same numbers on
any machine.")]
pub(crate) struct Table {
    /// The number of items in the table.
    #[arg(long, value_name = "N", value_parser = whole_in(1..=Simulation::MAX_ITEMS))]
    pub(crate) items: u64,
    /// The buckets of the first level; by default as many as items.
    #[arg(long, value_name = "M", value_parser = whole_in(1..=u64::MAX))]
    pub(crate) first_level: Option<u64>,
    /// The size of each level relative to the one before [default: 0.5].
    #[arg(long, value_name = "R")]
    pub(crate) ratio: Option<f64>,
    /// The number of levels; or the buckets of each, separated by commas, instead of --first-level
    /// and --ratio.
    #[arg(long, value_name = "V", value_parser = levels)]
    pub(crate) levels: Levels,
    /// The number of items per bucket.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = value_parser!(u32).range(1..=MOST_SLOTS))]
    pub(crate) slots: u32,
    /// Lets an insertion move one item one level down.
    #[arg(long, conflicts_with = "restricted")]
    pub(crate) second_chance: bool,
    /// Lets deletions move items back by hints. A bucket keeps the hint that this rule selects.
    #[arg(long, value_name = "RULE", conflicts_with = "restricted", value_parser = hint())]
    pub(crate) hints: Option<HintRule>,
    /// How many items a deletion moves, with hints.
    #[arg(long, value_name = "HOW", default_value = "one", requires_if("recursive", "hints"), value_parser = chain())]
    pub(crate) moves: HintChain,
    /// Restricted hashing: the number of buckets in the next level for the items of a bucket.
    #[arg(long, value_name = "L", value_parser = value_parser!(u32).range(1..=MOST_FANOUT))]
    pub(crate) restricted: Option<u32>,
    /// Which buckets these are, with restricted hashing.
    #[arg(long, value_name = "MAPS", default_value = "shifts", value_parser = maps(), requires_ifs = needs_restricted(["random", "nested"]))]
    pub(crate) maps: Maps,
    /// Which item a bucket keeps, with restricted hashing.
    #[arg(long, value_name = "WHICH", default_value = "random", value_parser = keep(), requires_ifs = needs_restricted(["greedy"]))]
    pub(crate) keep: Keep,
    /// Which of equally good choices the greedy rule takes.
    #[arg(long, value_name = "RULE", default_value = "random", value_parser = ties(), requires_ifs = needs_restricted(["left"]))]
    pub(crate) ties: Ties,
    /// The number of steps; each deletes one item and inserts another.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole_in(0..=MAX_STEPS))]
    pub(crate) steps: u64,
    /// The number of tables to simulate.
    #[arg(long, value_name = "T", default_value_t = 10, value_parser = whole_in(1..=MAX_TRIALS))]
    pub(crate) trials: u64,
    /// The seed of the random numbers.
    #[arg(long, value_name = "X", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Which item is deleted.
    #[arg(long, value_name = "WHICH", default_value = "memoryless", value_parser = lifetimes())]
    pub(crate) lifetimes: Lifetimes,
    /// The exponent of heavy-tailed lifetimes: the smaller, the longer a few items live.
    #[arg(long, value_name = "A", default_value_t = 1.5, value_parser = shape)]
    pub(crate) shape: f64,
    /// Prints one JSON document instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The values of a flag that require restricted hashing.
fn needs_restricted<const N: usize>(values: [&'static str; N]) -> [(ArgPredicate, &'static str); N] {
    values.map(|value| (ArgPredicate::Equals(value.into()), "restricted"))
}

/// The number of levels, or the size of each.
#[derive(Clone)]
pub(crate) enum Levels {
    Count(u32),
    Sizes(Vec<u64>),
}

fn levels(text: &str) -> Result<Levels, String> {
    let levels = if text.contains(',') {
        text.split(',').map(|size| whole(size.trim())).collect::<Result<_, _>>().map(Levels::Sizes)
    } else {
        text.parse().map(Levels::Count).map_err(|_| String::new())
    };
    levels.map_err(|_| "expected a number of levels, or the buckets of each: 5, or 400,100,50,25".to_owned())
}

fn shape(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(shape) if shape > 1.0 && shape <= 100.0 => Ok(shape),
        _ => Err("expected a number above 1, at most 100: with 1 or less, lifetimes have no mean".to_owned()),
    }
}

fn hint() -> impl TypedValueParser<Value = HintRule> {
    one_of([
        ("replace", HintRule::Replace, "The newest"),
        (
            "deepest",
            HintRule::Deepest,
            "The newest, unless the present one is of a deeper level and still good",
        ),
        ("next", HintRule::Next, "The newest of the next level"),
        (
            "deepest-unchecked",
            HintRule::DeepestUnchecked,
            "The newest, unless the present one is of a deeper level, good or not",
        ),
    ])
}

fn chain() -> impl TypedValueParser<Value = HintChain> {
    one_of([
        ("one", HintChain::One, "At most one"),
        ("recursive", HintChain::Recursive, "Another one to where the first was, and so on"),
    ])
}

fn maps() -> impl TypedValueParser<Value = Maps> {
    one_of([
        ("shifts", Maps::Shifts, "The bucket's number plus a constant, in each part of the next level"),
        ("random", Maps::Random, "A fixed random function; with one bucket, h2(h1(x))"),
        ("nested", Maps::Nested, "The bucket's number modulo the size of the next level; one bucket"),
    ])
}

fn keep() -> impl TypedValueParser<Value = Keep> {
    one_of([
        ("random", Keep::Random, "Any"),
        ("greedy", Keep::Greedy(Ties::Random), "One of those whose next bucket would get the most"),
    ])
}

fn ties() -> impl TypedValueParser<Value = Ties> {
    one_of([("random", Ties::Random, "Any"), ("left", Ties::Left, "The leftmost")])
}

/// Ignores the shape, which is a flag of its own.
fn lifetimes() -> impl TypedValueParser<Value = Lifetimes> {
    one_of([
        ("memoryless", Lifetimes::Memoryless, "Any item, whatever its age"),
        ("fifo", Lifetimes::Fifo, "The oldest"),
        ("fixed", Lifetimes::Fixed, "All live equally long; the first ones are of random age"),
        ("heavy-tailed", Lifetimes::HeavyTailed { shape: 0.0 }, "Most live shortly, a few very long"),
    ])
}
