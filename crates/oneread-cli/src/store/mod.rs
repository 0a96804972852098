//! `oneread store`: pairs in a file, with 1 page read per hit, 0.01 per miss.

mod add;
mod any;
mod backup;
mod bench;
mod compact;
mod create;
mod delete;
mod export;
pub(crate) mod facts;
mod get;
pub(crate) mod histogram;
pub(crate) mod import;
mod len;
pub(crate) mod measure;
mod progress;
mod put;
mod remove;
pub(crate) mod rows;
mod sample;
mod seal;
mod stats;
pub(crate) mod target;
mod verify;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use oneread_store::{Error, FileReader};

use crate::Outcome;
use crate::args::store::Store;

pub(crate) fn run(command: &Store) -> Result<Outcome> {
    match command {
        Store::Create(args) => create::run(args).map(|()| Outcome::Done),
        Store::Import(args) => import::run(args).map(|()| Outcome::Done),
        Store::Export(args) => export::run(args),
        Store::Get(args) => get::run(args),
        Store::Put(args) => put::run(args).map(|()| Outcome::Done),
        Store::Delete(args) => delete::run(args),
        Store::Add(args) => add::run(args).map(|()| Outcome::Done),
        Store::Remove(args) => remove::run(args).map(|()| Outcome::Done),
        Store::Len(args) => len::run(args).map(|()| Outcome::Done),
        Store::Backup(args) => backup::run(args).map(|()| Outcome::Done),
        Store::Compact(args) => compact::run(args).map(|()| Outcome::Done),
        Store::Seal(args) => seal::run(args).map(|()| Outcome::Done),
        Store::Stats(args) => stats::run(args).map(|()| Outcome::Done),
        Store::Verify(args) => verify::run(args),
        Store::Bench(args) => bench::run(args).map(|()| Outcome::Done),
    }
}

/// Opens a file that may hold a store.
fn reader(path: &Path) -> Result<FileReader> {
    let metadata = fs::metadata(path).context("cannot open it")?;
    if metadata.is_dir() {
        bail!("it is a directory: name a file in it");
    }
    FileReader::open(path).context("cannot open it")
}

fn opened<T>(path: &Path, open: impl FnOnce() -> Result<T>) -> Result<T> {
    open().with_context(|| path.display().to_string())
}

/// Explains what is wrong with a file, and what its owner can do.
fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::NotAStore => anyhow!("{error}: make a store with `oneread store import`"),
        error => error.into(),
    }
}
