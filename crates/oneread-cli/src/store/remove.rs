//! `oneread store remove`: many keys from stdin, out of a store that changes.

use std::io;

use anyhow::Result;
use oneread_store::{Batch, Store, StoreOptions, SyncPolicy};

use super::get::decoded;
use super::{explained, opened};
use crate::args::store::Remove;
use crate::lines::Lines;

/// Keys that are deleted together.
const TOGETHER: usize = 256;

pub(super) fn run(args: &Remove) -> Result<()> {
    // What is acknowledged before the end is of no interest.
    let options = StoreOptions::new().sync(SyncPolicy::Never);
    let store = opened(&args.path, || Store::open(&args.path, options).map_err(explained))?;
    let mut batch = Batch::new();
    let removed = remove(args, &store, &mut batch);
    // What came before a failure stays.
    let done = || store.batch(&mut batch).and_then(|()| store.close());
    opened(&args.path, || done().map_err(explained)).and(removed)
}

/// Deletes the keys from stdin, and leaves the last ones to be deleted.
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
