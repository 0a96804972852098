//! The flags of `oneread dataset`.

#[cfg(feature = "dataset")]
pub(crate) use with::*;

#[cfg(feature = "dataset")]
mod with {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::time::Duration;

    use clap::{Subcommand, ValueEnum};

    use crate::args::random_seed;
    use crate::args::store::{Duplicates, rate};
    use oneread_planner::parse::{bytes, whole_in};

    /// The range that a version can be built for: see `Options::miss_rate`.
    const DEFAULT_RATE: f64 = 0.01;

    /// The most shards, and the most dimensions.
    const MAX_SHARDS: u64 = 1 << 16;
    const MAX_DIMENSION: u64 = 1 << 20;

    /// More requests would only wait for each other.
    const MAX_IN_FLIGHT: u64 = 4096;

    const MAX_LOOKUPS: u64 = 1_000_000_000;

    #[derive(Subcommand)]
    #[command(after_help = "\
Examples:
  oneread dataset build s3://bucket/people people.csv --key id --shards 8 --publish
  oneread dataset get s3://bucket/people 4711                one row as JSON, with one request
  oneread dataset versions s3://bucket/people                which versions there are, and which is current
  oneread dataset rollback s3://bucket/people                back to the one before

A dataset lies in a folder, or at s3://, gs://, az:// or https:// in builds with the feature `cloud`. Credentials come from
the variables of each cloud's own tools, such as AWS_REGION, AWS_ACCESS_KEY_ID and AWS_ENDPOINT. A new version is built
beside the current one, and takes its place in one step, with `publish`. A hit is one request of 4 KiB, a miss 0.01.")]
    pub(crate) enum Dataset {
        /// Builds a version from the rows of CSV, TSV, JSON Lines, Parquet or Arrow files.
        Build(Build),
        /// Makes a finished version the current one.
        Publish(Publish),
        /// Lists the versions.
        Versions(Versions),
        /// Makes the version before the current one, or another one, current again.
        Rollback(Rollback),
        /// Keeps a version from being removed, under a name.
        Pin(Pin),
        /// Removes a pin.
        Unpin(Unpin),
        /// Removes old versions, and what failed builds left behind.
        Gc(Gc),
        /// Prints the rows of keys as JSON.
        Get(Get),
        /// Looks up keys, and shows times, requests and memory.
        Bench(Bench),
        /// Reads a whole version, and lists all damage.
        Verify(Verify),
    }

    /// The format of rows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
    pub(crate) enum Format {
        /// Fields separated by commas, in double quotes where needed.
        Csv,
        /// Fields separated by tabs, in double quotes where needed.
        Tsv,
        /// One JSON object per line.
        Jsonl,
        /// Parquet (feature `parquet`).
        Parquet,
        /// Arrow IPC, as files or streams (feature `parquet`).
        Arrow,
    }

    /// The type of a vector's elements.
    #[derive(Clone, Copy, Debug, ValueEnum)]
    pub(crate) enum Element {
        /// 32-bit floating-point numbers.
        F32,
        /// 16-bit floating-point numbers.
        F16,
        /// Signed bytes.
        I8,
    }

    #[derive(clap::Args)]
    #[command(after_help = "\
Examples:
  oneread dataset build people people.csv --key id --publish              a folder; all other columns are the value
  oneread dataset build s3://b/clicks part-*.parquet --key user,day --shards 64
  oneread dataset build seen urls.txt.gz --format csv --no-header --set   keys without values
  oneread dataset build vectors v.jsonl --key id --value embedding --vector f32 --dimension 384

Values keep the names of their columns, and in Parquet and Arrow their types; those of CSV and TSV are text, those of JSON
Lines any JSON. With several key columns, `get` takes a key as a row of CSV. Numbers in keys are their decimal digits.

Rows go to one temporary file per shard, then the shards are built and uploaded one after the other, so that memory does not
grow with the rows. Nobody reads the version before it is published. A build that fails leaves an unfinished version, which
`gc` removes.")]
    pub(crate) struct Build {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The files to read, in this order; - is stdin.
        #[arg(required = true, value_name = "FILE")]
        pub(crate) files: Vec<PathBuf>,
        /// The format of the rows; by default the file names tell.
        #[arg(long, value_enum)]
        pub(crate) format: Option<Format>,
        /// The columns of the key: their names, or with --no-header their numbers from 1.
        ///
        /// By default the first column; in JSON Lines the field `key`.
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        pub(crate) key: Vec<String>,
        /// The columns of the value; by default all others.
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        pub(crate) value: Vec<String>,
        /// Keeps keys only.
        #[arg(long, conflicts_with_all = ["value", "vector"])]
        pub(crate) set: bool,
        /// The value is a vector of numbers, in one column: a JSON list, or a list of Parquet or
        /// Arrow.
        #[arg(long, value_enum, requires = "dimension")]
        pub(crate) vector: Option<Element>,
        /// The number of elements of each vector.
        #[arg(long, value_name = "N", requires = "vector", value_parser = whole_in(1..=MAX_DIMENSION))]
        pub(crate) dimension: Option<u64>,
        /// The first row is data, and columns have numbers instead of names (CSV, TSV).
        #[arg(long)]
        pub(crate) no_header: bool,
        /// Treats quotes as ordinary bytes (CSV, TSV).
        #[arg(long)]
        pub(crate) no_quotes: bool,
        /// The number of shards: about one per gigabyte.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_in(1..=MAX_SHARDS))]
        pub(crate) shards: u64,
        /// The name of the version [default: the time].
        #[arg(long, value_name = "NAME")]
        pub(crate) version: Option<String>,
        /// Makes the version current when it is finished.
        #[arg(long)]
        pub(crate) publish: bool,
        /// What to do with a key that comes twice.
        #[arg(long, value_enum, default_value = "last")]
        pub(crate) duplicates: Duplicates,
        /// The average number of requests of a lookup of an absent key. 0.01 takes 1.13 bytes of a
        /// reader's memory per key, 0.1 takes 0.68.
        #[arg(long, value_name = "P", default_value_t = DEFAULT_RATE, value_parser = rate)]
        pub(crate) rate: f64,
        /// About how much memory the writer of a shard uses, besides a byte per key of the shard.
        #[arg(long, value_name = "BYTES", default_value = "128M", value_parser = memory)]
        pub(crate) memory: u64,
        /// The folder of temporary files, with room for all rows [default: the system's].
        #[arg(long, value_name = "DIR")]
        pub(crate) temporary: Option<PathBuf>,
        /// The seed of the hash functions [default: random].
        #[arg(long, value_name = "S", default_value_t = random_seed(), hide_default_value = true)]
        pub(crate) seed: u64,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    #[command(after_help = "\
If somebody else publishes at the same time, one of the two wins, and the other one fails with an error.")]
    pub(crate) struct Publish {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The version.
        pub(crate) version: String,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    pub(crate) struct Versions {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    pub(crate) struct Rollback {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The version; by default the one that was current before.
        pub(crate) version: Option<String>,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    pub(crate) struct Pin {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The name of the pin: who needs the version, or what for.
        pub(crate) name: String,
        /// The version.
        pub(crate) version: String,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    pub(crate) struct Unpin {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The name of the pin.
        pub(crate) name: String,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    #[command(after_help = "\
The current version and pinned ones are never removed. Readers that hold a version must have let go of it --min-age after
another one took its place.")]
    pub(crate) struct Gc {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// How many finished versions to keep, the current one included.
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole_in(1..=1_000_000))]
        pub(crate) keep: u64,
        /// Keeps what was current or written within this time: 30m, 12h, 7d.
        #[arg(long, value_name = "TIME", default_value = "1d", value_parser = time)]
        pub(crate) min_age: Duration,
        /// Only says what would be removed.
        #[arg(long)]
        pub(crate) dry_run: bool,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    #[command(after_help = "\
Rows come in the order of the keys, an object on a line. Absent keys print nothing, and are named on stderr. With --json the
rows are one list, with null for an absent key.

Exit codes: 0 all keys are there, 1 one is not, 2 bad use or a failure.")]
    pub(crate) struct Get {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The keys; with several key columns, each a row of CSV.
        #[arg(value_name = "KEY", required_unless_present = "stdin")]
        pub(crate) keys: Vec<OsString>,
        /// Reads keys from stdin, one per line.
        #[arg(long, conflicts_with = "keys")]
        pub(crate) stdin: bool,
        /// Reads this version instead of the current one.
        #[arg(long, value_name = "NAME")]
        pub(crate) version: Option<String>,
        /// Keeps guides in this folder for the next time.
        #[arg(long, value_name = "DIR")]
        pub(crate) guides: Option<PathBuf>,
        /// Prints the bytes of each value and a newline, instead of JSON.
        #[arg(long)]
        pub(crate) raw: bool,
        /// Prints one JSON document: a list of rows.
        #[arg(long, conflicts_with = "raw")]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    #[command(after_help = "\
First some pages are read to draw stored keys from. Then these and as many absent keys are looked up: one at a time, many in
flight, and with `get_many`, beside raw requests for 4 KiB at the same number in flight.")]
    pub(crate) struct Bench {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// The number of stored keys to look up, and of absent ones.
        #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = whole_in(1..=MAX_LOOKUPS))]
        pub(crate) lookups: u64,
        /// The requests in flight.
        #[arg(long, value_name = "N", default_value_t = 32, value_parser = whole_in(1..=MAX_IN_FLIGHT))]
        pub(crate) in_flight: u64,
        /// Reads this version instead of the current one.
        #[arg(long, value_name = "NAME")]
        pub(crate) version: Option<String>,
        /// The seed for drawing stored and absent keys.
        #[arg(long, value_name = "X", default_value_t = 1)]
        pub(crate) seed: u64,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    #[derive(clap::Args)]
    #[command(after_help = "\
Compares every checksum, and checks that every key is in its shard and where its hash and its guide say.

Exit codes: 0 the version is whole, 1 it is damaged, 2 bad use or a failure.")]
    pub(crate) struct Verify {
        /// The dataset: a URL or a folder.
        pub(crate) url: String,
        /// Verifies this version instead of the current one.
        #[arg(long, value_name = "NAME")]
        pub(crate) version: Option<String>,
        /// Prints one JSON document.
        #[arg(long)]
        pub(crate) json: bool,
    }

    /// A number of bytes, at least a few pages per thread.
    fn memory(text: &str) -> Result<u64, String> {
        bytes(text)
            .ok()
            .filter(|bytes| (1 << 20..=usize::MAX as u64 / 2).contains(bytes))
            .ok_or_else(|| "expected a number of bytes from 1M on: 256M, 2G".to_owned())
    }

    /// A number of seconds, minutes, hours or days.
    fn time(text: &str) -> Result<Duration, String> {
        let wrong = || "expected a time such as 0, 90s, 30m, 12h or 7d".to_owned();
        let unit = text.chars().last().ok_or_else(wrong)?;
        let (number, seconds) = match unit {
            's' => (&text[..text.len() - 1], 1),
            'm' => (&text[..text.len() - 1], 60),
            'h' => (&text[..text.len() - 1], 60 * 60),
            'd' => (&text[..text.len() - 1], 24 * 60 * 60),
            _ => (text, 1),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn times_have_units() {
            for (text, seconds) in [("0", 0), ("90s", 90), ("30m", 1800), ("12h", 43_200), ("7d", 604_800)] {
                assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
            }
            for text in ["", "d", "-1d", "1w", "1.5h", "é", "99999999999999999999d"] {
                assert!(time(text).is_err(), "{text}");
            }
        }
    }
}
