//! Keys that collide by choice: with one digest, or with the same pages. No such set may stop a
//! store.
//!
//! Only unit tests of the library can replace the digester: see
//! [`colliding`](crate::digest::colliding) for the kinds of keys.

#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../it/live/disk.rs"]
mod disk;

#[path = "../it/live/forge.rs"]
mod forge;

mod crash;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oneread::hash::Digester;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::digest::Portable;
use crate::digest::colliding::{has_other_home, is_near_crowd};
use crate::{Builder, Disk, Options, Sealed, Store, StoreOptions, verify_in};
use disk::Simulated;

/// A generator with the same output on every machine.
pub(crate) fn random(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::new(u128::from(seed) << 64 | 0xcafe_f00d_d15e_a5e5)
}

/// A number below a limit.
pub(crate) fn below(random: &mut Pcg64Mcg, limit: u64) -> u64 {
    oneread::hash::reduce(random.next_u64(), limit)
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

const PATH: &str = "hostile.store";

/// Keys of one kind: `twin `, `crowd ` or honest. Leaves out honest keys that have the crowd's
/// pages by chance, about one in 128 where there are two levels.
fn keys(kind: &str, count: u64) -> impl Iterator<Item = Vec<u8>> {
    let all = (0..count).map(move |number| format!("{kind}{number}").into_bytes());
    all.filter(|key| !key.starts_with(b"honest") || is_honest(key))
}

fn is_honest(key: &[u8]) -> bool {
    !is_near_crowd(Portable::with_seed(7).digest(key))
}

/// A value of any length, sometimes large, that identifies its key.
fn value(key: &[u8], round: u64) -> Vec<u8> {
    let sum = key.iter().fold(round, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let length = if sum.is_multiple_of(199) { 3000 } else { sum % 60 };
    let mut value = format!("{} {round}", key.escape_ascii()).into_bytes();
    value.resize(value.len() + length as usize, sum as u8);
    value
}

fn model(kinds: &[(&str, u64)]) -> Model {
    let keys = kinds.iter().flat_map(|&(kind, count)| keys(kind, count));
    keys.map(|key| (key.clone(), value(&key, 0))).collect()
}

fn build<'a>(pairs: impl Iterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>) -> Vec<u8> {
    let mut builder = Builder::new(Options::new().seed(7)).unwrap();
    pairs.for_each(|(key, value)| builder.insert(key, value).unwrap());
    builder.finish_in_memory().unwrap().0
}

/// Checks that a sealed store has all pairs of a model, is undamaged, and reads one page for each
/// key that does not collide.
fn assert_sealed(bytes: &[u8], model: &Model, most_overflow: u64) {
    let found = verify_in(&bytes).unwrap();
    assert!(found.is_whole(), "{:?}", found.damage);
    let store = Sealed::open_in(bytes).unwrap();
    assert_eq!((store.len(), found.items), (model.len() as u64, model.len() as u64));
    let pairs: Model = store.iter().map(Result::unwrap).collect();
    assert!(pairs == *model);
    let stats = store.stats();
    assert!((1..=most_overflow).contains(&stats.overflow_items), "{stats:?}");
    // Collisions do not cost level pages: at most three times what the records need.
    assert!(stats.levels.iter().map(|level| level.pages).sum::<u64>() <= 3 * stats.overflow_pages + 100);
    for collide in [false, true] {
        let before = store.reads();
        let hits = model
            .iter()
            .filter(|(key, _)| (key.starts_with(b"twin") || key.starts_with(b"crowd")) == collide);
        let mut count = 0;
        for (key, value) in hits {
            assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
            count += 1;
        }
        let pages = store.reads().hit_pages - before.hit_pages;
        let most = if collide { u64::from(64 - stats.overflow_pages.leading_zeros()) + 3 } else { 1 };
        assert!(pages <= most * count, "{pages} pages read for {count} hits");
    }
    for number in 0..2000 {
        assert_eq!(store.get(format!("foreign {number}").as_bytes()).unwrap(), None);
        // Shares its digest with many keys, but is absent.
        assert_eq!(store.get(format!("twin foreign {number}").as_bytes()).unwrap(), None);
    }
}

#[test]
fn a_sealed_store_takes_ten_thousand_keys_of_one_digest() {
    let model = model(&[("twin ", 10_000), ("honest ", 3000)]);
    let bytes = build(model.iter());
    assert_sealed(&bytes, &model, 10_000);
    assert_eq!(Sealed::open_in(bytes.as_slice()).unwrap().stats().overflow_items, 10_000);
    // The order of insertion changes nothing, nor do replaced values, except replaced large ones.
    assert!(bytes == build(model.iter().rev()), "the order of keys changes the bytes");
    let mut builder = Builder::new(Options::new().seed(7)).unwrap();
    model.keys().for_each(|key| builder.insert(key, b"replaced").unwrap());
    model.iter().rev().for_each(|(key, value)| builder.insert(key, value).unwrap());
    let (again, report) = builder.finish_in_memory().unwrap();
    assert!(bytes == again && report.replaced == model.len() as u64);
    let mut twice = Builder::new(Options::new().duplicates(crate::Duplicates::Refuse)).unwrap();
    ["twin 1", "twin 2", "twin 1"].iter().for_each(|key| twice.insert(key.as_bytes(), b"").unwrap());
    let error = twice.finish_in_memory().unwrap_err();
    assert!(matches!(&error, crate::Error::DuplicateKey { key } if key == b"twin 1"), "{error}");
}

#[test]
fn a_sealed_store_takes_ten_thousand_keys_of_the_same_pages() {
    let model = model(&[("crowd ", 10_000), ("honest ", 3000)]);
    // Three pages hold some of them.
    assert_sealed(&build(model.iter()), &model, 10_000);
}

#[test]
fn two_keys_of_one_digest_cost_no_other_key_a_read() {
    let model = model(&[("twin ", 2), ("honest ", 3000)]);
    let bytes = build(model.iter());
    assert_sealed(&bytes, &model, 2);
    let store = Sealed::open_in(bytes.as_slice()).unwrap();
    assert_eq!(store.get(b"twin 0").unwrap(), model.get(&b"twin 0"[..]).cloned());
    assert_eq!(store.reads().hit_pages, 1);
}

#[test]
fn damaged_overflow_pages_are_found_and_answer_no_key_wrongly() {
    let model = model(&[("twin ", 300), ("crowd ", 300), ("honest ", 100)]);
    let whole = build(model.iter());
    for at in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(!verify_in(&bytes).unwrap().is_whole(), "byte {at} was flipped, and nobody saw it");
        let Ok(store) = Sealed::open_in(bytes.as_slice()) else { continue };
        for (key, value) in &model {
            match store.get(key) {
                Ok(found) => assert_eq!(found.as_ref(), Some(value), "byte {at}"),
                Err(error) => assert!(error.is_damage(), "byte {at}: {error}"),
            }
        }
    }
}

/// Small limits, so that little work causes splits, checkpoints and several logs.
fn small() -> StoreOptions {
    StoreOptions::new().seed(7).buffer_bytes(6000).segment_pages(8).slack_pages(6).background(false)
}

fn create(disk: Arc<dyn Disk>, options: StoreOptions) -> Store {
    Store::create_on(disk, Path::new(PATH), options).unwrap()
}

fn open(disk: Arc<dyn Disk>, options: StoreOptions) -> Store {
    Store::open_on(disk, Path::new(PATH), options).unwrap()
}

/// Checks that the store has the pairs of the model, and that honest keys take one page read.
fn assert_live(store: &Store, model: &Model) {
    assert_pairs(store, model);
    let before = store.stats().unwrap().reads;
    let honest = model.keys().filter(|key| key.starts_with(b"honest") && is_honest(key));
    let hits = honest.map(|key| assert!(store.get(key).unwrap().is_some())).count() as u64;
    let pages = store.stats().unwrap().reads.hit_pages - before.hit_pages;
    assert!(pages <= hits, "{pages} pages read for {hits} hits");
}

fn assert_pairs(store: &Store, model: &Model) {
    let pairs: Model = store.iter().map(Result::unwrap).collect();
    assert!(pairs == *model, "{} pairs, expected {}", pairs.len(), model.len());
    let found = store.verify().unwrap();
    assert!(found.is_whole(), "{:?}", found.damage);
    let digester = Portable::with_seed(7);
    for (key, value) in model {
        let before = store.reads().hit_pages;
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value), "{}", key.escape_ascii());
        // A key that never shares its home with the crowd takes one read, or none if it is in
        // memory. A guide of these sizes has no solution with a chance below 1e-12.
        if !key.starts_with(b"twin") && has_other_home(digester.digest(key.as_slice())) {
            let pages = store.reads().hit_pages - before;
            assert!(pages <= 1, "{}: {pages} pages read", key.escape_ascii());
        }
    }
    for number in 0..500 {
        assert_eq!(store.get(format!("twin foreign {number}").as_bytes()).unwrap(), None);
    }
}

/// Puts, reopens, updates, deletes, backs up, and opens the copy as a live store.
fn live_takes(kind: &str, count: u64, options: StoreOptions) {
    let disk = Simulated::default();
    let store = create(disk.arc(), options.clone());
    let mut model = Model::new();
    let put = |store: &Store, model: &mut Model, key: Vec<u8>, round: u64| {
        let value = value(&key, round);
        store.put(&key, &value).unwrap();
        model.insert(key, value);
    };
    for (number, key) in keys(kind, count).enumerate() {
        put(&store, &mut model, key, 0);
        let honest = format!("honest {number}").into_bytes();
        if number % 4 == 0 && is_honest(&honest) {
            put(&store, &mut model, honest, 0);
        }
    }
    assert_live(&store, &model);
    store.checkpoint().unwrap();
    assert_live(&store, &model);
    store.close().unwrap();
    let store = open(disk.arc(), options.clone());
    assert_live(&store, &model);
    let full = store.stats().unwrap();
    assert!(full.overflow_pages > 1, "{full:?}");

    keys(kind, count).step_by(3).for_each(|key| put(&store, &mut model, key, 1));
    assert_live(&store, &model);
    // As if the process had been killed here.
    let killed = disk.killed();
    assert_live(&open(killed.arc(), options.clone()), &model);

    // A copy is a sealed store with overflow pages, and can become live.
    store.backup("copy.store").unwrap();
    assert_sealed(&disk.bytes("copy.store").unwrap(), &model, count);
    let elsewhere = Simulated::default();
    elsewhere.set_bytes("copy.store", disk.bytes("copy.store").unwrap());
    let open_copy = || Store::open_on(elsewhere.arc(), "copy.store", options.clone()).unwrap();
    let copy = open_copy();
    assert_live(&copy, &model);
    let mut copy_model = model.clone();
    keys(kind, count).step_by(7).for_each(|key| put(&copy, &mut copy_model, key, 2));
    copy.checkpoint().unwrap();
    assert_live(&copy, &copy_model);
    copy.close().unwrap();
    assert_live(&open_copy(), &copy_model);

    // Deletions shrink overflow, down to nothing.
    for key in keys(kind, count).skip(count as usize / 20) {
        store.delete(&key).unwrap();
        model.remove(&key);
    }
    store.checkpoint().unwrap();
    assert_live(&store, &model);
    let few = store.stats().unwrap();
    assert!(
        few.overflow_pages * 10 <= full.overflow_pages,
        "{} of {}",
        few.overflow_pages,
        full.overflow_pages
    );
    for key in keys(kind, count) {
        store.delete(&key).unwrap();
        model.remove(&key);
    }
    store.checkpoint().unwrap();
    assert_live(&store, &model);
    assert_eq!(store.stats().unwrap().overflow_pages, 0);
}

#[test]
fn a_live_store_takes_ten_thousand_keys_of_one_digest() {
    live_takes("twin ", 10_000, small());
}

#[test]
fn a_live_store_takes_ten_thousand_keys_of_the_same_pages() {
    live_takes("crowd ", 10_000, small());
}

#[test]
fn a_live_store_with_default_options_takes_keys_that_collide() {
    live_takes("twin ", 10_000, StoreOptions::new().seed(7));
    live_takes("crowd ", 10_000, StoreOptions::new().seed(7));
}

#[test]
fn forged_files_with_overflow_are_refused_or_answer() {
    forged_with_overflow(0..1_000);
}

#[test]
#[ignore = "long: about 10 s"]
fn many_forged_files_with_overflow_are_refused_or_answer() {
    forged_with_overflow(1_000..9_000);
}

fn forged_with_overflow(rounds: std::ops::Range<u64>) {
    let model = model(&[("twin ", 150), ("crowd ", 200), ("honest ", 100)]);
    let whole = build(model.iter());
    let disk = Simulated::default();
    let store = create(disk.arc(), small());
    model.iter().for_each(|(key, value)| store.put(key, value).unwrap());
    store.close().unwrap();
    let ask = |bytes: &[u8]| {
        _ = verify_in(&bytes);
        let Ok(store) = Sealed::open_in(bytes) else { return };
        model.keys().step_by(7).for_each(|key| _ = store.get(key));
        _ = (store.stats(), store.iter().take(10_000).count());
    };
    let ask_live = |disk: &Simulated| {
        let Ok(store) = Store::open_on(disk.arc(), Path::new(PATH), small()) else { return };
        model.keys().step_by(7).for_each(|key| _ = store.get(key));
        _ = (store.stats(), store.verify(), store.iter().take(10_000).count());
        for (number, key) in model.keys().enumerate().step_by(5) {
            let done = if number % 2 == 0 { store.put(key, &[7; 300]) } else { store.delete(key) };
            if done.is_err() {
                break;
            }
        }
        _ = (store.checkpoint(), store.backup("copy.store"), store.verify(), store.close());
    };
    for round in rounds {
        let mut random = random(100 + round);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ask(&forge::sealed(&whole, &mut random));
            ask_live(&forge::live(&disk, PATH, &mut random));
        }));
        assert!(done.is_ok(), "round {round}");
    }
}
