//! Growth and churn: reads, memory and disk afterwards.

use oneread_store::{Store, StoreOptions, SyncPolicy};

use crate::{below, bytes, random};

const KEYS: u64 = 60_000;

fn key(number: u64) -> [u8; 16] {
    bytes(&mut random(number), 16).try_into().unwrap()
}

/// Pages read per hit and per miss.
fn reads(store: &Store, alive: std::ops::Range<u64>) -> (f64, f64) {
    let before = store.reads();
    for number in alive.clone() {
        assert!(store.contains(&key(number)).unwrap(), "key {number}");
    }
    for number in 0..3 * KEYS {
        assert!(!store.contains(&key(1 << 40 | number)).unwrap());
    }
    let after = store.reads();
    let hits = (after.hit_pages - before.hit_pages) as f64 / (alive.end - alive.start) as f64;
    (hits, (after.miss_pages - before.miss_pages) as f64 / (3 * KEYS) as f64)
}

#[test]
fn churn_leaves_one_read_a_hit_and_full_pages() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().sync(SyncPolicy::Never).seed(5).buffer_bytes(1 << 20).background(false);
    let store = Store::create(folder.path().join("a.store"), options).unwrap();
    let mut random = random(1);
    let (mut gone, mut next) = (0, 0);
    let check = |what: &str, alive: std::ops::Range<u64>| {
        store.checkpoint().unwrap();
        let (stats, (hit, miss)) = (store.stats().unwrap(), reads(&store, alive.clone()));
        assert_eq!(stats.items, alive.end - alive.start);
        // 180,000 lookups at a rate of 0.01 have a standard deviation of 0.0002. The bounds are the
        // documented ones.
        assert!(hit <= 1.02 && miss <= 0.012, "{what}: {hit} reads per hit, {miss} a miss");
        assert!(stats.ram_bytes_per_key <= 1.8, "{what}: {} bytes per key", stats.ram_bytes_per_key);
        let raw = (stats.key_bytes + stats.value_bytes) as f64;
        // Counts pages that wait for a checkpoint, but not logs, which do not grow with the store.
        let disk = stats.used_bytes as f64 / raw;
        assert!(disk <= 1.4, "{what}: {disk} times its keys and values");
    };
    while next < KEYS {
        store.put(&key(next), &bytes(&mut random, 100)).unwrap();
        next += 1;
    }
    check("grown", gone..next);
    for step in 0..3 * KEYS {
        match step % 3 {
            0 => {
                let number = gone + below(&mut random, next - gone);
                store.put(&key(number), &bytes(&mut random, 100)).unwrap();
            }
            1 => {
                store.delete(&key(gone)).unwrap();
                gone += 1;
            }
            _ => {
                store.put(&key(next), &bytes(&mut random, 100)).unwrap();
                next += 1;
            }
        }
    }
    check("churned", gone..next);
    assert!(store.verify().unwrap().is_whole());
    // Pages freed by deletions are reused.
    let most = store.stats().unwrap().disk_bytes;
    for number in gone..next {
        store.delete(&key(number)).unwrap();
    }
    store.checkpoint().unwrap();
    let stats = store.stats().unwrap();
    assert!(stats.items == 0 && stats.disk_bytes <= most + most / 8, "{stats:?}");
    assert!(stats.used_bytes < most / 4, "{stats:?}");
}
