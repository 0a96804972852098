//! `oneread store len`: prints the number of keys.

use anyhow::Result;
use serde::Serialize;

use super::any::Any;
use super::{explained, opened};
use crate::args::store::Len;
use crate::output::{print, print_json};

#[derive(Serialize)]
struct Report {
    items: u64,
}

pub(super) fn run(args: &Len) -> Result<()> {
    let store = Any::open(&args.path)?;
    let items = opened(&args.path, || store.len().map_err(explained))?;
    if args.json { print_json(&Report { items }) } else { print(&items.to_string()) }
}
