//! The value of `CF.*` keys: a line filter, growing or of fixed size. Below the rates that its
//! remainders allow, it is a d-left counting filter. There is no cuckoo filter here; only the
//! commands have that name.

use std::io::Read;

use oneread::bytes::{Kind, Saved};
use oneread::filter::{
    BuildError, DLeftCountingFilter, GrowingDLeftCountingFilter, GrowingLineFilter, LineFilter,
};
use oneread::layout::{DLeftCountingLayout, GrowingLayout};
use oneread::plan;

use super::bloom::AddError;
use super::stream::{HEADER, Sink, fields_length, read_fields, write_fields};
use super::{Refused, Value};

/// The settings of a new filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CuckooOptions {
    pub(crate) rate: f64,
    pub(crate) capacity: u64,
    /// The growth factor from one layer to the next; 0 for a filter of fixed size.
    pub(crate) expansion: u32,
    /// Only reported by `CF.INFO`; our buckets have a fixed size.
    pub(crate) bucket_size: u32,
    /// Only reported by `CF.INFO`; our filters do not relocate items.
    pub(crate) max_iterations: u32,
    pub(crate) seed: u64,
}

/// A filter and the settings that `CF.INFO` reports.
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
    GrowingLine(GrowingLineFilter),
    Line(Box<LineFilter>),
    GrowingDLeft(GrowingDLeftCountingFilter),
    DLeft(DLeftCountingFilter),
}

/// Runs the same code on a filter of any kind.
macro_rules! with {
    ($body:expr, $filter:ident => $do:expr) => {
        match $body {
            Body::GrowingLine($filter) => $do,
            Body::Line($filter) => $do,
            Body::GrowingDLeft($filter) => $do,
            Body::DLeft($filter) => $do,
        }
    };
}

/// The lowest rate of growing filters made of lines. Remainders have at most 16 bits. At this rate,
/// the lines of a layer for 65,000 times the capacity are a quarter empty, which makes 27 bits per
/// item; d-left filters take 38. (At 1%: 13 to 16, and 24 to 29.)
const GROWING_LINE_RATE: f64 = 5e-4;

/// The lowest rate of line filters of fixed size: 16-bit remainders in full lines have 7.4e-6.
const LINE_RATE: f64 = 7.5e-6;

/// How often all items of a d-left filter of fixed size can be replaced before its rate exceeds the
/// planned one.
const TURNOVERS: f64 = 20.0;

/// "onercf-1" as a number.
const VERSION: u64 = u64::from_le_bytes(*b"onercf-1");

/// The fields of an encoding.
const FIELDS: u64 = 5;

impl CuckooOptions {
    fn layout(&self) -> Result<GrowingLayout, Refused> {
        // With equal layers, their number would grow in proportion to the set.
        let growth = self.expansion.max(GrowingLayout::MIN_GROWTH);
        Ok(GrowingLayout::new(self.capacity, self.rate)?.with_growth(growth)?)
    }

    /// The bytes of a new filter, computed before any are allocated.
    pub(crate) fn byte_len(&self) -> Result<u64, Refused> {
        Ok(match (self.expansion > 0, self.has_lines()) {
            (true, true) => plan::line::layer(self.layout()?, 0)?.0.byte_len(),
            (false, true) => plan::line::for_rate(self.capacity, self.rate)?.byte_len(),
            (true, false) => plan::dleft_counting::layer(self.layout()?, 0)?.0.byte_len(),
            (false, false) => self.dleft_layout()?.byte_len(),
        })
    }

    /// Whether a line filter is the smaller choice.
    fn has_lines(&self) -> bool {
        self.rate >= if self.expansion == 0 { LINE_RATE } else { GROWING_LINE_RATE }
    }

    fn dleft_layout(&self) -> Result<DLeftCountingLayout, Refused> {
        Ok(plan::dleft_counting::for_rate(self.capacity, self.rate, TURNOVERS)?)
    }

    fn body(&self) -> Result<Body, Refused> {
        Ok(match (self.expansion > 0, self.has_lines()) {
            (true, true) => Body::GrowingLine(GrowingLineFilter::with_seed(self.layout()?, self.seed)?),
            (false, true) => {
                let layout = plan::line::for_rate(self.capacity, self.rate)?;
                Body::Line(Box::new(LineFilter::with_seed(layout, self.seed)?))
            }
            (true, false) => {
                Body::GrowingDLeft(GrowingDLeftCountingFilter::with_seed(self.layout()?, self.seed)?)
            }
            (false, false) => Body::DLeft(DLeftCountingFilter::with_seed(self.dleft_layout()?, self.seed)?),
        })
    }
}

impl CuckooValue {
    pub(crate) fn new(options: &CuckooOptions) -> Result<Self, Refused> {
        let &CuckooOptions { rate, expansion, bucket_size, max_iterations, .. } = options;
        Ok(Self { expansion, bucket_size, max_iterations, deleted: 0, rate, body: options.body()? })
    }

    /// Adds an item once more and grows to at most `most_bytes`.
    pub(crate) fn add(&mut self, item: &[u8], most_bytes: u64) -> Result<(), AddError> {
        let bytes = self.byte_len();
        let refused = |error: BuildError| AddError::of_growth(error, bytes, most_bytes);
        match &mut self.body {
            Body::GrowingLine(filter) => filter.insert_within(item, most_bytes).map(drop).map_err(refused),
            Body::GrowingDLeft(filter) => filter.insert_within(item, most_bytes).map(drop).map_err(refused),
            Body::Line(filter) => filter.insert(item).map(drop).map_err(|_| AddError::Full),
            Body::DLeft(filter) => filter.insert(item).map(drop).map_err(|_| AddError::Full),
        }
    }

    /// Removes one addition; returns whether there may have been one.
    pub(crate) fn delete(&mut self, item: &[u8]) -> bool {
        let deleted = with!(&mut self.body, filter => filter.remove(item)).is_ok();
        self.deleted += u64::from(deleted);
        deleted
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        with!(&self.body, filter => filter.contains(item))
    }

    pub(crate) fn contains_many<'i>(
        &self,
        items: impl IntoIterator<Item = &'i [u8]>,
        answer: impl FnMut(bool),
    ) {
        with!(&self.body, filter => filter.contains_many(items, answer));
    }

    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        with!(&self.body, filter => filter.count(item))
    }

    pub(crate) fn len(&self) -> u64 {
        with!(&self.body, filter => filter.len())
    }

    pub(crate) fn buckets(&self) -> u64 {
        match &self.body {
            Body::GrowingLine(filter) => filter.total_lines(),
            Body::Line(filter) => filter.layout().lines(),
            Body::GrowingDLeft(filter) => filter.total_buckets(),
            Body::DLeft(filter) => filter.layout().total_buckets(),
        }
    }

    /// The number of slots in all buckets.
    pub(crate) fn slots(&self) -> u64 {
        match &self.body {
            Body::GrowingLine(filter) => filter.total_slots(),
            Body::Line(filter) => filter.layout().capacity(),
            Body::GrowingDLeft(filter) => filter.total_slots(),
            Body::DLeft(filter) => filter.layout().total_slots(),
        }
    }

    pub(crate) fn layers(&self) -> usize {
        match &self.body {
            Body::GrowingLine(filter) => filter.layers(),
            Body::GrowingDLeft(filter) => filter.layers(),
            Body::Line(_) | Body::DLeft(_) => 1,
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
        with!(&self.body, filter => filter.false_positive_rate())
    }

    pub(crate) fn seed(&self) -> u64 {
        with!(&self.body, filter => filter.digester().seed())
    }
}

impl Value for CuckooValue {
    fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        let narrow = [self.expansion, self.bucket_size, self.max_iterations].map(u64::from);
        let [expansion, bucket_size, max_iterations] = narrow;
        let fields = [expansion, bucket_size, max_iterations, self.deleted, self.rate.to_bits()];
        write_fields(VERSION, fields, sink);
        let sink = Sink(sink);
        with!(&self.body, filter => filter.save(sink)).expect("a sink takes everything");
    }

    fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let [expansion, bucket_size, max_iterations, deleted, rate] = read_fields(VERSION, reader)?;
        let narrow = |field: u64| u32::try_from(field).map_err(|_| Refused("an impossible option".into()));
        let (expansion, bucket_size) = (narrow(expansion)?, narrow(bucket_size)?);
        let max_iterations = narrow(max_iterations)?;
        // The first bytes tell the kind of filter; earlier versions had d-left filters only.
        let mut first = [0; 12];
        reader.read_exact(&mut first)?;
        let reader = first[..].chain(reader);
        let body = match (Kind::of(&first)?, expansion > 0) {
            (Kind::GrowingLine, true) => Body::GrowingLine(Saved::load(reader)?),
            (Kind::Line, false) => Body::Line(Box::new(Saved::load(reader)?)),
            (Kind::GrowingDLeftCounting, true) => Body::GrowingDLeft(Saved::load(reader)?),
            (Kind::DLeftCounting, false) => Body::DLeft(Saved::load(reader)?),
            _ => return Err(Refused("a filter of another kind".into())),
        };
        Ok(Self { expansion, bucket_size, max_iterations, deleted, rate: f64::from_bits(rate), body })
    }

    fn parts(&self) -> Option<[u64; 2]> {
        let payload = with!(&self.body, filter => filter.payload_length());
        Some([fields_length(FIELDS) + HEADER, payload])
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        with!(&self.body, filter => filter.write_payload(sink));
    }

    fn byte_len(&self) -> usize {
        with!(&self.body, filter => filter.byte_len())
    }
}
