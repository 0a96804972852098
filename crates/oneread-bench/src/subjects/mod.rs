//! What is measured: a file a subject.

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

/// Something to be measured beside its peers.
pub(crate) trait Subject {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What it measures, in a line.
    fn about(&self) -> &'static str;

    /// Holds its contests, one after the other.
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
