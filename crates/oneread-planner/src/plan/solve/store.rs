//! `oneread plan solve store`.

use std::path::Path;

use anyhow::Result;
use oneread::plan::solve::Solution;
use oneread_store::plan::{PlannedStore, StoreTargets, solve};

use super::super::Subject;
use super::super::plot::Chart;
use super::super::sweep::{Numbers, numbers};
use super::{around, frontier, with_others};
use crate::args::plan::LayoutOut;
use crate::args::solve::SolveStore;
use crate::report::Report;

impl Subject for SolveStore {
    type Planned = Solution<PlannedStore>;

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![
            Whole { items: self.items.number, value_bytes: self.value_bytes },
            Real { reads_per_miss: self.reads_per_miss },
            Whole { ram_bytes: self.ram_bytes }
        ]
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        Ok(solve(&self.targets()?)?)
    }

    fn report(&self, solution: &Self::Planned) -> Result<Report> {
        let best = &solution.best;
        let report = Report::new("level")
            .whole("items", "stored", best.items)
            .whole("page_bytes", "a page", best.page_bytes)
            .whole("page_records", "a page has room for", best.page_records)
            .real("ratio", "of a level to the one before", best.ratio)
            .wholes("level_pages", "pages", &best.level_pages)
            .whole("guide_bytes", "a guide, in memory", best.plan.guide_bytes())
            .whole("guide_homes", "pages of level 0 that share one", best.guide_homes)
            .real("reads_per_hit", "reads", best.reads_per_hit)
            .real("reads_per_miss", "reads", best.plan.reads_per_miss())
            .real("target_reads_per_miss", "reads, at most", best.target_reads_per_miss)
            .whole("ram_bytes", "of guides and directory", best.ram_bytes)
            .real("ram_bytes_per_key", "bytes", best.ram_bytes as f64 / best.items as f64)
            .whole("disk_bytes", "of the file", best.disk_bytes);
        Ok(with_others(report, solution, row))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (None, self.plot.as_deref())
    }

    fn charts(&self, Solution { best, .. }: &Self::Planned) -> Result<Vec<Chart>> {
        Ok(vec![self.against_ram(best)?])
    }
}

/// The default size of values.
const DEFAULT_VALUE_BYTES: u64 = 100;
const DEFAULT_READS_PER_MISS: f64 = 0.01;

impl SolveStore {
    fn targets(&self) -> Result<StoreTargets> {
        let targets = StoreTargets {
            items: self.items.given()?,
            key_bytes: self.key_bytes,
            value_bytes: self.value_bytes.unwrap_or(DEFAULT_VALUE_BYTES),
            reads_per_miss: self.reads_per_miss.unwrap_or(DEFAULT_READS_PER_MISS),
            ram_bytes: self.ram_bytes,
        };
        match (self.reads_per_miss, self.ram_bytes) {
            (None, Some(_)) => Ok(StoreTargets { reads_per_miss: fewest_reads(&targets), ..targets }),
            _ => Ok(targets),
        }
    }

    fn against_ram(&self, best: &PlannedStore) -> Result<Chart> {
        let targets = StoreTargets { ram_bytes: None, ..self.targets()? };
        let point = |planned: &PlannedStore| (planned.ram_bytes as f64, planned.plan.reads_per_miss().ln());
        let solved = around(targets.reads_per_miss, 3.0, 30)
            .into_iter()
            .filter_map(|reads_per_miss| solve(&StoreTargets { reads_per_miss, ..targets }).ok());
        let points = solved.map(|solved| point(&solved.best)).collect();
        let title = format!("Stores of {} records", targets.items);
        let labels = ("bytes of memory", "reads per miss");
        Ok(frontier(title, labels, vec![("smallest".to_owned(), points)], point(best)))
    }
}

/// The fewest reads per miss that the memory allows, to a thousandth; the maximum if it allows
/// none.
fn fewest_reads(targets: &StoreTargets) -> f64 {
    /// The range that a builder accepts.
    const LEAST: f64 = 1e-8;
    const MOST: f64 = 3.0;
    let fits = |reads_per_miss: f64| solve(&StoreTargets { reads_per_miss, ..*targets }).is_ok();
    if fits(LEAST) {
        return LEAST;
    }
    let (mut misses, mut fitting) = (LEAST, MOST);
    while fitting / misses > 1.001 {
        let middle = (misses * fitting).sqrt();
        if fits(middle) { fitting = middle } else { misses = middle }
    }
    fitting
}

fn row(planned: &PlannedStore) -> Report {
    Report::new("")
        .real("ratio", "", planned.ratio)
        .whole("ram_bytes", "", planned.ram_bytes)
        .real("reads_per_hit", "", planned.reads_per_hit)
        .real("reads_per_miss", "", planned.plan.reads_per_miss())
        .real("without_room", "", planned.without_room)
}
