//! Output on stdout.

use std::io::{self, Write};

use anyhow::{Context, Result};
pub(crate) use oneread_planner::{Align, table};
use serde::Serialize;

/// Prints a text and a newline.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write the output")
}

/// Prints one JSON document.
pub(crate) fn print_json(document: &impl Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(document)?)
}
