//! Golden files of live stores: every version stays readable forever.

use std::fs;
use std::path::{Path, PathBuf};

use oneread_store::{Store, StoreOptions, SyncPolicy};

use super::{Model, assert_same, small};

/// The files of a store; opening creates the lock file.
const FILES: [&str; 4] = ["live.store", "live.store.manifest", "live.store.log0", "live.store.log1"];

/// The origin of a store.
#[derive(Clone, Copy)]
enum Began {
    Empty,
    /// As the sealed store of version 1.
    Sealed,
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Changes a store: decimal numbers as keys with their squares as values. Some are deleted, some
/// get another value, some a large one. The last changes stay in the log. In a store that began as
/// a sealed one all changes stay there, so that its pages are still the sealed ones.
fn change(store: Option<&Store>, began: Began) -> Model {
    let mut model = Model::new();
    let mut set = |key: String, value: Option<Vec<u8>>| {
        if let Some(store) = store {
            match &value {
                Some(value) => store.put(key.as_bytes(), value).unwrap(),
                None => store.delete(key.as_bytes()).unwrap(),
            }
        }
        match value {
            Some(value) => _ = model.insert(key.into_bytes(), value),
            None => _ = model.remove(key.as_bytes()),
        }
    };
    let square = |n: u32| (n * n).to_string().into_bytes();
    let large = |bytes: u32| -> Vec<u8> { (0..bytes).map(|n| (n % 251) as u8).collect() };
    match began {
        Began::Empty => (0..400).for_each(|n| set(n.to_string(), Some(square(n).repeat(12)))),
        // These keys exist already; they are put again when only the model is wanted.
        Began::Sealed if store.is_none() => {
            (0..200).for_each(|n| set(n.to_string(), Some(square(n))));
            set("large".to_owned(), Some(large(5000)));
            set(String::new(), Some(Vec::new()));
        }
        Began::Sealed => {}
    }
    (0..200).step_by(5).for_each(|n| set(n.to_string(), None));
    (1..200).step_by(10).for_each(|n| set(n.to_string(), Some(large(12 * n))));
    if let (Some(store), Began::Empty) = (store, began) {
        store.checkpoint().unwrap();
    }
    (2..200).step_by(20).for_each(|n| set(n.to_string(), Some(b"in the log".to_vec())));
    (3..200).step_by(20).for_each(|n| set(n.to_string(), None));
    model
}

/// Writes the files of version 1 if they are missing (`ONEREAD_BLESS=1 cargo test`); never changes
/// existing files.
fn bless(name: &str, began: Began) {
    let folder = golden(name);
    if std::env::var_os("ONEREAD_BLESS").is_none() || folder.exists() {
        return;
    }
    let made = tempfile::tempdir().unwrap();
    let path = made.path().join("live.store");
    let store = match began {
        Began::Empty => Store::create(&path, small()).unwrap(),
        Began::Sealed => {
            fs::copy(golden("v1.store"), &path).unwrap();
            Store::open(&path, small().buffer_bytes(1 << 20)).unwrap()
        }
    };
    change(Some(&store), began);
    store.close().unwrap();
    fs::create_dir(&folder).unwrap();
    for file in files(made.path()) {
        fs::copy(made.path().join(file), folder.join(file)).unwrap();
    }
}

/// A log that was never begun has no file.
fn files(folder: &Path) -> impl Iterator<Item = &'static str> {
    FILES.into_iter().filter(move |file| folder.join(file).exists())
}

fn is_read(name: &str, began: Began) {
    bless(name, began);
    let copy = tempfile::tempdir().unwrap();
    for file in files(&golden(name)) {
        fs::copy(golden(name).join(file), copy.path().join(file)).unwrap();
    }
    let path = copy.path().join("live.store");
    let mut model = change(None, began);
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.seed(), 7);
    let stats = store.stats().unwrap();
    match began {
        Began::Empty => {
            assert!(stats.buffered > 0 && stats.segments > 1 && stats.checkpoints > 2, "{stats:?}");
        }
        Began::Sealed => assert!(stats.buffered > 50, "{stats:?}"),
    }
    assert_eq!(stats.items, model.len() as u64);
    assert_same(&store, &model);
    drop(store);

    let store = Store::open(&path, StoreOptions::new().sync(SyncPolicy::Never)).unwrap();
    for n in 0..1000u32 {
        store.put(&n.to_le_bytes(), b"new").unwrap();
        model.insert(n.to_le_bytes().to_vec(), b"new".to_vec());
    }
    store.checkpoint().unwrap();
    assert_same(&store, &model);
    drop(store);
    assert_same(&Store::open(&path, StoreOptions::new()).unwrap(), &model);
}

#[test]
fn a_live_store_of_version_1_is_read_and_goes_on() {
    is_read("live-v1", Began::Empty);
}

#[test]
fn a_sealed_store_of_version_1_that_became_live_is_read_and_goes_on() {
    is_read("adopted-v1", Began::Sealed);
}
