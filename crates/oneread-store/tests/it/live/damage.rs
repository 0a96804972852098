//! Every byte flipped, every file cut.

use oneread_store::Store;

use super::disk::Simulated;
use super::{Model, PATH, contents, create, open, random_batch, small};
use crate::random;

/// A store with a few segments, large values, and changes in both logs; and all its earlier states.
fn store() -> (Simulated, Vec<Model>) {
    let disk = Simulated::default();
    let store = create(disk.arc(), small()).unwrap();
    let (mut model, mut random) = (Model::new(), random(21));
    let mut models = vec![model.clone()];
    for number in 1.. {
        store.batch(&mut random_batch(&mut random, 60, number, &mut model)).unwrap();
        models.push(model.clone());
        let stats = store.stats().unwrap();
        if number >= 40 && stats.buffered > 10 && stats.segments > 1 {
            break;
        }
        assert!(number < 300, "{stats:?}");
    }
    store.close().unwrap();
    (disk, models)
}

/// Opens a damaged store and checks it; returns whether the damage was noticed.
fn ask(disk: &Simulated, models: &[Model], file: &str, what: &str) -> bool {
    let model = models.last().unwrap();
    let store = match open(disk.arc(), small()) {
        Ok(store) => store,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if file.contains("log") {
                // Lost changes may have been merged in part, but no key has a value that it never
                // had.
                let store = open(disk.arc(), small().lose_damaged_log(true)).unwrap();
                let found = contents(&store);
                let had = |key, value| models.iter().any(|model| model.get(key) == Some(value));
                assert!(found.iter().all(|(key, value)| had(key, value)), "{what}: a value that never was");
                assert!(store.verify().unwrap().is_whole());
                store.put(b"more", b"").unwrap();
            }
            return true;
        }
    };
    right_or_error(&store, model, what);
    let found = store.verify().unwrap();
    assert!(found.damage.iter().all(|damage| !damage.to_string().is_empty()));
    !found.is_whole()
}

/// Checks that each key has its value or an error, and that few have errors.
fn right_or_error(store: &Store, model: &Model, what: &str) {
    let mut errors = 0;
    for (key, value) in model {
        match store.get(key) {
            Ok(found) => assert!(found.as_ref() == Some(value), "{what}: a wrong value"),
            Err(error) => {
                assert!(error.is_damage(), "{what}: {error}");
                errors += 1;
            }
        }
    }
    // One segment at most.
    assert!(errors < model.len(), "{what}: no key can be read");
}

fn flip(step: usize) {
    let (disk, models) = store();
    let mut unnoticed = 0;
    let mut tried = 0;
    for name in disk.names() {
        let name = name.to_str().unwrap().to_owned();
        let bytes = disk.bytes(&name).unwrap();
        for at in (0..bytes.len()).step_by(step) {
            let copy = disk.copy();
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            copy.set_bytes(&name, flipped);
            tried += 1;
            if !ask(&copy, &models, &name, &format!("{name}, byte {at}")) {
                // Only in unused bytes: free slots, and behind the end of a log or of a large
                // value.
                assert!(name == PATH || name.contains("log"), "{name}, byte {at}");
                unnoticed += 1;
            }
        }
    }
    assert!(unnoticed < tried, "{unnoticed} of {tried}");
    println!("{unnoticed} of {tried} flips were where nothing is");
}

fn cut(step: usize) {
    let (disk, models) = store();
    for name in disk.names() {
        let name = name.to_str().unwrap().to_owned();
        let bytes = disk.bytes(&name).unwrap();
        for length in (0..bytes.len()).step_by(step) {
            let copy = disk.copy();
            copy.set_bytes(&name, bytes[..length].to_vec());
            let what = format!("{name} cut to {length}");
            // Cutting the main file may remove all segments, and then no key may be readable.
            if name == PATH {
                let Ok(store) = open(copy.arc(), small()) else { continue };
                for (key, value) in models.last().unwrap() {
                    assert!(
                        store.get(key).map_or(true, |found| found.as_ref() == Some(value)),
                        "{what}: a wrong value"
                    );
                }
                drop(store);
                continue;
            }
            ask(&copy, &models, &name, &what);
        }
    }
}

#[test]
fn a_flipped_byte_gives_an_error_or_the_right_value() {
    flip(61);
}

#[test]
#[ignore = "takes a minute: every byte"]
fn every_flipped_byte_gives_an_error_or_the_right_value() {
    flip(1);
}

#[test]
fn a_file_that_is_cut_gives_an_error_or_the_right_value() {
    cut(127);
}

#[test]
#[ignore = "takes a minute: every length"]
fn a_file_that_is_cut_anywhere_gives_an_error_or_the_right_value() {
    cut(1);
}
