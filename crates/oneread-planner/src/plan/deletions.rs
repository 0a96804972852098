//! `oneread plan deletions`.

use std::path::Path;

use anyhow::{Result, bail};
use oneread::layout::MultilevelLayout;
use oneread_study::plan::deletion::{expected_moves_first_level, expected_moves_uniform};

use super::layout_file::LayoutFile;
use super::sweep::{Numbers, numbers};
use super::{Subject, given, refused, table};
use crate::args::plan::{Deletions, LayoutOut};
use crate::report::Report;

impl Subject for Deletions {
    /// The table, including deleted items.
    type Planned = MultilevelLayout;

    fn numbers(&mut self) -> Numbers<'_> {
        let mut numbers = numbers![Whole { alive: self.alive, deleted: self.deleted }];
        numbers.extend(self.table.numbers());
        numbers
    }

    fn load(&mut self) -> Result<()> {
        self.table.load(&self.files)
    }

    fn plan(&self, _: Option<&MultilevelLayout>) -> Result<MultilevelLayout> {
        let (alive, deleted) = (given(self.alive, "alive")?, given(self.deleted, "deleted")?);
        let Some(items) = alive.checked_add(deleted) else {
            bail!("--alive and --deleted: expected fewer than 2^64 items in all: give fewer");
        };
        self.table.layout(items)
    }

    fn report(&self, layout: &MultilevelLayout) -> Result<Report> {
        let (alive, deleted) = (given(self.alive, "alive")?, given(self.deleted, "deleted")?);
        let refused = refused("--alive and --deleted");
        let report =
            Report::new("level").whole("alive", "items that stay", alive).whole("deleted", "items", deleted);
        Ok(table::with_layout(report, layout)
            .real(
                "expected_moves_uniform",
                "items, if any of all are deleted",
                expected_moves_uniform(layout, alive, deleted).map_err(&refused)?,
            )
            .real(
                "expected_moves_first_level",
                "items, if those at the first level are deleted",
                expected_moves_first_level(layout, alive, deleted).map_err(&refused)?,
            ))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.files.out), None)
    }

    fn layout_file(&self, layout: &MultilevelLayout) -> Result<LayoutFile> {
        Ok(LayoutFile::of_table(layout))
    }
}
