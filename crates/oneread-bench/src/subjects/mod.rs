//! The subjects: one file each.

mod dleft;
mod filters;
mod frontier;
mod hash;
mod line;
mod maps;
mod plan;
mod store;
mod summaries;
mod tables;

use anyhow::Result;

use crate::measure::Bench;

/// A subject to measure beside other crates.
pub(crate) trait Subject {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// One line on what it measures.
    fn about(&self) -> &'static str;

    /// Runs its contests, one after the other.
    fn run(&self, bench: &mut Bench) -> Result<()>;
}

/// All subjects, in the order of the project.
pub(crate) fn all() -> Vec<Box<dyn Subject>> {
    vec![
        Box::new(hash::Hash),
        Box::new(filters::Filters),
        Box::new(dleft::DLeft),
        Box::new(line::Line),
        Box::new(frontier::Frontier),
        Box::new(plan::Plan),
        Box::new(tables::Tables),
        Box::new(maps::Maps),
        Box::new(summaries::Summaries),
        Box::new(store::Store),
        Box::new(store::LiveStore),
    ]
}
