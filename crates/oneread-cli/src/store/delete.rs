//! `oneread store delete`: deletes keys from a live store.

use anyhow::Result;
use oneread_store::Batch;

use super::get::decoded;
use super::put::open_to_write;
use super::{explained, opened};
use crate::Outcome;
use crate::args::store::Delete;

pub(super) fn run(args: &Delete) -> Result<Outcome> {
    let keys: Vec<_> = args
        .keys
        .iter()
        .map(|key| decoded(key.as_encoded_bytes(), args.hex, "a key"))
        .collect::<Result<_>>()?;
    let store = open_to_write(&args.path, None)?;
    opened(&args.path, || {
        let mut batch = Batch::new();
        let mut absent = false;
        for key in &keys {
            absent |= !store.contains(key).map_err(explained)?;
            batch.delete(key)?;
        }
        store.batch(&mut batch).and_then(|()| store.close()).map_err(explained)?;
        Ok(if absent { Outcome::Negative } else { Outcome::Done })
    })
}
