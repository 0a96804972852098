//! Experiments.

use std::fmt;

use oneread::hash::{Digester, Domain, Portable};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Measured};
use crate::{Paper, Printed};

/// Why an experiment has no finding.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

type Look = dyn Fn(&Context) -> Result<Finding, Error> + Send + Sync;

/// A claim of a paper, and a way to test it.
///
/// ```
/// use oneread_lab::{Experiment, Finding, Paper, Printed};
///
/// let experiment = Experiment::new(
///     Paper::Lecture,
///     "6.4/inverse-of-ln-2",
///     "1/ln 2 is about 1.44 (section 6.4)",
///     Printed::number("1.44"),
///     |_| Ok(Finding::calculated(std::f64::consts::LN_2.recip())),
/// );
/// assert_eq!(experiment.id(), "lecture/6.4/inverse-of-ln-2");
/// ```
pub struct Experiment {
    paper: Paper,
    id: String,
    claim: String,
    printed: Printed,
    look: Box<Look>,
}

impl Experiment {
    /// An experiment; its id is the paper's name, a slash and `name`, and never changes.
    pub fn new(
        paper: Paper,
        name: impl fmt::Display,
        claim: impl Into<String>,
        printed: Printed,
        look: impl Fn(&Context) -> Result<Finding, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { paper, id: format!("{paper}/{name}"), claim: claim.into(), printed, look: Box::new(look) }
    }

    /// The paper that makes the claim.
    #[must_use]
    pub const fn paper(&self) -> Paper {
        self.paper
    }

    /// Its name in reports and files.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The claim in a sentence, with the section it is from.
    #[must_use]
    pub fn claim(&self) -> &str {
        &self.claim
    }

    /// The printed figure or statement.
    #[must_use]
    pub const fn printed(&self) -> &Printed {
        &self.printed
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// Whatever made it fail.
    pub fn find(&self, run: Run) -> Result<Finding, Error> {
        (self.look)(&Context::of(&self.id, run))
    }
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment")
            .field("id", &self.id)
            .field("printed", &self.printed)
            .finish_non_exhaustive()
    }
}

/// The seed of an experiment. It does not depend on the other experiments of a run.
fn seed_of(id: &str, seed: u64) -> u64 {
    const DOMAIN: Domain = Domain::new(0);
    Portable::with_seed(seed).digest(id).word(DOMAIN, 0)
}

/// What all experiments of one run share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Each experiment derives its own seed from this one and its id.
    pub seed: u64,
    /// How long to measure.
    pub effort: Effort,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// All experiments in five minutes or less, on two cores.
    Quick,
    /// As many trials as in the papers, for smaller standard errors; takes hours.
    Full,
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Quick => "quick",
            Self::Full => "full",
        })
    }
}

/// The seed and effort of one experiment.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    seed: u64,
    effort: Effort,
}

impl Context {
    /// The context of the experiment or question with this id.
    pub(crate) fn of(id: &str, run: Run) -> Self {
        Self { seed: seed_of(id, run.seed), effort: run.effort }
    }

    /// `quick` or `full`, by the effort.
    #[must_use]
    pub fn effort<T>(&self, quick: T, full: T) -> T {
        match self.effort {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }

    /// The results of `count` independent trials, in order; each trial gets its own seed. Trials
    /// run on all threads, and the results do not depend on the number of threads.
    pub fn each<T: Send>(&self, count: u64, trial: impl Fn(u64) -> T + Send + Sync) -> Vec<T> {
        (0..count).into_par_iter().map(|number| trial(seed_of_trial(self.seed, number))).collect()
    }

    /// The mean of independent trials, run as by [`each`](Self::each).
    pub fn trials(&self, count: u64, trial: impl Fn(u64) -> f64 + Send + Sync) -> Measured {
        Measured::mean(&self.each(count, trial))
    }
}

/// Derives the seed of a trial like that of an experiment.
fn seed_of_trial(seed: u64, number: u64) -> u64 {
    const DOMAIN: Domain = Domain::new(1);
    Portable::with_seed(seed).digest(&number).word(DOMAIN, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context = Context { seed: 7, effort: Effort::Quick };

    #[test]
    fn trials_are_the_same_for_any_number_of_threads() {
        let measure = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| CONTEXT.trials(1000, |seed| (seed % 1001) as f64 / 3.0))
        };
        assert_eq!(measure(1), measure(4));
    }

    #[test]
    fn experiments_and_trials_have_seeds_of_their_own() {
        assert_ne!(seed_of("lecture/a", 1), seed_of("lecture/b", 1));
        assert_ne!(seed_of("lecture/a", 1), seed_of("lecture/a", 2));
        assert_ne!(seed_of_trial(1, 1), seed_of_trial(1, 2));
    }
}
