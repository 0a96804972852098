//! Fills multilevel tables.

use oneread::layout::MultilevelLayout;
use oneread_study::simulate::{Simulation, Simulator};

/// The number of items in each level of a table filled with ideal digests.
pub(super) fn items_by_level(layout: &MultilevelLayout, items: u32, seed: u64) -> Vec<u64> {
    let simulation = Simulation::new(layout.clone(), items.into()).expect("the paper's table");
    let trial = Simulator::new(&simulation).and_then(|mut simulator| simulator.trial(seed, 0));
    trial.expect("a table of the paper fits").level_occupancy
}
