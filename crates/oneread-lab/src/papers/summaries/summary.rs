//! Sections VII to X: summaries, and Table III.
//!
//! The single filter's failures, as rare as 10^−9, are measured by conditional simulation: a table is filled at random, and
//! given how many items its levels hold, the probability of a failure is a formula. Its mean over tables is the
//! probability itself. The multiple filters' failures come from tables that are too rare to be met so.

use oneread::layout::{
    InterpolationLayout, LayoutError, MultilevelLayout, MultipleFiltersLayout, SingleFilterLayout,
    SummaryLayout,
};
use oneread::plan::bloom;
use oneread::plan::summary::SummaryPlan;

use super::simulation::items_by_level;
use super::{new, table_10k, table_100k};
use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// A number of items, and the paper's table for them.
#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    items: u32,
    table: fn() -> Result<MultilevelLayout, LayoutError>,
    /// The trials of a quick and a full measurement.
    trials: (u64, u64),
}

const SMALL: Setting = Setting { name: "10k", items: 10_000, table: table_10k, trials: (2000, 20_000) };
const LARGE: Setting = Setting { name: "100k", items: 100_000, table: table_100k, trials: (200, 2000) };

/// Bits and hash functions of section IX's multiple filters for 10k items.
pub(super) const FILTERS_10K: [(u64, u32); 5] =
    [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
/// Those for 100k items, as they were probably meant: ten times those for 10k, but for the smallest.
const FILTERS_100K: [(u64, u32); 6] =
    [(1_060_000, 7), (875_000, 49), (55_000, 49), (1_000, 49), (1_000, 49), (1_000, 49)];
/// As printed; but there are six levels and only five sizes, so the last is taken twice.
const FILTERS_100K_PRINTED: [(u64, u32); 6] =
    [(1_060_000, 7), (875_000, 49), (550_000, 49), (1_000, 49), (1_000, 49), (1_000, 49)];

/// A summary of Table III.
#[derive(Clone, Copy)]
struct Row {
    setting: Setting,
    name: &'static str,
    layout: fn() -> Result<SummaryLayout, LayoutError>,
}

const INTERPOLATION_10K: Row =
    Row { setting: SMALL, name: "interpolation", layout: || Ok(InterpolationLayout::new(55)?.into()) };
const SINGLE_10K: Row = Row {
    setting: SMALL,
    name: "single-filter",
    layout: || Ok(SingleFilterLayout::new(120_000, 15)?.into()),
};
const MULTIPLE_10K: Row = Row {
    setting: SMALL,
    name: "multiple-filters",
    layout: || Ok(MultipleFiltersLayout::new(FILTERS_10K)?.into()),
};
const INTERPOLATION_100K: Row =
    Row { setting: LARGE, name: "interpolation", layout: || Ok(InterpolationLayout::new(61)?.into()) };
const SINGLE_100K: Row = Row {
    setting: LARGE,
    name: "single-filter",
    layout: || Ok(SingleFilterLayout::new(1_200_000, 15)?.into()),
};
const MULTIPLE_100K: Row = Row {
    setting: LARGE,
    name: "multiple-filters",
    layout: || Ok(MultipleFiltersLayout::new(FILTERS_100K)?.into()),
};

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        INTERPOLATION_100K.equal_strings("2.17e-9"),
        INTERPOLATION_10K.equal_strings("1.39e-9"),
        INTERPOLATION_10K.bytes("80000"),
        INTERPOLATION_10K.false_positive("2.78e-13"),
        INTERPOLATION_10K.failure("1.39e-9"),
        SINGLE_10K.bytes("47500"),
        SINGLE_10K.false_positive(".006"),
        SINGLE_10K.failure("7.64e-10"),
        MULTIPLE_10K.bytes("32450"),
        MULTIPLE_10K.false_positive(".006"),
        MULTIPLE_10K.failure("4.97e-12"),
        INTERPOLATION_100K.bytes("875000"),
        INTERPOLATION_100K.false_positive("4.34e-14"),
        INTERPOLATION_100K.failure("2.17e-9"),
        SINGLE_100K.bytes("525000"),
        SINGLE_100K.false_positive(".006"),
        SINGLE_100K.failure("7.27e-9"),
        bytes_of_printed_filters(),
        MULTIPLE_100K.false_positive(".006"),
        failure_of_likely_filters(),
        section_x(),
    ]
}

impl Row {
    fn id(self, column: &str) -> String {
        format!("table-iii/{}-{}-{column}", self.setting.name, self.name)
    }

    fn claim(self, column: &str) -> String {
        format!("The {} summary for {} items: {column} (table III)", self.name, self.setting.name)
    }

    fn plan(self) -> Result<SummaryPlan, Error> {
        Ok(SummaryPlan::new(&(self.setting.table)()?, self.setting.items.into(), &(self.layout)()?)?)
    }

    fn bytes(self, printed: &str) -> Experiment {
        let claim = self.claim("bytes, with the bit table");
        new(self.id("bytes"), claim, Printed::number(printed), move |_| {
            let plan = self.plan()?;
            Ok(Finding::calculated((plan.byte_len() + plan.occupancy_bytes()) as f64))
        })
    }

    fn false_positive(self, printed: &str) -> Experiment {
        let claim = self.claim("the false positive probability");
        new(self.id("false-positive"), claim, Printed::number(printed), move |_| {
            Ok(Finding::calculated(self.plan()?.false_positive()))
        })
    }

    fn equal_strings(self, printed: &str) -> Experiment {
        let Setting { name, items, .. } = self.setting;
        let claim =
            format!("Two of {items} random strings are equal with probability less than {printed} (VII)");
        new(format!("interpolation/{name}-failure"), claim, Printed::number(printed), move |_| {
            Ok(Finding::calculated(self.plan()?.failure_exact()))
        })
    }

    fn failure(self, printed: &str) -> Experiment {
        let claim = self.claim("the probability of failure or crisis");
        new(self.id("failure"), claim, Printed::number(printed), move |context| self.find_failure(context))
    }

    /// The paper's bound on failures, and the crises.
    fn find_failure(self, context: &Context) -> Result<Finding, Error> {
        let plan = self.plan()?;
        let finding = Finding::calculated(failure_or_crisis(&plan));
        Ok(match (self.layout)()? {
            SummaryLayout::Single(filter) => finding.and_measured(self.measure(context, filter)?),
            SummaryLayout::Multiple(_) => {
                let exact = number(plan.failure_exact() + plan.crisis_probability());
                finding.note(format!(
                    "by the formula of partitioned filters; {exact} as they are, unpartitioned"
                ))
            }
            _ => finding,
        })
    }

    /// The failures of a single filter, given the levels of simulated tables. Crises are too rare to be met, and to matter.
    fn measure(self, context: &Context, filter: SingleFilterLayout) -> Result<Measured, Error> {
        let Setting { items, table, trials: (quick, full), .. } = self.setting;
        let layout = table()?;
        Ok(context.trials(context.effort(quick, full), |seed| {
            let mut below = u64::from(items);
            let of_level = |items: u64| {
                below -= items;
                items as f64 * bloom::partitioned(filter.cells(), filter.hashes(), below)
            };
            items_by_level(&layout, items, seed).into_iter().map(of_level).sum()
        }))
    }
}

fn failure_or_crisis(plan: &SummaryPlan) -> f64 {
    plan.failure() + plan.crisis_probability()
}

fn failure_of_likely_filters() -> Experiment {
    new(
        MULTIPLE_100K.id("failure"),
        MULTIPLE_100K
            .claim("the probability of failure or crisis, with 55k for 550k bits and a sixth filter"),
        Printed::number("1.38e-11"),
        |context| {
            let finding = MULTIPLE_100K.find_failure(context)?;
            let layout = || Ok(MultipleFiltersLayout::new(FILTERS_100K_PRINTED)?.into());
            let as_printed = failure_or_crisis(&Row { layout, ..MULTIPLE_100K }.plan()?);
            let note = format!("{}; {} with 550k bits", finding.note, number(as_printed));
            Ok(finding.note(note))
        },
    )
}

fn bytes_of_printed_filters() -> Experiment {
    new(
        MULTIPLE_100K.id("bytes"),
        MULTIPLE_100K.claim("bytes, with the bit table, for filters of 1.06m, 875k, 550k, 1k and 1k bits"),
        Printed::number("379000"),
        |_| {
            let table = table_100k()?;
            let bytes = |filters: &[(u64, u32)]| -> Result<u64, Error> {
                Ok(MultipleFiltersLayout::new(filters)?.byte_len() + table.occupancy_bytes())
            };
            // A bit for each of six buckets an item, and the filters' bits.
            let bits = 6.0 * f64::from(LARGE.items) + 1.06e6 + 875e3 + 550e3 + 1e3 + 1e3;
            let finding =
                Finding::calculated(bytes(&FILTERS_100K_PRINTED[..5])? as f64).confirmed_by(bits / 8.0);
            Ok(finding.note(format!("with 55k for 550k, and a sixth filter: {}", bytes(&FILTERS_100K)?)))
        },
    )
}

fn section_x() -> Experiment {
    new(
        "section-x/failure",
        "A single filter of 100k cells and 10 hash functions for 10k items: the probability of failure is just over 2.1e-6 (X)",
        Printed::number("2.1e-6"),
        |context| {
            let layout = || Ok(SingleFilterLayout::new(100_000, 10)?.into());
            Row { layout, ..SINGLE_10K }.find_failure(context)
        },
    )
}
