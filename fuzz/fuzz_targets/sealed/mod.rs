//! A small sealed store to forge, and what is asked of the forged one.

use std::sync::LazyLock;

use oneread_store::{Builder, Options, Sealed, verify_in};

/// A small store of several segments.
pub static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut builder = Builder::new(Options::new().seed(1).segment_pages(2)).unwrap();
    for key in 0..200u32 {
        builder.insert(&key.to_le_bytes(), &vec![7; if key % 16 == 0 { 1100 } else { 40 }]).unwrap();
    }
    builder.finish_in_memory().unwrap().0
});

/// Reads everything; only panics count.
pub fn ask(bytes: &[u8]) {
    let found = verify_in(&bytes).unwrap();
    assert!(found.damage.iter().all(|damage| !damage.to_string().is_empty()));
    if let Ok(store) = Sealed::open_in(bytes) {
        for key in 0..40u32 {
            _ = store.get(&key.to_le_bytes());
        }
        assert!(store.iter().count() <= 1 << 20);
        assert!(!format!("{:?} {:?}", store, store.stats()).is_empty());
    } else {
        assert!(!found.is_whole());
    }
}
