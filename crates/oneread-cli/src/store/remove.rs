//! `oneread store remove`: deletes many keys, read from stdin, from a live store.

use std::io;

use anyhow::Result;
use oneread_store::{Batch, Store, StoreOptions, SyncPolicy};

use super::get::decoded;
use super::{explained, opened};
use crate::args::store::Remove;
use crate::lines::Lines;

/// The keys per batch.
const TOGETHER: usize = 256;

pub(super) fn run(args: &Remove) -> Result<()> {
    // No sync per change is needed: only the end is acknowledged.
    let options = StoreOptions::new().sync(SyncPolicy::Never);
    let store = opened(&args.path, || Store::open(&args.path, options).map_err(explained))?;
    let mut batch = Batch::new();
    let removed = remove(args, &store, &mut batch);
    // Earlier deletions stay after a failure.
    let done = || store.batch(&mut batch).and_then(|()| store.close());
    opened(&args.path, || done().map_err(explained)).and(removed)
}

/// Deletes the keys from stdin; leaves the last batch to the caller.
fn remove(args: &Remove, store: &Store, batch: &mut Batch) -> Result<()> {
    let mut lines = Lines::new(io::stdin().lock());
    let mut number = 0u64;
    while let Some(keys) = lines.next_batch()? {
        for key in keys.lines() {
            number += 1;
            let key = decoded(key, args.hex, &format!("key {number}"))?;
            opened(&args.path, || {
                batch.delete(&key)?;
                if batch.len() >= TOGETHER {
                    store.batch(batch)?;
                    batch.clear();
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}
