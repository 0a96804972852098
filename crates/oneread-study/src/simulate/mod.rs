//! Simulates a multilevel table under churn, with the table's own placement and ideal digests.
//!
//! A [`Simulation`] fills a table and then takes steps, each a deletion and an insertion. A
//! [`Trial`] is the result of one run. A [`Report`] summarizes many, with standard errors.

mod lifetimes;
mod report;
mod run;

pub use lifetimes::{Lifetimes, Victims};
pub use report::{Estimate, Report};
pub use run::{Simulator, Trial};

use core::fmt;

use oneread::bits::OutOfMemory;
use oneread::layout::{LayoutError, MultilevelLayout, Quantity};

/// Steps per item before averages over time begin, so that the initial fill no longer matters.
pub const WARM_UP_STEPS_AN_ITEM: u64 = 16;

/// A layout with a number of items, a number of steps, and the items' lifetimes.
///
/// # Source
/// Kirsch, Mitzenmacher, "On the Performance of Multiple Choice Hash Tables with Moves on Deletes
/// and Inserts", 2008, section III-A. Differs from the paper in: the stash never overflows, so a
/// trial never ends early.
///
/// # Costs
/// A step takes about 0.1 µs in a table of 8192 items, which is cache-resident, and 0.5 to 1 µs
/// with restricted hashing.
///
/// # Example
/// ```
/// use oneread::layout::{Moves, MultilevelLayout};
/// use oneread_study::simulate::{Report, Simulation, Simulator};
///
/// let plain = MultilevelLayout::geometric(256, 0.5, 4)?;
/// let moving = plain.clone().with_moves(Moves::SecondChance)?;
/// let mean_stash = |layout| {
///     let simulation = Simulation::new(layout, 256)?.with_steps(10_000);
///     let mut simulator = Simulator::new(&simulation)?;
///     let mut report = Report::new(&simulation);
///     for trial in 0..8 {
///         report.add(&simulator.trial(1, trial)?);
///     }
///     Ok::<_, Box<dyn std::error::Error>>(report.mean_stash().unwrap().mean)
/// };
/// // Without moves, half of the cells of each level are used, so 1/16 of the items find no room:
/// // 16.
/// let (plain, moving) = (mean_stash(plain)?, mean_stash(moving)?);
/// assert!((15.0..18.0).contains(&plain) && moving < 3.0, "{plain} {moving}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// With a stash that always suffices.
    layout: MultilevelLayout,
    items: u64,
    steps: u64,
    lifetimes: Lifetimes,
}

impl Simulation {
    /// The most items of a simulated table: their places are kept as 32-bit numbers.
    pub const MAX_ITEMS: u64 = 1 << 30;

    /// A table of `items` items with the given layout, no steps, and memoryless lifetimes. The
    /// layout's stash is ignored.
    ///
    /// # Errors
    /// If there are no items or more than [`MAX_ITEMS`](Self::MAX_ITEMS), or more slots than
    /// 2^31.
    pub fn new(layout: MultilevelLayout, items: u64) -> Result<Self, LayoutError> {
        const MAX_SLOTS: u64 = 1 << 31;
        let too_large = |what, expected, found| Err(LayoutError::TooLarge { what, expected, found });
        match items {
            0 => return Err(LayoutError::Zero { what: Quantity::Items }),
            _ if items > Self::MAX_ITEMS => return too_large(Quantity::Items, Self::MAX_ITEMS, items),
            _ if layout.capacity() > MAX_SLOTS => {
                return too_large(Quantity::Slots, MAX_SLOTS, layout.capacity());
            }
            _ => {}
        }
        let stash = items.min(u64::from(MultilevelLayout::MAX_STASH)) as u32;
        Ok(Self { layout: layout.with_stash(stash)?, items, steps: 0, lifetimes: Lifetimes::default() })
    }

    /// Sets the number of steps, each a deletion and an insertion.
    #[must_use]
    pub fn with_steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Sets the items' lifetimes.
    #[must_use]
    pub fn with_lifetimes(self, lifetimes: Lifetimes) -> Self {
        Self { lifetimes, ..self }
    }

    /// The layout; its stash is larger than the original one.
    #[must_use]
    pub fn layout(&self) -> &MultilevelLayout {
        &self.layout
    }

    /// The items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The steps.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The steps before averages over time begin.
    #[must_use]
    pub fn warm_up(&self) -> u64 {
        WARM_UP_STEPS_AN_ITEM * self.items
    }

    /// Runs trials 0, 1, … on all cores. The report does not depend on the number of cores.
    /// `progress` is called after each trial, from any thread.
    ///
    /// # Errors
    /// If there is no memory, or if the stash overflows.
    #[cfg(feature = "std")]
    pub fn run(&self, trials: u64, seed: u64, progress: impl Fn() + Sync) -> Result<Report, SimulationError> {
        use std::sync::atomic::{AtomicU64, Ordering};

        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let next = AtomicU64::new(0);
        // Each thread takes the next trial when it is free, and stores its result with its number.
        let work = || -> Result<Vec<(u64, Trial)>, SimulationError> {
            let mut simulator = Simulator::new(self)?;
            let mut done = Vec::new();
            loop {
                let trial = next.fetch_add(1, Ordering::Relaxed);
                if trial >= trials {
                    return Ok(done);
                }
                done.push((trial, simulator.trial(seed, trial)?));
                progress();
            }
        };
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads.min(trials)).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                match thread.join() {
                    Ok(done) => all.extend(done?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok::<(), SimulationError>(())
        })?;
        // Sums of floats depend on their order, so this restores it.
        all.sort_unstable_by_key(|&(trial, _)| trial);
        let mut report = Report::new(self);
        all.iter().for_each(|(_, trial)| report.add(trial));
        Ok(report)
    }
}

/// Why a trial cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationError {
    /// There is no memory for the table.
    OutOfMemory(OutOfMemory),
    /// More items found no room than any stash can hold.
    StashFull,
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory(error) => error.fmt(f),
            Self::StashFull => {
                let most = MultilevelLayout::MAX_STASH;
                write!(
                    f,
                    "more than {most} items found no room in any level: use larger levels, or more of them"
                )
            }
        }
    }
}

impl core::error::Error for SimulationError {}

impl From<OutOfMemory> for SimulationError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
