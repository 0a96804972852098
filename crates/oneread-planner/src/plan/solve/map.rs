//! `oneread plan solve map`.

use anyhow::Result;
use oneread::plan::solve::Solution;
use oneread_study::solve::{self, MapLayout, MapTargets, PlannedMap};

use super::super::sweep::{Numbers, numbers};
use super::super::{Subject, given, small, table};
use super::table::moves;
use super::with_others;
use crate::args::solve::SolveMap;
use crate::report::Report;

impl Subject for SolveMap {
    type Planned = Solution<PlannedMap>;

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![
            Whole { entries: self.entries, entry_bytes: self.entry_bytes, bytes: self.bytes },
            Real { stash: self.stash },
            Whole { level_count: self.level_count }
        ]
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        let usual = MapTargets::new(given(self.entries, "entries")?, given(self.entry_bytes, "entry-bytes")?);
        let levels = self.level_count.map_or(Ok(usual.levels), |levels| small(levels, "level-count"))?;
        let stash = self.stash.unwrap_or(usual.stash);
        let targets = MapTargets { bytes: self.bytes, stash, levels, ..usual };
        Ok(solve::map(&targets)?)
    }

    fn report(&self, solution: &Self::Planned) -> Result<Report> {
        let best = &solution.best;
        let report = Report::new("level").whole("entries", "at a time", best.entries).text(
            "structure",
            "the smallest",
            best.structure,
        );
        let report = match &best.layout {
            MapLayout::Multilevel(layout) => {
                let report = table::with_layout(report, layout);
                let report = report.text("moves", "which entries move", moves(layout.moves()));
                report.whole("stash", "room for entries", layout.stash())
            }
            MapLayout::Bounded(layout) => {
                let report = report.whole("home_lines", "of 32 slots", layout.home_lines());
                report.whole("last_lines", "of 32 slots", layout.last_lines())
            }
            _ => report,
        };
        let report = report
            .whole("bytes", "of all places and their bits", best.bytes)
            .real("bytes_per_entry", "bytes", best.bytes_per_entry())
            .real("load", "entries for each place", best.load)
            .real("expected_stash", "entries", best.expected_stash);
        Ok(with_others(report, solution, row))
    }
}

fn row(planned: &PlannedMap) -> Report {
    let moving = match &planned.layout {
        MapLayout::Multilevel(layout) => moves(layout.moves()),
        _ => "none".to_owned(),
    };
    Report::new("")
        .text("structure", "", planned.structure)
        .text("moves", "", moving)
        .whole("bytes", "", planned.bytes)
        .real("load", "", planned.load)
        .real("expected_stash", "", planned.expected_stash)
}
