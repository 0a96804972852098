//! A store answers like a `HashMap`, whatever the sizes.

use oneread_store::{Sealed, verify_in};

use super::{Pairs, below, model, pairs, store};

/// Builds and opens a store, and looks up all its keys and as many absent ones.
fn agrees(what: &str, pairs: &Pairs) {
    let bytes = store(pairs);
    let verification = verify_in(&bytes).unwrap();
    assert_eq!(verification.damage, [], "{what}");
    let store = Sealed::open_in(bytes.as_slice()).unwrap();
    let model = model(pairs);
    assert_eq!(store.len(), model.len() as u64, "{what}");
    assert_eq!(verification.items, store.len(), "{what}");
    for (key, value) in &model {
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value), "{what}, key {key:?}");
        assert!(store.contains(key).unwrap(), "{what}");
        let mut absent = key.clone();
        absent.push(0);
        if absent.len() <= 1024 && !model.contains_key(&absent) {
            assert_eq!(store.get(&absent).unwrap(), None, "{what}");
        }
    }
    let all: Result<Pairs, _> = store.iter().collect();
    let all = all.unwrap();
    assert_eq!(all.len(), model.len(), "{what}");
    assert!(all.iter().all(|(key, value)| model.get(key) == Some(value)), "{what}");
    let keys: Vec<&Vec<u8>> = pairs.iter().map(|(key, _)| key).collect();
    for (key, found) in keys.iter().zip(store.get_many_with(&keys, 4)) {
        assert_eq!(found.unwrap().as_ref(), model.get(*key), "{what}");
    }
}

#[test]
fn a_store_without_pairs_has_none() {
    agrees("nothing", &Vec::new());
    let bytes = store(&Vec::new());
    let store = Sealed::open_in(bytes).unwrap();
    assert!(store.is_empty());
    assert_eq!(store.get(b"").unwrap(), None);
    assert_eq!(store.iter().count(), 0);
    assert_eq!(store.reads().miss_pages, 0);
}

#[test]
fn one_pair_may_be_empty() {
    agrees("empty", &vec![(Vec::new(), Vec::new())]);
    agrees("empty key", &vec![(Vec::new(), b"value".to_vec())]);
    agrees("empty value", &vec![(b"key".to_vec(), Vec::new())]);
}

#[test]
fn every_number_of_small_pairs_agrees() {
    for count in (0..40).chain([100, 333, 1000]) {
        agrees("small", &pairs(count, count, |_| 8, |_| 8));
    }
}

#[test]
fn ten_thousand_usual_pairs_agree() {
    agrees("usual", &pairs(10_000, 1, |_| 16, |_| 100));
}

#[test]
fn pages_full_of_tiny_pairs_agree() {
    agrees("tiny", &(0..60_000u32).map(|n| (n.to_be_bytes()[1..].to_vec(), Vec::new())).collect());
}

#[test]
fn pairs_of_mixed_sizes_agree() {
    let length = |random: &mut _| 1 << below(random, 11);
    let skewed = |random: &mut _| {
        let limit = 1 << below(random, 12);
        below(random, limit) as usize
    };
    agrees("mixed", &pairs(5_000, 2, length, skewed));
}

#[test]
fn the_largest_pairs_agree() {
    agrees("largest inline", &pairs(200, 3, |_| 1024, |_| 1024));
    agrees("smallest apart", &pairs(200, 4, |_| 1024, |_| 1025));
    agrees("around a page", &pairs(300, 5, |_| 20, |random| 4090 + below(random, 12) as usize));
    agrees("large", &pairs(20, 6, |_| 20, |random| below(random, 300_000) as usize));
}
