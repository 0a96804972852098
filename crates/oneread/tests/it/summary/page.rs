//! Strings by buckets.

use oneread::hash::{Digest, Digester};
use oneread::layout::{MultilevelLayout, PageLayout};
use oneread::summary::{ChangeError, LevelSet, PageSummary, Summary};
use oneread_study::hash::Ideal;

use crate::statistics::{SIX_SIGMA, binomial_z};

fn digest(key: u64) -> Digest {
    Ideal::with_seed(1).digest(&key)
}

#[test]
fn a_bucket_has_as_many_strings_as_slots() {
    let table = MultilevelLayout::new([1, 1]).unwrap().with_slots(2).unwrap();
    let mut summary = PageSummary::with_seed(PageLayout::new(16).unwrap(), &table, 1).unwrap();
    assert_eq!(summary.remove(digest(1), 0), Err(ChangeError::NotPresent));
    summary.insert(digest(1), 0).unwrap();
    summary.insert(digest(2), 0).unwrap();
    assert_eq!(summary.insert(digest(3), 0), Err(ChangeError::BucketFull));
    assert_eq!(summary.insert(digest(3), 2), Err(ChangeError::Level { levels: 2, found: 2 }));
    summary.insert(digest(3), 1).unwrap();
    summary.insert(digest(4), 1).unwrap();
    assert_eq!(summary.relocate(digest(3), 1, 0), Err(ChangeError::BucketFull));
    assert_eq!(summary.lookup(digest(3)), LevelSet::shallowest_first([1]), "nothing was changed");
    summary.remove(digest(1), 0).unwrap();
    summary.relocate(digest(3), 1, 0).unwrap();
    assert_eq!(summary.lookup(digest(3)), LevelSet::shallowest_first([0]));
    assert_eq!(summary.lookup(digest(1)), LevelSet::EMPTY);
}

#[test]
fn equal_strings_of_a_bucket_are_counted() {
    // One bit has one string: all keys have it.
    let table = MultilevelLayout::new([1]).unwrap().with_slots(3).unwrap();
    let mut summary = PageSummary::with_seed(PageLayout::new(1).unwrap(), &table, 1).unwrap();
    summary.insert(digest(1), 0).unwrap();
    summary.insert(digest(2), 0).unwrap();
    summary.remove(digest(1), 0).unwrap();
    assert!(summary.lookup(digest(2)).contains(0));
    summary.remove(digest(2), 0).unwrap();
    assert!(summary.lookup(digest(2)).is_empty());
}

#[test]
#[cfg_attr(miri, ignore = "a million lookups")]
fn absent_keys_are_named_as_often_as_their_buckets_have_their_string() {
    // 1000 buckets of four slots, two of them used: two of 255 strings.
    let table = MultilevelLayout::new([1000]).unwrap().with_slots(4).unwrap();
    let mut summary = PageSummary::with_seed(PageLayout::new(8).unwrap(), &table, 1).unwrap();
    let inserted = (0..2000).filter(|&key| summary.insert(digest(key), 0).is_ok()).count();
    let trials = 1_000_000;
    let named = (5000..5000 + trials).filter(|&key| !summary.lookup(digest(key)).is_empty()).count();
    // A key's bucket has inserted/1000 strings on average; few are equal: 1 − (254/255)^s is s/255 to within s/510.
    let expected = inserted as f64 / 1000.0 / 255.0;
    let z = binomial_z(named as u64, trials, expected);
    // Equal strings lower it by half a percent or so, that is .4 standard deviations.
    assert!(z.abs() < SIX_SIGMA, "{named} {z}");
}
