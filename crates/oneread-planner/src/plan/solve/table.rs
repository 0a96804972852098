//! `oneread plan solve table`.

use std::path::Path;

use anyhow::{Result, bail};
use oneread::layout::{HintChain, HintRule, Hints, Keep, Moves};
use oneread::plan::solve::Solution;
use oneread_study::solve::{self, Odds, PlannedTable, TableTargets};

use super::super::layout_file::LayoutFile;
use super::super::plot::Chart;
use super::super::sweep::{Numbers, numbers};
use super::super::{Subject, small, table as of_table};
use super::{around, frontier, with_others};
use crate::args::plan::LayoutOut;
use crate::args::solve::SolveTable;
use crate::report::Report;

impl Subject for SolveTable {
    type Planned = Solution<PlannedTable>;

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![
            Whole { items: self.items.number },
            Real { crisis: self.crisis, stash: self.stash, buckets_per_item: self.buckets_per_item }
        ]
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        let targets = self.targets()?;
        Ok(solve::table(&targets)?)
    }

    fn report(&self, solution: &Self::Planned) -> Result<Report> {
        let best = &solution.best;
        let report = Report::new("level").whole("items", "at a time", best.items);
        let report = of_table::with_layout(report, &best.layout)
            .text("moves", "which items move", moves(best.layout.moves()))
            .whole("buckets", "of all levels", best.layout.buckets())
            .real("buckets_per_item", "buckets", best.buckets_per_item())
            .real("load", "items for each slot", best.load())
            .rare("expected_stash", "items without room", best.expected_stash, true);
        let report = match &best.filled {
            None => report.text("accuracy", "of the stash", "the limit for many buckets"),
            Some(plan) => {
                let reachable = |level| of_table::is_reachable(&best.layout, best.items, level);
                let expected = plan.expected().iter().enumerate();
                let expected: Vec<_> = expected.map(|(level, &items)| (items, reachable(level))).collect();
                let report = report.rare_list("expected", "items", &expected).odds(
                    "crisis_probability",
                    "that any item finds no room",
                    plan.crisis_probability(),
                    plan.ln_crisis_probability(),
                );
                of_table::with_accuracy(report, plan)
            }
        };
        Ok(with_others(report, solution, row))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.layout), self.plot.as_deref())
    }

    fn layout_file(&self, Solution { best, .. }: &Self::Planned) -> Result<LayoutFile> {
        Ok(LayoutFile::of_table(&best.layout))
    }

    fn charts(&self, Solution { best, .. }: &Self::Planned) -> Result<Vec<Chart>> {
        Ok(vec![self.against_buckets(best)?])
    }
}

impl SolveTable {
    fn targets(&self) -> Result<TableTargets> {
        let items = self.items.given()?;
        let has_limit = self.buckets_per_item.is_some() || self.bytes.is_some();
        let odds = match (self.crisis, self.stash, self.churn) {
            (Some(crisis), None, false) => Odds::Crisis(crisis),
            (None, Some(stash), false) => Odds::Filled(stash),
            (None, Some(stash), true) => Odds::Churn(stash),
            (Some(_), None, true) => {
                bail!("with --churn the target is the stash: give --stash, not --crisis")
            }
            // Any value: the buckets decide.
            (None, None, true) if has_limit => Odds::Churn(1.0),
            (None, None, false) if has_limit => Odds::Crisis(0.5),
            (None, None, _) => {
                bail!("--crisis is missing: give it, or --stash, or the memory, or sweep over one of them")
            }
            (Some(_), Some(_), _) => bail!("expected --crisis or --stash, found both: leave one out"),
        };
        let buckets = match (self.buckets_per_item, self.bytes, self.bucket_bytes) {
            (Some(per_item), ..) => Some((per_item * items as f64) as u64),
            (None, Some(_), Some(0)) => bail!("--bucket-bytes: expected 1 or more, found 0"),
            (None, Some(bytes), Some(bucket)) => Some(bytes / bucket),
            (None, ..) => None,
        };
        if buckets == Some(0) {
            bail!("expected room for a bucket, found none: allow more --buckets-per-item, or more --bytes");
        }
        let (levels, slots) = (small(self.level_count, "level-count")?, small(self.slots, "slots")?);
        let targets = TableTargets { items, levels, slots, buckets, odds };
        if self.crisis.is_some() || self.stash.is_some() {
            return Ok(targets);
        }
        let least = solve::least_odds(&targets)?;
        Ok(TableTargets { odds: odds.with_value(least), ..targets })
    }

    fn against_buckets(&self, best: &PlannedTable) -> Result<Chart> {
        let targets = TableTargets { buckets: None, ..self.targets()? };
        let (value, most) = match targets.odds {
            Odds::Crisis(value) => (value, 1.0),
            Odds::Filled(value) | Odds::Churn(value) => (value, targets.items as f64),
            _ => bail!("these odds have no frontier"),
        };
        let with = |value| TableTargets { odds: targets.odds.with_value(value), ..targets };
        let decades = if most == 1.0 { 6.0 } else { 2.0 };
        let values = around(value, decades, 6).into_iter().filter(|value| *value < most);
        let solved = values.filter_map(|value| Some((value, solve::table(&with(value)).ok()?)));
        let points =
            solved.map(|(value, solved)| (solved.best.layout.buckets() as f64, value.ln())).collect();
        let label = if most == 1.0 { "that any item finds no room" } else { "items in the stash" };
        let here = (best.layout.buckets() as f64, value.ln());
        let title = format!("The smallest tables of {} items, {} levels", targets.items, targets.levels);
        Ok(frontier(title, ("buckets", label), vec![("smallest".to_owned(), points)], here))
    }
}

/// Names which items move, and by which rule.
pub(super) fn moves(moves: Moves) -> String {
    match moves {
        Moves::None => "none".to_owned(),
        Moves::SecondChance => "second-chance".to_owned(),
        Moves::Hints(hints) => rule_of(hints),
        Moves::Both(hints) => format!("second-chance and {}", rule_of(hints)),
        Moves::Restricted(restriction) => match restriction.keep {
            Keep::Random => "restricted, random".to_owned(),
            Keep::Greedy(_) => "restricted, greedy".to_owned(),
        },
        _ => "other".to_owned(),
    }
}

fn rule_of(hints: Hints) -> String {
    let rule = match hints.rule {
        HintRule::Replace => "replace",
        HintRule::Deepest => "deepest",
        HintRule::Next => "next",
        HintRule::DeepestUnchecked => "deepest-unchecked",
    };
    match hints.chain {
        HintChain::Recursive => format!("hints, {rule}, recursive"),
        _ => format!("hints, {rule}"),
    }
}

fn row(planned: &PlannedTable) -> Report {
    Report::new("")
        .text("moves", "", moves(planned.layout.moves()))
        .whole("level_count", "", planned.layout.level_count() as u64)
        .whole("buckets", "", planned.layout.buckets())
        .real("expected_stash", "", planned.expected_stash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_named_with_their_rule() {
        let hints = Hints { rule: HintRule::Deepest, chain: HintChain::Recursive };
        assert_eq!(moves(Moves::Both(hints)), "second-chance and hints, deepest, recursive");
        let hints = Hints { rule: HintRule::Replace, chain: HintChain::One };
        assert_eq!(moves(Moves::Hints(hints)), "hints, replace");
    }
}
