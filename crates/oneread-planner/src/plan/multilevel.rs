//! `oneread plan multilevel`.

use std::path::Path;

use anyhow::Result;
use oneread::plan::multilevel::{MultilevelPlan, expected_approximate};

use super::layout_file::LayoutFile;
use super::plot::{Axis, Chart, Scale, Series, Shape};
use super::sweep::{Numbers, numbers};
use super::{Subject, table};
use crate::args::plan::{LayoutOut, Multilevel};
use crate::report::Report;

impl Subject for Multilevel {
    type Planned = MultilevelPlan;

    fn numbers(&mut self) -> Numbers<'_> {
        let mut numbers = numbers![Whole { items: self.items.number }];
        numbers.extend(self.table.numbers());
        numbers
    }

    fn load(&mut self) -> Result<()> {
        self.table.load(&self.files)
    }

    fn plan(&self, last: Option<&MultilevelPlan>) -> Result<MultilevelPlan> {
        self.table.plan(&self.items, last)
    }

    fn report(&self, plan: &MultilevelPlan) -> Result<Report> {
        let (layout, items) = (plan.layout(), plan.items());
        let expected = plan.expected().iter().copied().enumerate();
        let expected: Vec<_> =
            expected.map(|(level, expected)| (expected, table::is_reachable(layout, items, level))).collect();
        let has_stash = table::is_reachable(layout, items, layout.level_count());
        let report = Report::new("level").whole("items", "inserted", items);
        let report = table::with_layout(report, layout)
            .reals("expected_approximate", "items", &expected_approximate(layout, items))
            .rare_list("expected", "items", &expected)
            .odds(
                "crisis_probability",
                "that any item finds no room",
                plan.crisis_probability(),
                plan.ln_crisis_probability(),
            )
            .rare("expected_stash", "items without room", plan.expected_stash(), has_stash);
        Ok(table::with_accuracy(report, plan))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.files.out), self.plot.as_deref())
    }

    fn layout_file(&self, plan: &MultilevelPlan) -> Result<LayoutFile> {
        Ok(LayoutFile::of_table(plan.layout()))
    }

    fn charts(&self, plan: &MultilevelPlan) -> Result<Vec<Chart>> {
        Ok(vec![loads(plan)])
    }
}

fn loads(plan: &MultilevelPlan) -> Chart {
    let layout = plan.layout();
    let by_level = |values: Vec<f64>| (0..).map(f64::from).zip(values.into_iter().map(f64::ln)).collect();
    let room = layout.levels().iter().map(|&buckets| buckets as f64 * f64::from(layout.slots())).collect();
    let (room_name, label) = match layout.slots() {
        1 => ("buckets", "items, buckets"),
        _ => ("slots", "items, slots"),
    };
    Chart {
        title: format!("{} items in a table of {} levels", plan.items(), layout.level_count()),
        x: Axis { label: "level", scale: Scale::Linear },
        y: Axis { label, scale: Scale::Log },
        series: vec![
            Series::new("expected items", Shape::Bars, by_level(plan.expected().to_vec())),
            Series::new(room_name, Shape::Dots, by_level(room)),
        ],
    }
}
