//! A filter of any kind: the one place that lists all kinds.

use oneread::bits::{Line, Lines, LittleEndian, Words};
use oneread::filter::generic::{Blocked, Bloom, CountingBloom, DLeft, DLeftCounting, Growing, LineTable};
use oneread::filter::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, DLeftFilter, Filter,
    GrowingFilter, GrowingLineFilter, LineFilter,
};
use oneread::hash::{Digest, Portable};
use oneread::layout::GrowingLayout;
use oneread::plan;
use pyo3::exceptions::PyTypeError;
use pyo3::{PyErr, PyResult};

use crate::batch::Digests;
use crate::errors;

/// A filter over words of storage `W`, or lines of storage `L`. The larger ones are boxed.
pub(super) enum Any<W, L> {
    Bloom(Filter<Bloom<W>>),
    Blocked(Filter<Blocked<L>>),
    Counting(Filter<CountingBloom<W>>),
    DLeft(Box<Filter<DLeft<W>>>),
    DLeftCounting(Box<Filter<DLeftCounting<W>>>),
    Line(Box<Filter<LineTable<L>>>),
    Growing(Filter<Growing<Bloom<W>>>),
    GrowingLine(Filter<Growing<LineTable<L>>>),
}

/// Runs an expression with the filter, of whatever kind it is.
macro_rules! with_filter {
    ($any:expr, $filter:ident => $body:expr) => {
        match $any {
            Any::Bloom($filter) => $body,
            Any::Blocked($filter) => $body,
            Any::Counting($filter) => $body,
            Any::DLeft($filter) => $body,
            Any::DLeftCounting($filter) => $body,
            Any::Line($filter) => $body,
            Any::Growing($filter) => $body,
            Any::GrowingLine($filter) => $body,
        }
    };
}

/// A filter in memory that can be changed.
pub(super) type Owned = Any<Vec<u64>, Vec<Line>>;

/// A read-only filter over its bytes in place, and their owner.
pub(super) type InPlace = Any<LittleEndian<'static>, LittleEndian<'static>>;

/// The bits of a counter, as in the Rust library: saturation is rare.
const COUNTER_BITS: u32 = 4;

/// The kinds of filters that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Bloom,
    Blocked,
    Counting,
    DLeft,
    DLeftCounting,
    Line,
    Growing,
    GrowingLine,
}

impl<W: Words, L: Lines> Any<W, L> {
    pub(super) fn name(&self) -> Name {
        match self {
            Self::Bloom(_) => Name::Bloom,
            Self::Blocked(_) => Name::Blocked,
            Self::Counting(_) => Name::Counting,
            Self::DLeft(_) => Name::DLeft,
            Self::DLeftCounting(_) => Name::DLeftCounting,
            Self::Line(_) => Name::Line,
            Self::Growing(_) => Name::Growing,
            Self::GrowingLine(_) => Name::GrowingLine,
        }
    }

    pub(super) fn digester(&self) -> Portable {
        *with_filter!(self, filter => filter.digester())
    }

    #[inline]
    pub(super) fn contains(&self, digest: Digest) -> bool {
        with_filter!(self, filter => filter.contains_digest(digest))
    }

    /// Writes the answers to digests, of which there are as many.
    pub(super) fn contains_digests(&self, digests: Digests<'_>, out: &mut [[u8; 1]]) {
        let mut out = out.iter_mut();
        let answer = |found| {
            if let Some(out) = out.next() {
                *out = [u8::from(found)];
            }
        };
        with_filter!(self, filter => filter.contains_digests(digests, answer));
    }

    pub(super) fn is_empty(&self) -> bool {
        with_filter!(self, filter => filter.is_empty())
    }

    pub(super) fn bits(&self) -> u64 {
        8 * with_filter!(self, filter => filter.byte_len()) as u64
    }

    pub(super) fn rate(&self) -> f64 {
        with_filter!(self, filter => filter.false_positive_rate())
    }

    /// The number of keys: counted, or estimated from the bits; infinite if all are set.
    pub(super) fn items(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.estimated_items(),
            Self::Blocked(filter) => filter.estimated_items(),
            Self::Counting(filter) => filter.estimated_items(),
            Self::DLeft(filter) => filter.fingerprints() as f64,
            Self::DLeftCounting(filter) => filter.len() as f64,
            Self::Line(filter) => filter.len() as f64,
            Self::Growing(filter) => filter.len() as f64,
            Self::GrowingLine(filter) => filter.len() as f64,
        }
    }

    /// The fraction of bits, counters or places that are taken.
    pub(super) fn load(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.ones() as f64 / filter.layout().bits() as f64,
            Self::Blocked(filter) => filter.ones() as f64 / filter.layout().bits() as f64,
            Self::Counting(filter) => filter.ones() as f64 / filter.layout().counters() as f64,
            Self::DLeft(filter) => {
                let layout = filter.layout();
                let places = layout.total_buckets() as f64 * f64::from(layout.capacity());
                filter.fingerprints() as f64 / places
            }
            Self::DLeftCounting(filter) => {
                let layout = filter.layout();
                let places = layout.total_buckets() as f64 * f64::from(layout.capacity());
                filter.len() as f64 / places
            }
            Self::Line(filter) => filter.load_factor(),
            Self::Growing(filter) => filter.len() as f64 / filter.capacity() as f64,
            Self::GrowingLine(filter) => filter.len() as f64 / filter.total_slots() as f64,
        }
    }

    /// Reports whether two filters have the same layout, seed and bits.
    pub(super) fn is_same<V: Words, M: Lines>(&self, other: &Any<V, M>) -> bool {
        match (self, other) {
            (Self::Bloom(filter), Any::Bloom(other)) => filter == other,
            (Self::Blocked(filter), Any::Blocked(other)) => filter == other,
            (Self::Counting(filter), Any::Counting(other)) => filter == other,
            (Self::DLeft(filter), Any::DLeft(other)) => **filter == **other,
            (Self::DLeftCounting(filter), Any::DLeftCounting(other)) => **filter == **other,
            (Self::Line(filter), Any::Line(other)) => **filter == **other,
            (Self::Growing(filter), Any::Growing(other)) => filter == other,
            (Self::GrowingLine(filter), Any::GrowingLine(other)) => filter == other,
            _ => false,
        }
    }
}

impl Clone for Owned {
    fn clone(&self) -> Self {
        match self {
            Self::Bloom(filter) => Self::Bloom(filter.clone()),
            Self::Blocked(filter) => Self::Blocked(filter.clone()),
            Self::Counting(filter) => Self::Counting(filter.clone()),
            Self::DLeft(filter) => Self::DLeft(filter.clone()),
            Self::DLeftCounting(filter) => Self::DLeftCounting(filter.clone()),
            Self::Line(filter) => Self::Line(filter.clone()),
            Self::Growing(filter) => Self::Growing(filter.clone()),
            Self::GrowingLine(filter) => Self::GrowingLine(filter.clone()),
        }
    }
}

impl Owned {
    /// An empty filter for `items` keys at a rate; a growing one starts at `items`.
    pub(super) fn new(name: Name, items: u64, rate: f64, digester: Portable) -> PyResult<Self> {
        let build = || {
            Ok(match name {
                Name::Bloom => {
                    Self::Bloom(BloomFilter::with_digester(plan::bloom::for_rate(items, rate)?, digester)?)
                }
                Name::Blocked => {
                    let layout = plan::blocked::for_rate(items, rate)?;
                    Self::Blocked(BlockedBloomFilter::with_digester(layout, digester)?)
                }
                Name::Counting => {
                    let layout = plan::counting::for_rate(items, rate, COUNTER_BITS)?;
                    Self::Counting(CountingBloomFilter::with_digester(layout, digester)?)
                }
                Name::DLeft => {
                    let layout = plan::dleft::for_rate(items, rate)?;
                    Self::DLeft(Box::new(DLeftFilter::with_digester(layout, digester)?))
                }
                Name::DLeftCounting => {
                    use plan::dleft_counting::{LIFE, for_rate};
                    let layout = for_rate(items, rate, LIFE)?;
                    Self::DLeftCounting(Box::new(DLeftCountingFilter::with_digester(layout, digester)?))
                }
                Name::Line => {
                    let layout = plan::line::for_rate(items, rate)?;
                    Self::Line(Box::new(LineFilter::with_digester(layout, digester)?))
                }
                Name::Growing => {
                    let layout = GrowingLayout::new(items, rate)?;
                    Self::Growing(GrowingFilter::with_digester(layout, digester)?)
                }
                Name::GrowingLine => {
                    let layout = GrowingLayout::new(items, rate)?;
                    Self::GrowingLine(GrowingLineFilter::with_digester(layout, digester)?)
                }
            })
        };
        build().map_err(errors::build)
    }

    pub(super) fn save(&self, writer: &mut dyn std::io::Write) -> std::io::Result<()> {
        with_filter!(self, filter => filter.save(writer))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        with_filter!(self, filter => filter.to_bytes())
    }

    /// Inserts a key; reports whether it may have been present.
    #[inline]
    pub(super) fn insert(&mut self, digest: Digest) -> PyResult<bool> {
        match self {
            Self::Bloom(filter) => Ok(filter.insert_digest(digest)),
            Self::Blocked(filter) => Ok(filter.insert_digest(digest)),
            Self::Counting(filter) => Ok(filter.insert_digest(digest)),
            Self::DLeft(filter) => filter.insert_digest(digest).map_err(errors::full),
            Self::DLeftCounting(filter) => filter.insert_digest(digest).map_err(errors::full),
            Self::Line(filter) => filter.insert_digest(digest).map_err(errors::full),
            Self::Growing(filter) => filter.insert_digest(digest).map_err(errors::build),
            Self::GrowingLine(filter) => filter.insert_digest(digest).map_err(errors::build),
        }
    }

    pub(super) fn insert_digests(&mut self, digests: Digests<'_>) -> PyResult<()> {
        match self {
            Self::Bloom(filter) => filter.insert_digests(digests),
            Self::Blocked(filter) => filter.insert_digests(digests),
            Self::Counting(filter) => filter.insert_digests(digests),
            Self::DLeft(filter) => filter.insert_digests(digests).map_err(errors::full)?,
            Self::DLeftCounting(filter) => filter.insert_digests(digests).map_err(errors::full)?,
            Self::Line(filter) => filter.insert_digests(digests).map_err(errors::full)?,
            Self::Growing(filter) => filter.insert_digests(digests).map_err(errors::build)?,
            Self::GrowingLine(filter) => filter.insert_digests(digests).map_err(errors::build)?,
        }
        Ok(())
    }

    /// Removes a key, and reports whether it may have been present. Never, in kinds without
    /// removal.
    pub(super) fn remove(&mut self, digest: Digest) -> bool {
        match self {
            Self::Counting(filter) => filter.remove_digest(digest).is_ok(),
            Self::DLeftCounting(filter) => filter.remove_digest(digest).is_ok(),
            Self::Line(filter) => filter.remove_digest(digest).is_ok(),
            Self::GrowingLine(filter) => filter.remove_digest(digest).is_ok(),
            Self::Bloom(_) | Self::Blocked(_) | Self::DLeft(_) | Self::Growing(_) => false,
        }
    }

    pub(super) fn clear(&mut self) -> PyResult<()> {
        match self {
            Self::Bloom(filter) => filter.clear(),
            Self::Blocked(filter) => filter.clear(),
            Self::Counting(filter) => filter.clear(),
            Self::DLeft(filter) => filter.clear(),
            Self::DLeftCounting(filter) => filter.clear(),
            Self::Line(filter) => filter.clear(),
            Self::Growing(filter) => filter.clear().map_err(errors::build)?,
            Self::GrowingLine(filter) => filter.clear().map_err(errors::build)?,
        }
        Ok(())
    }

    /// Adds all keys of another filter.
    pub(super) fn union(&mut self, other: &Self) -> PyResult<()> {
        match (self, other) {
            (Self::Bloom(filter), Self::Bloom(other)) => filter.union(other),
            (Self::Blocked(filter), Self::Blocked(other)) => filter.union(other),
            (Self::Counting(filter), Self::Counting(other)) => filter.union(other),
            (Self::DLeft(filter), Self::DLeft(other)) => filter.union(&**other),
            (Self::Line(filter), Self::Line(other)) => filter.union(&**other),
            (Self::Growing(filter), Self::Growing(other)) => filter.merge(other.clone()),
            (filter, other) => return Err(cannot_join(filter, other)),
        }
        .map_err(errors::merge)
    }

    /// Keeps what may be in both filters.
    pub(super) fn intersect(&mut self, other: &Self) -> PyResult<()> {
        match (self, other) {
            (Self::Bloom(filter), Self::Bloom(other)) => filter.intersect(other),
            (Self::Blocked(filter), Self::Blocked(other)) => filter.intersect(other),
            (filter, other) => return Err(cannot_join(filter, other)),
        }
        .map_err(errors::merge)
    }
}

fn cannot_join(filter: &Owned, other: &Owned) -> PyErr {
    let (filter, other) = (filter.name(), other.name());
    PyTypeError::new_err(if filter == other {
        format!("filters of the kind {filter:?} have no such operation: build one from all keys")
    } else {
        format!("filters of the kinds {filter:?} and {other:?} cannot be joined")
    })
}
