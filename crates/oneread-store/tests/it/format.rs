//! A file of each version, forever.

use oneread_store::{Sealed, verify_in};

use super::{Pairs, store};

/// What the golden file has: keys that are numbers in decimal, the values their squares; one large value; one empty pair.
fn golden_pairs() -> Pairs {
    let mut pairs: Pairs =
        (0..200u32).map(|n| (n.to_string().into_bytes(), (n * n).to_string().into_bytes())).collect();
    pairs.push((b"large".to_vec(), (0..5000u32).map(|n| (n % 251) as u8).collect()));
    pairs.push((Vec::new(), Vec::new()));
    pairs
}

const GOLDEN: &[u8] = include_bytes!("../golden/v1.store");

#[test]
fn a_store_of_version_1_is_read() {
    assert!(verify_in(&GOLDEN).unwrap().is_whole());
    let store = Sealed::open_in(GOLDEN).unwrap();
    assert_eq!((store.len(), store.seed()), (202, 7));
    for (key, value) in golden_pairs() {
        assert_eq!(store.get(&key).unwrap(), Some(value));
    }
    assert_eq!(store.get(b"200").unwrap(), None);
}

#[test]
fn the_same_pairs_are_written_as_the_same_bytes() {
    assert!(store(&golden_pairs()) == GOLDEN, "the format or the placement has changed");
}

#[test]
#[ignore = "writes the golden file: only for a new version"]
fn write_golden() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.store"), store(&golden_pairs()))
        .unwrap();
}
