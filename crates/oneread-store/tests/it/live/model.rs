//! The live store beside a map.

use std::collections::HashMap;

use oneread_store::{Batch, Store, StoreOptions, SyncPolicy};

use crate::{below, bytes, random};

/// Applies the same operations to a store and a map, and sometimes reopens the store.
fn compare(operations: u64, keys: u64, options: &StoreOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let mut store = Store::create(&path, options.clone()).unwrap();
    let mut random = random(operations);
    let mut map: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let reopen = operations / 7;
    for number in 0..operations {
        let key = below(&mut random, keys).to_be_bytes().to_vec();
        match below(&mut random, 10) {
            0..=3 => {
                let length = match below(&mut random, 1000) {
                    0 => 1025 + below(&mut random, 9000),
                    1..50 => below(&mut random, 1024),
                    _ => below(&mut random, 100),
                };
                let value = bytes(&mut random, length as usize);
                store.put(&key, &value).unwrap();
                map.insert(key, value);
            }
            4..=5 => {
                store.delete(&key).unwrap();
                map.remove(&key);
            }
            6 => {
                let mut batch = Batch::new();
                for _ in 0..below(&mut random, 20) {
                    let key = below(&mut random, keys).to_be_bytes();
                    let value = key.repeat(3);
                    batch.put(&key, &value).unwrap();
                    map.insert(key.to_vec(), value);
                }
                store.batch(&mut batch).unwrap();
            }
            _ => assert_eq!(store.get(&key).unwrap().as_ref(), map.get(&key), "key {key:?} at {number}"),
        }
        if number % reopen == reopen - 1 {
            match below(&mut random, 3) {
                0 => {
                    store.checkpoint().unwrap();
                    drop(store);
                }
                1 => store.close().unwrap(),
                _ => drop(store),
            }
            store = Store::open(&path, options.clone()).unwrap();
            let found = store.verify().unwrap();
            assert!(found.is_whole(), "{:?}", found.damage);
            let all: HashMap<_, _> = store.iter().map(Result::unwrap).collect();
            assert!(all == map, "after opening it again");
        }
    }
    store.checkpoint().unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.items, stats.buffered), (map.len() as u64, 0));
    assert_eq!(
        stats.key_bytes + stats.value_bytes,
        map.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
    );
}

fn options() -> StoreOptions {
    StoreOptions::new().sync(SyncPolicy::Never).seed(3)
}

#[test]
fn does_what_a_map_does() {
    let small = options().buffer_bytes(20_000).segment_pages(6).slack_pages(20);
    compare(10_000, 1_000, &small.clone().background(false));
    compare(10_000, 1_000, &small);
}

#[test]
#[ignore = "takes a minute: millions of operations"]
fn does_what_a_map_does_millions_of_times() {
    compare(3_000_000, 300_000, &options().buffer_bytes(4 << 20));
    compare(1_000_000, 20_000, &options().buffer_bytes(100_000).segment_pages(16).background(false));
}
