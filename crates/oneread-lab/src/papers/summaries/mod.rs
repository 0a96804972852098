//! Simple Summaries for Hashing With Choices.

mod conditioned;
mod counters;
mod deletions;
mod direct;
mod filled;
mod lazily;
mod open;
mod real;
mod simulation;
mod summary;
mod tables;

use oneread::layout::{LayoutError, MultilevelLayout};

use crate::{Experiment, Paper};

pub(super) use open::questions;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = tables::experiments();
    experiments.extend(summary::experiments());
    experiments.extend(direct::experiments());
    experiments.extend(deletions::experiments());
    experiments.extend(counters::experiments());
    experiments
}

super::experiment_of!(Paper::Summaries);

/// Less likely events are not believed to have happened in the paper's simulations.
const BELIEVABLE: f64 = 1e-3;

/// The items of the smaller example.
const ITEMS_10K: u64 = 10_000;

/// Section IX's table for 10,000 items.
fn table_10k() -> Result<MultilevelLayout, LayoutError> {
    MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])
}

/// Section IX's table for 100,000 items.
fn table_100k() -> Result<MultilevelLayout, LayoutError> {
    MultilevelLayout::new([400_000, 100_000, 50_000, 25_000, 12_500, 12_500])
}
