//! `oneread plan solve filter`.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use oneread::filter::PlacedFilter;
use oneread::hash::Portable;
use oneread::plan::placed;
use oneread::plan::solve::{self, FilterLayout, FilterTargets, Needs, PlannedFilter, Solution, Unsolved};

use super::super::plot::{Axis, Chart, Scale, Series, Shape};
use super::super::sweep::{Numbers, numbers};
use super::super::{Subject, given};
use super::with_others;
use crate::args::plan::LayoutOut;
use crate::args::solve::SolveFilter;
use crate::report::Report;

impl Subject for SolveFilter {
    type Planned = Solution<PlannedFilter>;

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![Whole { items: self.items.number }, Real { rate: self.rate }, Whole { bytes: self.bytes }]
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        let (items, needs) = (self.items.given()?, self.needs());
        let rate = match (self.rate, self.bytes) {
            (None, Some(bytes)) => match solve::lowest_rate(items, needs, bytes) {
                Err(Unsolved::Infeasible(relax)) if relax.is_empty() => {
                    // A rate that any filter reaches: only the needs can be too many.
                    return Err(without_several(&FilterTargets {
                        items,
                        rate: 0.5,
                        needs,
                        bytes: self.bytes,
                    }));
                }
                rate => rate?,
            },
            _ => given(self.rate, "rate")?,
        };
        let targets = FilterTargets { items, rate, needs, bytes: self.bytes };
        match solve::filter(&targets) {
            Err(Unsolved::Infeasible(relax)) if relax.is_empty() => Err(without_several(&targets)),
            solved => Ok(solved?),
        }
    }

    fn report(&self, solution: &Self::Planned) -> Result<Report> {
        let best = &solution.best;
        let report = Report::new("sub-table").whole("items", "inserted", self.items.given()?).text(
            "structure",
            "the smallest that can do it",
            best.structure,
        );
        let report = with_layout(report, best.layout)
            .real("false_positive", "of absent keys", best.false_positive)
            .whole("bits", "of the filter", best.bits)
            .whole("bytes", "of the filter", best.byte_len())
            .real("bits_per_key", "bits", best.bits_per_key())
            .real("bits_over_optimum", "a key beyond log2(1/false_positive)", best.bits_over_optimum())
            .real("lines_per_hit", "cache lines", best.lines_per_hit)
            .real("lines_per_miss", "cache lines", best.lines_per_miss);
        Ok(with_others(self.with_static(report, solution)?, solution, row))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (None, self.plot.as_deref())
    }

    fn charts(&self, solution: &Self::Planned) -> Result<Vec<Chart>> {
        Ok(vec![self.against_rate(&solution.best)])
    }
}

impl SolveFilter {
    /// Adds the filter to build once of all keys, if one is asked for and reaches the rate.
    fn with_static(&self, report: Report, solution: &Solution<PlannedFilter>) -> Result<Report> {
        if !self.is_static {
            return Ok(report);
        }
        let (items, rate) = (self.items.given()?, self.rate.unwrap_or(solution.best.false_positive));
        let cells = placed::cells(items);
        let odds = |bits: &u32| placed::false_positive_probability(items, cells, *bits);
        let fits = |bits: &u32| {
            self.bytes.is_none_or(|bytes| cells.saturating_mul(u64::from(*bits)).div_ceil(8) <= bytes)
        };
        let Some(bits) =
            (1..=PlacedFilter::<Portable>::MAX_BITS).find(|bits| odds(bits) <= rate).filter(fits)
        else {
            return Ok(report);
        };
        Ok(report
            .text("static_structure", "built once of all keys", "PlacedFilter")
            .whole("static_fingerprint_bits", "per key", bits)
            .real("static_bits_per_key", "bits", cells as f64 * f64::from(bits) / items as f64)
            .real("static_false_positive", "of absent keys", odds(&bits)))
    }

    /// The bits per key of all structures that meet the needs, for lower and for higher rates.
    fn against_rate(&self, best: &PlannedFilter) -> Chart {
        let mut series: Vec<Series> = curves(best.items, self.needs())
            .into_iter()
            .map(|(name, points)| Series::new(name, Shape::Line, points))
            .collect();
        series.push(Series::new("this solution", Shape::Dots, vec![point(best)]));
        Chart {
            title: format!("Filters of {} keys", best.items),
            x: Axis { label: "false-positive rate, in powers of ten below 1", scale: Scale::Linear },
            y: Axis { label: "bits per key", scale: Scale::Linear },
            series,
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            delete: self.delete,
            growth: self.growth,
            threads: self.threads,
            one_line: self.one_line,
            one_page: self.one_page,
        }
    }
}

fn point(planned: &PlannedFilter) -> (f64, f64) {
    (-planned.false_positive.log10(), planned.bits_per_key())
}

/// A line of a chart by its name.
type Curve = (&'static str, Vec<(f64, f64)>);

/// Curves, and the keys and needs they are of.
type Kept = ((u64, Needs), Vec<Curve>);

/// The limit and the structures for `items` keys. A search for each point takes a tenth of a
/// second, so the last curves are kept.
fn curves(items: u64, needs: Needs) -> Vec<Curve> {
    /// From 10^-6 to a half, by equal factors.
    const POINTS: i32 = 12;
    const MAX_KEPT: usize = 32;
    /// Structures that take more would flatten the rest of the chart.
    const MAX_BITS: f64 = 60.0;
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, curves)) = kept().iter().find(|(of, _)| *of == (items, needs)) {
        return curves.clone();
    }
    let mut curves: Vec<Curve> = vec![("the limit, log2(1/rate)", Vec::new())];
    for at in 0..=POINTS {
        let rate = 0.5 * 2e-6_f64.powf(f64::from(at) / f64::from(POINTS));
        curves[0].1.push((-rate.log10(), -rate.log2()));
        let Ok(solution) = solve::filter(&FilterTargets { items, rate, needs, bytes: None }) else {
            continue;
        };
        for planned in [&solution.best].into_iter().chain(&solution.runners_up) {
            match curves.iter_mut().find(|(name, _)| *name == planned.structure) {
                Some((_, points)) => points.push(point(planned)),
                None => curves.push((planned.structure, vec![point(planned)])),
            }
        }
    }
    for (_, points) in &mut curves {
        points.retain(|(_, bits)| *bits <= MAX_BITS);
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let mut kept = kept();
    if kept.len() == MAX_KEPT {
        kept.remove(0);
    }
    kept.push(((items, needs), curves.clone()));
    curves
}

/// The fewest needs that must go, where none alone is enough.
fn without_several(targets: &FilterTargets) -> anyhow::Error {
    let Needs { delete, growth, threads, one_line, one_page } = targets.needs;
    let asked = [
        ("delete", delete),
        ("growth", growth),
        ("threads", threads),
        ("one_line", one_line),
        ("one_page", one_page),
    ];
    // Each set of needs is a number, whose bits are those that stay.
    let mut sets: Vec<u32> = (0..1 << asked.len()).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    let stays = |set: u32, at: usize| asked[at].1 && set >> at & 1 == 1;
    let is_enough = |set: &u32| {
        let needs = Needs {
            delete: stays(*set, 0),
            growth: stays(*set, 1),
            threads: stays(*set, 2),
            one_line: stays(*set, 3),
            one_page: stays(*set, 4),
        };
        solve::filter(&FilterTargets { needs, ..*targets }).is_ok()
    };
    match sets.into_iter().find(is_enough) {
        Some(set) => {
            let gone = asked.iter().enumerate().filter(|(at, (_, asked))| *asked && !stays(set, *at));
            let gone: Vec<_> = gone.map(|(_, (name, _))| *name).collect();
            anyhow!("no layout meets all targets: allow it without {}", gone.join(" and without "))
        }
        None => anyhow!(
            "no layout meets all targets, even without any of the needs: allow a higher rate, or more bytes"
        ),
    }
}

/// Adds the parameters of the structure.
fn with_layout(report: Report, layout: FilterLayout) -> Report {
    match layout {
        FilterLayout::Bloom(layout) => report.whole("hashes", "per key", layout.hashes()),
        FilterLayout::Blocked(layout) => report.whole("blocks", "of 512 bits", layout.blocks()),
        FilterLayout::Counting(layout) => report
            .whole("counters", "in all", layout.counters())
            .whole("counter_bits", "a counter", layout.counter_bits())
            .whole("hashes", "per key", layout.hashes()),
        FilterLayout::DLeft(layout) => {
            let report = report.wholes("buckets", "buckets", layout.buckets());
            match layout.pages() {
                Some(pages) => report.whole("pages", "of 4 KiB, each with these buckets", pages),
                None => report,
            }
        }
        FilterLayout::DLeftCounting(layout) => report
            .whole("subtables", "in all", layout.subtables())
            .whole("buckets_each", "of 128 bits", layout.buckets_each())
            .whole("capacity", "keys per bucket", layout.capacity()),
        FilterLayout::Line(layout) => report.whole("lines", "of 512 bits", layout.lines()).whole(
            "remainder_bits",
            "per key",
            layout.remainder_bits(),
        ),
        FilterLayout::Growing(layout)
        | FilterLayout::GrowingDLeftCounting(layout)
        | FilterLayout::GrowingLine(layout) => {
            report.whole("first_items", "of the first layer", layout.first_items())
        }
        _ => report,
    }
}

fn row(planned: &PlannedFilter) -> Report {
    Report::new("")
        .text("structure", "", planned.structure)
        .real("bits_per_key", "", planned.bits_per_key())
        .real("false_positive", "", planned.false_positive)
        .real("bits_over_optimum", "", planned.bits_over_optimum())
        .real("lines_per_hit", "", planned.lines_per_hit)
        .real("lines_per_miss", "", planned.lines_per_miss)
}
