//! Lazy deletion against a `HashMap`: every summary and every way to rebuild, also in the middle of
//! a rebuild, and with keys that panic.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{InterpolationLayout, Moves, MultilevelLayout, OnCrisis, SingleFilterLayout};
use oneread::summary::{
    CountingMultiFilterSummary, CountingSingleFilterSummary, InterpolationSummary, MultiFilterSummary,
    SingleFilterSummary, Summary,
};
use oneread::table::MultilevelTable;
use oneread_study::summary::{LazilyDeleting, Rebuild};

use super::{Random, counting_cells, halving, small_counters, small_filters};

thread_local!(static NOW: Cell<u64> = const { Cell::new(0) });

fn clock() -> Duration {
    Duration::from_secs(NOW.get())
}

/// Four conditions, at once and in steps of several sizes, overwriting or not.
fn ways() -> Vec<Rebuild> {
    let asked = Rebuild::when_asked();
    let when =
        [asked, asked.at_deleted(9), asked.at_items(40), asked.every_by(Duration::from_secs(150), clock)];
    let steps = |when: Rebuild| [when, when.in_steps(1), when.in_steps(7), when.in_steps(1000)];
    when.into_iter().flat_map(steps).flat_map(|when| [when, when.overwriting()]).collect()
}

/// Applies random operations on keys below `keys`. Looks up all keys after every few of them,
/// independent of the steps. Returns the number of rebuilds.
fn compare<S>(
    map: &mut LazilyDeleting<u64, u64, S>,
    when: Rebuild,
    keys: u64,
    operations: u64,
    seed: u64,
) -> u64
where
    S: Summary<Digester = Portable> + Clone + Debug,
{
    let mut model = HashMap::new();
    let mut random = Random::new(seed);
    for operation in 0..operations {
        NOW.set(operation);
        let (key, value) = (random.below(keys), random.word());
        match random.below(100) {
            0..42 => match map.insert(key, value) {
                Ok(before) => assert_eq!(before, model.insert(key, value)),
                Err(full) => {
                    assert_eq!((full.key, full.value), (key, value));
                    assert!(!model.contains_key(&key) && map.get(&key).is_none());
                }
            },
            42..80 => assert_eq!(map.remove(&key), model.remove(&key)),
            80..85 => {
                if let Some(value) = map.get_mut(&key) {
                    *value ^= 1;
                    *model.get_mut(&key).unwrap() ^= 1;
                }
            }
            85 if random.below(3) == 0 => map.begin_rebuild(),
            86 => _ = map.step(random.below(60) as usize),
            87 if random.below(40) == 0 => _ = map.rebuild(),
            89 if random.below(10) == 0 => {
                map.retain(|key, _| key % 3 != value % 3);
                model.retain(|key, _| key % 3 != value % 3);
            }
            88 if random.below(200) == 0 => {
                map.clear();
                model.clear();
            }
            _ => assert_eq!(map.get(&key), model.get(&key)),
        }
        assert_eq!(map.len(), model.len(), "{when:?}");
        if operation % 64 == 63 {
            assert!((0..keys).all(|key| map.get(&key) == model.get(&key)), "{when:?}");
        }
        if operation % 512 == 511 {
            assert_eq!(map.iter().map(|(&key, &value)| (key, value)).collect::<HashMap<_, _>>(), model);
            let levels = map.summary().level_count();
            for key in model.keys() {
                let level = map.location(key).unwrap().level;
                let named = map.summary().lookup(map.summary().digester().digest(key));
                assert!(level == levels || named.contains(level), "level {level}, named {named:?}, {when:?}");
            }
        }
    }
    let stats = map.stats();
    assert_eq!((stats.items, stats.deleted), (model.len() as u64, map.deleted() as u64));
    assert!(stats.stale <= stats.overwritten && (stats.stale == 0 || !map.summary().can_remove()));
    stats.rebuilds
}

/// Like [`compare`], with every summary.
fn compare_all(layout: &MultilevelLayout, when: Rebuild, keys: u64, operations: u64, seed: u64) {
    let levels = layout.level_count();
    let digester = Portable::with_seed(seed);
    let mut rebuilds = 0;
    macro_rules! compare_with {
        ($summary:expr) => {
            let table = MultilevelTable::with_digester(layout.clone(), digester).unwrap();
            let mut map = LazilyDeleting::new(table, $summary.unwrap(), when).unwrap();
            rebuilds += compare(&mut map, when, keys, operations, seed);
        };
    }
    compare_with!(MultiFilterSummary::with_digester(small_filters(levels), digester));
    let cells = SingleFilterLayout::new(90, 3).unwrap();
    compare_with!(SingleFilterSummary::with_digester(cells, levels, digester));
    compare_with!(CountingMultiFilterSummary::with_digester(small_counters(levels), digester));
    let counter_bits = [3, 2, 1, 2, 2];
    let cells = counting_cells(90, 3, &counter_bits[..levels]);
    compare_with!(CountingSingleFilterSummary::with_digester(cells, digester));
    let strings = InterpolationLayout::new(5).unwrap();
    compare_with!(InterpolationSummary::with_digester(strings, levels, digester));
    compare_with!(InterpolationSummary::in_blocks(strings, levels, 300, digester));
    assert!(rebuilds > 0 || cfg!(miri), "{when:?}");
}

fn operations() -> u64 {
    if cfg!(miri) { 40 } else { 1500 }
}

fn layouts() -> [MultilevelLayout; 3] {
    let one_slot = halving(64, 3, Moves::None).with_stash(3).unwrap();
    let slots = MultilevelLayout::new([11, 5, 3, 2]).unwrap().with_slots(3).unwrap().with_stash(3).unwrap();
    let fresh = one_slot.clone().with_crisis(OnCrisis::Rebuild { attempts: 2 }).unwrap();
    [one_slot, slots, fresh]
}

/// 32 ways, 7 summaries, 3 layouts, 2 numbers of keys: 1344 maps of 1500 operations are two
/// million.
#[test]
fn does_what_a_hash_map_does() {
    for (seed, when) in ways().into_iter().enumerate().step_by(if cfg!(miri) { 11 } else { 1 }) {
        for layout in layouts() {
            // 60 keys fit, 400 do not.
            for keys in [60, 400] {
                compare_all(&layout, when, keys, operations(), seed as u64);
            }
        }
    }
}

#[test]
#[ignore = "some minutes: 27 million operations with every summary and every way to make room"]
fn does_what_a_hash_map_does_for_long() {
    for (seed, when) in ways().into_iter().enumerate() {
        for layout in layouts() {
            for keys in [60, 400] {
                compare_all(&layout, when, keys, 20_000, 1000 + seed as u64);
            }
        }
    }
}

/// Calls of user code until one panics; 0 for never.
type Fuse = Rc<Cell<u32>>;

fn burn(fuse: &Fuse) {
    if fuse.get() > 0 {
        fuse.set(fuse.get() - 1);
        assert!(fuse.get() > 0 || std::thread::panicking(), "the fuse");
    }
}

/// A number whose comparisons, digests and drops may panic.
struct Fragile {
    number: u64,
    fuse: Fuse,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        burn(&self.fuse);
    }
}

impl PartialEq for Fragile {
    fn eq(&self, other: &Self) -> bool {
        burn(&self.fuse);
        self.number == other.number
    }
}

impl Eq for Fragile {}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Digests;

impl Digester<Fragile> for Digests {
    fn digest(&self, key: &Fragile) -> Digest {
        burn(&key.fuse);
        Portable::with_seed(1).digest(&key.number)
    }
}

/// After any panic, only the key of that change may be present or absent; all others are unchanged.
fn survives_panics<S>(layout: &MultilevelLayout, summary: S, when: Rebuild)
where
    S: Summary<Digester = Digests> + Clone,
{
    const KEYS: u64 = 61;
    let fuse = Fuse::default();
    let key = |number| Fragile { number, fuse: Rc::clone(&fuse) };
    let table = MultilevelTable::with_digester(layout.clone(), Digests).unwrap();
    let mut map = LazilyDeleting::new(table, summary, when).unwrap();
    let mut model: HashMap<u64, u64> = HashMap::new();
    let mut random = Random::new(1);
    let mut panics = 0;
    for round in 0..if cfg!(miri) { 20u64 } else { 600 } {
        NOW.set(round);
        let number = random.below(KEYS);
        let own = key(number);
        fuse.set(random.below(12) as u32);
        let change = catch_unwind(AssertUnwindSafe(|| match random.below(5) {
            0..2 => _ = map.insert(key(number), round),
            2..4 => _ = map.remove(&own),
            _ => _ = map.rebuild(),
        }));
        panics += u32::from(change.is_err());
        fuse.set(0);
        let present = map.iter().find(|(key, _)| key.number == number).map(|(_, &value)| value);
        let possible = [None, Some(round), model.get(&number).copied()];
        assert!(possible.contains(&present), "{present:?} is none of {possible:?}");
        match present {
            Some(value) => _ = model.insert(number, value),
            None => _ = model.remove(&number),
        }
        let items: HashMap<_, _> = map.iter().map(|(key, &value)| (key.number, value)).collect();
        assert_eq!(items, model, "round {round}, {when:?}");
        assert!(
            (0..KEYS).all(|number| map.get(&key(number)) == model.get(&number)),
            "round {round}, {when:?}"
        );
    }
    assert!(panics > 0 || cfg!(miri));
}

#[test]
fn a_panic_in_the_middle_loses_nothing() {
    panics_lose_nothing(ways().into_iter().step_by(7));
}

#[test]
#[ignore = "long: about 20 s"]
fn a_panic_in_the_middle_loses_nothing_whenever_it_rebuilds() {
    panics_lose_nothing(ways());
}

fn panics_lose_nothing(ways: impl IntoIterator<Item = Rebuild>) {
    for when in ways {
        for layout in layouts() {
            let levels = layout.level_count();
            let filters = MultiFilterSummary::with_digester(small_filters(levels), Digests).unwrap();
            survives_panics(&layout, filters, when);
            let strings = InterpolationLayout::new(5).unwrap();
            let strings = InterpolationSummary::with_digester(strings, levels, Digests).unwrap();
            survives_panics(&layout, strings, when);
        }
    }
}
