//! `oneread store export`: prints all pairs as rows.

use std::io::{self, Write};

use anyhow::{Context, Result};
use indicatif::HumanCount;

use super::any::Any;
use super::rows::{write_header, write_row};
use super::{explained, opened};
use crate::Outcome;
use crate::args::store::Export;

/// The bytes per write.
const BUFFER: usize = 1 << 18;

pub(super) fn run(args: &Export) -> Result<Outcome> {
    let store = Any::open(&args.path)?;
    let mut out = io::stdout().lock();
    let mut write = |rows: &mut Vec<u8>| {
        out.write_all(rows).and_then(|()| out.flush()).context("cannot write the output")?;
        rows.clear();
        Ok::<(), anyhow::Error>(())
    };
    let mut rows = Vec::with_capacity(BUFFER);
    write_header(args.format, &mut rows);
    let mut damaged = 0u64;
    for pair in store.iter() {
        match pair {
            Ok((key, value)) => write_row(&key, &value, args.format, &mut rows),
            Err(error) if args.skip_damaged && error.is_damage() => damaged += 1,
            Err(error) => {
                // Earlier pairs are valid, and stay.
                write(&mut rows)?;
                let error = explained(error).context("only a part was written");
                return opened(&args.path, || Err(error));
            }
        }
        if rows.len() >= BUFFER {
            write(&mut rows)?;
        }
    }
    write(&mut rows)?;
    if damaged == 0 {
        return Ok(Outcome::Done);
    }
    eprintln!(
        "note: {}: {} damaged pages or values were left out: `oneread store verify` lists them",
        args.path.display(),
        HumanCount(damaged)
    );
    Ok(Outcome::Negative)
}
