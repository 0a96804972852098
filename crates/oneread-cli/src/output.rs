//! What goes to stdout: a table for people, a document for programs.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

/// Writes a text, and a newline after it.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write the output")
}

/// Writes one JSON document.
pub(crate) fn print_json(document: &impl Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(document)?)
}

/// Where the cells of a column stand.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Cells in aligned columns, the first row being their headings.
pub(crate) fn table<const COLUMNS: usize>(aligns: [Align; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let widths: [usize; COLUMNS] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).zip(aligns).map(|((cell, width), align)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["name", "n"], ["a", "100"], ["žluť", "1"]].map(|row| row.map(str::to_owned));
        let text = table([Align::Left, Align::Right], &rows);
        assert_eq!(text, "name    n\na     100\nžluť    1");
    }
}
