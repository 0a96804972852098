//! `oneread plan restricted`.

use anyhow::{Result, anyhow};
use oneread::plan::moves::{self, restricted};

use super::report::Report;
use super::sweep::Number;
use super::{Subject, given, small};
use crate::args::plan::{Output, Policy, Restricted};

const DEFAULT_FANOUT: u64 = 2;

/// The library leaves out what is rarer.
const LEAST_STASH: f64 = 1e-80;

impl Subject for Restricted {
    fn output(&self) -> &Output {
        &self.output
    }

    fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)> {
        vec![
            ("items", Number::Whole(&mut self.items.number)),
            ("levels", Number::Whole(&mut self.levels)),
            ("fanout", Number::Whole(&mut self.fanout)),
        ]
    }

    fn report(&self) -> Result<Report> {
        let (items, levels) = (self.items.given()?, given(self.levels, "levels")?);
        let fanout = self.fanout.unwrap_or(DEFAULT_FANOUT);
        let policy = match self.policy {
            Policy::Random => moves::Policy::Random,
            Policy::Greedy => moves::Policy::Greedy(self.ties.into()),
        };
        let plan = restricted(items, small(levels, "levels")?, small(fanout, "fanout")?, policy)
            .map_err(|error| anyhow!("{error}: give another number"))?;
        Ok(Report::new("level")
            .whole("items", "inserted", items)
            .whole("levels", "levels", levels)
            .whole("fanout", "next cells", fanout)
            .reals("expected", "items", &plan.expected)
            .at_least("expected_stash", "items without room", plan.expected_stash, LEAST_STASH))
    }
}
