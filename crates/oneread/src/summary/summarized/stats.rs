//! Counts of lookups, next to the plan.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::plan::summary::SummaryPlan;

/// The outcome of one lookup.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lookup {
    pub(super) place: Option<usize>,
    /// The level of the key; the stash is the level after the last.
    pub(super) level: usize,
    pub(super) in_stash: bool,
    /// Non-empty buckets read.
    pub(super) reads: u64,
    /// Buckets that would have been read without the occupancy bits.
    pub(super) named: u64,
    pub(super) wrong_level: bool,
}

/// Counters that lookups update through a shared reference. A lookup that goes as planned updates
/// one.
#[derive(Debug, Default)]
pub(super) struct Tally {
    hits_in_levels: AtomicU64,
    hits_in_stash: AtomicU64,
    misses: AtomicU64,
    /// Reads beyond the first of each hit in a level.
    extra_reads_of_hits: AtomicU64,
    reads_of_misses: AtomicU64,
    named_for_misses: AtomicU64,
    wrong_levels: AtomicU64,
}

impl Tally {
    #[inline]
    pub(super) fn count(&self, lookup: &Lookup) {
        let add = |counter: &AtomicU64, more: u64| {
            if more > 0 {
                counter.fetch_add(more, Ordering::Relaxed);
            }
        };
        match lookup.place {
            Some(_) if lookup.in_stash => {
                add(&self.hits_in_stash, 1);
                add(&self.extra_reads_of_hits, lookup.reads);
            }
            Some(_) => {
                add(&self.hits_in_levels, 1);
                add(&self.extra_reads_of_hits, lookup.reads - 1);
                add(&self.wrong_levels, lookup.wrong_level.into());
            }
            None => {
                add(&self.misses, 1);
                add(&self.reads_of_misses, lookup.reads);
                add(&self.named_for_misses, lookup.named);
            }
        }
    }

    pub(super) fn measured(&self) -> Measured {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Measured {
            hits: read(&self.hits_in_levels) + read(&self.hits_in_stash),
            misses: read(&self.misses),
            reads_of_hits: read(&self.hits_in_levels) + read(&self.extra_reads_of_hits),
            reads_of_misses: read(&self.reads_of_misses),
            buckets_named_for_misses: read(&self.named_for_misses),
            wrong_levels: read(&self.wrong_levels),
        }
    }
}

/// What the lookups of a summarized table did, and what the plan expects.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// What the lookups did.
    pub measured: Measured,
    /// What the plan expects, at the planned number of items, if there is a plan.
    pub planned: Option<Expected>,
    /// The number of items.
    pub items: u64,
    /// How often the map rebuilt its summary: after a crisis changed the table's hash functions, or
    /// after user code panicked in a change.
    pub rebuilds: u64,
    /// The size of the summary in bytes.
    pub summary_bytes: u64,
    /// The size of the occupancy bits in bytes.
    pub occupancy_bytes: u64,
}

/// Counts of lookups since the map was made or the counts were reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measured {
    /// Lookups of present keys.
    pub hits: u64,
    /// Lookups of absent keys.
    pub misses: u64,
    /// Buckets read by hits. The stash is in fast memory and not counted.
    pub reads_of_hits: u64,
    /// Buckets read by misses.
    pub reads_of_misses: u64,
    /// Buckets that misses would have read without the occupancy bits.
    pub buckets_named_for_misses: u64,
    /// Hits whose level was not the first one named (a *failure* in the paper).
    pub wrong_levels: u64,
}

impl Measured {
    /// All lookups.
    #[must_use]
    pub const fn lookups(&self) -> u64 {
        self.hits + self.misses
    }

    /// All buckets read.
    #[must_use]
    pub const fn reads(&self) -> u64 {
        self.reads_of_hits + self.reads_of_misses
    }

    /// Buckets read per hit; NaN without hits.
    #[must_use]
    pub fn reads_per_hit(&self) -> f64 {
        self.reads_of_hits as f64 / self.hits as f64
    }

    /// Buckets read per miss; NaN without misses.
    #[must_use]
    pub fn reads_per_miss(&self) -> f64 {
        self.reads_of_misses as f64 / self.misses as f64
    }

    /// Buckets that a miss would read without the occupancy bits; NaN without misses.
    #[must_use]
    pub fn reads_per_miss_without_occupancy(&self) -> f64 {
        self.buckets_named_for_misses as f64 / self.misses as f64
    }
}

/// What a plan expects of lookups.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// The planned number of items.
    pub items: u64,
    /// 1 plus the expected extra reads per hit.
    pub reads_per_hit: f64,
    /// The expected reads per miss.
    pub reads_per_miss: f64,
    /// The probability that the summary names a level for an absent key.
    pub false_positive: f64,
    /// The paper's bound on the probability that any key ever takes a second read.
    pub failure: f64,
}

impl From<&SummaryPlan> for Expected {
    fn from(plan: &SummaryPlan) -> Self {
        Self {
            items: plan.table().items(),
            reads_per_hit: 1.0 + plan.extra_reads_per_hit(),
            reads_per_miss: plan.reads_per_miss(),
            false_positive: plan.false_positive(),
            failure: plan.failure(),
        }
    }
}
