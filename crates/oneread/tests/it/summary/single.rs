//! Tests of single filters, with and without counters.

use oneread::hash::{Digest, Digester};
use oneread::layout::SingleFilterLayout;
use oneread::plan::bloom;
use oneread::summary::{ChangeError, CountingSingleFilterSummary, LevelSet, SingleFilterSummary, Summary};
use oneread_study::hash::Ideal;

use super::{counting_cells, paper_cells};
use crate::statistics::{SIX_SIGMA, binomial_z};

fn digests(seed: u64) -> impl Iterator<Item = Digest> {
    let ideal = Ideal::with_seed(seed);
    (0u64..).map(move |key| ideal.digest(&key))
}

#[test]
#[cfg_attr(miri, ignore = "ten thousand keys")]
fn names_the_level_of_every_key_of_the_papers_table() {
    let mut summary = SingleFilterSummary::with_seed(paper_cells(), 5, 1).unwrap();
    let loads = [8848, 1088, 63, 1];
    let levels = loads.iter().enumerate().flat_map(|(level, &load)| std::iter::repeat_n(level, load));
    let keys: Vec<(usize, Digest)> = levels.zip(digests(1)).collect();
    keys.iter().for_each(|&(level, digest)| summary.insert(digest, level).unwrap());
    // The plan expects any key to fail in one of 1e9 tables.
    assert!(keys.iter().all(|&(level, digest)| summary.lookup(digest) == LevelSet::up_to(level)));

    // A false positive is 15 cells above 0, each in its own band: (1 − (1 − k/m)^n)^k = 0.00632.
    // Between tables it varies with the fills of 15 bands, each with a standard deviation of 0.0045
    // of 0.71: at most 15·0.0045/0.71/√15 = 2.5%.
    let absent: u64 = 1_000_000;
    let named = digests(2).take(absent as usize).filter(|&digest| !summary.lookup(digest).is_empty()).count();
    let planned = bloom::partitioned(120_000, 15, 10_000);
    assert!((planned - 0.00632).abs() < 1e-5);
    assert!((named as f64 / absent as f64 / planned - 1.0).abs() < SIX_SIGMA * 0.025, "{named}");
}

/// Few cells, so that errors are common: a key of level 0 is named at level 1 as often as the
/// formula predicts.
#[test]
#[cfg_attr(miri, ignore = "many tables")]
fn keys_are_taken_for_deeper_ones_as_often_as_planned() {
    let layout = SingleFilterLayout::new(600, 3).unwrap();
    let (mut wrong, mut trials, tables) = (0, 0, 2000);
    for table in 0..tables {
        let mut summary = SingleFilterSummary::with_seed(layout, 5, 1).unwrap();
        let keys: Vec<Digest> = digests(table).take(150).collect();
        for (at, &digest) in keys.iter().enumerate() {
            summary.insert(digest, usize::from(at >= 50)).unwrap();
        }
        wrong +=
            keys[..50].iter().filter(|&&digest| summary.lookup(digest).first() == Some(1)).count() as u64;
        trials += 50;
    }
    // 100 keys are deeper: (1 − (1 − 1/200)^100)^3. Keys of one table share its fill, which varies
    // by about 4% of 0.394 in each of three bands. This adds a variance between tables of
    // (p·3·0.04)² / 3, as much as 1 in (p·0.07)² tables' keys would have.
    let planned = bloom::partitioned(600, 3, 100);
    let between = planned * 0.07 / f64::from(tables as u32).sqrt();
    let within = (planned * (1.0 - planned) / trials as f64).sqrt();
    let deviation = (wrong as f64 / trials as f64 - planned) / (between.powi(2) + within.powi(2)).sqrt();
    assert!(deviation.abs() < SIX_SIGMA, "{deviation}");
    assert!(binomial_z(wrong, trials, planned).abs() < 2.0 * SIX_SIGMA);
}

#[test]
fn counters_of_cells_come_back_to_zero_and_stick() {
    let mut summary = CountingSingleFilterSummary::with_seed(counting_cells(2000, 5, &[4, 3, 2]), 1).unwrap();
    let keys: Vec<Digest> = digests(1).take(30).collect();
    keys.iter().enumerate().for_each(|(at, &digest)| summary.insert(digest, at % 3).unwrap());
    assert_eq!(summary.remove(keys[0], 1), Err(ChangeError::NotPresent));
    assert_eq!(summary.remove(keys[0], 3), Err(ChangeError::Level { levels: 3, found: 3 }));
    assert_eq!(summary.relocate(keys[0], 1, 0), Err(ChangeError::NotPresent));
    for (at, &digest) in keys.iter().enumerate() {
        assert!(summary.lookup(digest).contains(at % 3));
        summary.remove(digest, at % 3).unwrap();
    }
    assert!(keys.iter().all(|&digest| summary.lookup(digest).is_empty()));

    // A counter of one bit saturates at the first key.
    let mut narrow = CountingSingleFilterSummary::with_seed(counting_cells(2000, 5, &[1]), 1).unwrap();
    narrow.insert(keys[0], 0).unwrap();
    narrow.remove(keys[0], 0).unwrap();
    assert_eq!((narrow.lookup(keys[0]), narrow.stuck()), (LevelSet::up_to(0), vec![5]));
}
