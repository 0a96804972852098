//! The contenders. Loops are inside the trait's methods, so that a virtual call costs nothing.

use std::collections::BTreeMap;

use anyhow::Result;
use foldhash::fast::FixedState;
use oneread::hash::Portable;
use oneread::layout::{HintChain, HintRule, Hints, Keep, Moves, MultilevelLayout, Restriction, Ties};
use oneread::table::MultilevelTable;
use oneread_study::table::{
    ChainedTable, CuckooLayout, CuckooTable, DLeftTable, Deletion, Digested, LinearProbingTable, SongTable,
    StudyTable,
};

use super::maps::{Act, Map, Study};

const SEED: u64 = 1;

/// A table with a name.
pub(crate) trait Contender {
    fn name(&self) -> &str;
    fn insert(&mut self, keys: &[u64]);
    /// How many of the keys are present.
    fn count(&self, keys: &[u64]) -> usize;
    fn remove(&mut self, keys: &[u64]);
    /// Bytes on the heap.
    fn bytes(&self) -> usize;
    /// Does `act` with these keys. Returns the reads per operation: on average, at most, and the
    /// promised maximum, which it must keep.
    fn reads(&mut self, act: Act, keys: &[u64]) -> BTreeMap<&'static str, f64>;
}

struct Named<M> {
    name: &'static str,
    map: M,
}

impl<M: Map> Contender for Named<M> {
    fn name(&self) -> &str {
        self.name
    }

    fn insert(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| self.map.insert(key));
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.map.has(key)).count()
    }

    fn remove(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| self.map.remove(key));
    }

    fn bytes(&self) -> usize {
        self.map.bytes()
    }

    fn reads(&mut self, act: Act, keys: &[u64]) -> BTreeMap<&'static str, f64> {
        let promise = self.map.most_reads(act);
        let (mut sum, mut most, mut counted) = (0, 0, false);
        for &key in keys {
            match self.map.reads(act, key) {
                Some(reads) => {
                    counted = true;
                    sum += reads;
                    most = reads.max(most);
                    assert!(
                        promise.is_none_or(|promise| reads <= promise),
                        "{} reads {reads} buckets, and promised {promise:?} at most",
                        self.name
                    );
                }
                None => match act {
                    Act::Look => {}
                    Act::Insert => self.map.insert(key),
                    Act::Remove => self.map.remove(key),
                },
            }
        }
        let mut facts = BTreeMap::new();
        if counted {
            facts.insert("buckets read", sum as f64 / keys.len() as f64);
            facts.insert("most read", most as f64);
        }
        facts.extend(promise.map(|promise| ("promised", promise as f64)));
        facts
    }
}

fn named(name: &'static str, map: impl Map + 'static) -> Box<dyn Contender> {
    Box::new(Named { name, map })
}

/// Ratios are to the first.
pub(crate) fn all(n: usize) -> Result<Vec<Box<dyn Contender>>> {
    let mut contenders = vec![
        named(
            "hashbrown, foldhash",
            hashbrown::HashMap::with_capacity_and_hasher(n, FixedState::with_seed(SEED)),
        ),
        named("std, SipHash", std::collections::HashMap::with_capacity(n)),
    ];
    contenders.extend(multilevel(n as u64)?);
    contenders.extend(study(n as u64)?);
    Ok(contenders)
}

/// The table under every policy, each with enough levels to keep its stash small.
fn multilevel(items: u64) -> Result<Vec<Box<dyn Contender>>> {
    // Covers the rare event that the planned stash is too small; an unused stash costs nothing.
    const STASH: u32 = 64;
    let table = |name, layout: MultilevelLayout, moves| -> Result<Box<dyn Contender>> {
        let layout = layout.with_moves(moves)?.with_stash(STASH)?;
        Ok(named(name, MultilevelTable::with_seed(layout, SEED)?))
    };
    // The paper's table: 40k, 10k, 5k, 2.5k, 2.5k buckets for 10k items.
    let paper = MultilevelLayout::new([4 * items, items, items / 2, items / 4, items / 4])?;
    // The stash of the paper's half-full tables grows with the items. At 10 million it holds about
    // one item with Second Chance in six levels, and three with hints in seven.
    let half_full = |levels| MultilevelLayout::geometric(items, 0.5, levels);
    let buckets_of_eight =
        MultilevelLayout::new([items * 3 / 20, items / 32, items / 128, items / 512])?.with_slots(8)?;
    let deepest = Hints { rule: HintRule::Deepest, chain: HintChain::One };
    let greedy = Restriction { keep: Keep::Greedy(Ties::Random), ..Restriction::default() };
    Ok(vec![
        table("multilevel, 6 buckets an item", paper, Moves::None)?,
        table("multilevel, half full, Second Chance", half_full(6)?, Moves::SecondChance)?,
        table("multilevel, half full, hints", half_full(7)?, Moves::Hints(Hints::default()))?,
        table("multilevel, half full, both moves", half_full(6)?, Moves::Both(deepest))?,
        table("multilevel, half full, restricted", half_full(7)?, Moves::Restricted(greedy))?,
        table("multilevel, buckets of 8, both moves", buckets_of_eight, Moves::Both(deepest))?,
    ])
}

/// The lecture's tables, for comparison.
fn study(items: u64) -> Result<Vec<Box<dyn Contender>>> {
    // The lecture's cuckoo table; then two buckets of four slots at 90%, where the threshold is
    // 98%.
    let lecture = CuckooLayout::new(items * 21 / 10)?;
    let buckets_of_four = CuckooLayout::new(items * 10 / 36)?.with_slots(4)?.with_timeout(500);
    let probing = LinearProbingTable::new(2 * items, Deletion::BackwardShift, functions())?;
    let mut tables = vec![
        // An insertion may move many items.
        promising("cuckoo, 2.1 buckets an item", Some(2), None, CuckooTable::new(lecture, functions())?),
        promising(
            "cuckoo, buckets of 4, 90%",
            Some(2),
            None,
            CuckooTable::new(buckets_of_four, functions())?,
        ),
        promising("linear probing, half full", None, None, probing),
        promising("chained", None, None, ChainedTable::new(functions())),
        promising(
            "d-left, 3 sub-tables, buckets of 8",
            Some(3),
            Some(3),
            DLeftTable::new(3, items / 18, 8, functions())?,
        ),
    ];
    // At 10 million items its lists would take 6 GB.
    if items <= 1_000_000 {
        let table = SongTable::new(items * 64 / 5, 10, functions())?;
        tables.push(promising("Song, 12.8 buckets an item", None, None, table));
    }
    Ok(tables)
}

/// The same hash functions that our tables use.
fn functions() -> impl FnMut(u64) -> Digested<Portable> {
    let mut seed = SEED;
    move |_| {
        seed += 1;
        Digested(Portable::with_seed(seed))
    }
}

fn promising(
    name: &'static str,
    most_reads: Option<u64>,
    most_insertion_reads: Option<u64>,
    table: impl StudyTable<u64, u64> + 'static,
) -> Box<dyn Contender> {
    named(name, Study { table, most_reads, most_insertion_reads })
}
