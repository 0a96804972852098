//! The facts of a filter: rows of a table for people, fields of a document for programs.

use indicatif::{HumanBytes, HumanCount};
use oneread::bits::{Lines, Words};
use oneread::bytes::Identified;
use oneread::layout::{BlockedLayout, BloomLayout};
use oneread::plan;
use serde::Serialize;

use super::any::Any;
use super::digester::describe;
use crate::output::{Align, table};

/// Fields that a kind does not have are `None`.
#[derive(Default, Serialize)]
pub(super) struct Facts {
    kind: &'static str,
    /// `None` if every bit is set: then all large numbers are equally likely.
    items: Option<u64>,
    items_estimated: bool,
    bits: u64,
    bits_per_key: Option<f64>,
    /// At the current load.
    false_positive_rate: f64,
    hashes: Option<u32>,
    scheme: Option<&'static str>,
    /// The fraction of bits that are 1, or of counters that are not 0.
    fill: Option<f64>,
    counter_bits: Option<u32>,
    /// Saturated counters, which removals no longer lower.
    stuck: Option<u64>,
    layers: Option<usize>,
    /// The number of buckets with 0, 1, … fingerprints.
    loads: Option<Vec<u64>>,
    fingerprint_lengths: Option<Vec<Length>>,
    digester: &'static str,
    seed: Option<u64>,
    /// The length of the file.
    bytes: u64,
}

/// The number of fingerprints of one length.
#[derive(Serialize)]
struct Length {
    bits: usize,
    fingerprints: u64,
}

impl Length {
    /// The lengths that occur, the longest first.
    fn all(lengths: &[u64]) -> Vec<Self> {
        let lengths = lengths.iter().enumerate().filter(|&(_, &count)| count > 0);
        lengths.map(|(bits, &fingerprints)| Self { bits, fingerprints }).rev().collect()
    }
}

impl Facts {
    /// The facts of a filter whose file has `bytes` bytes. `lines` is the number of keys, if known.
    /// Growing and d-left filters count keys themselves, and all but the counting one count each
    /// once. Reads the whole filter.
    pub(super) fn of<D: Identified, W: Words, L: Lines>(
        filter: &Any<D, W, L>,
        lines: Option<u64>,
        bytes: u64,
    ) -> Self {
        let mut estimate = f64::INFINITY;
        let mut counted = lines;
        let mut facts = match filter {
            Any::Bloom(filter) => {
                let (layout, ones) = (filter.layout(), filter.ones());
                estimate = plan::bloom::estimated_items(layout, ones);
                Self { kind: "bloom", ..Self::of_places(layout, ones) }
            }
            Any::Blocked(filter) => {
                let (layout, ones) = (filter.layout(), filter.ones());
                estimate = plan::blocked::estimated_items(layout, ones);
                Self {
                    kind: "blocked",
                    bits: layout.bits(),
                    false_positive_rate: filter.false_positive_rate(),
                    hashes: Some(BlockedLayout::HASHES),
                    fill: Some(ones as f64 / layout.bits() as f64),
                    ..Self::default()
                }
            }
            Any::Counting(filter) => {
                let (layout, occupied) = (filter.layout(), filter.occupied());
                let places = BloomLayout::new(layout.counters(), layout.hashes())
                    .and_then(|places| places.with_scheme(layout.scheme()))
                    .expect("as many places as a counting filter may have");
                estimate = plan::bloom::estimated_items(places, occupied);
                Self {
                    kind: "counting",
                    bits: layout.bits(),
                    counter_bits: Some(layout.counter_bits()),
                    stuck: Some(filter.stuck()),
                    ..Self::of_places(places, occupied)
                }
            }
            Any::Growing(filter) => {
                counted = Some(filter.len());
                Self {
                    kind: "growing",
                    bits: 8 * filter.byte_len() as u64,
                    false_positive_rate: filter.false_positive_rate(),
                    layers: Some(filter.layers()),
                    ..Self::default()
                }
            }
            Any::DLeft(filter) => {
                let statistics = filter.statistics();
                counted = Some(statistics.fingerprints());
                let capacity = filter.layout().capacity() as usize;
                let of_load = |load: usize| statistics.loads.iter().map(|loads| loads[load]).sum();
                Self {
                    kind: "dleft",
                    bits: filter.layout().bits(),
                    false_positive_rate: filter.false_positive_rate(),
                    loads: Some((0..=capacity).map(of_load).collect()),
                    fingerprint_lengths: Some(Length::all(&statistics.lengths)),
                    ..Self::default()
                }
            }
            Any::DLeftCounting(filter) => {
                let (layout, statistics) = (filter.layout(), filter.statistics());
                counted = Some(filter.len());
                Self {
                    kind: "dleft-counting",
                    bits: layout.bits(),
                    false_positive_rate: filter.false_positive_rate(),
                    counter_bits: Some(layout.counter_bits()),
                    stuck: Some(statistics.stuck()),
                    loads: Some(statistics.loads()),
                    fingerprint_lengths: Some(Length::all(statistics.lengths())),
                    ..Self::default()
                }
            }
            Any::Line(filter) => {
                counted = Some(filter.len());
                Self {
                    kind: "line",
                    bits: 8 * filter.byte_len() as u64,
                    false_positive_rate: filter.false_positive_rate(),
                    fill: Some(filter.load_factor()),
                    ..Self::default()
                }
            }
        };
        facts.items = counted.or(estimate.is_finite().then_some(estimate.round() as u64));
        facts.items_estimated = counted.is_none();
        facts.bits_per_key =
            facts.items.filter(|&items| items > 0).map(|items| facts.bits as f64 / items as f64);
        (facts.digester, facts.seed) = describe(&filter.digester().identity());
        facts.bytes = bytes;
        facts
    }

    /// The facts shared by Bloom and counting filters: places, some of them taken.
    fn of_places(layout: BloomLayout, taken: u64) -> Self {
        Self {
            bits: layout.bits(),
            false_positive_rate: plan::bloom::rate_at_fill(layout, taken),
            hashes: Some(layout.hashes()),
            scheme: Some(layout.scheme().as_str()),
            fill: Some(taken as f64 / layout.bits() as f64),
            ..Self::default()
        }
    }

    /// One row per name and value; `more` is what the command adds.
    pub(super) fn text<const N: usize>(&self, more: [(&str, String); N]) -> String {
        let count = |count: u64| HumanCount(count).to_string();
        let items = match self.items {
            None => "more than can be told: every bit is set".to_owned(),
            Some(items) if self.items_estimated => format!("about {}", count(items)),
            Some(items) => count(items),
        };
        let rows = [
            ("kind", Some(self.kind.to_owned())),
            ("items", Some(items)),
            ("bits", Some(count(self.bits))),
            ("bits per key", self.bits_per_key.map(|bits| format!("{bits:.2}"))),
            ("false positives", Some(share(self.false_positive_rate))),
            ("hashes", self.hashes.map(|hashes| hashes.to_string())),
            ("scheme", self.scheme.map(str::to_owned)),
            ("fill", self.fill.map(share)),
            ("bits per counter", self.counter_bits.map(|bits| bits.to_string())),
            ("stuck counters", self.stuck.map(count)),
            ("layers", self.layers.map(|layers| layers.to_string())),
            (
                "buckets by load",
                self.loads.as_ref().map(|loads| histogram(loads.iter().copied().enumerate())),
            ),
            (
                "fingerprints by bits",
                self.fingerprint_lengths.as_ref().filter(|lengths| !lengths.is_empty()).map(|lengths| {
                    histogram(lengths.iter().map(|length| (length.bits, length.fingerprints)))
                }),
            ),
            ("digester", Some(self.digester.to_owned())),
            ("seed", self.seed.map(|seed| seed.to_string())),
            ("file", Some(format!("{} bytes ({})", count(self.bytes), HumanBytes(self.bytes)))),
        ];
        let rows = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let rows: Vec<_> = rows.chain(more).map(|(name, value)| [name.to_owned(), value]).collect();
        table([Align::Left, Align::Left], &rows)
    }
}

/// Lists the count of each value.
fn histogram(counts: impl Iterator<Item = (usize, u64)>) -> String {
    counts.map(|(of, count)| format!("{of}: {}", HumanCount(count))).collect::<Vec<_>>().join(", ")
}

/// Formats a probability for people.
pub(super) fn share(probability: f64) -> String {
    /// Below this, a percentage would have too many leading zeros.
    const SMALL: f64 = 1e-4;
    if probability > 0.0 && probability < SMALL {
        format!("{probability:.2e}")
    } else {
        format!("{:.3}%", probability * 100.0)
    }
}
