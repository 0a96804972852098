//! The live store against models, crashes, full disks, damage, threads and signals.

mod adopt;
mod churn;
mod counts;
mod crash;
mod damage;
mod disk;
mod forge;
mod golden;
mod hostile;
mod kill;
mod model;
mod patience;
mod replace;
mod size;
mod tail;
mod threads;
mod waits;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oneread_store::{Batch, Disk, Error, Store, StoreOptions};
use rand_pcg::Pcg64Mcg;

use crate::{below, bytes};

const PATH: &str = "live.store";

/// The expected content of a store.
type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Small limits, so that little work causes splits, checkpoints and several logs.
fn small() -> StoreOptions {
    StoreOptions::new().seed(7).buffer_bytes(6000).segment_pages(3).slack_pages(6).background(false)
}

fn open(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Store, Error> {
    Store::open_on(disk, Path::new(PATH), options)
}

fn create(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Store, Error> {
    Store::create_on(disk, Path::new(PATH), options)
}

/// The key with the number of batches.
const COUNTER: &[u8] = b"#";

/// Draws a batch of random changes, and applies it to the model. Keys are few, values have all
/// kinds of lengths.
fn random_batch(random: &mut Pcg64Mcg, keys: u64, number: u64, model: &mut Model) -> Batch {
    let mut batch = Batch::new();
    for _ in 0..below(random, 6) {
        let key = format!("key {}", below(random, keys)).into_bytes();
        if below(random, 3) == 0 {
            batch.delete(&key).unwrap();
            model.remove(&key);
        } else {
            let longest = [20, 20, 300, 300, 1000, 9000][below(random, 6) as usize];
            let length = below(random, longest) as usize;
            let value = bytes(random, length);
            batch.put(&key, &value).unwrap();
            model.insert(key, value);
        }
    }
    let number = number.to_le_bytes();
    batch.put(COUNTER, &number).unwrap();
    model.insert(COUNTER.to_vec(), number.to_vec());
    batch
}

/// All pairs of a store.
fn contents(store: &Store) -> Model {
    let mut all = Model::new();
    for pair in store.iter() {
        let (key, value) = pair.unwrap();
        assert!(all.insert(key, value).is_none(), "a key comes twice");
    }
    all
}

/// Compares a store with a model, by lookups too.
fn assert_same(store: &Store, model: &Model) {
    assert!(contents(store) == *model, "the store has other pairs");
    for (key, value) in model {
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
    }
    for number in 0..20 {
        assert_eq!(store.get(format!("foreign {number}").as_bytes()).unwrap(), None);
    }
    let found = store.verify().unwrap();
    assert!(found.is_whole(), "{:?}", found.damage);
}
