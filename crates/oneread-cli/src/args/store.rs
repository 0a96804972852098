//! The flags of `oneread store`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::random_seed;
use oneread_planner::parse::{bytes, whole_in};

/// The default number of pages read per miss.
const DEFAULT_RATE: f64 = 0.01;

/// The range that a store can be built for: see the library's `Options::miss_rate`.
const RATES: std::ops::RangeInclusive<f64> = 1e-8..=3.0;

/// The default memory of an import.
const DEFAULT_MEMORY: &str = "256M";

/// With less, every row would be spilled by itself.
const MIN_MEMORY: u64 = 1 << 20;

const DEFAULT_LOOKUPS: u64 = 1_000_000;
const MAX_LOOKUPS: u64 = 1_000_000_000_000;

/// More threads would only wait for each other.
const MAX_THREADS: u64 = 1024;

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  oneread store import people.store people.csv --key id      imports a table, with column `id` as the key
  oneread store get people.store 4711                        one row, with one read
  oneread store stats people.store                           how large it is, and what a lookup reads
  oneread store put people.store 4711 \"Ada, London\"          another value for it
  oneread store backup people.store monday.store             a copy, even while others change it
  oneread store export people.store > copy.csv               all rows

A store is one file. A hit reads one page of 4 KiB, a miss 0.01 pages. Keys have up to 1024 bytes; values above 1024 bytes
cost a second read. An imported store is sealed until the first `put` or `delete`. Then it is live, and has a log and a
manifest beside it, which belong to it, until `seal`.")]
pub(crate) enum Store {
    /// Creates an empty store.
    Create(Create),
    /// Imports the rows of CSV, TSV or JSON Lines into a store.
    Import(Import),
    /// Writes all pairs of a store in a format that `import` reads.
    Export(Export),
    /// Prints the values of keys.
    Get(Get),
    /// Sets the value of a key in a live store.
    Put(Put),
    /// Deletes keys.
    Delete(Delete),
    /// Sets the values of many keys: pairs from stdin.
    Add(Add),
    /// Deletes many keys: lines from stdin.
    Remove(Remove),
    /// Prints the number of keys.
    Len(Len),
    /// Copies a store as of one moment, also while another process writes to it.
    Backup(Backup),
    /// Shrinks the files of a live store.
    Compact(Compact),
    /// Turns a live store into a sealed one, in one file.
    Seal(Seal),
    /// Shows how large and how full a store is, and what a lookup reads.
    Stats(Stats),
    /// Reads a whole store, and lists all damage.
    Verify(Verify),
    /// Looks up keys, and shows times and reads.
    Bench(Bench),
}

#[derive(clap::Args)]
#[command(after_help = "\
`oneread store import` makes the store by itself, and fills an empty one: nothing needs to be created first.")]
pub(crate) struct Create {
    /// The file to create; it must not exist.
    pub(crate) path: PathBuf,
    /// The seed of the hash functions [default: random]. Those who know it can choose keys that
    /// collide.
    #[arg(long, value_name = "S", default_value_t = random_seed(), hide_default_value = true)]
    pub(crate) seed: u64,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
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
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Duplicates {
    /// The last row is kept.
    Last,
    /// The import fails.
    Error,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store import people.store people.csv                        the first column is the key, the rest the value
  oneread store import mail.store people.csv --key id --value mail    of two columns by their names
  oneread store import words.store a.tsv.gz b.tsv.zst --no-header --key 2 --value 1
  zcat dump.gz | oneread store import dump.store - --format jsonl --key user

The value is the bytes of the column that --value names. Without it, the value is the rest of the row:
  CSV, TSV    the one other column as it is; or else the other fields in their order, as a row of the same format,
              quoted where needed and without a line end
  JSON Lines  the field `value` if there is no other; or else the object without its key, its fields as they were written
A JSON string gives its text, any other field its JSON. A field NAME_base64 stands for NAME and is decoded.

CSV and TSV are bytes in any encoding that has ASCII's commas, tabs, quotes and line ends, such as UTF-8; JSON Lines are
UTF-8. Empty lines are skipped. Files that begin as gzip or zstd do are decompressed, whatever their name.

If PATH is a live store (see `oneread store put`), rows are added to it, file by file. Then the flags for a new store have no
effect, and rows before a failure stay.

PATH appears whole or not at all. What does not fit into --memory spills to unnamed files in the same folder.")]
pub(crate) struct Import {
    /// The store to create. A store with keys is replaced only with --replace; rows are added to a
    /// live store.
    pub(crate) path: PathBuf,
    /// The files to read, in this order; - is stdin.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The format of the rows; by default the file names tell: .csv, .tsv, .tab, .jsonl or .ndjson,
    /// with .gz or .zst after it.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// The column of the keys: its name, or with --no-header its number from 1.
    ///
    /// By default the first column; in JSON Lines the field `key`.
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,
    /// The column of the values: its name, or with --no-header its number from 1. By default the
    /// rest of the row.
    #[arg(long, value_name = "NAME")]
    pub(crate) value: Option<String>,
    /// The first row is data, and columns have numbers instead of names (CSV, TSV).
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Treats quotes as ordinary bytes, as in the TSV of some programs (CSV, TSV).
    #[arg(long)]
    pub(crate) no_quotes: bool,
    /// Skips and counts rows that cannot be read.
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// What to do with a key that comes twice.
    #[arg(long, value_enum, default_value = "last")]
    pub(crate) duplicates: Duplicates,
    /// The average number of pages that a lookup of an absent key reads: 0.01 is one in a hundred
    /// lookups. Each halving costs one bit of memory per key.
    #[arg(long, value_name = "P", default_value_t = DEFAULT_RATE, value_parser = rate)]
    pub(crate) rate: f64,
    /// About how much memory to use, besides a byte per key: 256M, 2G. A row can be as long.
    #[arg(long, value_name = "BYTES", default_value = DEFAULT_MEMORY, value_parser = memory)]
    pub(crate) memory: u64,
    /// The seed of the hash functions [default: random]. The same rows and seed give the same file.
    #[arg(long, value_name = "S", default_value_t = random_seed(), hide_default_value = true)]
    pub(crate) seed: u64,
    /// Replaces an existing store, sealed or live, in one step at the end. A store that another
    /// process writes to is never replaced.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Pairs come in arbitrary order, but always the same for the same store.
  csv, tsv  a header `key` and `value`, then a row per pair. Bytes are written unchanged, text or not.
  jsonl     an object per line, with the strings `key` and `value`. Other bytes than UTF-8 are in base64, as `key_base64`
            or `value_base64`.
`oneread store import` reads all three back without further flags but --format.

Exit codes: 0 done, 1 --skip-damaged left something out, 2 bad use or a failure.")]
pub(crate) struct Export {
    /// The store.
    pub(crate) path: PathBuf,
    /// The output format.
    #[arg(long, value_enum, default_value = "csv")]
    pub(crate) format: Format,
    /// Continues after damaged pages, and reports the number of errors at the end.
    #[arg(long)]
    pub(crate) skip_damaged: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store get people.store 4711                        a value, and a newline after it
  oneread store get people.store 4711 --raw > photo.jpg      its bytes and nothing else
  oneread store get people.store --stdin --with-keys < ids   a row for each key that is there
  oneread store get people.store 4711 --json --columns name,city

Values come in the order of the keys. Absent keys print nothing, and are named on stderr.

With --json, each row is an object on a line, with the fields `key` and `value`. A value that is a JSON object, as from JSON
Lines, stays one. With --columns, the value is parsed as a row of CSV, as from a table, and each of its fields gets a name.
Other bytes than UTF-8 are in base64, in a field NAME_base64.

Exit codes: 0 all keys are there, 1 one is not, 2 bad use or a failure.")]
pub(crate) struct Get {
    /// The store.
    pub(crate) path: PathBuf,
    /// The keys.
    #[arg(value_name = "KEY", required_unless_present = "stdin")]
    pub(crate) keys: Vec<OsString>,
    /// Reads keys from stdin: the bytes of each line, without its newline.
    #[arg(long, conflicts_with = "keys")]
    pub(crate) stdin: bool,
    /// Reads keys and prints values as hexadecimal digits.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Prints the key, a tab and the value: rows of TSV, as `export` writes them.
    #[arg(long)]
    pub(crate) with_keys: bool,
    /// Prints no newline after a value.
    #[arg(long, conflicts_with_all = ["hex", "with_keys"])]
    pub(crate) raw: bool,
    /// Prints a JSON object per key.
    #[arg(long, conflicts_with_all = ["with_keys", "raw"])]
    pub(crate) json: bool,
    /// The names of a value's fields, in order.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "json")]
    pub(crate) columns: Vec<String>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store put people.store 4711 \"Ada, London\"
  oneread store put photos.store 4711 < photo.jpg            the value comes from stdin

A missing store is created. A sealed one becomes live: its pages stay where they are. When the command ends, the value is
safe on the disk. One process at a time can write; others can read meanwhile.")]
pub(crate) struct Put {
    /// The store.
    pub(crate) path: PathBuf,
    /// The key.
    pub(crate) key: OsString,
    /// The value; read from stdin by default.
    pub(crate) value: Option<OsString>,
    /// Key and value are hexadecimal digits; a value from stdin is not.
    #[arg(long)]
    pub(crate) hex: bool,
    /// The seed of the hash functions, if the store is created [default: random].
    #[arg(long, value_name = "S", default_value_t = random_seed(), hide_default_value = true)]
    pub(crate) seed: u64,
}

#[derive(clap::Args)]
#[command(after_help = "\
All keys are deleted atomically: after a crash all are gone, or none. A sealed store becomes live.

Exit codes: 0 all keys were there, 1 one was not, 2 bad use or a failure.")]
pub(crate) struct Delete {
    /// The store.
    pub(crate) path: PathBuf,
    /// The keys.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,
    /// Keys are hexadecimal digits.
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store add people.store < pairs.tsv                 a key, a tab and a value per line
  oneread store get old.store --stdin --with-keys < ids | oneread store add new.store
  zcat log.jsonl.gz | oneread store add log.store --format jsonl

CSV and TSV have no header: the first field is the key, the rest of the row the value. The value of JSON Lines is the field
`value` if there is no other beside `key`, or else the object without its key.

A missing store is created; a sealed one becomes live. Pairs are added in batches, in order. When the command ends with
code 0, all of them are safe on the disk; after a failure, those before it are.

Exit codes: 0 done, 2 bad use or a failure.")]
pub(crate) struct Add {
    /// The store.
    pub(crate) path: PathBuf,
    /// The format of the pairs.
    #[arg(long, value_enum, default_value = "tsv")]
    pub(crate) format: Format,
    /// Skips and counts rows that cannot be read.
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// The seed of the hash functions, if the store is created [default: random].
    #[arg(long, value_name = "S", default_value_t = random_seed(), hide_default_value = true)]
    pub(crate) seed: u64,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Add {
    /// The equivalent import, which reads rows the same way.
    pub(crate) fn as_import(&self) -> Import {
        Import {
            path: self.path.clone(),
            files: vec!["-".into()],
            format: Some(self.format),
            key: None,
            value: None,
            no_header: true,
            no_quotes: false,
            skip_bad: self.skip_bad,
            duplicates: Duplicates::Last,
            rate: DEFAULT_RATE,
            memory: 1 << 30,
            seed: self.seed,
            replace: false,
            json: self.json,
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store remove people.store < ids
  oneread store export old.store --format tsv | cut -f1 | oneread store remove people.store

Absent keys are not an error, and are not reported; `oneread store delete` reports them. Keys are deleted in batches, in
order. When the command ends with code 0, all deletions are safe on the disk. A sealed store becomes live.

Exit codes: 0 done, 2 bad use or a failure.")]
pub(crate) struct Remove {
    /// The store.
    pub(crate) path: PathBuf,
    /// Keys are hexadecimal digits.
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
The number is exact, as in `stats` and `verify`. If another process writes to the store, it counts the last checkpoint and
the changes in the log at that moment.")]
pub(crate) struct Len {
    /// The store.
    pub(crate) path: PathBuf,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store backup people.store people-monday.store
  oneread store backup people.store /mnt/copies/people.store --json

The copy is a sealed store of all pairs at one moment, even while other processes change the store. Those continue, but do
not reuse pages that the copy still needs, so the store's file grows meanwhile. The copy appears whole or not at all. It is a
store like any other, and becomes live with the first `put`.")]
pub(crate) struct Backup {
    /// The store.
    pub(crate) path: PathBuf,
    /// The file to create; it must not exist.
    pub(crate) copy: PathBuf,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Updates and deletions leave room on pages, free pages, and logs. This command rebuilds the store as `import` does, and
replaces it at the end. For pairs of about a hundred bytes, the files then take 1.1 times their keys and values. The disk
needs room for both meanwhile, and nobody else can write. The store stays live. A sealed store is small already, and stays
as it is.")]
pub(crate) struct Compact {
    /// The store.
    pub(crate) path: PathBuf,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
The store is rebuilt as `import` does. The log and the manifest are gone then, and the file can be copied, sent or mapped by
itself. The disk needs room for both meanwhile, and nobody else can write. After a crash there is one of the two. A sealed
store stays as it is.")]
pub(crate) struct Seal {
    /// The store.
    pub(crate) path: PathBuf,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
--measure counts the pages read by lookups of stored keys, drawn at random, and of absent ones. To draw keys, the whole
store is read once.")]
pub(crate) struct Stats {
    /// The store.
    pub(crate) path: PathBuf,
    /// Looks up N stored and N absent keys, to compare actual with planned reads.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100000", value_parser = whole_in(1..=MAX_LOOKUPS))]
    pub(crate) measure: Option<u64>,
    /// Prints one JSON document; fields that were not measured are null.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Compares every checksum, and checks that every key is where its hash and its guide say.

Exit codes: 0 the store is whole, 1 it is damaged, 2 bad use or a failure.")]
pub(crate) struct Verify {
    /// The store.
    pub(crate) path: PathBuf,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread store bench people.store                          a million lookups of stored keys, and of absent ones
  oneread store bench people.store --cold --threads 32      also with nothing cached, 32 at a time

First the whole store is read, to draw up to 100,000 of its keys at random. Then they are looked up in random order, and
absent keys too. A lookup's time includes the copy of its value, about 30 ns for the clock, and for a live store the check
whether another process has changed it.

Cold means that the system was asked to drop its cache of the file (Linux). The bytes read from the disk show whether it did.
A page is cold only once, so a cold run looks up fewer keys, at most a tenth of the pages.")]
pub(crate) struct Bench {
    /// The store.
    pub(crate) path: PathBuf,
    /// The number of stored keys to look up, and of absent ones.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LOOKUPS, value_parser = whole_in(1..=MAX_LOOKUPS))]
    pub(crate) lookups: u64,
    /// The number of threads.
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = whole_in(1..=MAX_THREADS))]
    pub(crate) threads: u64,
    /// Also measures with nothing cached.
    #[arg(long)]
    pub(crate) cold: bool,
    /// Maps the file into memory, instead of reading at positions of it.
    #[arg(long)]
    pub(crate) map: bool,
    /// The seed for drawing stored and absent keys.
    #[arg(long, value_name = "X", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Prints one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if RATES.contains(&rate) => Ok(rate),
        _ => Err(format!(
            "expected a number from {:e} to {}: 0.01 is a page read in a hundred lookups",
            RATES.start(),
            RATES.end()
        )),
    }
}

/// A number of bytes, or of KiB, MiB, GiB or TiB with the suffix K, M, G or T.
fn memory(text: &str) -> Result<u64, String> {
    bytes(text)
        .ok()
        .filter(|bytes| (MIN_MEMORY..=usize::MAX as u64 / 2).contains(bytes))
        .ok_or_else(|| "expected a number of bytes from 1M on: 256M, 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_units() {
        for (text, bytes) in
            [("1048576", 1 << 20), ("1M", 1 << 20), ("2048k", 2 << 20), ("1.5G", 3 << 29), ("3G", 3 << 30)]
        {
            assert_eq!(memory(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "0", "1023K", "-1M", "99999999T", "1MB", "½G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }
}
