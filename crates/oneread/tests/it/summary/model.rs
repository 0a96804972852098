//! A summarized table against a `HashMap`: the same operations, the same answers, with every valid
//! pair of summary and policy.

use std::collections::HashMap;
use std::fmt::Debug;

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{
    Counting, CountingFiltersLayout, InterpolationLayout, Moves, MultilevelLayout, MultipleFiltersLayout,
    OnCrisis, SingleFilterLayout,
};
use oneread::summary::{
    ChangeError, CountingMultiFilterSummary, CountingSingleFilterSummary, InterpolationSummary,
    MultiFilterSummary, SingleFilterSummary, Summarized, Summary,
};
use oneread::table::MultilevelTable;

use super::{Random, counting_cells, halving, policies};

/// Filters so small that every kind of error is common, and counters so narrow that many saturate.
fn small_filters(levels: usize) -> MultipleFiltersLayout {
    let filters = [(150, 2), (40, 3), (20, 3), (9, 5), (5, 5)];
    MultipleFiltersLayout::new(&filters[..levels]).unwrap()
}

fn small_counters(levels: usize) -> CountingFiltersLayout {
    let (each, once) = (Counting::EachProbe, Counting::OncePerItem);
    let counters = [(3, each), (2, once), (3, each), (1, once), (2, once)];
    CountingFiltersLayout::new(small_filters(levels), &counters[..levels]).unwrap()
}

thread_local! {
    /// The saturated counters at the end of each map of a test, summed.
    static STUCK: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Applies random operations on keys below `keys`, and checks after every few that the summary
/// names the level of every key. Returns how often the map was drained, after which the next change
/// rebuilds the summary.
fn compare<D, S>(
    map: &mut Summarized<MultilevelTable<u64, u64, D>, S>,
    keys: u64,
    operations: u64,
    seed: u64,
) -> u64
where
    D: Digester<u64>,
    S: Summary<Digester = D> + Debug,
{
    let mut model: HashMap<u64, u64> = HashMap::new();
    let mut random = Random::new(seed);
    let removes = map.summary().can_remove();
    let mut drained = 0;
    for operation in 0..operations {
        let (key, value) = (random.below(keys), random.word());
        match random.below(100) {
            0..50 => match map.insert(key, value) {
                Ok(before) => assert_eq!(before, model.insert(key, value)),
                Err(full) => {
                    assert_eq!((full.key, full.value), (key, value));
                    assert!(!model.contains_key(&key) && !map.contains_key(&key));
                }
            },
            50..80 if removes => assert_eq!(map.remove(&key), Ok(model.remove(&key))),
            50..80 => assert_eq!(map.remove(&key), Err(ChangeError::InsertOnly)),
            80..85 => {
                if let Some(value) = map.get_mut(&key) {
                    *value ^= 1;
                    *model.get_mut(&key).unwrap() ^= 1;
                }
            }
            _ => assert_eq!(
                (map.get(&key), map.contains_key(&key)),
                (model.get(&key), model.contains_key(&key))
            ),
        }
        assert_eq!(map.len(), model.len());
        if operation % 256 == 255 {
            assert!((0..keys).all(|key| map.get(&key) == model.get(&key)));
            let (mut answers, all) = (Vec::new(), (0..keys).collect::<Vec<_>>());
            map.get_many(&all, |value| answers.push(value));
            assert!(all.iter().map(|key| model.get(key)).eq(answers));
            assert_eq!(map.iter().map(|(&key, &value)| (key, value)).collect::<HashMap<_, _>>(), model);
            for key in model.keys() {
                let digest = map.table().digester().digest(key);
                let level = map.table().locate(key).location.unwrap().level;
                let named = map.summary().lookup(digest);
                let in_stash = level == map.summary().level_count();
                assert!(in_stash || named.contains(level), "level {level}, named {named:?}");
            }
        }
        if operation % 700 == 699 {
            map.retain(|key, value| {
                *value ^= 1;
                key % 3 > 0
            });
            model.retain(|key, value| {
                *value ^= 1;
                key % 3 > 0
            });
        }
        // Clears the map now and then, more often where nothing is ever removed.
        if operation % 1024 == 1023 && random.below(if removes { 8 } else { 2 }) == 0 {
            if operation % 2048 == 2047 {
                map.clear();
            } else {
                drained += 1;
                // The drain also drops what it did not yield.
                assert!(map.drain().take(10).all(|(key, value)| model.get(&key) == Some(&value)));
            }
            model.clear();
        }
    }
    let measured = map.stats().measured;
    assert_eq!(measured.lookups(), measured.hits + measured.misses);
    let levels = map.summary().level_count() as u64;
    assert!(measured.reads() <= levels * measured.lookups() && measured.wrong_levels <= measured.hits);
    drained
}

/// Like [`compare`], with every summary that can follow the table.
fn compare_all<D>(layout: &MultilevelLayout, digester: &D, keys: u64, operations: u64, seed: u64)
where
    D: Digester<u64> + Clone + PartialEq + Debug,
{
    let levels = layout.level_count();
    let rebuilt = layout.on_crisis() != OnCrisis::Stash;
    macro_rules! compare_with {
        ($summary:expr) => {{
            let table = MultilevelTable::with_digester(layout.clone(), digester.clone()).unwrap();
            let mut map = Summarized::new(table, $summary.unwrap()).unwrap();
            let drained = compare(&mut map, keys, operations, seed);
            assert!(rebuilt || map.stats().rebuilds <= drained, "each change is followed by itself");
            map
        }};
    }
    let mut stuck = Vec::new();
    let filters = CountingMultiFilterSummary::with_digester(small_counters(levels), digester.clone());
    stuck.extend(compare_with!(filters).summary().stuck());
    let counter_bits = [3, 2, 1, 2, 2];
    let cells = counting_cells(90, 3, &counter_bits[..levels]);
    let cells = CountingSingleFilterSummary::with_digester(cells, digester.clone());
    stuck.extend(compare_with!(cells).summary().stuck());
    // One map may have been cleared just now, so the callers check the sum over the layouts.
    STUCK.with(|sum| sum.set(sum.get() + stuck.iter().sum::<u64>()));
    // Strings of five bits: equal ones are common.
    let strings = InterpolationLayout::new(5).unwrap();
    compare_with!(InterpolationSummary::with_digester(strings, levels, digester.clone()));
    compare_with!(InterpolationSummary::in_blocks(strings, levels, 300, digester.clone()));
    if matches!(layout.moves(), Moves::None | Moves::SecondChance) {
        compare_with!(MultiFilterSummary::with_digester(small_filters(levels), digester.clone()));
        let cells = SingleFilterLayout::new(90, 3).unwrap();
        compare_with!(SingleFilterSummary::with_digester(cells, levels, digester.clone()));
    }
}

fn operations() -> u64 {
    if cfg!(miri) { 60 } else { 6000 }
}

/// 15 policies, 5 summaries (two policies have two more), 2 numbers of keys: 79 · 2 · 6000 are
/// 950,000 operations.
#[test]
fn does_what_a_hash_map_does_with_every_summary_and_policy() {
    for (at, (_, moves)) in policies().into_iter().enumerate() {
        // 112 slots and a stash: 60 keys fit, 400 do not.
        for keys in [60, 400] {
            let layout = halving(64, 3, moves).with_stash(7).unwrap();
            compare_all(&layout, &Portable::with_seed(at as u64), keys, operations(), at as u64);
        }
    }
    assert!(STUCK.get() > 0 || cfg!(miri), "saturated counters are part of it");
}

#[test]
fn does_what_a_hash_map_does_with_several_slots_a_bucket() {
    let unrestricted = policies().into_iter().filter(|(_, moves)| moves.restriction().is_none());
    for (at, (_, moves)) in unrestricted.enumerate() {
        for slots in [2, 5] {
            let layout = MultilevelLayout::new([11, 5, 3, 2]).unwrap().with_slots(slots).unwrap();
            let layout = layout.with_moves(moves).unwrap().with_stash(3).unwrap();
            compare_all(
                &layout,
                &Portable::with_seed(at as u64),
                3 * layout.capacity(),
                operations(),
                at as u64,
            );
        }
    }
}

#[test]
fn does_what_a_hash_map_does_while_the_table_is_rebuilt() {
    for moves in [Moves::None, Moves::SecondChance] {
        let layout = halving(64, 3, moves).with_stash(2).unwrap();
        let layout = layout.with_crisis(OnCrisis::Rebuild { attempts: 3 }).unwrap();
        compare_all(&layout, &Portable::with_seed(5), 70, operations(), 5);
    }
}

/// One digest for all keys: only one bucket per level and the stash are left, and all strings are
/// equal.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Constant;

impl Digester<u64> for Constant {
    fn digest(&self, _: &u64) -> Digest {
        Digest::from_halves(1, 2)
    }
}

#[test]
fn does_what_a_hash_map_does_with_one_digest_for_all_keys() {
    for (_, moves) in policies() {
        let layout = halving(64, 4, moves).with_stash(5).unwrap();
        compare_all(&layout, &Constant, 20, operations() / 4, 1);
    }
}

#[test]
#[ignore = "some minutes: 100,000 operations with every summary and policy"]
fn does_what_a_hash_map_does_for_long() {
    for (at, (_, moves)) in policies().into_iter().enumerate() {
        let layout = halving(256, 5, moves).with_stash(20).unwrap();
        compare_all(&layout, &Portable::with_seed(at as u64), 600, 100_000, at as u64);
    }
}
