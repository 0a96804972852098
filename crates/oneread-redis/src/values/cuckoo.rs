//! The value of `CF.*` keys: a line filter, growing or of fixed size. Below the rates that its
//! remainders allow, it is a d-left counting filter. There is no cuckoo filter here; only the
//! commands have that name.

use oneread::bytes::WordArray;
use oneread::filter::{
    BuildError, DLeftCountingFilter, GrowingDLeftCountingFilter, GrowingLineFilter, LineFilter,
};
use oneread::layout::{DLeftCountingLayout, GrowingLayout};
use oneread::plan;

use super::bloom::AddError;
use super::seeded::Seeded;
use super::{Reader, Refused, Value, Writer};

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
    body: Body,
}

#[derive(Clone)]
enum Body {
    GrowingLine(GrowingLineFilter<Seeded>),
    /// With the planned rate.
    Line(Box<LineFilter<Seeded>>, f64),
    GrowingDLeft(GrowingDLeftCountingFilter<Seeded>),
    /// With the planned rate.
    DLeft(DLeftCountingFilter<Seeded>, f64),
}

/// Runs the same code on a filter of any kind.
macro_rules! with {
    ($body:expr, $filter:ident => $do:expr) => {
        match $body {
            Body::GrowingLine($filter) => $do,
            Body::Line($filter, _) => $do,
            Body::GrowingDLeft($filter) => $do,
            Body::DLeft($filter, _) => $do,
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

/// The first number of an outline: the kind of filter, and the version of the format.
const GROWING_LINE: u64 = 1;
const LINE: u64 = 2;
const GROWING_DLEFT: u64 = 3;
const DLEFT: u64 = 4;

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
        let seed = Seeded(self.seed);
        Ok(match (self.expansion > 0, self.has_lines()) {
            (true, true) => Body::GrowingLine(GrowingLineFilter::with_digester(self.layout()?, seed)?),
            (false, true) => {
                let layout = plan::line::for_rate(self.capacity, self.rate)?;
                Body::Line(Box::new(LineFilter::with_digester(layout, seed)?), self.rate)
            }
            (true, false) => {
                Body::GrowingDLeft(GrowingDLeftCountingFilter::with_digester(self.layout()?, seed)?)
            }
            (false, false) => {
                Body::DLeft(DLeftCountingFilter::with_digester(self.dleft_layout()?, seed)?, self.rate)
            }
        })
    }
}

impl CuckooValue {
    pub(crate) fn new(options: &CuckooOptions) -> Result<Self, Refused> {
        let &CuckooOptions { expansion, bucket_size, max_iterations, .. } = options;
        Ok(Self { expansion, bucket_size, max_iterations, deleted: 0, body: options.body()? })
    }

    /// Adds an item once more and grows to at most `most_bytes`.
    pub(crate) fn add(&mut self, item: &[u8], most_bytes: u64) -> Result<(), AddError> {
        let bytes = self.byte_len();
        let refused = |error: BuildError| AddError::of_growth(error, bytes, most_bytes);
        match &mut self.body {
            Body::GrowingLine(filter) => filter.insert_within(item, most_bytes).map(drop).map_err(refused),
            Body::GrowingDLeft(filter) => filter.insert_within(item, most_bytes).map(drop).map_err(refused),
            Body::Line(filter, _) => filter.insert(item).map(drop).map_err(|_| AddError::Full),
            Body::DLeft(filter, _) => filter.insert(item).map(drop).map_err(|_| AddError::Full),
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
            Body::Line(filter, _) => filter.layout().lines(),
            Body::GrowingDLeft(filter) => filter.total_buckets(),
            Body::DLeft(filter, _) => filter.layout().total_buckets(),
        }
    }

    /// The number of slots in all buckets.
    pub(crate) fn slots(&self) -> u64 {
        match &self.body {
            Body::GrowingLine(filter) => filter.total_slots(),
            Body::Line(filter, _) => filter.layout().capacity(),
            Body::GrowingDLeft(filter) => filter.total_slots(),
            Body::DLeft(filter, _) => filter.layout().total_slots(),
        }
    }

    pub(crate) fn layers(&self) -> usize {
        match &self.body {
            Body::GrowingLine(filter) => filter.layers(),
            Body::GrowingDLeft(filter) => filter.layers(),
            Body::Line(..) | Body::DLeft(..) => 1,
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

    pub(crate) fn planned_rate(&self) -> f64 {
        match &self.body {
            Body::GrowingLine(filter) => filter.layout().rate(),
            Body::GrowingDLeft(filter) => filter.layout().rate(),
            Body::Line(_, rate) | Body::DLeft(_, rate) => *rate,
        }
    }

    pub(crate) fn present_rate(&self) -> f64 {
        with!(&self.body, filter => filter.false_positive_rate())
    }

    pub(crate) fn seed(&self) -> u64 {
        with!(&self.body, filter => filter.digester().0)
    }
}

impl Value for CuckooValue {
    fn write_outline(&self, writer: &mut Writer) {
        let (kind, rate) = match &self.body {
            Body::GrowingLine(_) => (GROWING_LINE, None),
            Body::Line(_, rate) => (LINE, Some(*rate)),
            Body::GrowingDLeft(_) => (GROWING_DLEFT, None),
            Body::DLeft(_, rate) => (DLEFT, Some(*rate)),
        };
        writer.number(kind);
        writer.fields([self.expansion, self.bucket_size, self.max_iterations].map(u64::from));
        writer.fields([self.deleted, self.seed()]);
        if let Some(rate) = rate {
            writer.rate(rate);
        }
        writer.numbers(&with!(&self.body, filter => filter.outline()));
    }

    fn from_outline(reader: &mut Reader<'_>, most: u64) -> Result<Self, Refused> {
        let kind = reader.number()?;
        let (expansion, bucket_size, max_iterations) = (reader.narrow()?, reader.narrow()?, reader.narrow()?);
        let (deleted, seed) = (reader.number()?, Seeded(reader.number()?));
        let body = match kind {
            GROWING_LINE => {
                Body::GrowingLine(GrowingLineFilter::with_outline(&reader.numbers()?, seed, most)?)
            }
            LINE => {
                let rate = reader.rate()?;
                let filter = LineFilter::with_outline(&reader.numbers()?, seed, most)?;
                Body::Line(Box::new(filter), rate)
            }
            GROWING_DLEFT => {
                Body::GrowingDLeft(GrowingDLeftCountingFilter::with_outline(&reader.numbers()?, seed, most)?)
            }
            DLEFT => {
                let rate = reader.rate()?;
                Body::DLeft(DLeftCountingFilter::with_outline(&reader.numbers()?, seed, most)?, rate)
            }
            _ => return Err(Refused("a cuckoo filter of another kind or version".into())),
        };
        Ok(Self { expansion, bucket_size, max_iterations, deleted, body })
    }

    fn arrays(&self) -> Vec<&dyn WordArray> {
        with!(&self.body, filter => filter.arrays())
    }

    fn arrays_mut(&mut self) -> Vec<&mut dyn WordArray> {
        with!(&mut self.body, filter => filter.arrays_mut())
    }

    fn check_arrays(&self) -> Result<(), Refused> {
        Ok(with!(&self.body, filter => filter.check_arrays())?)
    }

    fn byte_len(&self) -> usize {
        with!(&self.body, filter => filter.byte_len())
    }
}
