//! The locks of a writable store, and the one order in which they are taken.
//!
//! A thread takes a lock only while all locks that it holds come earlier in [`Rank`], so no
//! deadlock is possible. Debug builds check this whenever a lock is taken, contended or not.
//!
//! Two more locks have no rank: the [root](super::root) and the [buffers](super::buffer). A thread
//! that holds one of them takes no other lock, except the buffer of a round: nobody writes to that
//! one, so nobody waits for it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a lock guards, in locking order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The log: held while a change is written, and while it waits for room. A thread that waits
    /// for this lock or the next one must not hold a root: versions would stay referenced, and the
    /// file would grow.
    Log,
    /// Pages and checkpoints: held during one step of a round.
    Pages,
    /// The progress of a round: held briefly.
    Round,
    /// How far logs are safe: held briefly.
    Synced,
    /// The numbers of the last step: held briefly.
    Numbers,
}

/// Creates the locks of one store. The order holds within one store, since a test's medium may open
/// another store while it serves one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locks {
    #[cfg(debug_assertions)]
    store: u64,
}

impl Locks {
    pub(super) fn new() -> Self {
        #[cfg(debug_assertions)]
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        Self {
            #[cfg(debug_assertions)]
            store: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
        }
    }

    pub(super) fn lock<T>(self, rank: Rank, value: T) -> Ranked<T> {
        Ranked { locks: self, rank, mutex: Mutex::new(value) }
    }
}

/// A mutex with a rank. It ignores poisoning: its data is consistent between any two statements, or
/// the store has failed.
#[derive(Debug)]
pub(super) struct Ranked<T> {
    locks: Locks,
    rank: Rank,
    mutex: Mutex<T>,
}

impl<T> Ranked<T> {
    pub(super) fn lock(&self) -> Guard<'_, T> {
        let held = Held::new(self.locks, self.rank);
        Guard { guard: self.mutex.lock().unwrap_or_else(PoisonError::into_inner), held }
    }
}

/// A held lock.
pub(super) struct Guard<'a, T> {
    guard: MutexGuard<'a, T>,
    held: Held,
}

impl<T> Guard<'_, T> {
    /// Releases the lock until a notification, or until `time` has passed.
    pub(super) fn wait(self, condition: &Condvar, time: Duration) -> Self {
        let Self { guard, held } = self;
        let guard = if time == Duration::MAX {
            condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
        } else {
            condition.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner).0
        };
        Self { guard, held }
    }
}

impl<T> std::ops::Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> std::ops::DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Registers that this thread holds a lock.
#[cfg(debug_assertions)]
struct Held(u64, Rank);

#[cfg(not(debug_assertions))]
struct Held;

#[cfg(not(debug_assertions))]
impl Held {
    fn new(_: Locks, _: Rank) -> Self {
        Self
    }
}

#[cfg(debug_assertions)]
thread_local! {
    /// The locks that this thread holds, in locking order.
    static HELD: std::cell::RefCell<Vec<(u64, Rank)>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(debug_assertions)]
impl Held {
    fn new(locks: Locks, rank: Rank) -> Self {
        // A thread that is about to end may drop a store.
        _ = HELD.try_with(|all| {
            let mut all = all.borrow_mut();
            let later = all.iter().find(|&&(store, held)| store == locks.store && held >= rank);
            assert!(later.is_none(), "{rank:?} is taken while {later:?} is held");
            all.push((locks.store, rank));
        });
        Self(locks.store, rank)
    }
}

#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        _ = HELD.try_with(|all| {
            let mut all = all.borrow_mut();
            if let Some(at) = all.iter().rposition(|held| *held == (self.0, self.1)) {
                all.remove(at);
            }
        });
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn locks_are_taken_in_one_order() {
        let locks = Locks::new();
        let (log, round) = (locks.lock(Rank::Log, 1), locks.lock(Rank::Round, 2));
        for _ in 0..2 {
            let (first, second) = (log.lock(), round.lock());
            assert_eq!((*first, *second), (1, 2));
        }
        let other = Locks::new().lock(Rank::Log, 3);
        let held = round.lock();
        assert_eq!(*other.lock(), 3);
        let wrong = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| *log.lock()));
        assert!(wrong.is_err(), "the log was locked during a round");
        drop(held);
        assert_eq!(*log.lock(), 1);
    }
}
