//! Lecture notes on hashing.

mod census;
mod cuckoo;
mod families;
mod filters;
mod four_independent;
mod probing;

use crate::{Experiment, Paper};

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = families::experiments();
    experiments.extend(cuckoo::experiments());
    experiments.extend(probing::experiments());
    experiments.extend(filters::experiments());
    experiments
}

super::experiment_of!(Paper::Lecture);
