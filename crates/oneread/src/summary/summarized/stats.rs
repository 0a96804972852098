//! What lookups did, beside what was planned.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::plan::summary::SummaryPlan;

/// What one lookup did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lookup {
    pub(super) place: Option<usize>,
    /// Where it was found; the stash is the level after the last.
    pub(super) level: usize,
    pub(super) in_stash: bool,
    /// Buckets with an item that were read.
    pub(super) reads: u64,
    /// Buckets that would have been read without a bit that says whether there is an item.
    pub(super) named: u64,
    pub(super) wrong_level: bool,
}

/// Counts that lookups through a shared reference change. A lookup that goes as planned changes one
/// of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    hits_in_levels: AtomicU64,
    hits_in_stash: AtomicU64,
    misses: AtomicU64,
    /// Beyond the first of each hit in a level.
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

/// What a summarized table did and what it was planned to do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// What its lookups did.
    pub measured: Measured,
    /// What they were planned to do, if it was made from a plan: for as many items as were planned
    /// for.
    pub planned: Option<Expected>,
    /// The items that it has.
    pub items: u64,
    /// How often the summary was built anew by itself: the table changed its hash functions in a
    /// crisis, or code of the user's panicked in the middle of a change.
    pub rebuilds: u64,
    /// The bytes of the summary.
    pub summary_bytes: u64,
    /// The bytes of a bit a bucket.
    pub occupancy_bytes: u64,
}

/// What lookups did, since the table was made or the counts were set to 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measured {
    /// Lookups of keys that were there.
    pub hits: u64,
    /// Lookups of keys that were not.
    pub misses: u64,
    /// The buckets that hits read. The stash is in fast memory, and not counted.
    pub reads_of_hits: u64,
    /// The buckets that misses read.
    pub reads_of_misses: u64,
    /// The buckets that misses would have read if no bit said which have an item.
    pub buckets_named_for_misses: u64,
    /// Hits whose level was not the first that the summary named (a *failure* in the paper).
    pub wrong_levels: u64,
}

impl Measured {
    /// All lookups.
    #[must_use]
    pub const fn lookups(&self) -> u64 {
        self.hits + self.misses
    }

    /// The buckets that all lookups read.
    #[must_use]
    pub const fn reads(&self) -> u64 {
        self.reads_of_hits + self.reads_of_misses
    }

    /// The buckets that a hit read on average; no number without hits.
    #[must_use]
    pub fn reads_per_hit(&self) -> f64 {
        self.reads_of_hits as f64 / self.hits as f64
    }

    /// The buckets that a miss read on average; no number without misses.
    #[must_use]
    pub fn reads_per_miss(&self) -> f64 {
        self.reads_of_misses as f64 / self.misses as f64
    }

    /// The same if no bit said which buckets have an item.
    #[must_use]
    pub fn reads_per_miss_without_occupancy(&self) -> f64 {
        self.buckets_named_for_misses as f64 / self.misses as f64
    }
}

/// What a plan says of lookups.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// The items planned for.
    pub items: u64,
    /// 1, and the expected reads beyond it.
    pub reads_per_hit: f64,
    /// The expected reads of a key that is not there.
    pub reads_per_miss: f64,
    /// The probability that a level is named for a key that is not there.
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
