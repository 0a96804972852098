//! Real tables and summaries, joined to a map: their size and their answers.

use oneread::hash::Digester;
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{AnySummary, Summarized, Summary};
use oneread::table::MultilevelTable;

use crate::experiment::{Context, Error};
use crate::finding::Measured;

type Map = Summarized<MultilevelTable<u64, ()>, AnySummary>;

/// A map as planned, with the items 0, 1, ….
fn filled(plan: &SummaryPlan, seed: u64) -> Result<Map, Error> {
    let mut map = Map::from_plan_with_seed(plan, seed)?;
    for key in 0..plan.table().items() {
        map.insert(key, ()).map_err(|full| format!("a crisis: no room for item {}", full.key))?;
    }
    Ok(map)
}

/// The bytes of a summary of all items, and of the bit table.
pub(super) fn bytes(context: &Context, plan: &SummaryPlan) -> Result<Measured, Error> {
    let bytes_of = |seed| {
        let stats = filled(plan, seed)?.stats();
        Ok((stats.summary_bytes + stats.occupancy_bytes) as f64)
    };
    let bytes: Result<Vec<f64>, Error> = context.each(1, bytes_of).into_iter().collect();
    Ok(Measured::exhaustive(bytes?[0]))
}

/// The share of absent keys for which a level is named, over several tables.
pub(super) fn false_positives(
    context: &Context,
    plan: &SummaryPlan,
    tables: u64,
    keys: u64,
) -> Result<Measured, Error> {
    let share = |seed| {
        let map = filled(plan, seed)?;
        let items = plan.table().items();
        let is_named = |key: &u64| !map.summary().lookup(map.table().digester().digest(key)).is_empty();
        Ok((items..items + keys).filter(is_named).count() as f64 / keys as f64)
    };
    let shares: Result<Vec<f64>, Error> = context.each(tables, share).into_iter().collect();
    Ok(Measured::mean(&shares?))
}

/// The number of items, over several tables, whose level the summary did not name first. A crisis
/// is an error.
pub(super) fn wrong_levels(context: &Context, plan: &SummaryPlan, tables: u64) -> Result<Measured, Error> {
    let wrong = |seed| {
        let map = filled(plan, seed)?;
        let lost = (0..plan.table().items()).filter(|key| map.get(key).is_none()).count();
        if lost > 0 {
            return Err(format!("{lost} items were not found again").into());
        }
        Ok(map.stats().measured.wrong_levels as f64)
    };
    let wrong: Result<Vec<f64>, Error> = context.each(tables, wrong).into_iter().collect();
    Ok(Measured::exhaustive(wrong?.iter().sum()))
}
