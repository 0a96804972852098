//! A nearly full map under long churn: its memory and its slowest insertion.
//!
//! Run it with `cargo run --release -p oneread --example bounded_memory`. It keeps a table of
//! 450,000 sessions, replaces each of them ten times, and does the same with the standard library's
//! map of the same capacity.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use oneread::hash::{Digester, Domain, Portable, reduce};
use oneread::table::BoundedMap;

/// Nearly all of a `HashMap` of 2^19 buckets, which uses at most seven eighths of them.
const SESSIONS: u64 = 450_000;
const TURNOVERS: u64 = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bounded = BoundedMap::with_capacity(SESSIONS as usize)?;
    let bytes = bounded.byte_len();
    let slowest = churn(&mut bounded, |map, old, new| {
        map.remove(&old);
        map.insert(new, new).map(drop)
    })?;
    println!("bounded: {bytes} bytes before, {} after; slowest replacement {slowest:?}", bounded.byte_len());
    println!(
        "         {} of {} in the last level, {} in the stash",
        bounded.last_level_len(),
        bounded.len(),
        bounded.stash_len()
    );

    let mut growing = HashMap::with_capacity(SESSIONS as usize);
    let room = growing.capacity();
    let slowest = churn(&mut growing, |map, old, new| {
        map.remove(&old);
        map.insert(new, new);
        Ok::<_, std::convert::Infallible>(())
    })?;
    println!(
        "std:     room for {room} before, for {} after; slowest replacement {slowest:?}",
        growing.capacity()
    );
    Ok(())
}

/// Fills a map, replaces its entries in random order, and returns the longest time of a
/// replacement.
fn churn<M, E>(
    map: &mut M,
    mut replace: impl FnMut(&mut M, u64, u64) -> Result<(), E>,
) -> Result<Duration, E> {
    // Removing an absent key does nothing.
    let mut alive: Vec<u64> = (0..SESSIONS).collect();
    alive.iter().try_for_each(|&key| replace(map, u64::MAX, key))?;
    let mut slowest = Duration::ZERO;
    for new in SESSIONS..(1 + TURNOVERS) * SESSIONS {
        let at = reduce(Portable::with_seed(1).digest(&new).word(Domain::new(0), 0), SESSIONS) as usize;
        let start = Instant::now();
        replace(map, alive[at], new)?;
        slowest = slowest.max(start.elapsed());
        alive[at] = new;
    }
    Ok(slowest)
}
