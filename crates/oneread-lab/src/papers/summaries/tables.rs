//! Section VI: the expected loads of multilevel tables, and crises.

use oneread::layout::{LayoutError, MultilevelLayout};
use oneread::plan::multilevel::{MultilevelPlan, expected_approximate};

use super::simulation::items_by_level;
use super::{new, table_10k, table_100k};
use crate::{Experiment, Finding, Printed};

const ITEMS: u32 = 10_000;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = Vec::new();
    let halving = || MultilevelLayout::for_items(ITEMS.into(), 3.0, 0.5, 5);
    for (name, title, layout, approximate, exact) in [
        (
            "table-i",
            "table I",
            halving as fn() -> Result<MultilevelLayout, LayoutError>,
            ["8504.18", "1423.70", "71.78", "0.34", "-3.00e-5"],
            ["8504.18", "1423.67", "71.80", "0.35", "1.62e-5"],
        ),
        (
            "table-ii",
            "table II",
            table_10k,
            ["8848.07", "1088.11", "63.42", "0.40", "-4.80e-5"],
            ["8848.07", "1088.08", "63.45", "0.41", "3.37e-5"],
        ),
    ] {
        experiments.extend((0..).zip(approximate).map(|(level, printed)| {
            let claim =
                format!("The approximate expected number of items in sub-table {} ({title})", level + 1);
            new(format!("{name}/approximate-{}", level + 1), claim, Printed::number(printed), move |_| {
                Ok(Finding::calculated(expected_approximate(&layout()?, ITEMS.into())[level]))
            })
        }));
        experiments
            .extend((0..).zip(exact).map(|(level, printed)| exact_load(name, title, level, printed, layout)));
    }
    experiments.push(crisis("10k", ITEMS.into(), "1.01e-12", table_10k));
    experiments.push(crisis("100k", 100_000, "7.78e-16", table_100k));
    experiments
}

fn exact_load(
    name: &str,
    title: &str,
    level: usize,
    printed: &'static str,
    layout: fn() -> Result<MultilevelLayout, LayoutError>,
) -> Experiment {
    let claim = format!("The exact expected number of items in sub-table {} ({title})", level + 1);
    new(format!("{name}/exact-{}", level + 1), claim, Printed::number(printed), move |context| {
        let layout = layout()?;
        let measured = context
            .trials(context.effort(200, 5000), |seed| items_by_level(&layout, ITEMS, seed)[level] as f64);
        Ok(Finding::calculated(MultilevelPlan::new(&layout, ITEMS.into())?.expected()[level])
            .and_measured(measured))
    })
}

fn crisis(
    name: &'static str,
    items: u64,
    printed: &'static str,
    layout: fn() -> Result<MultilevelLayout, LayoutError>,
) -> Experiment {
    let claim =
        format!("The crisis probability of the table for {name} items is less than {printed} (section IX)");
    new(format!("crisis/{name}"), claim, Printed::at_most(printed), move |_| {
        let crisis = MultilevelPlan::new(&layout()?, items)?.crisis_probability();
        let printed: f64 = printed.parse()?;
        // 1 − Pr(0) is always a multiple of half of this.
        let noise = crisis < f64::EPSILON;
        let note = if noise && crisis < printed / 2.0 {
            format!(
                "a true bound, but it is the rounding noise of 1 − Pr(0): {:.1e} times too high",
                printed / crisis
            )
        } else {
            String::new()
        };
        Ok(Finding::calculated(crisis).note(note))
    })
}
