//! `oneread plan summary`.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use oneread::layout::{
    CountingCellsLayout, CountingFiltersLayout, InterpolationLayout, MultipleFiltersLayout,
    SingleFilterLayout, SummaryLayout,
};
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::summary::{SummaryPlan, hashes_for_failures, hashes_for_false_positives};
use oneread_study::plan::summary::{Churned, churned, churned_single};

use super::layout_file::LayoutFile;
use super::plot::{Axis, Chart, Scale, Series, Shape};
use super::sweep::{Number, Numbers, numbers};
use super::{Subject, given, refused, small, table};
use crate::args::plan::{
    BitsAndHashes, Churn, Interpolation, LayoutOut, Multiple, Single, Summarized, Table,
};
use crate::report::Report;

/// The part of a summary that depends on its kind.
trait Kind: Args {
    /// The name in the command and in titles.
    const NAME: &'static str;

    /// The flags that take one number.
    fn numbers(&mut self) -> Numbers<'_>;

    /// Sets the flags, and returns the levels and slots of the file.
    fn take(&mut self, file: LayoutFile) -> Result<(Vec<u64>, u64)>;

    fn layout(&self) -> Result<SummaryLayout>;

    /// Adds the flags to a report, as used.
    fn with_flags(&self, report: Report, plan: &SummaryPlan) -> Result<Report>;

    /// Smaller and larger summaries of the kind, in order, without impossible ones.
    fn sizes(&self) -> Result<Vec<SummaryLayout>>;
}

impl<K: Kind> Subject for Summarized<K> {
    type Planned = SummaryPlan;

    fn numbers(&mut self) -> Numbers<'_> {
        let mut numbers = self.kind.numbers();
        numbers.push(("items", Number::Whole(&mut self.items.number)));
        numbers.extend(self.table.numbers());
        numbers
    }

    fn load(&mut self) -> Result<()> {
        if let Some(file) = LayoutFile::read(&self.files)? {
            let (levels, slots) = self.kind.take(file)?;
            self.table = Table::listed(levels, slots);
        }
        Ok(())
    }

    fn plan(&self, last: Option<&SummaryPlan>) -> Result<SummaryPlan> {
        let layout = self.kind.layout()?;
        plan(self.table.plan(&self.items, last.map(SummaryPlan::table))?, &layout)
    }

    fn report(&self, plan: &SummaryPlan) -> Result<Report> {
        let report = Report::new("level").whole("items", "inserted", plan.table().items());
        let report = self.kind.with_flags(table::with_layout(report, plan.table().layout()), plan)?;
        Ok(with_odds(report, plan))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.files.out), self.plot.as_deref())
    }

    fn layout_file(&self, plan: &SummaryPlan) -> Result<LayoutFile> {
        LayoutFile::of_summary(plan.table().layout(), plan.layout())
    }

    fn charts(&self, plan: &SummaryPlan) -> Result<Vec<Chart>> {
        Ok(vec![against_bytes(&self.kind, plan)?])
    }
}

/// Adds the odds of a summary of any kind.
pub(super) fn with_odds(report: Report, plan: &SummaryPlan) -> Report {
    let table = plan.table();
    // A key fails if another one is deeper.
    let can_fail = |level| level + 1 < table.layout().level_count() && is_reachable(plan, level + 1);
    let by_level = plan.failure_by_level().iter().enumerate();
    let by_level: Vec<_> = by_level.map(|(level, &failure)| (failure, can_fail(level))).collect();
    let report = report
        .odds("false_positive", "of absent keys", plan.false_positive(), plan.ln_false_positive())
        .odds("failure", "that any key fails, at most (the paper's bound)", plan.failure(), plan.ln_failure())
        .odds(
            "failure_exact",
            "the same, without what the paper neglects",
            plan.failure_exact(),
            plan.ln_failure_exact(),
        )
        .rare_list("failure_by_level", "keys that fail", &by_level)
        .odds(
            "crisis_probability",
            "that any item finds no room",
            plan.crisis_probability(),
            table.ln_crisis_probability(),
        )
        .rare("extra_reads_per_hit", "reads beyond the first", plan.extra_reads_per_hit(), by_level[0].1)
        .rare("reads_per_miss", "reads", plan.reads_per_miss(), true)
        .whole("bytes", "of the summary", plan.byte_len())
        .whole("occupancy_bytes", "of a bit for each bucket", plan.occupancy_bytes());
    table::with_accuracy(report, table)
}

/// Adds the bits and hashes of filters, and their list.
pub(super) fn with_filters(report: Report, layout: &MultipleFiltersLayout) -> Report {
    let (bits, hashes): (Vec<u64>, Vec<u64>) =
        layout.filters().iter().map(|&(bits, hashes)| (bits, u64::from(hashes))).unzip();
    let report = report.wholes("filter_bits", "bits", &bits).wholes("filter_hashes", "per item", &hashes);
    match layout.list() {
        None => report,
        Some(list) => report
            .whole("list_levels", "the deepest, without filters", list.levels() as u64)
            .whole("list_items", "that the list has room for", list.items())
            .whole("list_fingerprint_bits", "a string of the list", list.fingerprint_bits()),
    }
}

/// Adds the state of counters after churn.
fn with_churned(report: Report, turnovers: f64, bytes: u64, churned: &Churned) -> Report {
    report
        .real("turnovers", "replacements of each item", turnovers)
        .whole("counter_bytes", "with counters", bytes)
        .reals("churned_items", "items, after the turnovers", &churned.items)
        .reals("churned_saturated", "counters that are saturated", &churned.saturated)
        .real("churned_wrong_first", "of present keys, named at a wrong level first", churned.wrong_first)
}

impl Churn {
    /// The bits of a counter for each level or filter.
    fn counter_bits(&self, count: usize) -> Result<Vec<u32>> {
        const USUAL_BITS: u32 = 4;
        match self.counter_bits.len() {
            0 => Ok(vec![USUAL_BITS; count]),
            given if given == count => Ok(self.counter_bits.clone()),
            _ => bail!("--counter-bits: expected {count} numbers, one for each filter or level"),
        }
    }
}

fn plan(table: MultilevelPlan, summary: &SummaryLayout) -> Result<SummaryPlan> {
    SummaryPlan::with_table(table, summary).map_err(refused("--filters"))
}

fn is_reachable(plan: &SummaryPlan, level: usize) -> bool {
    table::is_reachable(plan.table().layout(), plan.table().items(), level)
}

/// The odds of smaller and larger summaries.
fn against_bytes<K: Kind>(kind: &K, here: &SummaryPlan) -> Result<Chart> {
    let (mut failures, mut false_positives) = (Vec::new(), Vec::new());
    for layout in kind.sizes()? {
        let plan = plan(here.table().clone(), &layout)?;
        failures.push((plan.byte_len() as f64, plan.ln_failure()));
        false_positives.push((plan.byte_len() as f64, plan.ln_false_positive()));
    }
    let bytes = here.byte_len() as f64;
    let dots = [here.ln_failure(), here.ln_false_positive()].map(|ln_odds| (bytes, ln_odds));
    Ok(Chart {
        title: format!("Summary of {} items: {}", here.table().items(), K::NAME),
        x: Axis { label: "bytes of the summary", scale: Scale::Linear },
        y: Axis { label: "probability", scale: Scale::Log },
        series: vec![
            Series::new("that any key fails, at most", Shape::Line, failures),
            Series::new("that an absent key is found", Shape::Line, false_positives),
            Series::new("this plan", Shape::Dots, dots.to_vec()),
        ],
    })
}

/// Factors from a half to twice, for the sizes of a chart.
fn factors() -> impl Iterator<Item = f64> {
    const STEPS: i32 = 16;
    (-STEPS..=STEPS).map(|at| (f64::from(at) / f64::from(STEPS)).exp2())
}

impl Kind for Interpolation {
    const NAME: &'static str = "interpolation";

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![Whole { fingerprint_bits: self.fingerprint_bits }]
    }

    fn take(&mut self, file: LayoutFile) -> Result<(Vec<u64>, u64)> {
        let LayoutFile::SummaryInterpolation { levels, slots, fingerprint_bits } = file else {
            return file.refuse("summary interpolation");
        };
        self.fingerprint_bits = Some(fingerprint_bits);
        Ok((levels, slots))
    }

    fn layout(&self) -> Result<SummaryLayout> {
        let bits = small(given(self.fingerprint_bits, "fingerprint-bits")?, "fingerprint-bits")?;
        Ok(InterpolationLayout::new(bits).map_err(refused("--fingerprint-bits"))?.into())
    }

    fn with_flags(&self, report: Report, _: &SummaryPlan) -> Result<Report> {
        let bits = given(self.fingerprint_bits, "fingerprint-bits")?;
        Ok(report.whole("fingerprint_bits", "a string", bits))
    }

    fn sizes(&self) -> Result<Vec<SummaryLayout>> {
        /// Each bit halves the odds.
        const AROUND: u32 = 16;
        let bits = small(given(self.fingerprint_bits, "fingerprint-bits")?, "fingerprint-bits")?;
        let around = bits.saturating_sub(AROUND)..=bits.saturating_add(AROUND);
        Ok(around.filter_map(|bits| InterpolationLayout::new(bits).ok()).map(Into::into).collect())
    }
}

impl Kind for Single {
    const NAME: &'static str = "single filter";

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![Whole { cells: self.cells, hashes: self.hashes }]
    }

    fn take(&mut self, file: LayoutFile) -> Result<(Vec<u64>, u64)> {
        let LayoutFile::SummarySingle { levels, slots, cells, hashes } = file else {
            return file.refuse("summary single");
        };
        (self.cells, self.hashes) = (Some(cells), Some(hashes));
        Ok((levels, slots))
    }

    fn layout(&self) -> Result<SummaryLayout> {
        Ok(self.filter()?.into())
    }

    fn with_flags(&self, report: Report, plan: &SummaryPlan) -> Result<Report> {
        let (layout, table) = (self.filter()?, plan.table());
        let cells = layout.cells();
        let report = report
            .whole("cells", "in all", cells)
            .whole("hashes", "per item", layout.hashes())
            .whole("hashes_for_failures", "would make them rarest", hashes_for_failures(cells, table)?)
            .whole(
                "hashes_for_false_positives",
                "would make them rarest",
                hashes_for_false_positives(cells, table.items())?,
            );
        let Some(turnovers) = self.churn.turnovers else { return Ok(report) };
        let bits = self.churn.counter_bits(table.layout().level_count())?;
        let counters = CountingCellsLayout::new(layout, bits).map_err(refused("--counter-bits"))?;
        let churned =
            churned_single(table, &counters, turnovers).map_err(|error| anyhow!("--turnovers: {error}"))?;
        Ok(with_churned(report, turnovers, counters.byte_len(), &churned))
    }

    fn sizes(&self) -> Result<Vec<SummaryLayout>> {
        let layout = self.filter()?;
        let cells = factors().map(|factor| (layout.cells() as f64 * factor) as u64);
        let layouts = cells.filter_map(|cells| SingleFilterLayout::new(cells, layout.hashes()).ok());
        Ok(layouts.map(Into::into).collect())
    }
}

impl Single {
    fn filter(&self) -> Result<SingleFilterLayout> {
        let (cells, hashes) = (given(self.cells, "cells")?, given(self.hashes, "hashes")?);
        SingleFilterLayout::new(cells, small(hashes, "hashes")?).map_err(refused("--cells and --hashes"))
    }
}

impl Kind for Multiple {
    const NAME: &'static str = "multiple filters";

    fn numbers(&mut self) -> Numbers<'_> {
        vec![]
    }

    fn take(&mut self, file: LayoutFile) -> Result<(Vec<u64>, u64)> {
        let LayoutFile::SummaryMultiple { levels, slots, filters, list } = file else {
            return file.refuse("summary multiple");
        };
        (self.filters, self.list) = (filters, list);
        Ok((levels, slots))
    }

    fn layout(&self) -> Result<SummaryLayout> {
        Ok(self.filters_times(1.0)?.into())
    }

    fn with_flags(&self, report: Report, plan: &SummaryPlan) -> Result<Report> {
        let filters = self.filters_times(1.0)?;
        let report = with_filters(report, &filters);
        let Some(turnovers) = self.churn.turnovers else { return Ok(report) };
        let usual = CountingFiltersLayout::usual(filters.clone());
        let bits = self.churn.counter_bits(usual.counters().len())?;
        // Small filters count an item once, as usual.
        let counting = usual.counters().iter().map(|&(_, counting)| counting);
        let counters: Vec<_> = bits.into_iter().zip(counting).collect();
        let counters = CountingFiltersLayout::new(filters, counters).map_err(refused("--counter-bits"))?;
        let churned =
            churned(plan.table(), &counters, turnovers).map_err(|error| anyhow!("--turnovers: {error}"))?;
        Ok(with_churned(report, turnovers, counters.byte_len(), &churned))
    }

    fn sizes(&self) -> Result<Vec<SummaryLayout>> {
        Ok(factors().filter_map(|factor| self.filters_times(factor).ok()).map(Into::into).collect())
    }
}

impl Multiple {
    /// The filters with `factor` times the bits.
    fn filters_times(&self, factor: f64) -> Result<MultipleFiltersLayout> {
        let filter = |&BitsAndHashes { bits, hashes }| {
            let bits = if factor == 1.0 { bits } else { (bits as f64 * factor) as u64 };
            Ok((bits, small(hashes, "filters")?))
        };
        if self.filters.is_empty() {
            bail!("--filters is missing: give the bits and the hashes of a filter for each level");
        }
        let filters = self.filters.iter().map(filter).collect::<Result<Vec<_>>>()?;
        let layout = MultipleFiltersLayout::new(filters).map_err(refused("--filters"))?;
        match self.list {
            Some(list) => layout.with_list(list).map_err(refused("--list")),
            None => Ok(layout),
        }
    }
}
