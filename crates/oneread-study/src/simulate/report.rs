//! Summarizes many trials.

use alloc::vec;
use alloc::vec::Vec;

use super::{Simulation, Trial};

/// A mean over trials and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the mean; not a number for a single trial.
    pub standard_error: f64,
}

/// Sums of a number over trials.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    trials: f64,
    mean: f64,
    /// Of the squared distances from the mean.
    squares: f64,
}

impl Sums {
    /// Welford's update, which avoids cancellation.
    fn add(&mut self, value: f64) {
        self.trials += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.trials;
        self.squares += distance * (value - self.mean);
    }

    fn estimate(&self) -> Estimate {
        let variance = self.squares / (self.trials - 1.0);
        Estimate { mean: self.mean, standard_error: libm::sqrt(variance / self.trials) }
    }
}

/// Means over trials with their standard errors, and maxima over all trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    trials: u64,
    steps: u64,
    mean_stash: Sums,
    end_stash: Sums,
    max_stash: Sums,
    largest_stash: u64,
    level_occupancy: Vec<Sums>,
    level_maximum: Vec<u64>,
    end_stashes: Vec<u64>,
    insertion_moves: Sums,
    deletion_moves: Sums,
}

impl Report {
    /// A report without trials.
    #[must_use]
    pub fn new(simulation: &Simulation) -> Self {
        let levels = simulation.layout().level_count();
        Self {
            trials: 0,
            steps: simulation.steps(),
            mean_stash: Sums::default(),
            end_stash: Sums::default(),
            max_stash: Sums::default(),
            largest_stash: 0,
            level_occupancy: vec![Sums::default(); levels],
            level_maximum: vec![0; levels],
            end_stashes: Vec::new(),
            insertion_moves: Sums::default(),
            deletion_moves: Sums::default(),
        }
    }

    /// Adds a trial of the same simulation.
    pub fn add(&mut self, trial: &Trial) {
        self.trials += 1;
        let (sum, steps) = trial.stash_over_time;
        if steps > 0 {
            self.mean_stash.add(sum as f64 / steps as f64);
        }
        self.end_stash.add(trial.end_stash as f64);
        self.max_stash.add(trial.max_stash as f64);
        self.largest_stash = self.largest_stash.max(trial.max_stash);
        for (sums, &load) in self.level_occupancy.iter_mut().zip(&trial.level_occupancy) {
            sums.add(load as f64);
        }
        for (most, &load) in self.level_maximum.iter_mut().zip(&trial.level_maximum) {
            *most = load.max(*most);
        }
        let end = trial.end_stash as usize;
        if self.end_stashes.len() <= end {
            self.end_stashes.resize(end + 1, 0);
        }
        self.end_stashes[end] += 1;
        if self.steps > 0 {
            self.insertion_moves.add(trial.insertion_moves as f64 / self.steps as f64);
            self.deletion_moves.add(trial.deletion_moves as f64 / self.steps as f64);
        }
    }

    /// The trials.
    #[must_use]
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// The items in the stash, averaged over the steps after the warm-up of
    /// [`WARM_UP_STEPS_AN_ITEM`](super::WARM_UP_STEPS_AN_ITEM) steps per item; `None` without such
    /// steps.
    #[must_use]
    pub fn mean_stash(&self) -> Option<Estimate> {
        (self.mean_stash.trials > 0.0).then(|| self.mean_stash.estimate())
    }

    /// The items in the stash at the end.
    #[must_use]
    pub fn end_stash(&self) -> Estimate {
        self.end_stash.estimate()
    }

    /// The largest stash in any trial.
    #[must_use]
    pub fn max_stash(&self) -> u64 {
        self.largest_stash
    }

    /// The largest stash of a trial, averaged.
    #[must_use]
    pub fn mean_of_max_stash(&self) -> Estimate {
        self.max_stash.estimate()
    }

    /// The items of each level at the end.
    #[must_use]
    pub fn level_occupancy(&self) -> Vec<Estimate> {
        self.level_occupancy.iter().map(Sums::estimate).collect()
    }

    /// The most items of each level in any trial.
    #[must_use]
    pub fn level_maximum(&self) -> &[u64] {
        &self.level_maximum
    }

    /// How many trials ended with 0, 1, 2, … items in the stash.
    #[must_use]
    pub fn end_stash_counts(&self) -> &[u64] {
        &self.end_stashes
    }

    /// The moves per insertion; `None` without steps.
    #[must_use]
    pub fn moves_an_insertion(&self) -> Option<Estimate> {
        (self.steps > 0).then(|| self.insertion_moves.estimate())
    }

    /// The moves per deletion; `None` without steps.
    #[must_use]
    pub fn moves_a_deletion(&self) -> Option<Estimate> {
        (self.steps > 0).then(|| self.deletion_moves.estimate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_standard_errors_of_known_numbers() {
        let mut sums = Sums::default();
        [2.0, 4.0, 4.0, 6.0].into_iter().for_each(|value| sums.add(value));
        // Squares 4 + 0 + 0 + 4; variance 8/3; of the mean 2/3.
        let Estimate { mean, standard_error } = sums.estimate();
        assert!(mean == 4.0 && (standard_error - (2.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
