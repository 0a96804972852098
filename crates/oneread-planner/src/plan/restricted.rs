//! `oneread plan restricted`.

use anyhow::{Result, anyhow};
use oneread::layout::Keep;
use oneread_study::plan::moves::{self, restricted};

use super::sweep::{Numbers, numbers};
use super::{Subject, given, small};
use crate::args::plan::Restricted;
use crate::report::Report;

const DEFAULT_FANOUT: u64 = 2;

/// The library ignores smaller values.
const MIN_STASH: f64 = 1e-80;

impl Subject for Restricted {
    type Planned = moves::Restricted;

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![Whole { items: self.items.number, levels: self.levels, fanout: self.fanout }]
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        let policy = match self.policy {
            Keep::Random => Keep::Random,
            Keep::Greedy(_) => Keep::Greedy(self.ties),
        };
        let levels = small(given(self.levels, "levels")?, "levels")?;
        restricted(self.items.given()?, levels, small(self.fanout(), "fanout")?, policy)
            .map_err(|error| anyhow!("{error}: give another number"))
    }

    fn report(&self, plan: &Self::Planned) -> Result<Report> {
        Ok(Report::new("level")
            .whole("items", "inserted", self.items.given()?)
            .whole("levels", "levels", given(self.levels, "levels")?)
            .whole("fanout", "next cells", self.fanout())
            .reals("expected", "items", &plan.expected)
            .at_least("expected_stash", "items without room", plan.expected_stash, MIN_STASH))
    }
}

impl Restricted {
    fn fanout(&self) -> u64 {
        self.fanout.unwrap_or(DEFAULT_FANOUT)
    }
}
