//! `oneread plan solve summary`.

use std::path::Path;

use anyhow::{Result, bail};
use oneread::layout::SummaryLayout;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::Solution;
use oneread::plan::summary::SummaryPlan;
use oneread_study::solve::{self, Goal, SummaryKind, SummaryTargets};

use super::super::layout_file::LayoutFile;
use super::super::plot::Chart;
use super::super::summary::{with_filters, with_odds};
use super::super::sweep::{Numbers, numbers};
use super::super::{Subject, given, table};
use super::{around, frontier, with_others};
use crate::args::plan::{LayoutOut, Summarized};
use crate::args::solve::SolveSummary;
use crate::report::Report;

impl Subject for Summarized<SolveSummary> {
    type Planned = Solution<SummaryPlan>;

    fn numbers(&mut self) -> Numbers<'_> {
        let mut numbers = numbers![
            Whole { items: self.items.number },
            Real {
                false_positive: self.kind.false_positive,
                failure: self.kind.failure,
                extra_reads: self.kind.extra_reads
            },
            Whole { bytes: self.kind.bytes }
        ];
        numbers.extend(self.table.numbers());
        numbers
    }

    fn load(&mut self) -> Result<()> {
        self.table.load(&self.files)
    }

    fn plan(&self, last: Option<&Self::Planned>) -> Result<Self::Planned> {
        let table = self.table.plan(&self.items, last.map(|last| last.best.table()))?;
        let targets = self.kind.targets()?;
        Ok(solve::summary(&table, &targets, self.kind.kind)?)
    }

    fn report(&self, solution: &Self::Planned) -> Result<Report> {
        let best = &solution.best;
        let report = Report::new("level").text("kind", "the smallest", SummaryKind::of(best).name());
        Ok(with_others(with_plan(report, best), solution, row))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.files.out), self.plot.as_deref())
    }

    fn layout_file(&self, Solution { best, .. }: &Self::Planned) -> Result<LayoutFile> {
        LayoutFile::of_summary(best.table().layout(), best.layout())
    }

    fn charts(&self, solution: &Self::Planned) -> Result<Vec<Chart>> {
        Ok(vec![self.kind.against_bytes(solution)?])
    }
}

impl SolveSummary {
    fn targets(&self) -> Result<SummaryTargets> {
        let goal = match (self.failure, self.extra_reads) {
            (Some(failure), None) => Goal::Guarantee { failure },
            (None, Some(extra_reads)) => Goal::Average { extra_reads },
            (None, None) => {
                bail!("--failure is missing: give it, or --extra-reads, or sweep over one of them")
            }
            (Some(_), Some(_)) => bail!("expected --failure or --extra-reads, found both: leave one out"),
        };
        let false_positive = given(self.false_positive, "false-positive")?;
        Ok(SummaryTargets { false_positive, goal, bytes: self.bytes })
    }

    /// The achievable odds for more and for fewer bytes: of the smallest kind here, and of the
    /// next.
    fn against_bytes(&self, solution: &Solution<SummaryPlan>) -> Result<Chart> {
        /// Six decades in each direction, eight solutions each.
        const DECADES: f64 = 6.0;
        const STEPS: i32 = 8;
        let table = solution.best.table();
        let targets = SummaryTargets { bytes: None, ..self.targets()? };
        let kinds = [Some(&solution.best), solution.runners_up.first()].map(|plan| plan.map(SummaryKind::of));
        let odds = |planned: &SummaryPlan| match targets.goal {
            Goal::Guarantee { .. } => planned.failure_and_crisis(),
            Goal::Average { .. } => planned.extra_reads_per_hit(),
        };
        let points = |kind: SummaryKind| -> Vec<(f64, f64)> {
            let value = match targets.goal {
                Goal::Guarantee { failure } => failure,
                Goal::Average { extra_reads } => extra_reads,
            };
            let values = around(value, DECADES, STEPS).into_iter().filter(|value| *value < 1.0);
            let goals = values.map(|value| match targets.goal {
                Goal::Guarantee { .. } => Goal::Guarantee { failure: value },
                Goal::Average { .. } => Goal::Average { extra_reads: value },
            });
            // Unreachable goals have no point.
            let solved = goals.filter_map(|goal| solve_one(table, SummaryTargets { goal, ..targets }, kind));
            solved.map(|planned| (planned.total_bytes() as f64, odds(&planned).ln())).collect()
        };
        let series = kinds.into_iter().flatten().map(|kind| (kind.name().to_owned(), points(kind))).collect();
        let label = match targets.goal {
            Goal::Guarantee { .. } => "that any key fails or finds no room",
            Goal::Average { .. } => "reads per hit beyond the first",
        };
        let here = (solution.best.total_bytes() as f64, odds(&solution.best).ln());
        let title = format!("The smallest summaries of {} items", table.items());
        Ok(frontier(title, ("bytes, with a bit for each bucket", label), series, here))
    }
}

fn solve_one(table: &MultilevelPlan, targets: SummaryTargets, kind: SummaryKind) -> Option<SummaryPlan> {
    solve::summary(table, &targets, Some(kind)).ok().map(|solution| solution.best)
}

/// Adds the fields of a plan, like `plan summary`.
fn with_plan(report: Report, plan: &SummaryPlan) -> Report {
    let report = report.whole("items", "inserted", plan.table().items());
    let report = table::with_layout(report, plan.table().layout());
    let report = match plan.layout() {
        SummaryLayout::Interpolation(layout) => {
            report.whole("fingerprint_bits", "a string", layout.fingerprint_bits())
        }
        SummaryLayout::Single(layout) => {
            report.whole("cells", "in all", layout.cells()).whole("hashes", "per item", layout.hashes())
        }
        SummaryLayout::Multiple(layout) => with_filters(report, layout),
        _ => report,
    };
    with_odds(report, plan).whole("total_bytes", "of both", plan.total_bytes())
}

/// A runner-up as one row.
fn row(planned: &SummaryPlan) -> Report {
    Report::new("")
        .text("kind", "", SummaryKind::of(planned).name())
        .whole("total_bytes", "", planned.total_bytes())
        .real("false_positive", "", planned.false_positive())
        .real("failure_and_crisis", "", planned.failure_and_crisis())
        .real("extra_reads_per_hit", "", planned.extra_reads_per_hit())
}
