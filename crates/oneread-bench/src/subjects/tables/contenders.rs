//! Everyone's tables behind one trait; loops are inside, so that a virtual call costs nothing.

use anyhow::{Result, anyhow};
use foldhash::fast::FixedState;
use oneread::hash::Portable;
use oneread::layout::{HintChain, HintRule, Hints, Moves, MultilevelLayout};
use oneread::table::MultilevelTable;
use oneread::table::study::{
    ChainedTable, CuckooLayout, CuckooTable, DLeftTable, Deletion, Digested, LinearProbingTable, SongTable,
    StudyTable,
};

const SEED: u64 = 1;

/// Buckets, cells or links that lookups read.
pub(crate) struct Reads {
    pub(crate) mean: f64,
    pub(crate) most: u64,
}

/// A table from `u64` to `u64`.
pub(crate) trait Contender {
    fn name(&self) -> String;
    fn insert(&mut self, keys: &[u64]);
    /// How many of the keys are there.
    fn count(&self, keys: &[u64]) -> usize;
    fn remove(&mut self, keys: &[u64]);
    /// On the heap, where that is known.
    fn bytes(&self) -> Option<usize>;
    /// What lookups of these keys read, where that is counted.
    fn reads(&self, keys: &[u64]) -> Option<Reads>;
    /// The most that any lookup may read.
    fn most_reads(&self) -> u64;
}

/// The first is the peer that ratios are to.
pub(crate) fn all(n: usize) -> Result<Vec<Box<dyn Contender>>> {
    let items = n as u64;
    let hints = Hints { rule: HintRule::Deepest, chain: HintChain::One };
    // Room for the rare event that the planned stash does not suffice; a stash that is not used costs nothing.
    let stash = 64;
    let multilevel = |name: &str, layout: MultilevelLayout| -> Result<Box<dyn Contender>> {
        Ok(Box::new(Multilevel {
            name: name.to_owned(),
            table: MultilevelTable::with_seed(layout.with_stash(stash)?, SEED)?,
        }))
    };
    // The paper's table: 40k, 10k, 5k, 2.5k, 2.5k buckets for 10k items.
    let paper = MultilevelLayout::new([4 * items, items, items / 2, items / 4, items / 4])?;
    // Half full; the stash of the paper's six levels grows with the items, to about one at ten million.
    let half_full = MultilevelLayout::geometric(items, 0.5, 6)?;
    let buckets_of_eight =
        MultilevelLayout::new([items * 3 / 20, items / 32, items / 128, items / 512])?.with_slots(8)?;
    // The lecture's cuckoo table; then two buckets of four at 90%, where the threshold is 98%.
    let lecture = CuckooLayout::new(items * 21 / 10)?;
    let buckets_of_four = CuckooLayout::new(items * 10 / 36)?.with_slots(4)?.with_timeout(500);
    let mut contenders: Vec<Box<dyn Contender>> = vec![
        Box::new(Hashbrown(hashbrown::HashMap::with_capacity_and_hasher(n, FixedState::with_seed(SEED)))),
        Box::new(Standard(std::collections::HashMap::with_capacity(n))),
        multilevel("multilevel, 6 buckets an item", paper)?,
        multilevel(
            "multilevel, half full, Second Chance",
            half_full.clone().with_moves(Moves::SecondChance)?,
        )?,
        multilevel("multilevel, half full, both moves", half_full.with_moves(Moves::Both(hints))?)?,
        multilevel("multilevel, buckets of 8, both moves", buckets_of_eight.with_moves(Moves::Both(hints))?)?,
        study("cuckoo, 2.1 buckets an item", 2, CuckooTable::new(lecture, functions())?),
        study("cuckoo, buckets of 4, 90%", 2, CuckooTable::new(buckets_of_four, functions())?),
        study(
            "linear probing, half full",
            u64::MAX,
            LinearProbingTable::new(2 * items, Deletion::BackwardShift, functions())?,
        ),
        study("chained", u64::MAX, ChainedTable::new(functions())),
        study("d-left, 3 sub-tables, buckets of 8", 3, DLeftTable::new(3, items / 18, 8, functions())?),
    ];
    // At ten million its lists would take six gigabytes.
    if n <= 1_000_000 {
        contenders.push(study(
            "Song, 12.8 buckets an item",
            1,
            SongTable::new(items * 64 / 5, 10, functions())?,
        ));
    }
    Ok(contenders)
}

/// Functions on the same terms as ours.
fn functions() -> impl FnMut(u64) -> Digested<Portable> {
    let mut seed = SEED;
    move |_| {
        seed += 1;
        Digested(Portable::with_seed(seed))
    }
}

fn study(name: &str, most_reads: u64, table: impl StudyTable<u64, u64> + 'static) -> Box<dyn Contender> {
    Box::new(Study { name: name.to_owned(), most_reads, table })
}

struct Hashbrown(hashbrown::HashMap<u64, u64, FixedState>);

impl Contender for Hashbrown {
    fn name(&self) -> String {
        "hashbrown, foldhash".to_owned()
    }

    fn insert(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| _ = self.0.insert(key, key));
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.0.get(key) == Some(key)).count()
    }

    fn remove(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| _ = self.0.remove(key));
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.0.allocation_size())
    }

    fn reads(&self, _: &[u64]) -> Option<Reads> {
        None
    }

    fn most_reads(&self) -> u64 {
        u64::MAX
    }
}

struct Standard(std::collections::HashMap<u64, u64>);

impl Contender for Standard {
    fn name(&self) -> String {
        "std, SipHash".to_owned()
    }

    fn insert(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| _ = self.0.insert(key, key));
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.0.get(key) == Some(key)).count()
    }

    fn remove(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| _ = self.0.remove(key));
    }

    fn bytes(&self) -> Option<usize> {
        None
    }

    fn reads(&self, _: &[u64]) -> Option<Reads> {
        None
    }

    fn most_reads(&self) -> u64 {
        u64::MAX
    }
}

struct Multilevel {
    name: String,
    table: MultilevelTable<u64, u64>,
}

impl Contender for Multilevel {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn insert(&mut self, keys: &[u64]) {
        for &key in keys {
            self.table.insert(key, key).map_err(|full| anyhow!("{full}")).expect("the table has room");
        }
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.table.get(key) == Some(key)).count()
    }

    fn remove(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| _ = self.table.remove(key));
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.table.byte_len())
    }

    fn reads(&self, keys: &[u64]) -> Option<Reads> {
        count_reads(keys, |key| self.table.locate(key).buckets_read.into())
    }

    fn most_reads(&self) -> u64 {
        self.table.layout().level_count() as u64
    }
}

struct Study<T> {
    name: String,
    most_reads: u64,
    table: T,
}

impl<T: StudyTable<u64, u64>> Contender for Study<T> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn insert(&mut self, keys: &[u64]) {
        for &key in keys {
            self.table.insert(key, key).map_err(|full| anyhow!("{full}")).expect("the table has room");
        }
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.table.get(key) == Some(key)).count()
    }

    fn remove(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| _ = self.table.remove(key));
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.table.byte_len())
    }

    fn reads(&self, keys: &[u64]) -> Option<Reads> {
        count_reads(keys, |key| {
            let before = self.table.probes();
            _ = self.table.get(key);
            self.table.probes() - before
        })
    }

    fn most_reads(&self) -> u64 {
        self.most_reads
    }
}

fn count_reads(keys: &[u64], reads: impl Fn(&u64) -> u64) -> Option<Reads> {
    let (sum, most) =
        keys.iter().map(reads).fold((0, 0), |(sum, most), reads| (sum + reads, most.max(reads)));
    Some(Reads { mean: sum as f64 / keys.len() as f64, most })
}
