//! The subcommands and flags of `oneread plan solve`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use oneread_study::solve::SummaryKind;

use super::parse::{bytes, fraction, one_of, positive, whole};
use super::plan::{Items, LayoutOut, Plan, Summarized};

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  oneread plan solve summary --items 10000 --levels 40000,10000,5000,2500,2500 --false-positive 0.00617 --failure 4.98e-12
      the paper's odds in fewer bytes than the paper's
  oneread plan solve table --items 10000 --level-count 5 --crisis 1e-12
  oneread plan solve filter --items 1e6 --rate 0.001 --delete
  oneread plan solve store --items 1e8 --value-bytes 100 --reads-per-miss 0.01 --plot ram.svg
  oneread plan solve map --entries 1e6 --entry-bytes 24

Given the memory instead, they find the best that it allows:
  oneread plan solve store --items 1e8 --memory 64M             the fewest reads per miss
  oneread plan solve filter --items 1e8 --memory 120M           the lowest rate
  oneread plan solve table --items 1e5 --memory 4M --bucket-bytes 16    the lowest odds of a crisis

Bytes take units: 64K, 256M, 1.5G (powers of 1024, like KiB, MiB, GiB), \"100 GB\" (powers of 1000).
Impossible targets are an error that says which target to relax, and by how much. In each answer, binds[] names the
targets that keep it from being smaller, and runners_up[] has the best of each other kind.")]
pub(crate) enum Solve {
    /// The multilevel hash table with the fewest buckets.
    Table(Box<Plan<SolveTable>>),
    /// The smallest summary of a multilevel hash table.
    Summary(Box<Plan<Summarized<SolveSummary>>>),
    /// The smallest filter with the required properties.
    Filter(Box<Plan<SolveFilter>>),
    /// The pages, levels and guides of a store.
    Store(Box<Plan<SolveStore>>),
    /// The smallest map of fixed size in which entries come and go.
    Map(Box<Plan<SolveMap>>),
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan solve table --items 10000 --level-count 5 --crisis 1e-12
  oneread plan solve table --items 10000 --level-count 8 --crisis 1e-12 --bucket-bytes 16 --bytes 400000
  oneread plan solve table --items 8192 --level-count 6 --stash 1 --churn
  oneread plan solve table --items 10000 --buckets-per-item 5
      the lowest odds of a crisis with this many buckets; with --churn, the smallest stash

Fields: levels[] are the buckets of each level, moves says which items move, load is the items per slot,
expected_stash the items expected without room, crisis_probability the odds that there is any, expected[] the items
that each level holds, and accuracy and relative_error how exact these odds are.

A table that is filled once has at most the odds of --crisis that any item finds no room, or at most --stash items
expected without. With --churn items are deleted and others inserted, again and again.")]
pub(crate) struct SolveTable {
    #[command(flatten)]
    pub(crate) items: Items,
    /// The most levels.
    #[arg(long, value_name = "V", default_value_t = 5, value_parser = whole)]
    pub(crate) level_count: u64,
    /// The slots per bucket.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole)]
    pub(crate) slots: u64,
    /// The highest probability that any item finds no room [default without --stash: as low as the
    /// buckets allow].
    #[arg(long, value_name = "P", value_parser = fraction, conflicts_with = "churn")]
    pub(crate) crisis: Option<f64>,
    /// The most items expected without room, that is, in the stash.
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with = "crisis")]
    pub(crate) stash: Option<f64>,
    /// Plans for churn: items are deleted and others inserted, again and again.
    #[arg(long)]
    pub(crate) churn: bool,
    /// The most buckets per item.
    #[arg(long, value_name = "C", value_parser = positive, conflicts_with = "bytes")]
    pub(crate) buckets_per_item: Option<f64>,
    /// The most bytes of all buckets, each of --bucket-bytes.
    #[arg(long, visible_alias = "memory", value_name = "B", value_parser = bytes, requires = "bucket_bytes")]
    pub(crate) bytes: Option<u64>,
    /// The bytes of a bucket.
    #[arg(long, value_name = "B", value_parser = bytes)]
    pub(crate) bucket_bytes: Option<u64>,
    #[command(flatten)]
    pub(crate) layout: LayoutOut,
    /// Draws the required buckets against the odds.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

/// A kind of summary, or `None` for the smallest of all. (A type alias, since clap treats a field
/// of type `Option` as an optional flag.)
pub(crate) type KindOrAny = Option<SummaryKind>;

fn summary_kind() -> impl TypedValueParser<Value = Option<SummaryKind>> {
    one_of([
        ("any", None, "The smallest of all"),
        ("interpolation", Some(SummaryKind::Interpolation), "A sorted string of bits for each item"),
        ("single", Some(SummaryKind::Single), "One filter of cells"),
        (
            "multiple",
            Some(SummaryKind::Multiple),
            "A filter for each level, perhaps with a list for the deepest",
        ),
    ])
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan solve summary --items 10000 --levels 40000,10000,5000,2500,2500 --kind multiple \\
          --false-positive 0.00617 --failure 4.98e-12 --plot frontier.svg
  oneread plan solve summary --items 10000 --levels 40000,10000,5000,2500,2500 \\
          --false-positive 0.00617 --extra-reads 0.001

Fields are those of `plan summary`; total_bytes adds one bit per bucket to bytes.
--failure bounds the probability that any key ever takes a second read, or finds no room; --extra-reads bounds the expected
reads per hit beyond the first, which takes far less memory. Failures are counted by the larger of the fields failure and
failure_exact.")]
pub(crate) struct SolveSummary {
    /// The kind of summary.
    #[arg(long, default_value = "any", value_parser = summary_kind())]
    pub(crate) kind: KindOrAny,
    /// The highest probability that a level is named for an absent key.
    #[arg(long, value_name = "P", value_parser = fraction)]
    pub(crate) false_positive: Option<f64>,
    /// The highest probability that any key fails, or finds no room.
    #[arg(long, value_name = "P", value_parser = fraction, conflicts_with = "extra_reads")]
    pub(crate) failure: Option<f64>,
    /// The most reads per hit beyond the first, on average.
    #[arg(long, value_name = "R", value_parser = fraction)]
    pub(crate) extra_reads: Option<f64>,
    /// The most bytes, including one bit per bucket.
    #[arg(long, visible_alias = "memory", value_name = "B", value_parser = bytes)]
    pub(crate) bytes: Option<u64>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan solve filter --items 1e6 --rate 0.01
  oneread plan solve filter --items 1e6 --rate 0.001 --one-page
  oneread plan solve filter --items 1e6 --delete --sweep rate=1e-6..0.1 --log
  oneread plan solve filter --items 1e8 --memory 120M
      the lowest rate in 120 MiB

Fields: structure is the type to use, false_positive the rate it delivers, bits_over_optimum the bits per key beyond
log2(1/false_positive), the least of any filter, and lines_per_hit and lines_per_miss the cache lines that a lookup of
a present and of an absent key reads on average. With --static, the fields that begin with static_ describe the filter
to build once of all keys, if it reaches the rate.")]
pub(crate) struct SolveFilter {
    #[command(flatten)]
    pub(crate) items: Items,
    /// The highest false-positive rate [default: as low as --memory allows].
    #[arg(long, value_name = "P", value_parser = fraction)]
    pub(crate) rate: Option<f64>,
    /// Keys can be removed.
    #[arg(long)]
    pub(crate) delete: bool,
    /// The number of keys is not known in advance.
    #[arg(long)]
    pub(crate) growth: bool,
    /// Many threads can insert and look up concurrently.
    #[arg(long)]
    pub(crate) threads: bool,
    /// A lookup reads one cache line.
    #[arg(long)]
    pub(crate) one_line: bool,
    /// A lookup reads one page of 4 KiB.
    #[arg(long)]
    pub(crate) one_page: bool,
    /// All keys are known when the filter is built, and never change.
    #[arg(long = "static", conflicts_with_all = ["delete", "growth"])]
    pub(crate) is_static: bool,
    /// The most bytes.
    #[arg(long, visible_alias = "memory", value_name = "B", value_parser = bytes)]
    pub(crate) bytes: Option<u64>,
    /// Draws the bits per key of each structure against the rate.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread plan solve store --items 1e8 --value-bytes 100 --reads-per-miss 0.01
  oneread plan solve store --items 1e8 --value-bytes 100 --reads-per-miss 0.01 --ram-bytes 64e6
      an error, which says what this memory allows
  oneread plan solve store --items 1e8 --ram-bytes 64M
      the fewest reads that 64 MiB of memory allow
  oneread plan solve store --items 1e8 --value-bytes 100 --reads-per-miss 0.01 --plot ram.svg

Fields: level_pages[] are the pages of each level, guide_bytes the bytes of a guide, which tells keys in memory to their
levels, guide_homes the pages of the first level that share one, reads_per_hit and reads_per_miss the pages that a
lookup of a present and of an absent key reads on average, ram_bytes the guides and the directory.")]
pub(crate) struct SolveStore {
    #[command(flatten)]
    pub(crate) items: Items,
    /// The bytes of a key.
    #[arg(long, value_name = "B", default_value_t = 16, value_parser = bytes)]
    pub(crate) key_bytes: u64,
    /// The bytes of a value [default: 100].
    #[arg(long, value_name = "B", value_parser = bytes)]
    pub(crate) value_bytes: Option<u64>,
    /// The most pages that a lookup of an absent key reads on average [default: as few as
    /// --ram-bytes allows, or 0.01].
    #[arg(long, value_name = "R", value_parser = positive)]
    pub(crate) reads_per_miss: Option<f64>,
    /// The most memory.
    #[arg(long, visible_alias = "memory", value_name = "B", value_parser = bytes)]
    pub(crate) ram_bytes: Option<u64>,
    /// Draws the reads per miss against the memory that they take.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "sweep")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  oneread plan solve map --entries 1e6 --entry-bytes 24 --level-count 6 --stash 2

Fields: structure is the type to use, moves says which entries move, bytes those of all places and their bits, load the entries per place, and
expected_stash the entries expected in the stash.")]
pub(crate) struct SolveMap {
    /// The number of entries in the map at a time.
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(crate) entries: Option<u64>,
    /// The bytes of an entry in memory.
    #[arg(long, value_name = "B", value_parser = bytes)]
    pub(crate) entry_bytes: Option<u64>,
    /// The most memory.
    #[arg(long, visible_alias = "memory", value_name = "B", value_parser = bytes)]
    pub(crate) bytes: Option<u64>,
    /// The most entries expected in the stash [default: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) stash: Option<f64>,
    /// The most levels [default: 8].
    #[arg(long, value_name = "V", value_parser = whole)]
    pub(crate) level_count: Option<u64>,
}
