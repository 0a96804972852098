//! Long use at the load it is made for: no insertion fails, nothing grows, and the plan's figures come out.

use oneread::layout::BoundedLayout;
use oneread::table::BoundedMap;
use oneread::table::bounded::Location;

use crate::table::Random;

/// Fills a map to its capacity and replaces each item so many times, in no order; any failed insertion is a panic.
fn churned(items: u64, turnovers: u64, seed: u64) -> (BoundedMap<u64, u64>, Vec<u64>) {
    let mut map = BoundedMap::with_seed(BoundedLayout::for_capacity(items).unwrap(), seed).unwrap();
    let mut random = Random::new(seed);
    let mut keys: Vec<u64> = (0..items).map(|_| random.word()).collect();
    keys.iter().for_each(|&key| assert_eq!(map.insert(key, !key), Ok(None)));
    let bytes = map.byte_len();
    for step in 0..turnovers * items {
        let (at, key) = (random.below(items) as usize, random.word());
        assert_eq!(map.remove(&keys[at]), Some(!keys[at]));
        assert_eq!(map.insert(key, !key), Ok(None), "step {step}");
        keys[at] = key;
    }
    assert_eq!((map.len() as u64, map.byte_len(), map.stash_len()), (items, bytes, 0));
    (map, keys)
}

fn stays_as_it_is(items: u64, turnovers: u64) {
    let (map, keys) = churned(items, turnovers, 11);
    assert!(keys.iter().all(|key| map.get(key) == Some(&!key)));
    let mut random = Random::new(99);
    let sample = 200_000.min(items) as usize;
    let located: Vec<_> = keys[..sample].iter().map(|key| map.locate(key)).collect();
    let away = located.iter().filter(|found| found.location != Some(Location::Home)).count();
    let misses: usize = (0..sample).map(|_| map.locate(&random.word()).tag_lines).sum();
    let hits: usize = located.iter().map(|found| found.tag_lines).sum();
    let [away, misses, hits] = [away, misses, hits].map(|count| count as f64 / sample as f64);
    // The keys out of their lines are the plan's .054, and those in the neighbour come to that. Each of the former costs a hit a line or two
    // more; a miss goes on for one out-tag in 255 and for what homes cannot tell. The bar is 1.25 lines a miss.
    assert!((0.06..0.09).contains(&away) && misses < 1.1 && hits < 1.15, "{away} {misses} {hits}");
}

#[test]
fn nothing_fails_and_nothing_grows_under_churn_at_the_nominal_load() {
    stays_as_it_is(10_000, 40);
    stays_as_it_is(100_000, 12);
}

#[test]
fn small_maps_never_fail_either() {
    for items in [1, 2, 10, 28, 29, 57, 58, 100, 400, 1000] {
        for seed in 0..20 {
            churned(items, 20, seed);
        }
    }
}

#[test]
#[ignore = "one minute: twenty million pairs in ten million items"]
fn nothing_fails_under_long_churn_of_ten_million() {
    stays_as_it_is(10_000_000, 2);
    stays_as_it_is(1_000_000, 40);
}
