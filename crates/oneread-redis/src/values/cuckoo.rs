//! What `CF.*` keys hold: a d-left counting filter, which grows or does not. There is no cuckoo in it; the commands are called so.

use std::io::Read;

use oneread::bytes::Saved;
use oneread::filter::{DLeftCountingFilter, GrowingDLeftCountingFilter};
use oneread::layout::GrowingLayout;
use oneread::plan;

use super::bloom::AddError;
use super::stream::{Sink, read_fields, write_fields};
use super::{Refused, Value};

/// How a filter is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CuckooOptions {
    pub(crate) rate: f64,
    pub(crate) capacity: u64,
    /// How many times larger each layer is than the one before; 0 for a filter that does not grow.
    pub(crate) expansion: u32,
    /// Told back by `CF.INFO`; our buckets are what they are.
    pub(crate) bucket_size: u32,
    /// Told back by `CF.INFO`; nothing is moved about here.
    pub(crate) max_iterations: u32,
    pub(crate) seed: u64,
}

/// A filter with what `CF.INFO` tells of it.
#[derive(Clone)]
pub(crate) struct CuckooValue {
    expansion: u32,
    bucket_size: u32,
    max_iterations: u32,
    deleted: u64,
    rate: f64,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Growing(GrowingDLeftCountingFilter),
    Fixed(DLeftCountingFilter),
}

/// How often all items of a filter that does not grow may be exchanged for others before its rate is above the planned one.
const TURNOVERS: f64 = 20.0;

/// "onercf-1" as a number.
const VERSION: u64 = u64::from_le_bytes(*b"onercf-1");

impl CuckooOptions {
    fn layout(&self) -> Result<GrowingLayout, Refused> {
        // Layers of equal size would be as many as the set is large.
        let growth = self.expansion.max(GrowingLayout::LEAST_GROWTH);
        Ok(GrowingLayout::new(self.capacity, self.rate)?.with_growth(growth)?)
    }

    /// The bytes of a new filter, before any of them is allocated.
    pub(crate) fn byte_len(&self) -> Result<u64, Refused> {
        let layout = if self.expansion == 0 {
            plan::dleft_counting::for_rate(self.capacity, self.rate, TURNOVERS)?
        } else {
            plan::dleft_counting::layer(self.layout()?, 0)?.0
        };
        Ok(layout.byte_len())
    }
}

impl CuckooValue {
    pub(crate) fn new(options: &CuckooOptions) -> Result<Self, Refused> {
        let &CuckooOptions { rate, capacity, expansion, bucket_size, max_iterations, seed } = options;
        let body = if expansion == 0 {
            let layout = plan::dleft_counting::for_rate(capacity, rate, TURNOVERS)?;
            Body::Fixed(DLeftCountingFilter::with_seed(layout, seed)?)
        } else {
            Body::Growing(GrowingDLeftCountingFilter::with_seed(options.layout()?, seed)?)
        };
        Ok(Self { expansion, bucket_size, max_iterations, deleted: 0, rate, body })
    }

    /// Adds an item once more, growing to so many bytes at most.
    pub(crate) fn add(&mut self, item: &[u8], most_bytes: u64) -> Result<(), AddError> {
        match &mut self.body {
            Body::Growing(filter) => match filter.insert_within(item, most_bytes) {
                Ok(_) => Ok(()),
                Err(error) => Err(AddError::Refused(error.into())),
            },
            Body::Fixed(filter) => filter.insert(item).map(drop).map_err(|_| AddError::Full),
        }
    }

    /// Takes back one addition; says whether there may have been one.
    pub(crate) fn delete(&mut self, item: &[u8]) -> bool {
        let deleted = match &mut self.body {
            Body::Growing(filter) => filter.remove(item),
            Body::Fixed(filter) => filter.remove(item),
        }
        .is_ok();
        self.deleted += u64::from(deleted);
        deleted
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        match &self.body {
            Body::Growing(filter) => filter.contains(item),
            Body::Fixed(filter) => filter.contains(item),
        }
    }

    pub(crate) fn contains_many<'i>(
        &self,
        items: impl IntoIterator<Item = &'i [u8]>,
        answer: impl FnMut(bool),
    ) {
        match &self.body {
            Body::Growing(filter) => filter.contains_many(items, answer),
            Body::Fixed(filter) => filter.contains_many(items, answer),
        }
    }

    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.count(item),
            Body::Fixed(filter) => filter.count(item),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.len(),
            Body::Fixed(filter) => filter.len(),
        }
    }

    pub(crate) fn buckets(&self) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.total_buckets(),
            Body::Fixed(filter) => filter.layout().total_buckets(),
        }
    }

    pub(crate) fn layers(&self) -> usize {
        match &self.body {
            Body::Growing(filter) => filter.layers(),
            Body::Fixed(_) => 1,
        }
    }

    pub(crate) const fn deleted(&self) -> u64 {
        self.deleted
    }

    pub(crate) const fn expansion(&self) -> u32 {
        self.expansion
    }

    pub(crate) const fn bucket_size(&self) -> u32 {
        self.bucket_size
    }

    pub(crate) const fn max_iterations(&self) -> u32 {
        self.max_iterations
    }

    pub(crate) const fn planned_rate(&self) -> f64 {
        self.rate
    }

    pub(crate) fn present_rate(&self) -> f64 {
        match &self.body {
            Body::Growing(filter) => filter.false_positive_rate(),
            Body::Fixed(filter) => filter.false_positive_rate(),
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        match &self.body {
            Body::Growing(filter) => filter.digester().seed(),
            Body::Fixed(filter) => filter.digester().seed(),
        }
    }
}

impl Value for CuckooValue {
    fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        let narrow = [self.expansion, self.bucket_size, self.max_iterations].map(u64::from);
        let [expansion, bucket_size, max_iterations] = narrow;
        let fields = [expansion, bucket_size, max_iterations, self.deleted, self.rate.to_bits()];
        write_fields(VERSION, fields, sink);
        let sink = Sink(sink);
        match &self.body {
            Body::Growing(filter) => filter.save(sink),
            Body::Fixed(filter) => filter.save(sink),
        }
        .expect("a sink takes everything");
    }

    fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let [expansion, bucket_size, max_iterations, deleted, rate] = read_fields(VERSION, reader)?;
        let narrow = |field: u64| u32::try_from(field).map_err(|_| Refused("an impossible option".into()));
        let (expansion, bucket_size) = (narrow(expansion)?, narrow(bucket_size)?);
        let max_iterations = narrow(max_iterations)?;
        let body = if expansion == 0 {
            Body::Fixed(DLeftCountingFilter::load(reader)?)
        } else {
            Body::Growing(GrowingDLeftCountingFilter::load(reader)?)
        };
        Ok(Self { expansion, bucket_size, max_iterations, deleted, rate: f64::from_bits(rate), body })
    }

    fn byte_len(&self) -> usize {
        match &self.body {
            Body::Growing(filter) => filter.byte_len(),
            Body::Fixed(filter) => filter.byte_len(),
        }
    }
}
