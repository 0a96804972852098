//! The flags of `oneread simulate`.

use clap::builder::ArgPredicate;
use clap::{Subcommand, ValueEnum, value_parser};
use oneread::layout::{HintChain, HintRule, Maps, MultilevelLayout, Restriction, Ties};
use oneread_study::simulate::Simulation;

use super::plan::whole;
use super::whole_in;

/// The most trials: what each showed is kept until all are done.
const MOST_TRIALS: u64 = 1_000_000;

/// The most steps of a trial: some days.
const MOST_STEPS: u64 = 1 << 40;

const MOST_SLOTS: i64 = MultilevelLayout::MOST_SLOTS as i64;
const MOST_FANOUT: i64 = Restriction::MOST_FANOUT as i64;

#[derive(Subcommand)]
pub(crate) enum Simulate {
    /// Fills a multilevel table, deletes and inserts for long, and tells how many items are in its levels and stash.
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
    /// How many items the table has.
    #[arg(long, value_name = "N", value_parser = whole_in(1..=Simulation::MAX_ITEMS))]
    pub(crate) items: u64,
    /// The buckets of the first level, as many as items unless told.
    #[arg(long, value_name = "M", value_parser = whole_in(1..=u64::MAX))]
    pub(crate) first_level: Option<u64>,
    /// How large each level is, relative to the one before [default: 0.5].
    #[arg(long, value_name = "R")]
    pub(crate) ratio: Option<f64>,
    /// How many levels there are; or the buckets of each, separated by commas, in place of --first-level and --ratio.
    #[arg(long, value_name = "V", value_parser = levels)]
    pub(crate) levels: Levels,
    /// How many items a bucket has room for.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = value_parser!(u32).range(1..=MOST_SLOTS))]
    pub(crate) slots: u32,
    /// Insertions may move an item one level down.
    #[arg(long, conflicts_with = "restricted")]
    pub(crate) second_chance: bool,
    /// Deletions take items back by hints, of which a bucket keeps this one.
    #[arg(long, value_name = "RULE", conflicts_with = "restricted")]
    pub(crate) hints: Option<Hint>,
    /// How many items a deletion moves, with hints.
    #[arg(long, value_name = "HOW", default_value = "one", requires_if("recursive", "hints"))]
    pub(crate) moves: Chain,
    /// Restricted hashing: the items of a bucket go on to so many buckets of the next level.
    #[arg(long, value_name = "L", value_parser = value_parser!(u32).range(1..=MOST_FANOUT))]
    pub(crate) restricted: Option<u32>,
    /// Which buckets these are, with restricted hashing.
    #[arg(long, value_name = "MAPS", default_value = "shifts", requires_ifs = needs_restricted(["random", "nested"]))]
    pub(crate) maps: MapsName,
    /// Which item a bucket keeps, with restricted hashing.
    #[arg(long, value_name = "WHICH", default_value = "random", requires_ifs = needs_restricted(["greedy"]))]
    pub(crate) keep: KeepName,
    /// Which of equally good choices the greedy rule takes.
    #[arg(long, value_name = "RULE", default_value = "random", requires_ifs = needs_restricted(["left"]))]
    pub(crate) ties: TiesName,
    /// How many items are deleted and inserted.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole_in(0..=MOST_STEPS))]
    pub(crate) steps: u64,
    /// How many tables are tried.
    #[arg(long, value_name = "T", default_value_t = 10, value_parser = whole_in(1..=MOST_TRIALS))]
    pub(crate) trials: u64,
    /// Which random numbers to use.
    #[arg(long, value_name = "X", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Which item is deleted.
    #[arg(long, value_name = "WHICH", default_value = "memoryless")]
    pub(crate) lifetimes: LifetimesName,
    /// The exponent of heavy-tailed lifetimes: the smaller, the longer a few items live.
    #[arg(long, value_name = "A", default_value_t = 1.5, value_parser = shape)]
    pub(crate) shape: f64,
    /// Prints one JSON document instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The values of a flag that make sense only with restricted hashing.
fn needs_restricted<const N: usize>(values: [&'static str; N]) -> [(ArgPredicate, &'static str); N] {
    values.map(|value| (ArgPredicate::Equals(value.into()), "restricted"))
}

/// How many levels, or how large each is.
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

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Hint {
    /// The newest.
    Replace,
    /// The newest, unless the present one is of a deeper level and still good.
    Deepest,
    /// The newest of the next level.
    Next,
    /// The newest, unless the present one is of a deeper level, good or not.
    DeepestUnchecked,
}

impl From<Hint> for HintRule {
    fn from(hint: Hint) -> Self {
        match hint {
            Hint::Replace => Self::Replace,
            Hint::Deepest => Self::Deepest,
            Hint::Next => Self::Next,
            Hint::DeepestUnchecked => Self::DeepestUnchecked,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Chain {
    /// At most one.
    One,
    /// Another one to where the first was, and so on.
    Recursive,
}

impl From<Chain> for HintChain {
    fn from(chain: Chain) -> Self {
        match chain {
            Chain::One => Self::One,
            Chain::Recursive => Self::Recursive,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MapsName {
    /// The bucket's number plus a constant, in each part of the next level.
    Shifts,
    /// A fixed random function; with one bucket, h2(h1(x)).
    Random,
    /// The bucket's number modulo the size of the next level; one bucket.
    Nested,
}

impl From<MapsName> for Maps {
    fn from(maps: MapsName) -> Self {
        match maps {
            MapsName::Shifts => Self::Shifts,
            MapsName::Random => Self::Random,
            MapsName::Nested => Self::Nested,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum KeepName {
    /// Any.
    Random,
    /// One of those whose next bucket would get the most.
    Greedy,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TiesName {
    /// Any.
    Random,
    /// The leftmost.
    Left,
}

impl From<TiesName> for Ties {
    fn from(ties: TiesName) -> Self {
        match ties {
            TiesName::Random => Self::Random,
            TiesName::Left => Self::Left,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LifetimesName {
    /// Any item, whatever its age.
    Memoryless,
    /// The oldest.
    Fifo,
    /// All live equally long; the first ones are of random age.
    Fixed,
    /// Most live shortly, a few very long.
    HeavyTailed,
}
