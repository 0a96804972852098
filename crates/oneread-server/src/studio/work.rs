//! Calculations on threads beside the server: a few at a time, and none for long.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The time that a page waits for a calculation to begin.
const PATIENCE: Duration = Duration::from_secs(20);

/// The time that a page waits for a calculation to end. One that takes longer ends by its own
/// budget, and keeps its permit meanwhile.
const LONGEST: Duration = Duration::from_secs(30);

/// The permits to calculate.
#[derive(Clone)]
pub(super) struct Work(Arc<Semaphore>);

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The question is wrong, in a sentence that says what to change.
    Refused(anyhow::Error),
    /// Other calculations, or this one, take too long.
    Busy(&'static str),
}

impl Work {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(available_parallelism().map_or(1, NonZero::get))))
    }

    /// Calculates.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        calculate: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = timeout(PATIENCE, self.0.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Failure::Busy("other calculations take all threads: try again in a moment"));
        };
        let calculated = spawn_blocking(move || {
            let calculated = calculate();
            drop(permit);
            calculated
        });
        match timeout(LONGEST, calculated).await {
            Ok(Ok(calculated)) => calculated.map_err(Failure::Refused),
            Ok(Err(_)) => {
                Err(Failure::Refused(anyhow!("the calculation failed: please report these numbers")))
            }
            Err(_) => Err(Failure::Busy(
                "this takes too long for a page: ask the command line, or give smaller numbers",
            )),
        }
    }
}
