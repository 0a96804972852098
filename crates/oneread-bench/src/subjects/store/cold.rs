//! Lookups with cold caches: bytes read from disk per lookup, and throughput of many lookups at
//! once.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use anyhow::Result;
use oneread_store::Sealed;

use super::contenders::{Lookups, Pairs, Way};
use super::disk::{self, PAGE};
use super::ours::Ours;
use super::{Facts, Loaded, RATIO_BAR};
use crate::measure::{Bench, Contestant, Sample, timed};
use crate::workload::random_words;

/// A measurement looks up two keys per `KEYS_A_WARMING`, and one more per `KEYS_A_WARMING` before
/// it: so few that lookups seldom share a page.
const KEYS_A_WARMING: usize = 1000;

/// Looks keys up one at a time, once in each store, and counts the pages read.
pub(super) fn one_by_one(bench: &mut Bench, pairs: &Pairs, loaded: &[Loaded]) -> Result<()> {
    let warming = pairs.len() / KEYS_A_WARMING;
    let (hits, misses) = (pairs.hits(2 * warming, 11), pairs.misses(2 * warming, 12));
    // Other keys than the measured ones.
    let (warming_hits, warming_misses) = (pairs.hits(warming, 13), pairs.misses(warming, 14));
    for (workload, peer, warming, lookups) in [
        ("hit, cold, once each", "heed (LMDB)", warming_hits, hits),
        ("miss, cold, once each", "fjall", warming_misses, misses),
    ] {
        if !bench.wants(workload) {
            continue;
        }
        let mut contestants = Vec::new();
        for store in loaded {
            for &way in store.contender.ways() {
                let (sample, facts) = once(store, way, &warming, &lookups)?;
                contestants.push(Contestant::new(store.name(way), move || sample).with_facts(facts));
            }
        }
        bench.contest(workload, peer, contestants);
    }
    Ok(())
}

/// Opens a store with nothing cached, warms it with a few lookups, then counts and times the
/// others.
fn once(store: &Loaded, way: Way, warming: &Lookups, lookups: &Lookups) -> Result<(Sample, Facts)> {
    disk::forget(store.folder.path())?;
    let nothing = disk::bytes_read();
    let opened = store.contender.open(store.folder.path(), way)?;
    let name = store.name(way);
    // Inner nodes and indexes are cached in any store that is in use.
    warming.run(&name, opened.as_ref());
    let warm = disk::bytes_read();
    let sample = timed(|| {
        lookups.run(&name, opened.as_ref());
        lookups.keys.len() as u64
    });
    let mut facts = Facts::new();
    if let (Some(nothing), Some(warm), Some(all)) = (nothing, warm, disk::bytes_read()) {
        facts.insert("read before", (warm - nothing) as f64 / store.disk_bytes as f64);
        facts.insert("pages read", (all - warm) as f64 / (PAGE as f64 * lookups.keys.len() as f64));
    }
    Ok((sample, facts))
}

/// Many lookups at once in our store, beside as many reads of its file at random places.
pub(super) fn many(bench: &mut Bench, pairs: &Pairs, folder: &Path) -> Result<()> {
    let workload = "hit, cold, 32 in flight";
    if !bench.wants(workload) {
        return Ok(());
    }
    const RAW: &str = "the raw disk: 4 KiB reads";
    /// The smallest share of the disk's rate that is accepted.
    const BAR: f64 = 0.7;
    // One lookup per ten pages, but at least enough to time.
    let lookups = pairs.hits((pairs.len() / 250).max(5_000), 15);
    let store = Sealed::open(Ours::file(folder))?;
    let file = File::open(Ours::file(folder))?;
    let (store, file, lookups) = (&store, &file, &lookups);
    let ours = move || {
        disk::forget(folder).expect("the file can be dropped from the cache");
        let mut values = Vec::new();
        let sample = timed(|| {
            values = store.get_many(&lookups.keys);
            lookups.keys.len() as u64
        });
        lookups.check("oneread", values.into_iter().map(|value| value.expect("the store can be read")));
        sample
    };
    let raw = move || {
        disk::forget(folder).expect("the file can be dropped from the cache");
        timed(|| random_reads(file, lookups.keys.len()))
    };
    bench.contest(
        workload,
        RAW,
        vec![
            Contestant::new("oneread, get_many", ours).with_facts([(RATIO_BAR, BAR)]),
            Contestant::new(RAW, raw),
        ],
    );
    Ok(())
}

/// Reads `count` random pages of a file, 32 at a time, with the same call as a lookup.
fn random_reads(file: &File, count: usize) -> u64 {
    /// The number of reads that our store keeps in flight.
    const IN_FLIGHT: usize = 32;
    let pages = file.metadata().expect("the file is there").len() / PAGE;
    let places = random_words(count, 16);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..IN_FLIGHT {
            scope.spawn(|| {
                let mut page = [0; PAGE as usize];
                while let Some(place) = places.get(next.fetch_add(1, Relaxed)) {
                    file.read_exact_at(&mut page, place % pages * PAGE).expect("the file is there");
                    black_box(&page);
                }
            });
        }
    });
    count as u64
}
