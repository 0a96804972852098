//! The value of `BF.*` keys: a Bloom filter that grows, or one of fixed size.

use oneread::bytes::WordArray;
use oneread::filter::{BloomFilter, BuildError, GrowingFilter};
use oneread::layout::{BloomLayout, GrowingLayout};
use oneread::plan;

use super::seeded::Seeded;
use super::{Reader, Refused, Value, Writer};

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
enum Body {
    Growing(GrowingFilter<Seeded>),
    Fixed { filter: BloomFilter<Seeded>, items: u64, capacity: u64, rate: f64 },
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

/// The first number of an outline: the kind of filter, and the version of the format.
const GROWING: u64 = 1;
const FIXED: u64 = 2;

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
            let filter = BloomFilter::with_digester(plan::bloom::for_rate(capacity, rate)?, Seeded(seed))?;
            Body::Fixed { filter, items: 0, capacity, rate }
        } else {
            Body::Growing(GrowingFilter::with_digester(options.layout()?, Seeded(seed))?)
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
            Body::Growing(filter) => filter.digester().0,
            Body::Fixed { filter, .. } => filter.digester().0,
        }
    }
}

impl Value for BloomValue {
    fn write_outline(&self, writer: &mut Writer) {
        match &self.body {
            Body::Growing(filter) => {
                writer.fields([GROWING, self.expansion.into(), self.seed()]);
                writer.numbers(&filter.outline());
            }
            Body::Fixed { filter, items, capacity, rate } => {
                writer.fields([FIXED, self.expansion.into(), self.seed()]);
                writer.fields([*items, *capacity]);
                writer.rate(*rate);
                writer.numbers(&filter.outline());
            }
        }
    }

    fn from_outline(reader: &mut Reader<'_>, most_bytes: u64) -> Result<Self, Refused> {
        let (kind, expansion, seed) = (reader.number()?, reader.narrow()?, Seeded(reader.number()?));
        let body = match kind {
            GROWING => Body::Growing(GrowingFilter::with_outline(&reader.numbers()?, seed, most_bytes)?),
            FIXED => {
                let (items, capacity, rate) = (reader.number()?, reader.number()?, reader.rate()?);
                let filter = BloomFilter::with_outline(&reader.numbers()?, seed, most_bytes)?;
                Body::Fixed { filter, items, capacity, rate }
            }
            _ => return Err(Refused("a Bloom filter of another kind or version".into())),
        };
        Ok(Self { expansion, body })
    }

    fn arrays(&self) -> Vec<&dyn WordArray> {
        match &self.body {
            Body::Growing(filter) => filter.arrays(),
            Body::Fixed { filter, .. } => filter.arrays(),
        }
    }

    fn arrays_mut(&mut self) -> Vec<&mut dyn WordArray> {
        match &mut self.body {
            Body::Growing(filter) => filter.arrays_mut(),
            Body::Fixed { filter, .. } => filter.arrays_mut(),
        }
    }

    fn check_arrays(&self) -> Result<(), Refused> {
        match &self.body {
            Body::Growing(filter) => filter.check_arrays()?,
            Body::Fixed { filter, .. } => filter.check_arrays()?,
        }
        Ok(())
    }

    fn byte_len(&self) -> usize {
        match &self.body {
            Body::Growing(filter) => filter.byte_len(),
            Body::Fixed { filter, .. } => filter.byte_len(),
        }
    }
}
