//! All filters behind one trait, and their contests. Loops are inside the trait's methods, so that
//! a virtual call costs nothing.

use std::collections::BTreeMap;
use std::hash::Hash;

use anyhow::Result;
use foldhash::fast::FixedState;
use oneread::hash::Key;

use crate::measure::{Bench, Contestant, timed};

/// Operations per round: long enough to time, short enough for many rounds.
pub(crate) const OPERATIONS: usize = 1_000_000;

/// Above this number a round of insertions takes seconds per contender. There are then fewer
/// rounds, and filters are not refilled before each round of removals.
const MANY: usize = 2_000_000;

/// The number of rounds that fill a filter with `inserted` keys, where other workloads have `all`.
fn filling_rounds(inserted: usize, all: usize) -> usize {
    if inserted <= MANY {
        all
    } else if inserted <= 20_000_000 {
        all.min(5)
    } else {
        all.min(3)
    }
}

/// The seed of all hash functions.
pub(crate) const SEED: u64 = 1;

/// The hash function of the other crates.
pub(crate) fn foldhash() -> FixedState {
    FixedState::with_seed(SEED)
}

/// A key that all contenders accept.
pub(crate) trait BenchKey: Key + Hash + Copy + Send + Sync + 'static {
    /// For crates that hash bytes themselves.
    type Bytes: AsRef<[u8]>;
    fn bytes(&self) -> Self::Bytes;
}

impl BenchKey for u64 {
    type Bytes = [u8; 8];
    fn bytes(&self) -> [u8; 8] {
        self.to_ne_bytes()
    }
}

impl BenchKey for [u8; 16] {
    type Bytes = [u8; 16];
    fn bytes(&self) -> [u8; 16] {
        *self
    }
}

/// A filter, or another structure measured like one.
pub(crate) trait Contender<K> {
    fn name(&self) -> String;
    fn clear(&mut self);
    fn insert(&mut self, keys: &[K]);
    /// How many of the keys are reported present.
    fn count(&self, keys: &[K]) -> usize;
    fn bytes(&self) -> usize;
    fn removes(&self) -> bool {
        false
    }
    fn remove(&mut self, _keys: &[K]) {}
    /// Whether it has a false-positive rate.
    fn is_filter(&self) -> bool {
        true
    }
}

/// A contender made of closures.
pub(crate) struct Made<F, C, I, L, R, B> {
    pub(crate) name: String,
    pub(crate) structure: F,
    pub(crate) clear: C,
    pub(crate) insert: I,
    pub(crate) count: L,
    pub(crate) remove: Option<R>,
    pub(crate) bytes: B,
    pub(crate) is_filter: bool,
}

impl<K, F, C, I, L, R, B> Contender<K> for Made<F, C, I, L, R, B>
where
    C: FnMut(&mut F),
    I: FnMut(&mut F, &[K]),
    L: Fn(&F, &[K]) -> usize,
    R: FnMut(&mut F, &[K]),
    B: Fn(&F) -> usize,
{
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clear(&mut self) {
        (self.clear)(&mut self.structure);
    }

    fn insert(&mut self, keys: &[K]) {
        (self.insert)(&mut self.structure, keys);
    }

    fn count(&self, keys: &[K]) -> usize {
        (self.count)(&self.structure, keys)
    }

    fn bytes(&self) -> usize {
        (self.bytes)(&self.structure)
    }

    fn removes(&self) -> bool {
        self.remove.is_some()
    }

    fn remove(&mut self, keys: &[K]) {
        if let Some(remove) = &mut self.remove {
            remove(&mut self.structure, keys);
        }
    }

    fn is_filter(&self) -> bool {
        self.is_filter
    }
}

/// A contender without removal.
pub(crate) fn made<'a, K: 'a, F: 'a>(
    name: &str,
    structure: F,
    clear: impl FnMut(&mut F) + 'a,
    insert: impl FnMut(&mut F, &[K]) + 'a,
    count: impl Fn(&F, &[K]) -> usize + 'a,
    bytes: impl Fn(&F) -> usize + 'a,
) -> Box<dyn Contender<K> + 'a> {
    let remove = None::<fn(&mut F, &[K])>;
    Box::new(Made { name: name.to_owned(), structure, clear, insert, count, remove, bytes, is_filter: true })
}

/// A contender with removal.
pub(crate) fn removable<'a, K: 'a, F: 'a>(
    name: &str,
    structure: F,
    clear: impl FnMut(&mut F) + 'a,
    insert: impl FnMut(&mut F, &[K]) + 'a,
    count: impl Fn(&F, &[K]) -> usize + 'a,
    remove: impl FnMut(&mut F, &[K]) + 'a,
    bytes: impl Fn(&F) -> usize + 'a,
) -> Box<dyn Contender<K> + 'a> {
    let remove = Some(remove);
    Box::new(Made { name: name.to_owned(), structure, clear, insert, count, remove, bytes, is_filter: true })
}

/// Counts the positive answers.
pub(crate) fn tally(answers: impl Iterator<Item = bool>) -> usize {
    answers.map(usize::from).sum()
}

pub(crate) type Contenders<K> = Vec<Box<dyn Contender<K>>>;

/// Splits the keys among `threads` threads, including this one.
pub(crate) fn in_threads<K: Sync>(threads: usize, keys: &[K], work: impl Fn(&[K]) + Sync) {
    let mut shares = keys.chunks(keys.len().div_ceil(threads).max(1));
    let own = shares.next().unwrap_or_default();
    std::thread::scope(|scope| {
        for share in shares {
            let work = &work;
            scope.spawn(move || work(share));
        }
        work(own);
    });
}

/// Measures insertions, hits, misses and removals in filters of the first `n` keys; the other keys
/// are absent. Ratios are to the first contender. A round of insertions puts the first `inserted`
/// keys into an empty filter; a round of removals removes at most those.
pub(crate) fn contest<K: BenchKey>(
    bench: &mut Bench,
    label: &str,
    (n, inserted): (usize, usize),
    keys: &[K],
    contenders: impl FnOnce() -> Result<Contenders<K>>,
) -> Result<()> {
    if !bench.wants(label) {
        return Ok(());
    }
    let mut contenders = contenders()?;
    let (present, absent) = keys.split_at(n);
    let operations = present.len().min(OPERATIONS);
    // Small sets are visited many times per round. Other contenders evict a small filter between
    // its rounds; the first pass brings it back, and the others measure a cache-resident filter.
    let passes = (2 * OPERATIONS / operations).max(1);
    let peer = contenders[0].name();
    let all = bench.effort().rounds();
    let filling = filling_rounds(inserted, all);
    let rounds = (filling < all).then_some(("rounds", filling as f64));

    let inserting = contenders.iter_mut().map(|contender| {
        Contestant::new(contender.name(), move || {
            let pass = |_| {
                contender.clear();
                timed(|| {
                    contender.insert(&present[..inserted]);
                    inserted as u64
                })
            };
            (0..passes).map(pass).sum()
        })
        .with_facts(rounds)
    });
    bench.contest_in(filling, &format!("{label}: insert"), &peer, inserting.collect());

    let mut facts = Vec::new();
    for contender in &mut contenders {
        contender.clear();
        contender.insert(present);
        assert_eq!(contender.count(present), present.len(), "{} has false negatives", contender.name());
        facts.push(facts_of(contender.as_ref(), n, absent));
    }
    for (workload, keys) in [("hit", present), ("miss", absent)] {
        let looking = contenders.iter().zip(&facts).map(|(contender, facts)| {
            let keys = &keys[..operations];
            let round = move || {
                timed(|| {
                    let found: usize = (0..passes).map(|_| contender.count(std::hint::black_box(keys))).sum();
                    std::hint::black_box(found);
                    (passes * keys.len()) as u64
                })
            };
            Contestant::new(contender.name(), round).with_facts(facts.clone())
        });
        bench.contest(&format!("{label}: {workload}"), &peer, looking.collect());
    }

    if contenders.iter().all(|contender| contender.removes()) {
        let removing = contenders.iter_mut().map(|contender| {
            Contestant::new(contender.name(), move || {
                let pass = |_| {
                    // Large filters are still full from the lookups.
                    if inserted <= MANY {
                        contender.clear();
                        contender.insert(&present[..inserted]);
                    }
                    let sample = timed(|| {
                        contender.remove(&present[..operations]);
                        operations as u64
                    });
                    if inserted > MANY {
                        contender.insert(&present[..operations]);
                    }
                    sample
                };
                (0..passes).map(pass).sum()
            })
            .with_facts(rounds)
        });
        bench.contest_in(filling, &format!("{label}: remove"), &peer, removing.collect());
    }
    Ok(())
}

/// Bits per key, the measured rate ε, the lower bound of log2(1/ε) bits, and the excess over it.
fn facts_of<K: BenchKey>(
    contender: &dyn Contender<K>,
    items: usize,
    absent: &[K],
) -> BTreeMap<&'static str, f64> {
    let bits = contender.bytes() as f64 * 8.0 / items as f64;
    let mut facts = BTreeMap::from([("bits per key", bits)]);
    if contender.is_filter() {
        let rate = contender.count(absent) as f64 / absent.len() as f64;
        let optimum = -rate.log2();
        facts.extend([("ε", rate), ("log2 1/ε", optimum), ("waste", bits - optimum)]);
    }
    facts
}
