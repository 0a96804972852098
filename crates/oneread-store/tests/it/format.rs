//! Golden files: every version stays readable forever.

use oneread_store::{Sealed, verify_in};

use super::{Pairs, store};

/// The content of the golden file: decimal numbers as keys with their squares as values, one large
/// value, and one empty pair.
fn golden_pairs() -> Pairs {
    let mut pairs: Pairs =
        (0..200u32).map(|n| (n.to_string().into_bytes(), (n * n).to_string().into_bytes())).collect();
    pairs.push((b"large".to_vec(), (0..5000u32).map(|n| (n % 251) as u8).collect()));
    pairs.push((Vec::new(), Vec::new()));
    pairs
}

/// The file of version 1. `ONEREAD_BLESS=1 cargo test` writes it if it is missing, and never
/// changes an existing file.
fn golden() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1.store");
    if std::env::var_os("ONEREAD_BLESS").is_some() && !std::path::Path::new(path).exists() {
        std::fs::write(path, store(&golden_pairs())).unwrap();
    }
    std::fs::read(path).unwrap()
}

#[test]
fn a_store_of_version_1_is_read() {
    assert!(verify_in(&golden()).unwrap().is_whole());
    let store = Sealed::open_in(golden()).unwrap();
    assert_eq!((store.len(), store.seed()), (202, 7));
    for (key, value) in golden_pairs() {
        assert_eq!(store.get(&key).unwrap(), Some(value));
    }
    assert_eq!(store.get(b"200").unwrap(), None);
}

#[test]
fn the_same_pairs_are_written_as_the_same_bytes() {
    assert!(store(&golden_pairs()) == golden(), "the format or the placement has changed");
}
