//! The flags that describe a multilevel table, shared by several plans.

use anyhow::{Result, bail};
use oneread::layout::MultilevelLayout;
use oneread::plan::Accuracy;
use oneread::plan::multilevel::MultilevelPlan;

use super::layout_file::LayoutFile;
use super::sweep::{Numbers, numbers};
use super::{given, refused, small};
use crate::args::plan::{Files, Items, Table};
use crate::report::Report;

/// Each level is half as large as the one before, as in the paper's Table I.
const DEFAULT_RATIO: f64 = 0.5;

/// Enough for ten thousand items to find room almost surely.
const DEFAULT_LEVEL_COUNT: u64 = 5;

impl Items {
    pub(super) fn given(&self) -> Result<u64> {
        given(self.number, "items")
    }
}

impl Table {
    /// The table from a file.
    pub(super) fn listed(levels: Vec<u64>, slots: u64) -> Self {
        Self { levels, slots: Some(slots), ..Self::default() }
    }

    /// Takes the table from a file that has nothing else, if one is named.
    pub(super) fn load(&mut self, files: &Files) -> Result<()> {
        match LayoutFile::read(files)? {
            None => {}
            Some(LayoutFile::Multilevel { levels, slots }) => *self = Self::listed(levels, slots),
            Some(other) => return other.refuse("multilevel"),
        }
        Ok(())
    }

    /// The flags that take one number.
    pub(super) fn numbers(&mut self) -> Numbers<'_> {
        numbers![
            Whole { first_level: self.first_level },
            Real { buckets_per_item: self.buckets_per_item, ratio: self.ratio },
            Whole { level_count: self.level_count, slots: self.slots }
        ]
    }

    pub(super) fn slots(&self) -> u64 {
        self.slots.unwrap_or(1)
    }

    /// The table for `items` items, on which its size may depend.
    pub(super) fn layout(&self, items: u64) -> Result<MultilevelLayout> {
        let layout = match (self.levels.is_empty(), self.is_geometric()) {
            (false, false) => MultilevelLayout::new(self.levels.as_slice()).map_err(refused("--levels"))?,
            (true, true) => self.geometric(items)?,
            (true, false) => {
                bail!("the levels are missing: give --levels, or --first-level, --ratio and --level-count")
            }
            // Flags exclude each other, but a sweep may set one beside those of a list or a file.
            (false, true) => bail!(
                "levels that are listed have no first_level, buckets_per_item, ratio or level_count to sweep over: \
                 give --first-level instead of --levels"
            ),
        };
        layout.with_slots(small(self.slots(), "slots")?).map_err(refused("--slots"))
    }

    /// Plans the table, unless it equals the last one: planning may take seconds.
    pub(super) fn plan(&self, items: &Items, last: Option<&MultilevelPlan>) -> Result<MultilevelPlan> {
        let items = items.given()?;
        let layout = self.layout(items)?;
        match last.filter(|last| *last.layout() == layout && last.items() == items) {
            Some(last) => Ok(last.clone()),
            None => MultilevelPlan::new(&layout, items).map_err(refused("--items")),
        }
    }

    fn is_geometric(&self) -> bool {
        self.first_level.is_some()
            || self.buckets_per_item.is_some()
            || self.ratio.is_some()
            || self.level_count.is_some()
    }

    fn geometric(&self, items: u64) -> Result<MultilevelLayout> {
        let ratio = self.ratio.unwrap_or(DEFAULT_RATIO);
        let count = small(self.level_count.unwrap_or(DEFAULT_LEVEL_COUNT), "level-count")?;
        match (self.first_level, self.buckets_per_item) {
            (Some(first), None) => MultilevelLayout::geometric(first, ratio, count)
                .map_err(refused("--first-level, --ratio and --level-count")),
            (None, Some(per_item)) => MultilevelLayout::for_items(items, per_item, ratio, count)
                .map_err(refused("--buckets-per-item, --ratio and --level-count")),
            (None, None) => bail!("--first-level is missing: give it, or --buckets-per-item"),
            (Some(_), Some(_)) => {
                bail!("expected --first-level or --buckets-per-item, found both: leave one out")
            }
        }
    }
}

/// Adds the table to a report.
pub(super) fn with_layout(report: Report, layout: &MultilevelLayout) -> Report {
    report.wholes("levels", "buckets", layout.levels()).whole("slots", "per bucket", layout.slots())
}

/// Adds the error bounds of a table's numbers.
pub(super) fn with_accuracy(report: Report, plan: &MultilevelPlan) -> Report {
    /// The accuracy that the library promises for exact plans.
    const EXACT: f64 = 1e-10;
    let (accuracy, error) = match plan.accuracy() {
        Accuracy::Exact => ("exact", EXACT),
        Accuracy::Close { relative_error } => ("close", relative_error),
        // A crisis is almost certain there.
        Accuracy::Overloaded => ("overloaded", f64::NAN),
        Accuracy::Estimated => ("estimated", f64::NAN),
        _ => ("unknown", f64::NAN),
    };
    report.text("accuracy", "of the crisis probability", accuracy).real(
        "relative_error",
        "at most, of the crisis probability",
        error,
    )
}

/// Reports whether any item can come to a level. The level after the last means items without room,
/// for which all their buckets must be full.
pub(super) fn is_reachable(layout: &MultilevelLayout, items: u64, level: usize) -> bool {
    // At most 64 levels of 1024 slots.
    level <= layout.level_count() && level as u64 * u64::from(layout.slots()) < items
}
