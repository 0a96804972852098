//! Structures that report the level of a key, behind one trait. Loops are inside its methods, so
//! that a virtual call costs nothing.

use std::hint::black_box;

use anyhow::{Result, anyhow};
use foldhash::fast::FixedState;
use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{
    CountingCellsLayout, CountingFiltersLayout, InterpolationLayout, MultilevelLayout, MultipleFiltersLayout,
    SingleFilterLayout,
};
use oneread::summary::{
    CountingMultiFilterSummary, CountingSingleFilterSummary, InterpolationSummary, MultiFilterSummary,
    SingleFilterSummary, Summary,
};
use oneread::table::MultilevelTable;
use oneread_study::table::BloomierFunction;

pub(super) const SEED: u64 = 1;

/// The summaries of the library, each of which has contests of its own.
pub(super) const SUMMARIES: [&str; 6] = [
    "multiple filters",
    "single filter",
    "strings in blocks",
    "multiple counting filters",
    "strings in one array",
    "single counting filter",
];

/// A key and its level.
pub(super) type Item = (u64, usize);

/// A structure that knows the levels of keys.
pub(super) trait Contender {
    fn name(&self) -> String;
    /// Looks keys up one at a time; returns how many are, or seem to be, present.
    fn count(&self, keys: &[u64]) -> usize;
    /// Like [`count`](Self::count), in batches; `None` where there is no batched lookup.
    fn count_many(&self, _: &[u64]) -> Option<usize> {
        None
    }
    /// For how many of the items the first reported level is wrong.
    fn wrong(&self, items: &[Item]) -> usize;
    fn insert(&mut self, items: &[Item]);
    /// Whether keys can be removed one at a time.
    fn can_remove(&self) -> bool;
    fn remove(&mut self, items: &[Item]);
    /// Builds everything anew from `items`.
    fn rebuild(&mut self, items: &[Item]);
    /// Its size, where that is known.
    fn bytes(&self) -> Option<u64>;
}

/// The paper's table for ten thousand items, in proportion: 6 buckets per item in five levels.
pub(super) fn paper_table(items: u64) -> Result<MultilevelLayout> {
    let layout = MultilevelLayout::new([4 * items, items, items / 2, items / 4, items / 4])?;
    // The stash covers the rare event that an item finds no bucket.
    Ok(layout.with_stash(64)?)
}

/// The paper's multiple filters for this table.
pub(super) fn paper_filters(items: u64) -> Result<MultipleFiltersLayout> {
    let part = |bits: u64| bits * items / 10_000;
    let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
    Ok(MultipleFiltersLayout::new(filters.map(|(bits, hashes)| (part(bits).max(1), hashes)))?)
}

/// All summaries of a table of n items, at the paper's sizes. Ratios are to the first.
pub(super) fn all(table: MultilevelTable<u64, u64>, items: &[Item]) -> Result<Vec<Box<dyn Contender>>> {
    let n = items.len() as u64;
    let (layout, digester) = (table.layout().clone(), *table.digester());
    let levels = layout.level_count();
    let filters = paper_filters(n)?;
    let cells = SingleFilterLayout::new(12 * n, 15)?;
    // Strings as long as the paper's for 10,000 items: a pair is equal with probability 2.8e-13.
    let strings = InterpolationLayout::new(55)?;
    let counters = CountingCellsLayout::new(cells, [4, 4, 3, 2, 2])?;
    let multiple = MultiFilterSummary::with_digester(filters.clone(), digester)?;
    let mut contenders: Vec<Box<dyn Contender>> = vec![
        ours(SUMMARIES[0], multiple),
        ours(SUMMARIES[1], SingleFilterSummary::with_digester(cells, levels, digester)?),
        ours(SUMMARIES[2], InterpolationSummary::in_blocks(strings, levels, n, digester)?),
        ours(
            SUMMARIES[3],
            CountingMultiFilterSummary::with_digester(CountingFiltersLayout::usual(filters), digester)?,
        ),
    ];
    // An insertion shifts half of the array on average.
    if n <= 10_000 {
        let array = InterpolationSummary::with_digester(strings, levels, digester)?;
        contenders.push(ours(SUMMARIES[4], array));
    }
    // With 10 million keys it would take 225 MB.
    if n <= 100_000 {
        let counting = CountingSingleFilterSummary::with_digester(counters, digester)?;
        contenders.push(ours(SUMMARIES[5], counting));
    }
    contenders.push(Box::new(Bloomier { digester, function: None }));
    contenders.push(Box::new(Hashbrown(hashbrown::HashMap::with_hasher(FixedState::with_seed(SEED)))));
    contenders.push(Box::new(Naive(table)));
    Ok(contenders)
}

fn ours(name: &str, summary: impl Summary<Digester = Portable> + 'static) -> Box<dyn Contender> {
    Box::new(Ours { name: name.to_owned(), summary })
}

struct Ours<S> {
    name: String,
    summary: S,
}

impl<S: Summary<Digester = Portable>> Ours<S> {
    #[inline]
    fn digest(&self, key: u64) -> Digest {
        self.summary.digester().digest(&key)
    }
}

impl<S: Summary<Digester = Portable>> Contender for Ours<S> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.summary.lookup(self.digest(key)).first().is_some()).count()
    }

    fn count_many(&self, keys: &[u64]) -> Option<usize> {
        // Digests per batch.
        const CHUNK: usize = 1024;
        let mut named = 0;
        let mut digests = Vec::with_capacity(CHUNK);
        for keys in keys.chunks(CHUNK) {
            digests.clear();
            digests.extend(keys.iter().map(|&key| self.digest(key)));
            self.summary.lookup_many(&digests, &mut |levels| named += usize::from(levels.first().is_some()));
        }
        Some(named)
    }

    fn wrong(&self, items: &[Item]) -> usize {
        let is_wrong = |&&(key, level): &&Item| self.summary.lookup(self.digest(key)).first() != Some(level);
        items.iter().filter(is_wrong).count()
    }

    fn insert(&mut self, items: &[Item]) {
        for &(key, level) in items {
            let digest = self.digest(key);
            self.summary.insert(digest, level).expect("a level that there is");
        }
    }

    fn can_remove(&self) -> bool {
        self.summary.can_remove()
    }

    fn remove(&mut self, items: &[Item]) {
        for &(key, level) in items {
            let digest = self.digest(key);
            self.summary.remove(digest, level).expect("a key that is there");
        }
    }

    fn rebuild(&mut self, items: &[Item]) {
        self.summary.reset();
        self.insert(items);
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.summary.byte_len())
    }
}

/// A static function from keys to levels: 3 bits for the level and 8 to recognize absent keys.
/// Every change builds a new function.
struct Bloomier {
    digester: Portable,
    function: Option<BloomierFunction>,
}

impl Contender for Bloomier {
    fn name(&self) -> String {
        "static function (Bloomier), 8 bits".to_owned()
    }

    fn count(&self, keys: &[u64]) -> usize {
        let function = self.function.as_ref().expect("a function was made");
        keys.iter().filter(|&key| function.get(self.digester.digest(key)).is_some()).count()
    }

    fn wrong(&self, items: &[Item]) -> usize {
        let function = self.function.as_ref().expect("a function was made");
        let level = |key: &u64| function.get(self.digester.digest(key));
        items.iter().filter(|(key, own)| level(key) != Some(*own as u64)).count()
    }

    fn insert(&mut self, items: &[Item]) {
        self.rebuild(items);
    }

    fn can_remove(&self) -> bool {
        false
    }

    fn remove(&mut self, _: &[Item]) {}

    fn rebuild(&mut self, items: &[Item]) {
        let items: Vec<_> =
            items.iter().map(|&(key, level)| (self.digester.digest(&key), level as u64)).collect();
        self.function = Some(BloomierFunction::new(&items, 3, 8).expect("keys that differ"));
    }

    fn bytes(&self) -> Option<u64> {
        self.function.as_ref().map(BloomierFunction::byte_len)
    }
}

/// A map of the keys themselves: exact, but large.
struct Hashbrown(hashbrown::HashMap<u64, u8, FixedState>);

impl Contender for Hashbrown {
    fn name(&self) -> String {
        "hashbrown, key to level".to_owned()
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.0.get(key).is_some()).count()
    }

    fn wrong(&self, items: &[Item]) -> usize {
        items.iter().filter(|(key, level)| self.0.get(key) != Some(&(*level as u8))).count()
    }

    fn insert(&mut self, items: &[Item]) {
        items.iter().for_each(|&(key, level)| _ = self.0.insert(key, level as u8));
    }

    fn can_remove(&self) -> bool {
        true
    }

    fn remove(&mut self, items: &[Item]) {
        items.iter().for_each(|(key, _)| _ = self.0.remove(key));
    }

    fn rebuild(&mut self, items: &[Item]) {
        self.0.clear();
        self.insert(items);
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.0.allocation_size() as u64)
    }
}

/// No summary: searches the table itself, level by level.
struct Naive(MultilevelTable<u64, u64>);

impl Contender for Naive {
    fn name(&self) -> String {
        "none: the table, level by level".to_owned()
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| black_box(self.0.get(key)).is_some()).count()
    }

    fn wrong(&self, items: &[Item]) -> usize {
        items.iter().filter(|(key, _)| self.0.get(key).is_none()).count()
    }

    fn insert(&mut self, items: &[Item]) {
        for &(key, _) in items {
            self.0.insert(key, key).map_err(|full| anyhow!("{full}")).expect("the table has room");
        }
    }

    fn can_remove(&self) -> bool {
        true
    }

    fn remove(&mut self, items: &[Item]) {
        items.iter().for_each(|(key, _)| _ = self.0.remove(key));
    }

    fn rebuild(&mut self, items: &[Item]) {
        self.0.clear();
        self.insert(items);
    }

    fn bytes(&self) -> Option<u64> {
        None
    }
}
