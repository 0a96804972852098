//! `oneread plan solve filter`.

use anyhow::Result;
use oneread::plan::solve::{self, FilterLayout, FilterTargets, Needs, PlannedFilter, Solution};

use super::super::report::Report;
use super::super::sweep::{Numbers, numbers};
use super::super::{Subject, given};
use super::{patiently, with_others};
use crate::args::solve::SolveFilter;

impl Subject for SolveFilter {
    type Planned = Solution<PlannedFilter>;

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![Whole { items: self.items.number }, Real { rate: self.rate }, Whole { bytes: self.bytes }]
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        let needs = Needs {
            delete: self.delete,
            growth: self.growth,
            threads: self.threads,
            one_line: self.one_line,
            one_page: self.one_page,
        };
        let items = self.items.given()?;
        let rate = match (self.rate, self.bytes) {
            (None, Some(bytes)) => patiently("the lowest rate", || solve::lowest_rate(items, needs, bytes))?,
            _ => given(self.rate, "rate")?,
        };
        let targets = FilterTargets { items, rate, needs, bytes: self.bytes };
        patiently("the smallest filter", || solve::filter(&targets))
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
        Ok(with_others(report, solution, row))
    }
}

/// Adds the parameters of the structure.
fn with_layout(report: Report, layout: FilterLayout) -> Report {
    match layout {
        FilterLayout::Bloom(layout) => report.whole("hashes", "a key", layout.hashes()),
        FilterLayout::Blocked(layout) => report.whole("blocks", "of 512 bits", layout.blocks()),
        FilterLayout::Counting(layout) => report
            .whole("counters", "in all", layout.counters())
            .whole("counter_bits", "a counter", layout.counter_bits())
            .whole("hashes", "a key", layout.hashes()),
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
            "a key",
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
