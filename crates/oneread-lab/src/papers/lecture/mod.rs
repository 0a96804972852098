//! Lecture notes on hashing.

mod census;
mod cuckoo;
mod families;
mod filters;
mod four_independent;
mod probing;

use crate::experiment::{Context, Error};
use crate::{Experiment, Finding, Paper, Printed};

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = families::experiments();
    experiments.extend(cuckoo::experiments());
    experiments.extend(probing::experiments());
    experiments.extend(filters::experiments());
    experiments
}

fn new(
    name: impl std::fmt::Display,
    claim: impl Into<String>,
    printed: Printed,
    look: impl Fn(&Context) -> Result<Finding, Error> + Send + Sync + 'static,
) -> Experiment {
    Experiment::new(Paper::Lecture, name, claim, printed, look)
}
