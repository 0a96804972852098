//! `oneread store add`: adds many pairs from stdin to a live store.

use std::time::Instant;

use anyhow::Result;
use oneread_store::{StoreOptions, SyncPolicy};

use super::import::input::Input;
use super::import::live;
use super::put::open_with;
use crate::args::store::Add;

pub(super) fn run(args: &Add) -> Result<()> {
    let start = Instant::now();
    let import = args.as_import();
    let inputs = [Input::new(&import.files[0], import.format)?];
    // No sync per change is needed: only the end is acknowledged.
    let options = StoreOptions::new().sync(SyncPolicy::Never).seed(args.seed);
    let store = open_with(&args.path, options)?;
    live::run(&import, &inputs, store, start)
}
