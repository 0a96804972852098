//! Lists in place of the deepest filters: exact, planned, and still correct when full.

use oneread::hash::{Digest, Digester};
use oneread::layout::{
    Counting, CountingFiltersLayout, LayoutError, ListLayout, MultipleFiltersLayout, Quantity,
};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{
    ChangeError, CountingMultiFilterSummary, LevelSet, MultiFilterSummary, Summarized, Summary,
};
use oneread::table::MultilevelTable;
use oneread_study::hash::Ideal;

use super::{paper_filters, paper_table};
use crate::statistics::{SIX_SIGMA, binomial_z};

fn digests(seed: u64) -> impl Iterator<Item = Digest> {
    let ideal = Ideal::with_seed(seed);
    (0u64..).map(move |key| ideal.digest(&key))
}

/// The paper's first filters, and a list for levels 3 and 4.
fn with_list(items: u64, bits: u32) -> MultipleFiltersLayout {
    let filters = MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49)]).unwrap();
    filters.with_list(ListLayout::new(2, items, bits).unwrap()).unwrap()
}

fn counting(filters: MultipleFiltersLayout) -> CountingFiltersLayout {
    let counters = vec![(4, Counting::EachProbe); filters.filters().len()];
    CountingFiltersLayout::new(filters, counters).unwrap()
}

#[test]
fn lists_that_cannot_be_are_errors() {
    assert_eq!(ListLayout::new(0, 4, 60), Err(LayoutError::Zero { what: Quantity::Levels }));
    assert_eq!(ListLayout::new(2, 0, 60), Err(LayoutError::Zero { what: Quantity::Items }));
    assert_eq!(ListLayout::new(2, 4, 0), Err(LayoutError::Zero { what: Quantity::FingerprintBits }));
    assert!(ListLayout::new(2, 1025, 60).is_err() && ListLayout::new(2, 4, 129).is_err());
    assert!(ListLayout::new(65, 4, 60).is_err());
    // Three filters and 62 levels are 65.
    let filters = MultipleFiltersLayout::new([(10, 1); 3]).unwrap();
    let error = LayoutError::TooLarge { what: Quantity::Levels, expected: 64, found: 65 };
    assert_eq!(filters.clone().with_list(ListLayout::new(62, 4, 60).unwrap()), Err(error));
    let layout = filters.with_list(ListLayout::new(61, 4, 60).unwrap()).unwrap();
    // Six bits for one of 61 levels or none: 6 + 4·66 bits, and the filters' 30.
    assert_eq!((layout.level_count(), layout.bits()), (64, 300));
    // 106 000 + 87 500 + 5500 bits, and 2 + 4·62.
    assert_eq!(with_list(4, 60).byte_len(), 199_250_u64.div_ceil(8));
    // Counters for the filters alone: 4·(106 000 + 87 500 + 5500) + 250 bits.
    assert_eq!(counting(with_list(4, 60)).byte_len(), 796_250_u64.div_ceil(8));
}

#[test]
fn a_key_is_at_the_level_of_its_entry() {
    let mut summary = MultiFilterSummary::with_seed(with_list(4, 60), 1).unwrap();
    assert_eq!(summary.level_count(), 5);
    let keys: Vec<_> = digests(1).take(6).collect();
    for (level, &key) in keys.iter().enumerate().take(5) {
        assert_eq!(summary.lookup(key), LevelSet::EMPTY);
        summary.insert(key, level).unwrap();
        assert_eq!(summary.lookup(key), LevelSet::up_to(level));
    }
    assert_eq!(summary.list_load(), (2, false), "levels 3 and 4 have one each");
    // From a filter down to the list, and within the list.
    summary.relocate(keys[1], 1, 3).unwrap();
    summary.relocate(keys[3], 3, 4).unwrap();
    assert_eq!(summary.list_load(), (3, false));
    assert_eq!([1, 3].map(|key| summary.lookup(keys[key])), [LevelSet::up_to(3), LevelSet::up_to(4)]);
    assert_eq!(summary.relocate(keys[3], 4, 3), Err(ChangeError::InsertOnly));
    assert_eq!(summary.insert(keys[5], 5), Err(ChangeError::Level { levels: 5, found: 5 }));
    summary.reset();
    assert_eq!((summary.list_load(), summary.lookup(keys[3])), ((0, false), LevelSet::EMPTY));
}

#[test]
fn a_full_list_takes_every_key_for_one_of_its_own() {
    let mut summary = MultiFilterSummary::with_seed(with_list(2, 60), 1).unwrap();
    let keys: Vec<_> = digests(1).take(10).collect();
    summary.insert(keys[0], 2).unwrap();
    for &key in &keys[1..3] {
        summary.insert(key, 4).unwrap();
    }
    assert_eq!((summary.list_load(), summary.lookup(keys[0])), ((2, false), LevelSet::up_to(2)));
    // No room at level 3: any key that passes the filters may be at that level.
    summary.insert(keys[3], 3).unwrap();
    assert_eq!(summary.list_load(), (2, true));
    assert_eq!([0, 1, 3].map(|key| summary.lookup(keys[key]).first()), [Some(3), Some(4), Some(3)]);
    assert_eq!(summary.lookup(keys[9]), LevelSet::EMPTY, "the filters still keep absent keys out");
    // The key without an entry goes deeper, and so does the spilled level.
    summary.relocate(keys[3], 3, 4).unwrap();
    assert_eq!([0, 1, 3].map(|key| summary.lookup(keys[key]).first()), [Some(4); 3]);
}

#[test]
fn keys_leave_a_counted_list_as_they_came() {
    let mut summary = CountingMultiFilterSummary::with_seed(counting(with_list(2, 60)), 1).unwrap();
    let keys: Vec<_> = digests(1).take(4).collect();
    summary.insert(keys[0], 3).unwrap();
    assert_eq!(summary.remove(keys[0], 4), Err(ChangeError::NotPresent));
    assert_eq!(summary.remove(keys[1], 3), Err(ChangeError::NotPresent));
    assert_eq!(summary.relocate(keys[0], 4, 3), Err(ChangeError::NotPresent));
    assert_eq!(summary.relocate(keys[0], 5, 3), Err(ChangeError::Level { levels: 5, found: 5 }));
    summary.relocate(keys[0], 3, 1).unwrap();
    assert_eq!((summary.lookup(keys[0]), summary.list_load()), (LevelSet::up_to(1), (0, false)));
    summary.relocate(keys[0], 1, 4).unwrap();
    assert_eq!((summary.lookup(keys[0]), summary.list_load()), (LevelSet::up_to(4), (1, false)));
    summary.remove(keys[0], 4).unwrap();
    assert_eq!((summary.lookup(keys[0]), summary.list_load()), (LevelSet::EMPTY, (0, false)));
    assert_eq!(summary.largest_counters(), [0; 3]);
    // A key without an entry can be removed too, but the spilled level stays.
    for &key in &keys[..3] {
        summary.insert(key, 3).unwrap();
    }
    for &key in &keys[..3] {
        assert_eq!(summary.lookup(key), LevelSet::up_to(3));
        summary.remove(key, 3).unwrap();
    }
    assert_eq!((summary.list_load(), summary.largest_counters()), ((0, true), vec![0; 3]));
    summary.insert(keys[3], 0).unwrap();
    assert!(summary.lookup(keys[3]).contains(0));
    summary.reset();
    assert_eq!(summary.list_load(), (0, false));
}

/// Strings of two bits, so that errors are common: a list of s keys names an absent key with
/// probability 1 − (3/4)^s.
#[test]
#[cfg_attr(miri, ignore = "100 000 lookups")]
fn strings_are_mistaken_as_often_as_planned() {
    let list = ListLayout::new(1, 6, 2).unwrap();
    let layout = MultipleFiltersLayout::new([(1, 1)]).unwrap().with_list(list).unwrap();
    let (lists, lookups) = (1000, 100);
    let mut mistakes = 0;
    for seed in 0..lists {
        let mut summary = MultiFilterSummary::with_seed(layout.clone(), 1).unwrap();
        let mut keys = digests(seed);
        keys.by_ref().take(6).for_each(|key| summary.insert(key, 1).unwrap());
        mistakes += keys.take(lookups).filter(|&key| summary.lookup(key).contains(1)).count();
    }
    // Lookups of one list are not independent: the number of the four strings that it has varies.
    // With N of them missing, E[N] = 4·(3/4)^6 and E[N(N − 1)] = 12·(1/2)^6, so N/4 has a variance
    // of 0.0245, a lookup one of 0.1463, and two lookups of a list a correlation of 0.168. A
    // hundred count as much as 100/(1 + 99·0.168) independent ones: each as 1/17.6.
    const DESIGN_EFFECT: u64 = 18;
    let planned = 1.0 - 0.75f64.powi(6);
    let (found, trials) = (mistakes as u64 / DESIGN_EFFECT, lists * lookups as u64 / DESIGN_EFFECT);
    assert!(binomial_z(found, trials, planned).abs() < SIX_SIGMA, "{mistakes}, planned {planned}");
}

#[test]
fn odds_of_a_list_are_those_of_its_strings_and_its_room() {
    let plan = |layout: MultipleFiltersLayout| SummaryPlan::new(&paper_table(), 10_000, &layout.into());
    // A level too few.
    let short = MultipleFiltersLayout::new([(106_000, 7), (87_500, 49)]).unwrap();
    let short = short.with_list(ListLayout::new(2, 4, 60).unwrap()).unwrap();
    assert_eq!(plan(short).unwrap_err(), LayoutError::FilterForEachLevel { expected: 5, found: 4 });
    let filters = plan(paper_filters()).unwrap();
    let list = plan(with_list(16, 60)).unwrap();
    // The first filters are unchanged.
    assert_eq!(list.failure_by_level()[..2], filters.failure_by_level()[..2]);
    assert_eq!(list.false_positive(), filters.false_positive());
    // E[L_2·S_3]·2^-60: slightly more than 63.45·0.40609 keys, since both are correlated (Table II
    // of the paper, exact).
    let share = list.failure_by_level()[2] * 60f64.exp2() / (63.4510 * 0.40609);
    assert!((0.9..1.2).contains(&share), "{share}");
    // Room for one key: the list fails if two keys come this deep. With a Poisson S_3 of mean
    // 0.40609 these are 6.31e-2 of all tables, and then all 63 keys of level 2 fail.
    let tight = plan(with_list(1, 60)).unwrap();
    let expected = 63.4510 * (1.0 - (-0.40609f64).exp() * 1.40609);
    let found = tight.failure_by_level()[2];
    assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
    // Sixteen are never full: Poisson gives 4e-22.
    assert!(list.failure_by_level()[2] < 1e-15);
    assert!(tight.extra_reads_per_hit() > list.extra_reads_per_hit());
    assert!(list.byte_len() < filters.byte_len() + 60);
}

#[test]
#[cfg_attr(miri, ignore = "ten thousand keys")]
fn a_table_with_a_list_reads_one_bucket_a_hit() {
    let table = MultilevelTable::with_seed(paper_table(), 1).unwrap();
    let summary = MultiFilterSummary::with_seed(with_list(16, 60), 1).unwrap();
    let mut map = Summarized::new(table, summary).unwrap();
    for key in 0..10_000u64 {
        map.insert(key, key).unwrap();
    }
    assert!((0..10_000).all(|key| map.get(&key) == Some(&key)));
    assert!((10_000..20_000).all(|key| map.get(&key).is_none()));
    assert_eq!(map.stats().measured.reads_per_hit(), 1.0, "planned to fail once in 2e11 tables");
}

/// A list for most levels, with little room: after random changes every key's level is in the
/// answer.
#[test]
fn small_lists_keep_every_level() {
    let layout = MultipleFiltersLayout::new([(200, 3)]).unwrap();
    for (items, bits) in [(1, 1), (3, 2), (8, 70), (40, 128)] {
        let layout = layout.clone().with_list(ListLayout::new(3, items, bits).unwrap()).unwrap();
        let mut summary = CountingMultiFilterSummary::with_seed(counting(layout), 1).unwrap();
        let mut random = crate::table::Random::new(items);
        let keys: Vec<_> = digests(2).take(30).collect();
        let mut levels = [None; 30];
        for _ in 0..if cfg!(miri) { 60 } else { 3000 } {
            let (key, level) = (random.below(30) as usize, random.below(4) as usize);
            match levels[key] {
                None => {
                    summary.insert(keys[key], level).unwrap();
                    levels[key] = Some(level);
                }
                Some(from) if random.below(2) == 0 => {
                    summary.relocate(keys[key], from, level).unwrap();
                    levels[key] = Some(level);
                }
                Some(from) => {
                    summary.remove(keys[key], from).unwrap();
                    levels[key] = None;
                }
            }
            for (key, level) in keys.iter().zip(levels) {
                assert!(level.is_none_or(|level| summary.lookup(*key).contains(level)), "{items} {bits}");
            }
        }
    }
}
