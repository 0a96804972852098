//! Long use at the planned load: no insertion fails, nothing grows, and the plan's numbers hold.

use oneread::layout::BoundedLayout;
use oneread::plan::bounded::for_churn;
use oneread::table::BoundedMap;
use oneread::table::bounded::Region;

use crate::statistics::chernoff_most;
use crate::table::Random;

/// Fills a map to its capacity, then replaces each item `turnovers` times in random order. Panics
/// if an insertion fails.
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
    let away = located.iter().filter(|found| found.location != Some(Region::Home)).count();
    let misses: usize = (0..sample).map(|_| map.locate(&random.word()).tag_lines).sum();
    let hits: usize = located.iter().map(|found| found.tag_lines).sum();
    let [away, misses, hits] = [away, misses, hits].map(|count| count as f64 / sample as f64);
    // The plan puts 0.054 of the keys out of their lines, and the neighbour has the others. The
    // former cost a hit one or two lines more. A miss goes on for one out-tag in 255 and for keys
    // that homes only count. The bar is 1.25 lines per miss.
    assert!((0.06..0.09).contains(&away) && misses < 1.1 && hits < 1.15, "{away} {misses} {hits}");
}

#[test]
fn nothing_fails_and_nothing_grows_under_churn_at_the_nominal_load() {
    stays_as_it_is(10_000, 40);
    stays_as_it_is(100_000, 12);
}

/// The insertions into the stash, and all insertions, while items of full maps are replaced.
fn insertions_into_the_stash(items: u64, probability: f64) -> (u64, u64) {
    let layout = for_churn(items, probability).unwrap();
    let steps = (4 * items).max(2000);
    let maps = 1 + 1_000_000 / steps;
    let (mut stashed, mut insertions) = (0u64, 0u64);
    for seed in 0..maps {
        let mut map = BoundedMap::with_seed(layout, seed).unwrap();
        let mut random = Random::new(seed);
        let mut keys: Vec<u64> = (0..items).map(|_| random.word()).collect();
        keys.iter().for_each(|&key| assert_eq!(map.insert(key, ()), Ok(None)));
        for step in 0..steps + 10 * items {
            let (at, key) = (random.below(items) as usize, random.word());
            map.remove(&keys[at]).unwrap();
            let before = map.stash_len();
            assert_eq!(map.insert(key, ()), Ok(None));
            keys[at] = key;
            // Ten turnovers bring the map to the steady state that the plan describes.
            if step >= 10 * items {
                stashed += u64::from(map.stash_len() > before);
                insertions += 1;
            }
        }
    }
    (stashed, insertions)
}

fn stash_is_needed_as_seldom_as_asked(items: u64, probability: f64) {
    let (stashed, insertions) = insertions_into_the_stash(items, probability);
    // The plan agrees with churned maps to a few percent, so 10% more may be true. The false-alarm
    // probability beyond that is 1e-9.
    let most = chernoff_most(1.1 * probability * insertions as f64, 1e-9);
    assert!(
        stashed as f64 <= most,
        "{items} items at {probability}: {stashed} of {insertions}, at most {most}"
    );
}

#[test]
fn an_insertion_needs_the_stash_as_seldom_as_was_asked_for() {
    for items in [10, 100, 10_000] {
        // The stash has 32 places, of which items · probability are in use.
        for probability in [0.001, 1e-4] {
            stash_is_needed_as_seldom_as_asked(items, probability);
        }
    }
}

#[test]
#[ignore = "long: about 10 s, a million items"]
fn an_insertion_into_a_large_map_needs_the_stash_as_seldom_as_was_asked_for() {
    stash_is_needed_as_seldom_as_asked(1_000_000, 1e-5);
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
