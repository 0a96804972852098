//! How overwriting deleted items affects a summary that cannot forget (the end of section XI-A).

use oneread::hash::Digester;
use oneread::layout::MultipleFiltersLayout;
use oneread::summary::{MultiFilterSummary, Summary};
use oneread::table::MultilevelTable;
use oneread_study::summary::{LazilyDeleting, LazyStats, Rebuild};

use super::{Random, paper_filters, paper_table};
use crate::fixtures::SIX_SIGMA;

type Map = LazilyDeleting<u64, (), MultiFilterSummary>;

const ALIVE: u64 = 9090;
const ABSENT: u64 = 200_000;
const ROUNDS: u64 = 5;

fn ways() -> [Rebuild; 3] {
    [Rebuild::when_asked().at_deleted(909), Rebuild::when_asked(), Rebuild::when_asked().overwriting()]
}

/// Fills a map, then replaces random items by new ones, 909 per round. The last lookups counted are
/// those of every item. Returns the present keys and the removed ones.
fn churned(when: Rebuild, filters: MultipleFiltersLayout, rounds: u64, seed: u64) -> (Map, [Vec<u64>; 2]) {
    let table = MultilevelTable::with_seed(paper_table(), seed).unwrap();
    let summary = MultiFilterSummary::with_seed(filters, seed).unwrap();
    let mut map = LazilyDeleting::new(table, summary, when).unwrap();
    let mut keys: Vec<u64> = (0..ALIVE).collect();
    keys.iter().for_each(|&key| _ = map.insert(key, ()).unwrap());
    let (mut random, mut next, mut gone) = (Random::new(seed), ALIVE.., Vec::new());
    for _ in 0..rounds * 909 {
        let key = keys.swap_remove(random.below(keys.len() as u64) as usize);
        map.remove(&key).unwrap();
        gone.push(key);
        let new = next.next().unwrap();
        map.insert(new, ()).unwrap();
        keys.push(new);
    }
    map.reset_counts();
    assert!(keys.iter().all(|key| map.contains_key(key)));
    (map, [keys, gone])
}

/// The statistics of looking up absent keys, then removed ones.
fn looked_up(map: &mut Map, gone: &[u64]) -> [LazyStats; 2] {
    map.reset_counts();
    assert!((1 << 40..(1 << 40) + ABSENT).all(|key| !map.contains_key(&key)));
    let absent = map.stats();
    map.reset_counts();
    assert!(gone.iter().all(|key| !map.contains_key(key)));
    [absent, map.stats()]
}

/// The rate at which `B_0` (106,000 bits, 7 hash functions) names absent keys when it has `keys`
/// keys.
fn planned_rate(keys: f64) -> f64 {
    (1.0 - (-7.0 * keys / 106_000.0).exp()).powi(7)
}

#[track_caller]
fn agrees(count: u64, rate: f64) {
    let expected = rate * ABSENT as f64;
    // A Poisson count; the fill of `B_0` is within 0.3%, so its seventh power is within 2%.
    let deviation = (expected + (0.02 * expected).powi(2)).sqrt();
    let z = (count as f64 - expected) / deviation;
    assert!(z.abs() < SIX_SIGMA, "{count} counted, {expected} expected: {z} deviations");
}

#[test]
fn overwriting_pollutes_the_summary_and_rebuilds_do_not() {
    let ever = ALIVE + ROUNDS * 909;
    let mut maps = ways().map(|when| churned(when, paper_filters(), ROUNDS, 1));
    for (map, _) in &maps {
        // `B_1` of the paper's design has room to spare for it.
        assert_eq!((map.stats().measured.reads_per_hit(), map.stats().measured.wrong_levels), (1.0, 0));
    }
    let [rebuilt, marked, overwritten] = maps.each_mut().map(|(map, [_, gone])| looked_up(map, gone));
    for ([absent, once], name) in
        [(rebuilt, "rebuilt"), (marked, "only marked"), (overwritten, "overwritten")]
    {
        println!(
            "{name}: an absent key is named {:.5}, one that was there reads {:.5}, {} stale",
            absent.measured.reads_per_miss_without_occupancy(),
            once.measured.reads_per_miss(),
            absent.stale,
        );
    }

    // With a rebuild per 909 deletions the filters have what the table has, and no removed key.
    let [absent, once] = rebuilt;
    assert_eq!((absent.items, absent.deleted, absent.stale, absent.rebuilds), (ALIVE, 0, 0, ROUNDS));
    agrees(absent.measured.buckets_named_for_misses, planned_rate(ALIVE as f64));
    // The plan has 0.0014 reads per absent key: 6.5 for 4545 keys. 30 are nine deviations more.
    assert!(once.measured.reads_of_misses < 30, "{}", once.measured.reads_of_misses);

    // Without rebuilds, marked or overwritten, the filters have all keys ever inserted.
    for [absent, _] in [marked, overwritten] {
        assert_eq!((absent.items, absent.rebuilds), (ALIVE, 0));
        assert_eq!(absent.items + absent.deleted + absent.stale, ever);
        agrees(absent.measured.buckets_named_for_misses, planned_rate(ever as f64));
    }

    // Lookups skip marked items without a read, but not overwritten ones: "all future queries for x
    // will now result in false positives". Both may read level 0 on the way from level 1.
    assert_eq!((marked[0].stale, overwritten[0].stale), (0, overwritten[0].overwritten));
    assert!(overwritten[0].stale > 200);
    assert!(overwritten[1].measured.reads_of_misses >= overwritten[0].stale);

    let (map, [_, gone]) = &mut maps[2];
    map.rebuild();
    let [absent, _] = looked_up(map, gone);
    assert_eq!((absent.stale, absent.deleted), (0, 0));
    agrees(absent.measured.buckets_named_for_misses, planned_rate(ALIVE as f64));
}

/// Wrong levels, with filters sized for the average. `B_1` has 11,500 bits and 7 hash functions; it
/// takes a key at level 0 for a deeper one if all the key's bits are set.
#[test]
fn what_is_not_forgotten_makes_wrong_levels_more_common() {
    let filters = [(106_000, 7), (11_500, 7), (700, 7), (40, 7), (20, 7)];
    let filters = MultipleFiltersLayout::new(filters).unwrap();
    let wrong = ways().map(|when| {
        let (map, [keys, _]) = churned(when, filters.clone(), ROUNDS, 1);
        let at_level_0 = |&&key: &&u64| map.location(&key).is_some_and(|location| location.level == 0);
        let first: Vec<u64> = keys.iter().filter(at_level_0).copied().collect();
        let digester = *map.summary().digester();
        let is_wrong = |&&key: &&u64| map.summary().lookup(digester.digest(&key)).first() != Some(0);
        let wrong = first.iter().filter(is_wrong).count();
        // The contents of `B_1`: all deeper items, deleted or not, and those overwritten there.
        let deeper: u64 = map.level_loads()[1..].iter().sum();
        let rate = (1.0 - (-7.0 * deeper as f64 / 11_500.0).exp()).powi(7);
        println!(
            "{} of {} hits at wrong levels, {wrong} of {} at level 0; {deeper} items deeper",
            map.stats().measured.wrong_levels,
            map.stats().measured.hits,
            first.len(),
        );
        (wrong as u64, rate * first.len() as f64)
    });
    for (at, (count, expected)) in wrong.into_iter().enumerate() {
        // The fill of `B_1` is within 1%, so its seventh power is within 7%. With stale keys in
        // `B_1` the expectation is a lower bound.
        let deviation = (expected + (0.07 * expected).powi(2)).sqrt();
        let z = (count as f64 - expected) / deviation;
        assert!(z > -SIX_SIGMA && (z < SIX_SIGMA || at == 2), "{count}, {expected}: {z} deviations");
    }
    let [(rebuilt, _), (marked, _), (overwritten, _)] = wrong;
    assert!(3 * rebuilt < marked && 3 * rebuilt < overwritten, "{rebuilt}, {marked}, {overwritten}");
}
