//! Filters of every design at several sizes: bits per key by rate, and time by bits. `cargo xtask
//! frontier` draws the results.
//!
//! A name is a design, a comma and a setting. Each design has one colour in the pictures.

use anyhow::Result;
use oneread::filter::{DLeftFilter, PlacedFilter};
use oneread::hash::{Digester, Portable};
use oneread::plan;

use super::filters::ABSENT;
use super::filters::contenders::{blocked, bloom, others};
use super::filters::contest::{Contender, Contenders, SEED, contest, made, tally};
use super::filters::ours::single;
use super::line;
use crate::measure::Bench;
use crate::workload::random_words;

/// The capacity of the quotient filter with 2^20 slots, where its bits per key are lowest.
const ITEMS: usize = 990_000;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let keys = random_words(ITEMS + ABSENT, 1);
    contest(bench, "all filters", (ITEMS, ITEMS), &keys, all)
}

fn all() -> Result<Contenders<u64>> {
    let n = ITEMS;
    let mut contenders: Contenders<u64> = Vec::new();
    for bits in [8, 12, 16, 20] {
        // In each pair, fastbloom comes first, then ours.
        for (mut two, names) in [
            (bloom(n, bits)?, ["fastbloom", "oneread Bloom"]),
            (blocked(n, bits)?, ["sbbf", "oneread blocked"]),
        ] {
            two.truncate(2);
            contenders.extend(two.into_iter().zip(names).map(|(one, name)| renamed(one, name, bits)));
        }
    }
    contenders.push(d_left(n, 16.0)?);
    for bits in [8, 9, 10, 12, 16] {
        contenders.push(line::single(&format!("oneread line, {bits}"), line::layout(n, bits, 97.0)?)?);
    }
    for rate in [0.03, 0.004, 0.001, 1e-4] {
        contenders.push(line::quotient(&format!("qfilter, {rate}"), n, rate)?);
    }
    contenders.push(line::cuckoo("cuckoofilter, 8", n));
    for bits in [8, 11, 15] {
        contenders.push(placed(bits));
    }
    // Of the other designs, only the static ones.
    let fuse = others(n)?.into_iter().filter(|one| one.name().starts_with("xorf"));
    contenders.extend(fuse.zip([8, 16]).map(|(one, bits)| renamed(one, "xorf fuse", bits)));
    Ok(contenders)
}

/// A contender under another name.
struct Renamed(Box<dyn Contender<u64>>, String);

fn renamed(one: Box<dyn Contender<u64>>, name: &str, bits: usize) -> Box<dyn Contender<u64>> {
    Box::new(Renamed(one, format!("{name}, {bits}")))
}

impl Contender<u64> for Renamed {
    fn name(&self) -> String {
        self.1.clone()
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn insert(&mut self, keys: &[u64]) {
        self.0.insert(keys);
    }

    fn count(&self, keys: &[u64]) -> usize {
        self.0.count(keys)
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

fn d_left(n: usize, bits: f64) -> Result<Box<dyn Contender<u64>>> {
    let layout = plan::dleft::for_items(n as u64, bits)?;
    Ok(single(&format!("oneread d-left, {bits}"), DLeftFilter::with_seed(layout, SEED)?))
}

fn placed(bits: u32) -> Box<dyn Contender<u64>> {
    let digester = Portable::with_seed(SEED);
    made(
        &format!("oneread placed, {bits}"),
        None,
        |filter| *filter = None,
        move |filter, keys: &[u64]| {
            let digests = keys.iter().map(|key| digester.digest(key));
            *filter = Some(PlacedFilter::from_digests(digests, bits, digester).expect("keys that differ"));
        },
        |filter, keys| filter.as_ref().map_or(0, |filter| tally(keys.iter().map(|key| filter.contains(key)))),
        |filter| filter.as_ref().map_or(0, PlacedFilter::byte_len),
    )
}
