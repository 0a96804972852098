//! Many lookups at once, to keep a fast disk busy.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Keys that a thread takes at a time: few, so that all threads finish together.
const STEP: usize = 8;

/// Applies `get` to each key on `threads` threads; returns the results in order.
pub(crate) fn each<K: Sync, T: Send>(keys: &[K], threads: usize, get: impl Fn(&K) -> T + Sync) -> Vec<T> {
    let threads = threads.min(keys.len().div_ceil(STEP));
    if threads <= 1 {
        return keys.iter().map(get).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let start = next.fetch_add(STEP, Relaxed);
            let Some(keys) =
                keys.get(start..keys.len().min(start.saturating_add(STEP))).filter(|keys| !keys.is_empty())
            else {
                return found;
            };
            found.push((start, keys.iter().map(&get).collect::<Vec<_>>()));
        }
    };
    let mut parts: Vec<_> = thread::scope(|scope| {
        // The calling thread works too, and does everything if no thread can be started.
        let others: Vec<_> =
            (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut parts = work();
        for other in others {
            match other.join() {
                Ok(found) => parts.extend(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    });
    parts.sort_unstable_by_key(|&(start, _)| start);
    parts.into_iter().flat_map(|(_, found)| found).collect()
}
