//! Sections VII to IX: summaries, and Table III.

use oneread::hash::probes::SchemeName;
use oneread::layout::{
    BloomLayout, InterpolationLayout, LayoutError, MultilevelLayout, MultipleFiltersLayout,
    SingleFilterLayout, SummaryLayout,
};
use oneread::plan::bloom;
use oneread::plan::summary::SummaryPlan;
use oneread_study::hash::Ideal;
use oneread_study::table::{Digested, SongTable, StudyTable};

use super::filled::Tilt;
use super::{ITEMS_10K, conditioned, direct, new, real, table_10k, table_100k};
use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::papers::random::Random;
use crate::{Experiment, Finding, Printed};

/// A number of items, and the paper's table for them.
#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    items: u64,
    table: fn() -> Result<MultilevelLayout, LayoutError>,
    /// Tables for measuring the rare failures of a single filter, quick and full. One table's
    /// failure probability has a standard deviation of a third of the mean (a tenth for 100k
    /// items), so quick standard errors are below 2%.
    conditioned: (u64, u64),
    /// Real tables for counting false positives and wrong levels, quick and full.
    tables: (u64, u64),
}

const SMALL: Setting = Setting {
    name: "10k",
    items: ITEMS_10K,
    table: table_10k,
    conditioned: (400, 20_000),
    tables: (20, 1000),
};
const LARGE: Setting =
    Setting { name: "100k", items: 100_000, table: table_100k, conditioned: (40, 2000), tables: (2, 50) };

/// Absent keys looked up in a table, per item.
const ABSENT: u64 = 4;

/// Bits and hash functions of section IX's multiple filters for 10k items.
pub(super) const FILTERS_10K: [(u64, u32); 5] =
    [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
/// Those for 100k items as probably meant: ten times those for 10k, except the smallest.
const FILTERS_100K: [(u64, u32); 6] =
    [(1_060_000, 7), (875_000, 49), (55_000, 49), (1_000, 49), (1_000, 49), (1_000, 49)];
/// As printed. There are six levels but only five sizes, so the last is used twice.
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
    let mut experiments = vec![
        INTERPOLATION_100K.equal_strings("2.17e-9"),
        INTERPOLATION_10K.equal_strings("1.39e-9"),
        song_bytes(),
        song_false_positive(),
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
    ];
    experiments.extend(
        [INTERPOLATION_10K, SINGLE_10K, MULTIPLE_10K, SINGLE_100K, MULTIPLE_100K].map(Row::wrong_levels),
    );
    experiments.extend([
        MULTIPLE_10K.rare_failure("4.97e-12"),
        MULTIPLE_100K.rare_failure("1.38e-11"),
        variant_of_section_x(),
    ]);
    experiments
}

impl Row {
    fn id(self, column: &str) -> String {
        format!("table-iii/{}-{}-{column}", self.setting.name, self.name)
    }

    fn claim(self, column: &str) -> String {
        format!("The {} summary for {} items: {column} (table III)", self.name, self.setting.name)
    }

    fn plan(self) -> Result<SummaryPlan, Error> {
        Ok(SummaryPlan::new(&(self.setting.table)()?, self.setting.items, &(self.layout)()?)?)
    }

    fn bytes(self, printed: &str) -> Experiment {
        let claim = self.claim("bytes, with the bit table");
        new(self.id("bytes"), claim, Printed::number(printed), move |context| {
            let plan = self.plan()?;
            let calculated = (plan.byte_len() + plan.occupancy_bytes()) as f64;
            Ok(Finding::calculated(calculated).and_measured(real::bytes(context, &plan)?))
        })
    }

    /// Also counted, where they are frequent enough.
    fn false_positive(self, printed: &str) -> Experiment {
        let claim = self.claim("the false positive probability");
        new(self.id("false-positive"), claim, Printed::number(printed), move |context| {
            let plan = self.plan()?;
            let finding = Finding::calculated(plan.false_positive());
            if matches!(plan.layout(), SummaryLayout::Interpolation(_)) {
                return Ok(finding);
            }
            let (quick, full) = self.setting.tables;
            let keys = ABSENT * self.setting.items;
            let measured = real::false_positives(context, &plan, context.effort(quick, full), keys)?;
            Ok(finding.and_measured(measured))
        })
    }

    fn wrong_levels(self) -> Experiment {
        let Setting { name, tables: (quick, full), .. } = self.setting;
        let claim = format!(
            "The {} summary for {name} items identifies the sub-tables of all items with high probability (VII, VIII): wrong ones in \
             real tables",
            self.name
        );
        new(self.id("wrong-levels"), claim, Printed::statement("none", 0.0..=0.0), move |context| {
            let tables = context.effort(quick, full);
            let measured = real::wrong_levels(context, &self.plan()?, tables)?;
            Ok(Finding::measured(measured).note(format!("{tables} tables, each item looked up")))
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

    /// The paper's bound on failures, and on crises.
    fn find_failure(self, context: &Context) -> Result<Finding, Error> {
        let plan = self.plan()?;
        let finding = Finding::calculated(failure_or_crisis(&plan));
        Ok(match (self.layout)()? {
            SummaryLayout::Single(_) => {
                let (measured, note) = self.measure(context, &plan)?;
                finding.and_measured(measured).note(note)
            }
            SummaryLayout::Multiple(_) => {
                let exact = number(plan.failure_exact() + plan.crisis_probability());
                finding.note(format!(
                    "by the formula of partitioned filters; {exact} as they are, unpartitioned"
                ))
            }
            _ => finding,
        })
    }

    /// Failures and crises of real summaries, by conditioning.
    fn measure(self, context: &Context, plan: &SummaryPlan) -> Result<(Measured, String), Error> {
        let (quick, full) = self.setting.conditioned;
        let (tilt, times) = match plan.layout() {
            // Half of the failures come from tables with 90 items below the second level instead of
            // 64, so an error of 3% takes more tables.
            SummaryLayout::Multiple(_) if self.setting.items == ITEMS_10K => (Tilt(0.35), 8),
            // The probability of 49 set bits varies three times as much as that of 15 cells.
            SummaryLayout::Multiple(_) => (Tilt::NONE, 3),
            _ => (Tilt::NONE, 1),
        };
        let tables = context.effort(times * quick, full);
        let measured = conditioned::failure_or_crisis(context, tables, plan, tilt)?;
        let percent = 100.0 * measured.standard_error / measured.value;
        Ok((measured, format!("measured by conditioning on {tables} tables, to {percent:.1}%")))
    }

    /// The failures of unpartitioned filters, which the paper bounds by the formula for partitioned
    /// ones.
    fn rare_failure(self, printed: &'static str) -> Experiment {
        let name = self.setting.name;
        new(
            format!("section-x/rare-{name}-{}", self.name),
            format!(
                "The calculator gives an upper bound (X), {printed} for multiple filters and {name} items: the probability of failure or \
                 crisis, unpartitioned"
            ),
            Printed::at_most(printed),
            move |context| {
                let plan = self.plan()?;
                let (measured, note) = self.measure(context, &plan)?;
                let exact = plan.failure_exact() + plan.crisis_probability();
                Ok(Finding::calculated(exact).and_measured(measured).note(note))
            },
        )
    }
}

/// The bound on the probability that a summary fails or its table has a crisis.
pub(super) fn failure_or_crisis(plan: &SummaryPlan) -> f64 {
    plan.failure() + plan.crisis_probability()
}

/// The table of Song et al.: buckets, hash functions, and bits per counter.
const SONG: (u64, u32, u64) = (131_072, 10, 3);

fn song_bytes() -> Experiment {
    let (buckets, _, bits) = SONG;
    new(
        "table-iii/10k-song-bytes",
        "The summary of Song et al. for 10k items: bytes of a 3-bit counter for each of 131072 buckets (table III)",
        Printed::number("49152"),
        move |_| Ok(Finding::calculated((buckets * bits / 8) as f64)),
    )
}

fn song_false_positive() -> Experiment {
    let (buckets, hashes, _) = SONG;
    new(
        "table-iii/10k-song-false-positive",
        "The summary of Song et al. for 10k items: the false positive probability (table III)",
        Printed::number(".002"),
        move |context| {
            let counters = BloomLayout::new(buckets, hashes)?.with_scheme(SchemeName::Independent)?;
            let share = |seed| {
                let functions = Random::with_seed(seed);
                let mut number = 0;
                let draw = |_| {
                    number += 1;
                    Digested(Ideal::with_seed(functions.item(number).word()))
                };
                let mut table = SongTable::new(buckets, hashes, draw)?;
                for key in 0..ITEMS_10K {
                    table.insert(key, ()).map_err(|_| "items have numbers of 32 bits")?;
                }
                let before = table.probes();
                let absent = ITEMS_10K..(1 + ABSENT) * ITEMS_10K;
                if absent.clone().any(|key| table.get(&key).is_some()) {
                    return Err("a key was found that is not there".into());
                }
                let read = table.probes() - before;
                Ok((read as f64 / (absent.end - absent.start) as f64, table.fullest_bucket()))
            };
            let shares: Result<Vec<(f64, usize)>, Error> =
                context.each(context.effort(6, 200), share).into_iter().collect();
            let (shares, fullest): (Vec<f64>, Vec<usize>) = shares?.into_iter().unzip();
            let crises = fullest.iter().filter(|&&items| items > 1).count();
            let note = format!(
                "{crises} of {} tables had a bucket with two items: the heuristics against it are only cited",
                fullest.len()
            );
            Ok(Finding::calculated(bloom::false_positive_probability(counters, ITEMS_10K))
                .and_measured(Measured::mean(&shares))
                .note(note))
        },
    )
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
            // One bit for each of six buckets per item, and the filters' bits.
            let bits = 6.0 * LARGE.items as f64 + 1.06e6 + 875e3 + 550e3 + 1e3 + 1e3;
            let finding =
                Finding::calculated(bytes(&FILTERS_100K_PRINTED[..5])? as f64).confirmed_by(bits / 8.0);
            Ok(finding.note(format!("with 55k for 550k, and a sixth filter: {}", bytes(&FILTERS_100K)?)))
        },
    )
}

fn variant_of_section_x() -> Experiment {
    new(
        "section-x/failure",
        "A single filter of 100k cells and 10 hash functions for 10k items: the probability of failure is just over 2.1e-6 (X)",
        Printed::number("2.1e-6"),
        |context| {
            let (cells, hashes) = direct::VARIANT;
            let plan =
                SummaryPlan::new(&table_10k()?, ITEMS_10K, &SingleFilterLayout::new(cells, hashes)?.into())?;
            let (measured, note) = SINGLE_10K.measure(context, &plan)?;
            Ok(Finding::calculated(failure_or_crisis(&plan)).and_measured(measured).note(note))
        },
    )
}
