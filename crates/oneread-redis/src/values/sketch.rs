//! The value of `CMS.*` keys.

use std::io::Read;

use oneread::bytes::Saved;
use oneread::filter::CountMinSketch;
use oneread::layout::CountMinLayout;

use super::stream::{Sink, read_fields, write_fields};
use super::{Refused, Value};

/// A Count-Min sketch.
#[derive(Clone)]
pub(crate) struct SketchValue(CountMinSketch);

/// "onercms1" as a number.
const VERSION: u64 = u64::from_le_bytes(*b"onercms1");

impl SketchValue {
    /// The width and depth that RedisBloom uses for an error and a probability. With ⌈2/error⌉
    /// counters per row, a row's estimate is too high by more than the error with probability at
    /// most 1/2 (Markov). There are enough rows that all of them err at once with at most the given
    /// probability.
    pub(crate) fn dimensions(error: f64, probability: f64) -> (u64, u32) {
        let depth = (probability.ln() / 0.5f64.ln()).ceil();
        ((2.0 / error).ceil() as u64, (depth as u32).max(1))
    }

    /// The bytes of a new sketch, computed before any are allocated.
    pub(crate) fn byte_len_of(width: u64, depth: u32) -> Result<u64, Refused> {
        Ok(CountMinLayout::new(width, depth)?.counters() * 8)
    }

    pub(crate) fn new(width: u64, depth: u32, seed: u64) -> Result<Self, Refused> {
        Ok(Self(CountMinSketch::with_seed(CountMinLayout::new(width, depth)?, seed)?))
    }

    /// Adds `count` to an item's count and returns its new estimate.
    pub(crate) fn add(&mut self, item: &[u8], count: u64) -> u64 {
        self.0.add(item, count);
        self.0.estimate(item)
    }

    pub(crate) fn estimate_many<'i>(
        &self,
        items: impl IntoIterator<Item = &'i [u8]>,
        answer: impl FnMut(u64),
    ) {
        self.0.estimate_many(items, answer);
    }

    /// Replaces this sketch by the weighted sum of `parts`.
    pub(crate) fn set_to_sum(&mut self, parts: &[(&Self, i64)]) -> Result<(), oneread::filter::MergeError> {
        self.0.set_to_sum(parts.iter().map(|&(part, weight)| (&part.0, weight)))
    }

    pub(crate) fn width(&self) -> u64 {
        self.0.layout().width()
    }

    pub(crate) fn depth(&self) -> u32 {
        self.0.layout().depth()
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.total()
    }

    pub(crate) fn seed(&self) -> u64 {
        self.0.digester().seed()
    }
}

impl Value for SketchValue {
    fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        write_fields(VERSION, [], sink);
        self.0.save(Sink(sink)).expect("a sink takes everything");
    }

    fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let [] = read_fields(VERSION, reader)?;
        Ok(Self(CountMinSketch::load(reader)?))
    }

    fn byte_len(&self) -> usize {
        self.0.byte_len()
    }
}
