//! Tests of multiple filters, with and without counters.

use oneread::hash::{Digest, Digester};
use oneread::layout::{Counting, CountingFiltersLayout, MultipleFiltersLayout};
use oneread::plan::bloom;
use oneread::summary::{ChangeError, CountingMultiFilterSummary, LevelSet, MultiFilterSummary, Summary};
use oneread_study::hash::Ideal;

use super::{paper_counters, paper_filters};
use crate::statistics::{SIX_SIGMA, binomial_z};

fn digests(seed: u64) -> impl Iterator<Item = Digest> {
    let ideal = Ideal::with_seed(seed);
    (0u64..).map(move |key| ideal.digest(&key))
}

/// The loads of the paper's table, rounded (Table II).
const LOADS: [usize; 5] = [8848, 1088, 63, 1, 0];

fn filled<S: Summary>(summary: &mut S, seed: u64) {
    let levels = LOADS.iter().enumerate().flat_map(|(level, &load)| std::iter::repeat_n(level, load));
    for (level, digest) in levels.zip(digests(seed)) {
        summary.insert(digest, level).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "ten thousand keys")]
fn names_the_level_of_every_key_of_the_papers_table() {
    let mut summary = MultiFilterSummary::with_seed(paper_filters(), 1).unwrap();
    filled(&mut summary, 1);
    let mut keys = digests(1);
    for (level, &load) in LOADS.iter().enumerate() {
        // A failure of any key is planned for once in 2e11 tables.
        assert!(keys.by_ref().take(load).all(|digest| summary.lookup(digest) == LevelSet::up_to(level)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "a million lookups")]
fn absent_keys_are_named_as_often_as_planned() {
    let mut summary = MultiFilterSummary::with_seed(paper_filters(), 1).unwrap();
    filled(&mut summary, 2);
    let absent: u64 = 1_000_000;
    let named = digests(3).take(absent as usize).filter(|&digest| !summary.lookup(digest).is_empty()).count();
    // Given the fill of this filter, each absent key is an independent trial with probability
    // fill^7.
    let rate = summary.fill()[0].powi(7);
    assert!(binomial_z(named as u64, absent, rate).abs() < SIX_SIGMA, "{named}");
    // The mean over all fills is 0.00616. The fill's standard deviation is 0.0012 of 0.483, so the
    // rate's is below 2%: six are 12%.
    let planned = bloom::partitioned(106_000, 7, 10_000);
    assert!((rate / planned - 1.0).abs() < 0.12, "{rate} {planned}");
}

/// The trap of the paper's section VIII-B: with double hashing, a key of level 0 passes `B_1` once
/// in 80,000 times. With a word per probe the probability is fill^49. The test has fewer hashes, so
/// that it is measurable.
#[test]
#[cfg_attr(miri, ignore = "a million lookups")]
fn probes_of_a_filter_are_independent() {
    let layout = MultipleFiltersLayout::new([(1000, 1), (8_000, 12)]).unwrap();
    let mut summary = MultiFilterSummary::with_seed(layout, 1).unwrap();
    for digest in digests(5).take(500) {
        summary.insert(digest, 1).unwrap();
    }
    let (mut first, mut both, trials) = (0, 0, 4_000_000);
    for digest in digests(6).take(trials as usize) {
        let named = summary.lookup(digest);
        first += u64::from(!named.is_empty());
        both += u64::from(named.contains(1));
    }
    let fill = summary.fill();
    assert!(binomial_z(first, trials, fill[0]).abs() < SIX_SIGMA);
    // The filters share their first word, and the two places follow from it. A key that passes
    // `B_0` is therefore likelier to pass the first of twelve probes in `B_1`: at most that probe
    // is lost.
    let (least, most) = (fill[1].powi(12), fill[1].powi(11));
    assert!(
        binomial_z(both, first, least) > -SIX_SIGMA && binomial_z(both, first, most) < SIX_SIGMA,
        "{both} {first} {least}"
    );
}

#[test]
fn counts_a_key_once_where_its_probes_coincide() {
    // One place and many probes: counting each probe saturates the counter at once, counting once
    // per item does not.
    let filters = MultipleFiltersLayout::new([(1, 20), (1, 20)]).unwrap();
    let counters = [(4, Counting::EachProbe), (4, Counting::OncePerItem)];
    let layout = CountingFiltersLayout::new(filters, counters).unwrap();
    let mut summary = CountingMultiFilterSummary::with_seed(layout, 1).unwrap();
    let keys: Vec<Digest> = digests(1).take(3).collect();
    for &key in &keys {
        summary.insert(key, 1).unwrap();
    }
    assert_eq!(summary.largest_counters(), [15, 3]);
    for &key in &keys {
        summary.remove(key, 1).unwrap();
    }
    // The first filter is saturated and passes every key; the second is empty again.
    assert_eq!((summary.largest_counters(), summary.stuck()), (vec![15, 0], vec![1, 0]));
    assert_eq!(summary.lookup(keys[0]), LevelSet::up_to(0));
}

#[test]
#[cfg_attr(miri, ignore = "ten thousand keys")]
fn counters_of_the_paper_come_back_to_zero() {
    let mut summary = CountingMultiFilterSummary::with_seed(paper_counters(), 1).unwrap();
    filled(&mut summary, 4);
    assert!(summary.stuck().iter().sum::<u64>() == 0, "a counter reaches 15 about once in 1e4 tables");
    let levels = LOADS.iter().enumerate().flat_map(|(level, &load)| std::iter::repeat_n(level, load));
    for (level, digest) in levels.zip(digests(4)) {
        assert_eq!(summary.lookup(digest), LevelSet::up_to(level));
        summary.remove(digest, level).unwrap();
    }
    assert_eq!(summary.largest_counters(), [0; 5]);
}

#[test]
fn removing_what_is_not_there_changes_nothing() {
    let mut summary = CountingMultiFilterSummary::with_seed(paper_counters(), 1).unwrap();
    let [one, other] = [0, 1].map(|key| digests(1).nth(key).unwrap());
    summary.insert(one, 1).unwrap();
    assert_eq!(summary.remove(other, 0), Err(ChangeError::NotPresent));
    assert_eq!(summary.remove(one, 2), Err(ChangeError::NotPresent), "it is not that deep");
    assert_eq!(summary.relocate(one, 2, 1), Err(ChangeError::NotPresent));
    assert_eq!(summary.remove(one, 7), Err(ChangeError::Level { levels: 5, found: 7 }));
    assert_eq!(summary.lookup(one), LevelSet::up_to(1));
    summary.relocate(one, 1, 3).unwrap();
    assert_eq!(summary.lookup(one), LevelSet::up_to(3));
    summary.remove(one, 3).unwrap();
    assert_eq!(summary.largest_counters(), [0; 5]);
}
