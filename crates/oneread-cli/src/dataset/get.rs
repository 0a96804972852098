//! `oneread dataset get`: prints the rows of keys.

use std::io::{self, Write};

use anyhow::{Context, Result};
use oneread_dataset::{ReadOptions, Schema, Snapshot};

use super::{at, open};
use crate::Outcome;
use crate::args::dataset::Get;
use crate::lines::Lines;
use crate::store::rows::fields;

/// The keys that are looked up at once.
const TOGETHER: usize = 1024;

pub(super) fn run(args: &Get) -> Result<Outcome> {
    let (dataset, waiting) = at(&args.url)?;
    let mut options = ReadOptions::new();
    if let Some(folder) = &args.guides {
        options = options.guides_folder(folder);
    }
    // A few keys need the guides of their own shards only.
    options = options.lazy(!args.stdin && args.keys.len() < 16);
    let snapshot = waiting.on(open(&dataset, args.version.as_deref(), &options))?;
    let (mut absent, mut printed) = (0, 0u64);
    let mut print = |keys: &[&[u8]]| -> Result<()> {
        for keys in keys.chunks(TOGETHER) {
            let encoded = keys.iter().map(|key| encoded(&snapshot, key)).collect::<Result<Vec<_>>>()?;
            let values = waiting.on(snapshot.get_many(&encoded))?;
            let mut out = Vec::new();
            for ((key, shown), value) in encoded.iter().zip(keys).zip(values) {
                if args.json {
                    out.extend_from_slice(if printed == 0 { b"[\n" } else { b",\n" });
                }
                printed += 1;
                let Some(value) = value else {
                    absent += 1;
                    eprintln!("absent: {}", shown.escape_ascii());
                    if args.json {
                        out.extend_from_slice(b"null");
                    }
                    continue;
                };
                if args.raw {
                    out.extend_from_slice(&value);
                } else {
                    out.extend_from_slice(snapshot.schema().to_json(key, &value)?.as_bytes());
                }
                if !args.json {
                    out.push(b'\n');
                }
            }
            let mut stdout = io::stdout().lock();
            stdout.write_all(&out).and_then(|()| stdout.flush()).context("cannot write the output")?;
        }
        Ok(())
    };
    if args.stdin {
        let mut lines = Lines::new(io::stdin().lock());
        while let Some(batch) = lines.next_batch()? {
            print(&batch.lines().collect::<Vec<_>>())?;
        }
    } else {
        print(&args.keys.iter().map(|key| key.as_encoded_bytes()).collect::<Vec<_>>())?;
    }
    if args.json {
        crate::output::print(if printed == 0 { "[]" } else { "\n]" })?;
    }
    Ok(if absent > 0 { Outcome::Negative } else { Outcome::Done })
}

/// The key that an argument stands for.
fn encoded(snapshot: &Snapshot, argument: &[u8]) -> Result<Vec<u8>> {
    let names = &snapshot.schema().key;
    if names.len() <= 1 {
        return Ok(argument.to_vec());
    }
    let columns = fields(argument);
    if columns.len() != names.len() {
        anyhow::bail!(
            "expected a key of {} columns ({}) as a row of CSV, found \"{}\"",
            names.len(),
            names.join(","),
            argument.escape_ascii()
        );
    }
    Ok(Schema::key_of(&columns))
}
