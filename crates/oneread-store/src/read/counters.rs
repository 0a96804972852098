//! Counts reads from many threads without slowing them down.
//!
//! An atomic addition delays every later read of the processor, so one lookup could not begin while
//! another waits for memory. Instead each thread adds to counters of its own by plain loads and
//! stores, and a query sums them up.
//!
//! # Invariants
//! 1. A place below [`PLACES`] belongs to at most one thread at a time, in all stores: the one that
//!    set its bit in [`TAKEN`].
//! 2. Only that thread changes the counters at its place. Threads without a place share the last
//!    one, with atomic additions.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// Reads since a store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// Lookups that found their key.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Pages read by lookups that found their key.
    pub hit_pages: u64,
    /// Pages read by lookups that did not.
    pub miss_pages: u64,
    /// Large values read, beside the pages.
    pub runs: u64,
}

impl Reads {
    /// Pages read per lookup that found its key, if there was one.
    #[must_use]
    pub fn per_hit(&self) -> Option<f64> {
        (self.hits > 0).then(|| self.hit_pages as f64 / self.hits as f64)
    }

    /// Pages read per lookup that did not, if there was one.
    #[must_use]
    pub fn per_miss(&self) -> Option<f64> {
        (self.misses > 0).then(|| self.miss_pages as f64 / self.misses as f64)
    }

    /// Pages that were read in vain.
    #[must_use]
    pub const fn wrong_pages(&self) -> u64 {
        self.hit_pages.saturating_sub(self.hits) + self.miss_pages
    }
}

/// Places of single threads: as many as a word has bits.
const PLACES: u32 = u64::BITS;

/// A bit for each place that a thread owns.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The place of threads without their own.
const SHARED: u32 = PLACES;

/// Marks a thread that has not asked for a place.
const UNKNOWN: u32 = u32::MAX;

thread_local! {
    /// This thread's place.
    static PLACE: Cell<u32> = const { Cell::new(UNKNOWN) };
    /// Returns the place when the thread ends.
    static GUARD: Guard = const { Guard };
}

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        // Later destructors of the thread may still do lookups.
        let place = PLACE.replace(SHARED);
        if place < PLACES {
            // The next owner sees these counts: see `take`.
            TAKEN.fetch_and(!(1 << place), Release);
        }
    }
}

/// Allocates a place.
#[cold]
fn take() -> u32 {
    // Without a guard the thread is about to end, and nobody would return the place.
    if GUARD.try_with(|_| ()).is_err() {
        return SHARED;
    }
    // Sets the lowest zero bit. (`fetch_update` is deprecated, and its successor is newer than our
    // oldest compiler.)
    let mut taken = TAKEN.load(Acquire);
    let place = loop {
        if taken == u64::MAX {
            break SHARED;
        }
        match TAKEN.compare_exchange_weak(taken, taken | taken.wrapping_add(1), AcqRel, Acquire) {
            Ok(_) => break taken.trailing_ones(),
            Err(now) => taken = now,
        }
    };
    PLACE.set(place);
    place
}

/// The counters of one place, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Place {
    hits: AtomicU64,
    misses: AtomicU64,
    hit_pages: AtomicU64,
    miss_pages: AtomicU64,
    runs: AtomicU64,
}

/// The counters of all threads.
#[derive(Debug)]
pub(crate) struct Counters {
    places: Box<[Place; PLACES as usize + 1]>,
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self { places: Box::new(std::array::from_fn(|_| Place::default())) }
    }

    /// Counts a lookup, and the pages that it read.
    #[inline]
    pub(crate) fn count(&self, hit: bool, pages: u64) {
        self.at_my_place(|place, add| {
            let (lookups, read) =
                if hit { (&place.hits, &place.hit_pages) } else { (&place.misses, &place.miss_pages) };
            add(lookups, 1);
            if pages > 0 {
                add(read, pages);
            }
        });
    }

    /// Counts a large value.
    pub(crate) fn count_run(&self) {
        self.at_my_place(|place, add| add(&place.runs, 1));
    }

    /// Passes the thread's counters, and how to add to one.
    #[inline(always)]
    fn at_my_place(&self, work: impl FnOnce(&Place, fn(&AtomicU64, u64))) {
        let mut place = PLACE.get();
        if place == UNKNOWN {
            place = take();
        }
        if place < PLACES {
            work(&self.places[place as usize], |number, more| {
                number.store(number.load(Relaxed).wrapping_add(more), Relaxed);
            });
        } else {
            work(&self.places[SHARED as usize], |number, more| {
                number.fetch_add(more, Relaxed);
            });
        }
    }

    /// The sums. Concurrent lookups may or may not be included.
    pub(crate) fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        for place in self.places.iter() {
            reads.hits += place.hits.load(Relaxed);
            reads.misses += place.misses.load(Relaxed);
            reads.hit_pages += place.hit_pages.load(Relaxed);
            reads.miss_pages += place.miss_pages.load(Relaxed);
            reads.runs += place.runs.load(Relaxed);
        }
        reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn nothing_is_lost_with_more_threads_than_places() {
        let counters = Counters::new();
        let (threads, lookups) = (3 * u64::from(PLACES) / 2, 1000);
        // Twice, so that places change owners.
        for _ in 0..2 {
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for lookup in 0..lookups {
                            counters.count(lookup % 2 == 0, lookup % 3);
                        }
                        counters.count_run();
                    });
                }
            });
        }
        let reads = counters.reads();
        assert_eq!((reads.hits, reads.misses), (threads * lookups, threads * lookups));
        let pages: u64 = (0..lookups).map(|lookup| lookup % 3).sum();
        assert_eq!(reads.hit_pages + reads.miss_pages, 2 * threads * pages);
        assert_eq!(reads.runs, 2 * threads);
    }
}
