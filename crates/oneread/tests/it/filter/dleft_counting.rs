//! The d-left counting filter against buckets of bit strings, and against a table of counts in a
//! long life.

use std::collections::BTreeMap;

use oneread::filter::{DLeftCountingFilter, DLeftCountingView, Full, NotPresent};
use oneread::hash::{Digest, Digester, Domain, Portable, reduce};
use oneread::layout::{DLeftCountingLayout, LayoutError, Remainders, Repeats};
use proptest::prelude::*;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::BATCH_LENGTHS;

/// A remainder as a string: its leading bits, and the implied one if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    bits: Vec<bool>,
    told: Option<bool>,
    count: u32,
}

impl Cell {
    fn new(word: u64, length: usize, told: bool) -> Self {
        let bits = (0..length).map(|at| word >> (63 - at) & 1 == 1).collect();
        Self { bits, told: told.then_some(word & 1 == 1), count: 1 }
    }

    fn is_of(&self, word: u64) -> bool {
        let own = Self::new(word, self.bits.len(), self.told.is_some());
        (&self.bits, self.told) == (&own.bits, own.told)
    }

    fn length(&self) -> usize {
        self.bits.len() + usize::from(self.told.is_some())
    }
}

/// The rules of `docs` with strings instead of bits: nothing packed, no tables.
#[derive(Clone)]
struct Model {
    layout: DLeftCountingLayout,
    digester: Portable,
    buckets: Vec<Vec<Cell>>,
    /// The numbers of cells that a bucket can be divided into.
    classes: Vec<u32>,
    len: u64,
}

impl Model {
    fn new(layout: DLeftCountingLayout, seed: u64) -> Self {
        let buckets = layout.total_buckets() as usize;
        let digester = Portable::with_seed(seed);
        Self {
            layout,
            digester,
            buckets: vec![Vec::new(); buckets],
            classes: vec![first_class(layout); buckets],
            len: 0,
        }
    }

    /// The stored bits of the minimal remainder, and whether the implied one belongs to it.
    fn minimal(&self) -> (usize, bool) {
        let told = self.layout.remainders() == Remainders::OneSize && self.layout.capacity() <= 10;
        (self.stored(self.layout.capacity()), told)
    }

    /// The remainder, and the key's bucket in each sub-table.
    fn choices(&self, key: u64) -> (u64, Vec<usize>) {
        let digest = self.digester.digest(&key);
        let (place, word) = (digest.word(Domain::DLEFT_COUNTING, 0), digest.word(Domain::DLEFT_COUNTING, 1));
        let buckets = self.layout.buckets_each();
        let minimal = match self.minimal() {
            (stored, true) => word >> (64 - stored) << 1 | word & 1,
            (stored, false) => word >> (64 - stored),
        };
        let minimal = Digest::from_halves(minimal, 0x243f_6a88_85a3_08d3);
        let bucket = |subtable: u32| {
            let shift = match subtable {
                0 => 0,
                _ => reduce(minimal.word(Domain::DLEFT_COUNTING, 2 + subtable), buckets),
            };
            (u64::from(subtable) * buckets + (reduce(place, buckets) + shift) % buckets) as usize
        };
        (word, (0..self.layout.subtables()).map(bucket).collect())
    }

    fn contains(&self, key: u64) -> bool {
        let (word, choices) = self.choices(key);
        choices.iter().any(|&at| self.buckets[at].iter().any(|cell| cell.is_of(word)))
    }

    /// The cells of the bucket with the key's string, the longest first.
    fn equal(&self, at: usize, word: u64) -> Vec<usize> {
        let mut equal: Vec<usize> =
            (0..self.buckets[at].len()).filter(|&i| self.buckets[at][i].is_of(word)).collect();
        equal.sort_by_key(|&i| usize::MAX - self.buckets[at][i].length());
        equal
    }

    /// Those of these cells with the same length as the first.
    fn longest(&self, at: usize, equal: &[usize]) -> Vec<usize> {
        let length = |i: usize| self.buckets[at][i].length();
        equal.iter().copied().filter(|&i| length(i) == length(equal[0])).collect()
    }

    fn is_stuck(&self, at: usize, group: &[usize]) -> bool {
        let count = |i: &usize| self.buckets[at][*i].count;
        match (self.layout.repeats(), self.layout.remainders()) {
            (Repeats::Copy, _) => false,
            (_, Remainders::TwoSizes) => group.iter().map(count).any(|count| count == 4),
            _ => group.iter().map(count).sum::<u32>() >= 4,
        }
    }

    fn insert(&mut self, key: u64) -> Result<bool, Full> {
        let (word, choices) = self.choices(key);
        let (stored, told) = self.minimal();
        let own = Cell::new(word, stored, told);
        let minimal = |cell: &Cell| cell.bits[..stored] == own.bits[..] && (!told || cell.told == own.told);
        let joined = choices.iter().copied().find(|&at| self.buckets[at].iter().any(minimal));
        // The first of the least loaded.
        let at = joined.unwrap_or_else(|| *choices.iter().min_by_key(|&&at| self.buckets[at].len()).unwrap());
        let mut rest = self.equal(at, word);
        let seen = !rest.is_empty();
        while !rest.is_empty() {
            let group = self.longest(at, &rest);
            rest.retain(|i| !group.contains(i));
            let most = 1 << self.layout.counter_bits();
            if self.is_stuck(at, &group) {
                self.len += 1;
                return Ok(true);
            }
            if let Some(&i) = group.iter().find(|&&i| self.buckets[at][i].count < most) {
                self.buckets[at][i].count += 1;
                self.len += 1;
                return Ok(true);
            }
        }
        self.add(at, word)?;
        self.len += 1;
        Ok(seen)
    }

    fn stored(&self, cells: u32) -> usize {
        (120 / cells - self.layout.counter_bits()) as usize
    }

    fn add(&mut self, at: usize, word: u64) -> Result<(), Full> {
        let bucket = self.buckets[at].len() as u32;
        let capacity = self.layout.capacity();
        if bucket == capacity {
            return Err(Full);
        }
        let next = |class: u32| if class == 10 { 12 } else { class + 1 };
        if self.layout.remainders() == Remainders::TwoSizes {
            // Cuts as few of the longer ones as possible, in this class or the next.
            let mut class = self.classes[at];
            loop {
                let previous = if class == 12 { 10 } else { class - 1 };
                let (short, long) =
                    (self.stored(class), if class == 5 { self.stored(5) } else { self.stored(previous) });
                self.buckets[at].iter_mut().for_each(|cell| cell.bits.truncate(long));
                let b = self.layout.counter_bits() as usize;
                let mut tried = self.buckets[at].clone();
                loop {
                    let used: usize = tried.iter().map(|cell| cell.bits.len() + b).sum();
                    for length in [long, short] {
                        // A class has a cell of its own length; otherwise it is the one before.
                        let own = tried.iter().any(|cell| cell.bits.len() == short) || length == short;
                        if used + length + b <= 120 && tried.len() < class as usize && own {
                            let at_end = Cell::new(word, length, false);
                            // The shorter ones come first.
                            let place = if length == short && short < long {
                                tried.iter().filter(|cell| cell.bits.len() == short).count()
                            } else {
                                tried.len()
                            };
                            tried.insert(place, at_end);
                            (self.buckets[at], self.classes[at]) = (tried, class);
                            return Ok(());
                        }
                    }
                    match tried.iter_mut().find(|cell| cell.bits.len() > short) {
                        Some(cell) => cell.bits.truncate(short),
                        None => break,
                    }
                }
                class = next(class);
            }
        }
        while bucket >= self.classes[at] {
            self.classes[at] = next(self.classes[at]);
        }
        let class = self.classes[at];
        let told = self.layout.remainders() == Remainders::OneSize && class <= 10;
        let length = self.stored(class);
        for cell in &mut self.buckets[at] {
            cell.bits.truncate(length);
            cell.told = cell.told.filter(|_| told);
        }
        self.buckets[at].push(Cell::new(word, length, told));
        Ok(())
    }

    fn remove(&mut self, key: u64) -> Result<(), NotPresent> {
        let (word, choices) = self.choices(key);
        let at = choices.into_iter().find(|&at| !self.equal(at, word).is_empty()).ok_or(NotPresent)?;
        let group = self.longest(at, &self.equal(at, word));
        self.len -= 1;
        if self.is_stuck(at, &group) {
            return Ok(());
        }
        let least = *group.iter().min_by_key(|&&i| self.buckets[at][i].count).unwrap();
        self.buckets[at][least].count -= 1;
        if self.buckets[at][least].count == 0 {
            self.buckets[at].remove(least);
        }
        if self.buckets[at].is_empty() {
            self.classes[at] = first_class(self.layout);
        } else if self.layout.remainders() == Remainders::TwoSizes {
            let short = self.stored(self.classes[at]);
            if self.buckets[at].iter().all(|cell| cell.bits.len() > short) {
                self.classes[at] = if self.classes[at] == 12 { 10 } else { self.classes[at] - 1 };
            }
        }
        Ok(())
    }

    fn lengths(&self) -> BTreeMap<usize, u64> {
        let mut lengths = BTreeMap::new();
        self.buckets.iter().flatten().for_each(|cell| *lengths.entry(cell.length()).or_default() += 1);
        lengths
    }

    fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.layout.capacity() as usize + 1];
        self.buckets.iter().for_each(|bucket| loads[bucket.len()] += 1);
        loads
    }

    fn stuck(&self) -> u64 {
        let of_bucket = |at: usize| {
            let same = |a: &Cell, b: &Cell| (&a.bits, a.told) == (&b.bits, b.told);
            let cells = &self.buckets[at];
            (0..cells.len())
                .filter(|&i| {
                    let group: Vec<usize> =
                        (0..cells.len()).filter(|&j| same(&cells[i], &cells[j])).collect();
                    self.is_stuck(at, &group)
                })
                .count() as u64
        };
        (0..self.buckets.len()).map(of_bucket).sum()
    }
}

fn first_class(layout: DLeftCountingLayout) -> u32 {
    match layout.remainders() {
        Remainders::Fixed => layout.capacity(),
        Remainders::OneSize if layout.capacity() == 12 => 6,
        _ => 5,
    }
}

/// Every layout, on this number of buckets.
fn layouts(subtables: u32, buckets: u64) -> Vec<DLeftCountingLayout> {
    let mut layouts = Vec::new();
    for remainders in Remainders::ALL {
        for capacity in 4..=12 {
            for bits in 0..=2 {
                for repeats in Repeats::ALL {
                    let layout = DLeftCountingLayout::new(subtables, buckets).unwrap();
                    // A path through layouts that all exist.
                    let layout = layout.with_counter_bits(2).and_then(|layout| match remainders {
                        Remainders::Fixed => layout.with_remainders(remainders)?.with_capacity(capacity),
                        _ => layout.with_capacity(capacity)?.with_remainders(remainders),
                    });
                    let layout =
                        layout.and_then(|layout| layout.with_repeats(repeats)?.with_counter_bits(bits));
                    layouts.extend(layout.ok());
                }
            }
        }
    }
    layouts
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    /// Removes the key if it is present, or certainly absent.
    Remove(u64),
    Clear,
    SaveAndLoad,
}

/// Few keys, so that sequences remove what they inserted and insert it again.
const KEYS: u64 = 60;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        200 => (0..KEYS).prop_map(Step::Insert),
        160 => (0..KEYS).prop_map(Step::Remove),
        1 => Just(Step::Clear),
        4 => Just(Step::SaveAndLoad),
    ]
}

proptest! {
    #[test]
    fn a_filter_does_what_buckets_of_strings_do(
        layout in (1u32..=4, 1u64..=2).prop_flat_map(|(subtables, buckets)| prop::sample::select(layouts(subtables, buckets))),
        seed: u64,
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let mut filter = DLeftCountingFilter::with_seed(layout, seed).unwrap();
        let mut model = Model::new(layout, seed);
        let mut present: BTreeMap<u64, u32> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(key) => {
                    let before = filter.to_bytes();
                    let inserted = filter.insert(&key);
                    prop_assert_eq!(inserted, model.insert(key), "key {}", key);
                    if inserted.is_ok() {
                        *present.entry(key).or_default() += 1;
                    } else {
                        prop_assert_eq!(filter.to_bytes(), before, "nothing is changed");
                    }
                }
                Step::Remove(key) if present.contains_key(&key) => {
                    prop_assert_eq!(filter.remove(&key), Ok(()), "a present key can be removed");
                    model.remove(key).unwrap();
                    present.entry(key).and_modify(|times| *times -= 1);
                    present.retain(|_, times| *times > 0);
                }
                Step::Remove(key) if !model.contains(key) => {
                    let before = filter.to_bytes();
                    prop_assert_eq!(filter.remove(&key), Err(NotPresent));
                    prop_assert_eq!(filter.to_bytes(), before, "nothing is changed");
                }
                // A false positive: removing it would break the promise.
                Step::Remove(_) => {}
                Step::Clear => {
                    filter.clear();
                    model = Model::new(layout, seed);
                    present.clear();
                }
                Step::SaveAndLoad => {
                    let bytes = filter.to_bytes();
                    filter = DLeftCountingFilter::from_bytes(&bytes).unwrap();
                    let view = DLeftCountingView::open(&bytes).unwrap();
                    prop_assert!(*view == filter);
                    prop_assert!((0..2 * KEYS).all(|key| view.contains(&key) == filter.contains(&key)));
                }
            }
            let statistics = filter.statistics();
            prop_assert_eq!(filter.len(), model.len);
            prop_assert_eq!(statistics.loads(), model.loads());
            let lengths: BTreeMap<usize, u64> =
                statistics.lengths().iter().copied().enumerate().filter(|&(_, count)| count > 0).collect();
            prop_assert_eq!(lengths, model.lengths());
            prop_assert_eq!(statistics.stuck(), model.stuck());
            for key in 0..2 * KEYS {
                prop_assert_eq!(filter.contains(&key), model.contains(key), "key {}", key);
            }
            prop_assert!(present.keys().all(|key| filter.contains(key)), "a key was forgotten");
        }
    }
}

/// Inserts, removes and inserts again keys of a small universe, some of them often; tolerates no
/// false negative.
fn lives(layout: DLeftCountingLayout, seed: u64, keys: usize, alive: u64, steps: u64) -> DLeftCountingFilter {
    let mut filter = DLeftCountingFilter::with_seed(layout, seed).unwrap();
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let mut counts = vec![0u16; keys];
    let mut refused = 0u64;
    for step in 0..steps {
        let word = random.next_u64();
        // A few keys repeat: one step in eight takes one of 64.
        let range = if word & 7 == 0 { 64 } else { keys as u64 };
        let key = reduce(word, range);
        let count = &mut counts[key as usize];
        let grow = filter.len() < alive;
        // The others at most twice: a key inserted four times is saturated, and such keys would
        // fill the filter.
        let often = range > 64 && *count == 2;
        if *count > 0 && (!grow || often || word & 8 == 0) {
            assert_eq!(filter.remove(&key), Ok(()), "{layout:?}, step {step}, key {key}");
            *count -= 1;
        } else if grow {
            match filter.insert(&key) {
                Ok(_) => *count += 1,
                Err(Full) => refused += 1,
            }
        }
        // The key itself, and another that was last used some time ago.
        let other = reduce(word.rotate_left(32), keys as u64);
        for key in [key, other] {
            assert!(counts[key as usize] == 0 || filter.contains(&key), "{layout:?}, step {step}, key {key}");
        }
        if step % (1 << 17) == 0 || step + 1 == steps {
            let forgotten = (0..keys as u64).find(|&key| counts[key as usize] > 0 && !filter.contains(&key));
            assert_eq!(forgotten, None, "{layout:?}, step {step}");
        }
    }
    assert_eq!(filter.len(), counts.iter().map(|&count| u64::from(count)).sum::<u64>());
    assert!(refused < steps / 10, "{layout:?}: {refused} insertions found no room");
    filter
}

fn forgets_nothing(steps: u64) {
    let layout = DLeftCountingLayout::new(4, 100).unwrap();
    let layouts = [
        layout,
        layout.with_capacity(12).unwrap(),
        layout.with_counter_bits(0).unwrap(),
        layout.with_remainders(Remainders::Fixed).unwrap().with_capacity(9).unwrap(),
        layout.with_counter_bits(2).unwrap().with_remainders(Remainders::TwoSizes).unwrap(),
        layout.with_repeats(Repeats::Copy).unwrap().with_remainders(Remainders::TwoSizes).unwrap(),
        layout.with_repeats(Repeats::Copy).unwrap(),
        layout.with_repeats(Repeats::Copy).unwrap().with_remainders(Remainders::Fixed).unwrap(),
    ];
    for (seed, layout) in layouts.into_iter().enumerate() {
        // Seven keys per bucket, of five times as many: so crowded that remainders are cut and
        // coincide.
        lives(layout, seed as u64, 14_000, 2800, steps / layouts.len() as u64);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn never_forgets_a_present_key_in_a_long_life() {
    forgets_nothing(2_000_000);
}

#[test]
#[ignore = "10^8 steps: half a minute"]
fn never_forgets_a_present_key_in_a_very_long_life() {
    forgets_nothing(100_000_000);
}

#[test]
fn a_key_that_comes_often_is_counted_to_four_and_then_stays() {
    for layout in layouts(3, 50) {
        let mut filter = DLeftCountingFilter::with_seed(layout, 1).unwrap();
        let fits = |times: u32| {
            layout.repeats() == Repeats::Stick || times <= layout.capacity() << layout.counter_bits()
        };
        let mut times = 0u32;
        while times < 100 && filter.insert(&7u64).is_ok() {
            times += 1;
            assert!(filter.contains(&7u64) && filter.len() == u64::from(times));
        }
        assert_eq!(times == 100, fits(100), "{layout:?}");
        let cells = filter.statistics().cells();
        match layout.repeats() {
            Repeats::Stick => {
                assert_eq!((cells, filter.statistics().stuck()), (4 >> layout.counter_bits(), cells));
            }
            Repeats::Copy => {
                assert_eq!((cells, filter.statistics().stuck()), (u64::from(layout.capacity()), 0));
            }
        }
        (0..times).for_each(|_| filter.remove(&7u64).unwrap());
        assert!(filter.is_empty());
        assert_eq!(filter.contains(&7u64), layout.repeats() == Repeats::Stick, "{layout:?}");
        filter.clear();
        // Up to three times it comes and goes.
        for times in 1..=3 {
            (0..times).for_each(|_| _ = filter.insert(&7u64).unwrap());
            (0..times).for_each(|_| filter.remove(&7u64).unwrap());
            assert!(!filter.contains(&7u64) && filter.statistics().cells() == 0);
            assert_eq!(filter.remove(&7u64), Err(NotPresent));
        }
    }
}

#[test]
fn an_overload_shortens_remainders_and_then_refuses() {
    for (remainders, longest, shortest) in [(Remainders::OneSize, 24, 12), (Remainders::TwoSizes, 22, 10)] {
        // Ten cells of 12 bits in the last class, five of 24 in the first; counters of one bit and
        // an implied bit, or counters of two bits.
        let layout =
            DLeftCountingLayout::new(4, 8).unwrap().with_capacity(10).unwrap().with_counter_bits(2).unwrap();
        let layout = layout
            .with_remainders(remainders)
            .unwrap()
            .with_counter_bits(if longest == 24 { 1 } else { 2 })
            .unwrap();
        let mut filter = DLeftCountingFilter::with_seed(layout, 5).unwrap();
        let mut inserted: Vec<u64> = Vec::new();
        let mut last_rate = 0.0;
        let refused = (0..10_000u64).find(|key| {
            let before = filter.to_bytes();
            let full = filter.insert(key) == Err(Full);
            if full {
                assert_eq!(filter.to_bytes(), before, "nothing is changed");
            } else {
                inserted.push(*key);
                assert!(filter.false_positive_rate() >= last_rate);
                last_rate = filter.false_positive_rate();
            }
            full
        });
        // 32 buckets of ten cells; d-left hashing fills them almost evenly.
        assert!(refused.is_some() && inserted.len() > 280 && inserted.len() <= 340, "{}", inserted.len());
        assert!(inserted.iter().all(|key| filter.contains(key)));
        let lengths = |filter: &DLeftCountingFilter| {
            let used: Vec<usize> = (0..)
                .zip(filter.statistics().lengths())
                .filter(|(_, count)| **count > 0)
                .map(|(bits, _)| bits)
                .collect();
            (used[0], used[used.len() - 1])
        };
        assert_eq!(lengths(&filter).0, shortest);
        // With nearly all removed, the rest still has cut remainders; inserted again, it has long
        // ones.
        let (removed, kept) = inserted.split_at(inserted.len() - 20);
        removed.iter().for_each(|key| filter.remove(key).unwrap());
        assert_eq!(lengths(&filter).0, shortest);
        filter.clear();
        filter.insert_many(kept).unwrap();
        assert_eq!(lengths(&filter), (longest, longest), "{remainders:?}");
        assert!(kept.iter().all(|key| filter.contains(key)) && filter.len() == 20);
    }
}

#[test]
fn two_sizes_regain_room_without_the_keys() {
    // Ten keys in one bucket leave short remainders; as they go one by one and others come, the
    // bucket gets long ones again.
    let layout =
        DLeftCountingLayout::new(1, 1).unwrap().with_capacity(10).unwrap().with_counter_bits(2).unwrap();
    let rate_after_changes = |remainders| {
        let mut filter =
            DLeftCountingFilter::with_seed(layout.with_remainders(remainders).unwrap(), 3).unwrap();
        (0..10u64).for_each(|key| _ = filter.insert(&key).unwrap());
        (0..5u64).for_each(|key| filter.remove(&key).unwrap());
        for key in 5..100u64 {
            filter.remove(&key).unwrap();
            filter.insert(&(key + 5)).unwrap();
        }
        assert!((100..105u64).all(|key| filter.contains(&key)) && filter.len() == 5);
        filter.false_positive_rate()
    };
    // Five remainders of 22 bits; with one size all stay at 10 + 1 bits.
    assert_eq!(rate_after_changes(Remainders::TwoSizes), 5.0 / f64::from(1 << 22));
    assert_eq!(rate_after_changes(Remainders::OneSize), 5.0 / f64::from(1 << 11));
}

#[test]
fn many_keys_at_once_are_as_one_after_the_other() {
    // Two filters: one in the cache, one that is not.
    for buckets in [300, 20_000] {
        for length in BATCH_LENGTHS {
            let layout = DLeftCountingLayout::new(4, buckets).unwrap();
            let keys: Vec<u64> = (0..length).collect();
            let mut one_by_one = DLeftCountingFilter::with_seed(layout, 9).unwrap();
            keys.iter().for_each(|key| _ = one_by_one.insert(key).unwrap());
            let mut at_once = DLeftCountingFilter::with_seed(layout, 9).unwrap();
            at_once.insert_many(&keys).unwrap();
            assert!(at_once == one_by_one, "{length} keys");
            let queries: Vec<u64> = (length / 2..length + length / 2).collect();
            let expected: Vec<bool> = queries.iter().map(|key| one_by_one.contains(key)).collect();
            let mut found = Vec::new();
            at_once.contains_many(&queries, |answer| found.push(answer));
            assert_eq!(found, expected, "{length} keys");
            let (first, second) = keys.split_at(keys.len() / 2);
            first.iter().for_each(|key| one_by_one.remove(key).unwrap());
            at_once.remove_many(first).unwrap();
            assert!(at_once == one_by_one, "{length} keys");
            at_once.remove_many(second).unwrap();
            assert!(at_once.is_empty() && at_once.statistics().cells() == 0);
            assert_eq!(at_once.remove_many(&[1u64]), Err(NotPresent));
        }
    }
    let mut tiny = DLeftCountingFilter::with_seed(DLeftCountingLayout::new(1, 1).unwrap(), 9).unwrap();
    assert_eq!(tiny.insert_many(&(0..50u64).collect::<Vec<_>>()), Err(Full));
    assert_eq!(tiny.len(), 9);
}

#[test]
fn layouts_are_checked() {
    let layout = DLeftCountingLayout::new(4, 10).unwrap();
    let cells = |found| LayoutError::Cells { at_least: 5, at_most: 12, found };
    for found in [0, 4, 11, 13, u32::MAX] {
        assert_eq!(layout.with_capacity(found), Err(cells(found)));
    }
    let counters = |at_least, found| LayoutError::CounterBits { at_least, at_most: 2, found };
    assert_eq!(layout.with_counter_bits(3), Err(counters(0, 3)));
    assert_eq!(layout.with_remainders(Remainders::TwoSizes), Err(counters(2, 1)));
    assert!(layout.with_repeats(Repeats::Copy).unwrap().with_remainders(Remainders::TwoSizes).is_ok());
    assert!(DLeftCountingLayout::new(0, 10).is_err() && DLeftCountingLayout::new(9, 10).is_err());
    assert!(DLeftCountingLayout::new(4, 0).is_err() && DLeftCountingLayout::new(4, 1 << 37).is_ok());
    assert!(DLeftCountingLayout::new(4, (1 << 37) + 1).is_err());
}

#[test]
fn debug_tells_sizes_items_and_loads() {
    let mut filter = DLeftCountingFilter::with_seed(DLeftCountingLayout::new(2, 1).unwrap(), 1).unwrap();
    (0..3u64).for_each(|key| _ = filter.insert(&key).unwrap());
    assert_eq!(
        format!("{filter:?}"),
        "DLeftCounting { subtables: 2, buckets_each: 1, remainders: OneSize, items: 3, \
         loads: [0, 1, 1, 0, 0, 0, 0, 0, 0, 0], .. }"
    );
}
