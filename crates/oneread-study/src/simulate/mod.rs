//! What a multilevel table does under churn: the table's own placement, with ideal digests and nothing else.
//!
//! A [`Simulation`] fills a table, then takes steps: one item is deleted, another one inserted. A [`Trial`] is what one
//! run shows, a [`Report`] what many show together, with standard errors.

mod lifetimes;
mod report;
mod run;

pub use lifetimes::{Lifetimes, Victims};
pub use report::{Estimate, Report};
pub use run::{Simulator, Trial};

use core::fmt;

use oneread::bits::OutOfMemory;
use oneread::layout::{LayoutError, MultilevelLayout};

/// Steps for each item before averages over time begin: the table has forgotten how it was filled.
pub const WARM_UP_STEPS_AN_ITEM: u64 = 16;

/// A layout, how many items it has, how many steps are taken, and how long items live.
///
/// # Source
/// Kirsch, Mitzenmacher, "On the Performance of Multiple Choice Hash Tables with Moves on Deletes and Inserts", 2008,
/// section III-A. Differs from the paper in: the stash never overflows, so that a trial never ends early.
///
/// # Costs
/// A step takes a tenth of a microsecond or so in a table of 8192 items, which fits the cache; with restricted hashing half a
/// microsecond to one.
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
/// // Half the cells of each level are used without moves, so that a sixteenth of the items find no room: 16.
/// let (plain, moving) = (mean_stash(plain)?, mean_stash(moving)?);
/// assert!((15.0..18.0).contains(&plain) && moving < 3.0, "{plain} {moving}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// With a stash as large as it ever needs to be.
    layout: MultilevelLayout,
    items: u64,
    steps: u64,
    lifetimes: Lifetimes,
}

impl Simulation {
    /// The most items of a simulated table: their places are kept as 32-bit numbers.
    pub const MAX_ITEMS: u64 = 1 << 30;

    /// A table of a layout with so many items, no steps, and memoryless lifetimes. The layout's stash does not matter.
    ///
    /// # Errors
    /// If there are no items or more than [`MAX_ITEMS`](Self::MAX_ITEMS), or more slots than 2^31.
    pub fn new(layout: MultilevelLayout, items: u64) -> Result<Self, LayoutError> {
        const MAX_SLOTS: u64 = 1 << 31;
        let too_large = |what, expected, found| Err(LayoutError::TooLarge { what, expected, found });
        match items {
            0 => return Err(LayoutError::Zero { what: "items" }),
            _ if items > Self::MAX_ITEMS => return too_large("items", Self::MAX_ITEMS, items),
            _ if layout.capacity() > MAX_SLOTS => return too_large("slots", MAX_SLOTS, layout.capacity()),
            _ => {}
        }
        let stash = items.min(u64::from(MultilevelLayout::MOST_STASH)) as u32;
        Ok(Self { layout: layout.with_stash(stash)?, items, steps: 0, lifetimes: Lifetimes::default() })
    }

    /// The same with so many steps, each a deletion and an insertion.
    #[must_use]
    pub fn with_steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// The same with other lifetimes.
    #[must_use]
    pub fn with_lifetimes(self, lifetimes: Lifetimes) -> Self {
        Self { lifetimes, ..self }
    }

    /// The layout; its stash is larger than the one it came with.
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

    /// Runs trials 0, 1, … on all cores; the report is the same on any number of them. `progress` is told, from any
    /// thread, of each trial that is done.
    ///
    /// # Errors
    /// If there is no memory, or if the stash overflows.
    #[cfg(feature = "std")]
    pub fn run(&self, trials: u64, seed: u64, progress: impl Fn() + Sync) -> Result<Report, SimulationError> {
        use std::sync::atomic::{AtomicU64, Ordering};

        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let next = AtomicU64::new(0);
        // Each thread takes the next trial as it becomes free, and keeps what it got with its number.
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
        // Sums of floats depend on their order.
        all.sort_unstable_by_key(|&(trial, _)| trial);
        let mut report = Report::new(self);
        all.iter().for_each(|(_, trial)| report.add(trial));
        Ok(report)
    }
}

/// A trial cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationError {
    /// There is no memory for the table.
    OutOfMemory(OutOfMemory),
    /// More items than any stash can have found no room.
    StashFull,
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory(error) => error.fmt(f),
            Self::StashFull => {
                let most = MultilevelLayout::MOST_STASH;
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
