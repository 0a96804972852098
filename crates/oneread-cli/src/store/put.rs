//! `oneread store put`: sets the value of a key in a live store.

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use oneread_store::{Occupant, Store, StoreOptions};

use super::get::decoded;
use super::{explained, opened, target};
use crate::args::store::Put;

pub(super) fn run(args: &Put) -> Result<()> {
    let value = match &args.value {
        Some(value) => decoded(value.as_encoded_bytes(), args.hex, "the value")?.into_owned(),
        None => {
            let mut value = Vec::new();
            io::stdin().lock().read_to_end(&mut value).context("cannot read stdin")?;
            value
        }
    };
    let key = decoded(args.key.as_encoded_bytes(), args.hex, "the key")?;
    let store = open_to_write(&args.path, Some(args.seed))?;
    opened(&args.path, || store.put(&key, &value).and_then(|()| store.close()).map_err(explained))
}

/// Opens a store for writing, which makes a sealed one live. With a `seed`, creates a missing
/// store.
pub(super) fn open_to_write(path: &Path, seed: Option<u64>) -> Result<Store> {
    let Some(seed) = seed else {
        return opened(path, || Store::open(path, StoreOptions::new()).map_err(explained));
    };
    open_with(path, StoreOptions::new().seed(seed))
}

/// Like [`open_to_write`], but with options, and always creates a missing store.
pub(super) fn open_with(path: &Path, options: StoreOptions) -> Result<Store> {
    let lock = target::locked(path)?;
    opened(path, || match lock.occupant() {
        Occupant::Nothing => Store::create_locked(lock, options).map_err(explained),
        _ => Store::open_locked(lock, options).map_err(explained),
    })
}
