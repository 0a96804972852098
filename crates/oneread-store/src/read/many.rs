//! Many lookups at once, so that a fast disk is kept busy.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Keys that a thread takes at a time: few, so that none is left with much to do at the end.
const STEP: usize = 8;

/// What a function makes of each key, in their order, by so many threads.
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
        // The calling thread works too; where no thread can be started, it does all.
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
