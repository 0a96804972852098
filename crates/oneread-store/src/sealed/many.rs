//! Many lookups at once, so that a fast disk is kept busy.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::{Error, ReadAt};

use super::Sealed;

/// Keys that a thread takes at a time: few, so that none is left with much to do at the end.
const STEP: usize = 8;

impl<R: ReadAt> Sealed<R> {
    /// The values of many keys, in their order. As many reads are under way at the same time as the medium
    /// [asks for](ReadAt::in_flight), each by a thread of its own.
    ///
    /// Threads are started for each call, which takes some ten microseconds each: worth it from a few hundred keys on that
    /// are not cached.
    ///
    /// # Example
    /// ```
    /// use oneread_store::{Builder, Options, Sealed};
    ///
    /// let mut builder = Builder::new(Options::new())?;
    /// builder.insert(b"a", b"1")?;
    /// builder.insert(b"b", b"2")?;
    /// let store = Sealed::open_in(builder.finish_in_memory()?.0)?;
    /// let values: Result<Vec<_>, _> = store.get_many(&["b", "c", "a"]).into_iter().collect();
    /// assert_eq!(values?, [Some(b"2".to_vec()), None, Some(b"1".to_vec())]);
    /// # Ok::<(), oneread_store::Error>(())
    /// ```
    pub fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        self.get_many_with(keys, self.reader.in_flight())
    }

    /// The same with so many threads.
    pub fn get_many_with<K: AsRef<[u8]> + Sync>(
        &self,
        keys: &[K],
        threads: usize,
    ) -> Vec<Result<Option<Vec<u8>>, Error>> {
        let threads = threads.min(keys.len().div_ceil(STEP));
        if threads <= 1 {
            return keys.iter().map(|key| self.get(key.as_ref())).collect();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            loop {
                let start = next.fetch_add(STEP, Relaxed);
                let Some(keys) = keys.get(start..keys.len().min(start.saturating_add(STEP))) else {
                    return found;
                };
                if keys.is_empty() {
                    return found;
                }
                found.push((start, keys.iter().map(|key| self.get(key.as_ref())).collect::<Vec<_>>()));
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
}
