//! `oneread plan solve summary`.

use std::rc::Rc;

use anyhow::{Result, bail};
use oneread::layout::SummaryLayout;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::summary::{Goal, Kind, Planned, Targets};
use oneread::plan::solve::{self, Solution};

use super::super::layout_file::LayoutFile;
use super::super::plot::{self, Chart};
use super::super::report::Report;
use super::super::summary::{with_filters, with_odds};
use super::super::sweep::Number;
use super::super::{Subject, given, table};
use super::{around, frontier, patiently, with_binds};
use crate::args::plan::{BitsAndHashes, List, Output, Table};
use crate::args::solve::{SolveSummary, SummaryKind};

impl Subject for SolveSummary {
    fn output(&self) -> &Output {
        &self.of.output
    }

    fn numbers(&mut self) -> Vec<(&'static str, Number<'_>)> {
        let mut numbers = vec![
            ("items", Number::Whole(&mut self.of.items.number)),
            ("false_positive", Number::Real(&mut self.false_positive)),
            ("failure", Number::Real(&mut self.failure)),
            ("extra_reads", Number::Real(&mut self.extra_reads)),
            ("bytes", Number::Whole(&mut self.bytes)),
        ];
        numbers.extend(self.of.table.numbers());
        numbers
    }

    fn load(&mut self) -> Result<()> {
        match LayoutFile::read(&self.of.files)? {
            None => Ok(()),
            Some(LayoutFile::Multilevel { levels, slots }) => {
                self.of.table = Table::listed(levels, slots);
                Ok(())
            }
            Some(other) => other.refuse("multilevel"),
        }
    }

    fn report(&self) -> Result<Report> {
        let solution = self.solve()?;
        let Solution { best, binds, runners_up, .. } = &*solution;
        let report = Report::new("level").text("kind", "the smallest", best.kind().name());
        let report = with_plan(report, best);
        let report = with_binds(report, binds);
        Ok(report.rows("runners_up", runners_up.iter().map(row).collect()))
    }

    fn save(&self) -> Result<()> {
        if self.of.files.out.layout_out.is_some() {
            layout_file(&self.solve()?.best)?.write(&self.of.files.out)?;
        }
        plot::write(self.of.plot.as_deref(), || Ok(vec![self.against_bytes()?]))
    }
}

impl SolveSummary {
    fn targets(&self) -> Result<Targets> {
        let goal = match (self.failure, self.extra_reads) {
            (Some(failure), None) => Goal::Guarantee { failure },
            (None, Some(extra_reads)) => Goal::Average { extra_reads },
            (None, None) => {
                bail!("--failure is missing: give it, or --extra-reads, or sweep over one of them")
            }
            (Some(_), Some(_)) => bail!("expected --failure or --extra-reads, found both: leave one out"),
        };
        let false_positive = given(self.false_positive, "false-positive")?;
        Ok(Targets { false_positive, goal, bytes: self.bytes })
    }

    fn solve(&self) -> Result<Rc<Solution<Planned>>> {
        let (table, targets) = (self.of.table.plan(self.of.items.given()?)?, self.targets()?);
        let kind = match self.kind {
            SummaryKind::Any => None,
            SummaryKind::Interpolation => Some(Kind::Interpolation),
            SummaryKind::Single => Some(Kind::Single),
            SummaryKind::Multiple => Some(Kind::Multiple),
        };
        let question = (table.layout().clone(), table.items(), targets);
        self.solved
            .once(question, |_| patiently("the smallest summary", || solve::summary(&table, &targets, kind)))
    }

    /// What is to be had for more bytes and for fewer: of the kind that is smallest here, and of the next.
    fn against_bytes(&self) -> Result<Chart> {
        /// Six decades in each direction, eight solutions each.
        const DECADES: f64 = 6.0;
        const STEPS: i32 = 8;
        let (table, targets) = (self.of.table.plan(self.of.items.given()?)?, self.targets()?);
        let targets = Targets { bytes: None, ..targets };
        let solution = self.solve()?;
        let kinds =
            [Some(&solution.best), solution.runners_up.first()].map(|planned| planned.map(Planned::kind));
        let odds = |planned: &Planned| match targets.goal {
            Goal::Guarantee { .. } => planned.failure_and_crisis().unwrap_or(1.0),
            Goal::Average { .. } => planned.extra_reads_per_hit(),
        };
        let points = |kind: Kind| -> Vec<(f64, f64)> {
            let value = match targets.goal {
                Goal::Guarantee { failure } => failure,
                Goal::Average { extra_reads } => extra_reads,
            };
            let values = around(value, DECADES, STEPS).into_iter().filter(|value| *value < 1.0);
            let goals = values.map(|value| match targets.goal {
                Goal::Guarantee { .. } => Goal::Guarantee { failure: value },
                Goal::Average { .. } => Goal::Average { extra_reads: value },
            });
            // What is out of reach has no point.
            let solved = goals.filter_map(|goal| solve_one(&table, Targets { goal, ..targets }, kind));
            solved.map(|planned| (planned.total_bytes() as f64, odds(&planned).ln())).collect()
        };
        let series = patiently("the frontier", || {
            Ok(kinds.into_iter().flatten().map(|kind| (kind.name().to_owned(), points(kind))).collect())
        })?;
        let label = match targets.goal {
            Goal::Guarantee { .. } => "that any key fails or finds no room",
            Goal::Average { .. } => "reads of a hit beyond the first",
        };
        let here = (solution.best.total_bytes() as f64, odds(&solution.best).ln());
        let title = format!("The smallest summaries of {} items", table.items());
        Ok(frontier(title, ("bytes, with a bit for each bucket", label), series, here))
    }
}

fn solve_one(table: &MultilevelPlan, targets: Targets, kind: Kind) -> Option<Planned> {
    solve::summary(table, &targets, Some(kind)).ok().map(|solution| solution.best)
}

/// Adds the fields of a plan, as `plan summary` has them.
fn with_plan(report: Report, planned: &Planned) -> Report {
    let plan = match planned {
        Planned::Summary(plan) => plan,
        _ => return report,
    };
    let report = report.whole("items", "inserted", plan.table().items());
    let report = table::with_layout(report, plan.table().layout());
    let report = match plan.layout() {
        SummaryLayout::Interpolation(layout) => {
            report.whole("fingerprint_bits", "a string", layout.fingerprint_bits())
        }
        SummaryLayout::Single(layout) => {
            report.whole("cells", "in all", layout.cells()).whole("hashes", "an item", layout.hashes())
        }
        SummaryLayout::Multiple(layout) => with_filters(report, layout),
        _ => report,
    };
    with_odds(report, plan).whole("total_bytes", "of both", planned.total_bytes())
}

/// A runner-up in a line.
fn row(planned: &Planned) -> Report {
    Report::new("")
        .text("kind", "", planned.kind().name())
        .whole("total_bytes", "", planned.total_bytes())
        .real("false_positive", "", planned.false_positive())
        .real("failure_and_crisis", "", planned.failure_and_crisis().unwrap_or(f64::NAN))
        .real("extra_reads_per_hit", "", planned.extra_reads_per_hit())
}

/// The layout for `plan summary --layout`.
fn layout_file(planned: &Planned) -> Result<LayoutFile> {
    let Some(plan) = planned.summary() else {
        bail!("--layout-out: this kind of summary has no file that `plan` reads: name another --kind")
    };
    let (levels, slots) = (plan.table().layout().levels().to_vec(), plan.table().layout().slots().into());
    Ok(match plan.layout() {
        SummaryLayout::Interpolation(layout) => LayoutFile::SummaryInterpolation {
            levels,
            slots,
            fingerprint_bits: layout.fingerprint_bits().into(),
        },
        SummaryLayout::Single(layout) => {
            LayoutFile::SummarySingle { levels, slots, cells: layout.cells(), hashes: layout.hashes().into() }
        }
        SummaryLayout::Multiple(layout) => {
            let filters = layout.filters().iter();
            LayoutFile::SummaryMultiple {
                levels,
                slots,
                filters: filters
                    .map(|&(bits, hashes)| BitsAndHashes { bits, hashes: hashes.into() })
                    .collect(),
                list: layout.list().map(|list| List {
                    levels: list.levels() as u64,
                    items: list.items(),
                    fingerprint_bits: list.fingerprint_bits().into(),
                }),
            }
        }
        _ => bail!("--layout-out: this kind has no file that `plan` reads"),
    })
}
