//! The value of `BF.*` keys: a Bloom filter that grows, or one of fixed size.

use std::io::Read;

use oneread::bytes::Saved;
use oneread::filter::{BloomFilter, BuildError, GrowingFilter};
use oneread::layout::{BloomLayout, GrowingLayout};
use oneread::plan;

use super::stream::{HEADER, fields_length, read_fields, write_fields};
use super::{Refused, Value};

/// The settings of a new filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BloomOptions {
    pub(crate) rate: f64,
    pub(crate) capacity: u64,
    /// The growth factor from one layer to the next; 0 for a filter of fixed size.
    pub(crate) expansion: u32,
    /// The ratio of a layer's rate to that of the one before.
    pub(crate) tightening: f64,
    pub(crate) seed: u64,
}

/// A filter and the settings that `BF.INFO` reports.
#[derive(Clone)]
pub(crate) struct BloomValue {
    /// As requested; layers at least double.
    expansion: u32,
    body: Body,
}

#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all filters grow; a box would cost them memory")]
enum Body {
    Growing(GrowingFilter),
    /// In a box, so that filters that grow do not take the room for it.
    Fixed {
        filter: Box<BloomFilter>,
        items: u64,
        capacity: u64,
        rate: f64,
    },
}

/// Why an item is not added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AddError {
    /// A filter of fixed size holds its capacity.
    Full,
    Refused(Refused),
}

impl AddError {
    /// The error of a filter of `bytes` that may grow to `most_bytes`.
    pub(super) fn of_growth(error: BuildError, bytes: usize, most_bytes: u64) -> Self {
        if let BuildError::OutOfMemory(more) = error {
            let bytes = more.bytes.saturating_add(bytes as u64);
            if bytes > most_bytes {
                return Self::Refused(super::too_large(bytes, most_bytes));
            }
        }
        Self::Refused(error.into())
    }
}

/// The capacity of all layers that fit in `most_bytes` together.
fn scaled_capacity(layout: GrowingLayout, most_bytes: u64) -> u64 {
    let (mut capacity, mut bytes) = (0u64, 0u64);
    // Layers at least double, so that this ends soon.
    for index in 0.. {
        let (Ok(layer), Ok((items, _))) = (plan::growing::layer(layout, index), layout.layer(index)) else {
            break;
        };
        bytes = bytes.saturating_add(layer.byte_len());
        if bytes > most_bytes {
            break;
        }
        capacity = capacity.saturating_add(items);
    }
    capacity
}

/// A layer as `BF.DEBUG` shows it.
pub(crate) struct LayerFacts {
    pub(crate) bytes: u64,
    pub(crate) bits: u64,
    pub(crate) hashes: u32,
    pub(crate) capacity: u64,
    pub(crate) items: u64,
    pub(crate) rate: f64,
}

/// "onerbf-1" as a number.
const VERSION: u64 = u64::from_le_bytes(*b"onerbf-1");

/// The fields of an encoding.
const FIELDS: u64 = 4;

impl BloomOptions {
    fn layout(&self) -> Result<GrowingLayout, Refused> {
        // With equal layers, their number would grow in proportion to the set.
        let growth = self.expansion.max(GrowingLayout::MIN_GROWTH);
        Ok(GrowingLayout::new(self.capacity, self.rate)?
            .with_growth(growth)?
            .with_tightening(self.tightening)?)
    }

    /// The most items that fit in `most_bytes`.
    pub(crate) fn scaled_capacity(&self, most_bytes: u64) -> Result<u64, Refused> {
        if self.expansion == 0 {
            return Ok(self.capacity);
        }
        Ok(scaled_capacity(self.layout()?, most_bytes))
    }

    /// The bytes of a new filter, computed before any are allocated.
    pub(crate) fn byte_len(&self) -> Result<u64, Refused> {
        let layout = if self.expansion == 0 {
            plan::bloom::for_rate(self.capacity, self.rate)?
        } else {
            plan::growing::layer(self.layout()?, 0)?
        };
        Ok(layout.bits().div_ceil(8))
    }
}

impl BloomValue {
    pub(crate) fn new(options: &BloomOptions) -> Result<Self, Refused> {
        let &BloomOptions { rate, capacity, expansion, seed, .. } = options;
        let body = if expansion == 0 {
            let filter = Box::new(BloomFilter::with_seed(plan::bloom::for_rate(capacity, rate)?, seed)?);
            Body::Fixed { filter, items: 0, capacity, rate }
        } else {
            Body::Growing(GrowingFilter::with_seed(options.layout()?, seed)?)
        };
        Ok(Self { expansion, body })
    }

    /// Adds an item and grows to at most `most_bytes`. Returns whether the filter changed; if it
    /// did, the item was certainly absent.
    pub(crate) fn add(&mut self, item: &[u8], most_bytes: u64) -> Result<bool, AddError> {
        match &mut self.body {
            Body::Growing(filter) => match filter.insert_within(item, most_bytes) {
                Ok(before) => Ok(!before),
                Err(error) => Err(AddError::of_growth(error, filter.byte_len(), most_bytes)),
            },
            Body::Fixed { filter, items, capacity, .. } => {
                if filter.contains(item) {
                    return Ok(false);
                }
                if items >= capacity {
                    return Err(AddError::Full);
                }
                filter.insert(item);
                *items += 1;
                Ok(true)
            }
        }
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        match &self.body {
            Body::Growing(filter) => filter.contains(item),
            Body::Fixed { filter, .. } => filter.contains(item),
        }
    }

    pub(crate) fn contains_many<'i>(
        &self,
        items: impl IntoIterator<Item = &'i [u8]>,
        answer: impl FnMut(bool),
    ) {
        match &self.body {
            Body::Growing(filter) => filter.contains_many(items, answer),
            Body::Fixed { filter, .. } => filter.contains_many(items, answer),
        }
    }

    /// Adds all items of another filter.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), Refused> {
        match (&mut self.body, &other.body) {
            (Body::Growing(own), Body::Growing(layers)) => {
                super::check_memory(other.byte_len())?;
                Ok(own.merge(layers.clone())?)
            }
            (Body::Fixed { filter, items, .. }, Body::Fixed { filter: other, items: others, .. }) => {
                filter.union(other)?;
                *items += others;
                Ok(())
            }
            _ => Err(Refused("a filter that grows cannot be joined with one that does not".into())),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.len(),
            Body::Fixed { items, .. } => *items,
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.capacity(),
            Body::Fixed { capacity, .. } => *capacity,
        }
    }

    pub(crate) fn layers(&self) -> usize {
        match &self.body {
            Body::Growing(filter) => filter.layers(),
            Body::Fixed { .. } => 1,
        }
    }

    /// The layers as they are planned, the oldest first. All but the last are full, unless filters
    /// were merged.
    pub(crate) fn layer_facts(&self) -> Result<Vec<LayerFacts>, Refused> {
        let facts = |layout: BloomLayout, capacity, items, rate| LayerFacts {
            bytes: layout.byte_len(),
            bits: layout.bits(),
            hashes: layout.hashes(),
            capacity,
            items,
            rate,
        };
        let filter = match &self.body {
            Body::Fixed { filter, items, capacity, rate } => {
                return Ok(vec![facts(filter.layout(), *capacity, *items, *rate)]);
            }
            Body::Growing(filter) => filter,
        };
        let (layout, mut left) = (filter.layout(), filter.len());
        (0..filter.layers() as u32)
            .map(|index| {
                let (capacity, rate) = layout.layer(index)?;
                let items = left.min(capacity);
                left -= items;
                Ok(facts(plan::growing::layer(layout, index)?, capacity, items, rate))
            })
            .collect()
    }

    /// The most items that it can grow to in `most_bytes`.
    pub(crate) fn scaled_capacity(&self, most_bytes: u64) -> u64 {
        match &self.body {
            Body::Growing(filter) => scaled_capacity(filter.layout(), most_bytes),
            Body::Fixed { capacity, .. } => *capacity,
        }
    }

    /// `None` for a filter of fixed size.
    pub(crate) fn tightening(&self) -> Option<f64> {
        match &self.body {
            Body::Growing(filter) => Some(filter.layout().tightening()),
            Body::Fixed { .. } => None,
        }
    }

    /// `None` for a filter of fixed size.
    pub(crate) fn expansion(&self) -> Option<u32> {
        (self.expansion > 0).then_some(self.expansion)
    }

    pub(crate) fn planned_rate(&self) -> f64 {
        match &self.body {
            Body::Growing(filter) => filter.layout().rate(),
            Body::Fixed { rate, .. } => *rate,
        }
    }

    pub(crate) fn present_rate(&self) -> f64 {
        match &self.body {
            Body::Growing(filter) => filter.false_positive_rate(),
            Body::Fixed { filter, .. } => filter.false_positive_rate(),
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.digester().seed(),
            Body::Fixed { filter, .. } => filter.digester().seed(),
        }
    }
}

impl Value for BloomValue {
    fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        let (items, capacity, rate) = match &self.body {
            Body::Growing(_) => (0, 0, 0.0),
            Body::Fixed { items, capacity, rate, .. } => (*items, *capacity, *rate),
        };
        write_fields(VERSION, [self.expansion.into(), items, capacity, f64::to_bits(rate)], sink);
        let sink = super::stream::Sink(sink);
        match &self.body {
            Body::Growing(filter) => filter.save(sink),
            Body::Fixed { filter, .. } => filter.save(sink),
        }
        .expect("a sink takes everything");
    }

    fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let [expansion, items, capacity, rate] = read_fields(VERSION, reader)?;
        let expansion = u32::try_from(expansion).map_err(|_| Refused("an impossible expansion".into()))?;
        let body = if expansion == 0 {
            let filter = Box::new(BloomFilter::load(reader)?);
            Body::Fixed { filter, items, capacity, rate: f64::from_bits(rate) }
        } else {
            Body::Growing(GrowingFilter::load(reader)?)
        };
        Ok(Self { expansion, body })
    }

    fn parts(&self) -> Option<[u64; 2]> {
        let payload = match &self.body {
            Body::Growing(filter) => filter.payload_length(),
            Body::Fixed { filter, .. } => filter.payload_length(),
        };
        Some([fields_length(FIELDS) + HEADER, payload])
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        match &self.body {
            Body::Growing(filter) => filter.write_payload(sink),
            Body::Fixed { filter, .. } => filter.write_payload(sink),
        }
    }

    fn byte_len(&self) -> usize {
        match &self.body {
            Body::Growing(filter) => filter.byte_len(),
            Body::Fixed { filter, .. } => filter.byte_len(),
        }
    }
}
