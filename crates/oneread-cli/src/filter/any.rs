//! A filter of any kind: the one place that lists all kinds.

use std::io::{self, Write};

use anyhow::{Result, anyhow, bail};
use indicatif::HumanCount;
use oneread::bits::{Line, Lines, LittleEndian, Words};
use oneread::bytes::{Identified, Kind, LoadError, Saved, Viewed};
use oneread::filter::generic::{Blocked, Bloom, CountingBloom, DLeft, DLeftCounting, Growing, LineTable};
use oneread::filter::{
    BlockedBloomFilter, BloomFilter, BuildError, CountingBloomFilter, DLeftCountingFilter, DLeftFilter,
    Filter, Full, GrowingFilter, LineFilter, MergeError,
};
use oneread::hash::Digester;

use super::digester::LineDigester;
use super::file::explained;
use super::layout::Layout;

/// A filter over words of storage `W`, or lines of storage `L`.
pub(super) enum Any<D, W, L> {
    Bloom(Filter<Bloom<W>, D>),
    Blocked(Filter<Blocked<L>, D>),
    Counting(Filter<CountingBloom<W>, D>),
    Growing(Filter<Growing<Bloom<W>>, D>),
    /// Boxed, since it is several times as large as the others.
    DLeft(Box<Filter<DLeft<W>, D>>),
    DLeftCounting(Filter<DLeftCounting<W>, D>),
    /// Boxed, since it is as large.
    Line(Box<Filter<LineTable<L>, D>>),
}

/// Runs an expression with the filter, of whatever kind it is.
macro_rules! with_filter {
    ($any:expr, $filter:ident => $body:expr) => {
        match $any {
            Any::Bloom($filter) => $body,
            Any::Blocked($filter) => $body,
            Any::Counting($filter) => $body,
            Any::Growing($filter) => $body,
            Any::DLeft($filter) => $body,
            Any::DLeftCounting($filter) => $body,
            Any::Line($filter) => $body,
        }
    };
}

/// A filter in memory that can be changed.
pub(super) type Owned = Any<LineDigester, Vec<u64>, Vec<Line>>;

/// A read-only filter over its bytes in place.
pub(super) type InPlace<'a, D> = Any<D, LittleEndian<'a>, LittleEndian<'a>>;

impl Owned {
    pub(super) fn new(layout: Layout, digester: LineDigester) -> Result<Self, BuildError> {
        Ok(match layout {
            Layout::Bloom(layout) => Self::Bloom(BloomFilter::with_digester(layout, digester)?),
            Layout::Blocked(layout) => Self::Blocked(BlockedBloomFilter::with_digester(layout, digester)?),
            Layout::Counting(layout) => Self::Counting(CountingBloomFilter::with_digester(layout, digester)?),
            Layout::Growing(layout) => Self::Growing(GrowingFilter::with_digester(layout, digester)?),
            Layout::DLeft(layout) => Self::DLeft(Box::new(DLeftFilter::with_digester(layout, digester)?)),
            Layout::DLeftCounting(layout) => {
                Self::DLeftCounting(DLeftCountingFilter::with_digester(layout, digester)?)
            }
            Layout::Line(layout) => Self::Line(Box::new(LineFilter::with_digester(layout, digester)?)),
        })
    }

    pub(super) fn load(bytes: &[u8]) -> Result<Self, anyhow::Error> {
        match Kind::of(bytes).map_err(explained)? {
            Kind::Bloom => Saved::from_bytes(bytes).map(Self::Bloom),
            Kind::Blocked => Saved::from_bytes(bytes).map(Self::Blocked),
            Kind::Counting => Saved::from_bytes(bytes).map(Self::Counting),
            Kind::Growing => Saved::from_bytes(bytes).map(Self::Growing),
            Kind::DLeft => Saved::from_bytes(bytes).map(Box::new).map(Self::DLeft),
            Kind::DLeftCounting => Saved::from_bytes(bytes).map(Self::DLeftCounting),
            Kind::Line => Saved::from_bytes(bytes).map(Box::new).map(Self::Line),
            other => return Err(no_filter(other)),
        }
        .map_err(explained)
    }

    pub(super) fn save(&self, writer: &mut dyn Write) -> io::Result<()> {
        with_filter!(self, filter => filter.save(writer))
    }

    /// Inserts lines, or digests of lines.
    pub(super) fn insert_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<()>
    where
        LineDigester: Digester<Q>,
    {
        match self {
            Self::Bloom(filter) => filter.insert_many(keys),
            Self::Blocked(filter) => filter.insert_many(keys),
            Self::Counting(filter) => filter.insert_many(keys),
            Self::Growing(filter) => filter.insert_many(keys)?,
            Self::DLeft(filter) => {
                filter.insert_many(keys).or_else(|Full| full(filter.fingerprints()))?;
            }
            Self::DLeftCounting(filter) => filter.insert_many(keys).or_else(|Full| full(filter.len()))?,
            Self::Line(filter) => filter.insert_many(keys).or_else(|Full| full(filter.len()))?,
        }
        Ok(())
    }

    /// Refuses a filter of a kind that cannot remove keys.
    pub(super) fn check_removes(&self) -> Result<()> {
        match self {
            Self::Counting(_) | Self::DLeftCounting(_) | Self::Line(_) => Ok(()),
            _ => bail!(
                "it is {}, and such filters cannot remove lines: build it with --kind line, \
                 dleft-counting or counting",
                self.layout()
            ),
        }
    }

    /// Removes a line, and returns whether the filter had it. Never if its kind cannot remove.
    pub(super) fn remove(&mut self, line: &[u8]) -> bool {
        match self {
            Self::Counting(filter) => filter.remove(line).is_ok(),
            Self::DLeftCounting(filter) => filter.remove(line).is_ok(),
            Self::Line(filter) => filter.remove(line).is_ok(),
            Self::Bloom(_) | Self::Blocked(_) | Self::Growing(_) | Self::DLeft(_) => false,
        }
    }

    /// Reports whether filters of this kind can be merged at all.
    pub(super) fn can_merge(&self) -> bool {
        !matches!(self, Self::DLeftCounting(_))
    }

    /// Merges all keys of another filter into this one.
    pub(super) fn merge(&mut self, other: Self) -> Result<(), MergeError> {
        match (self, other) {
            (Self::Bloom(filter), Self::Bloom(other)) => filter.union(&other),
            (Self::Blocked(filter), Self::Blocked(other)) => filter.union(&other),
            (Self::Counting(filter), Self::Counting(other)) => filter.union(&other),
            (Self::Growing(filter), Self::Growing(other)) => filter.merge(other),
            (Self::DLeft(filter), Self::DLeft(other)) => filter.union(&*other),
            (Self::Line(filter), Self::Line(other)) => filter.union(&*other),
            _ => Err(MergeError::Layouts),
        }
    }
}

impl<'a, D: Identified + Clone> InPlace<'a, D> {
    /// Opens a filter, and verifies the checksum of its payload if `verify` says so.
    pub(super) fn open(bytes: &'a [u8], verify: bool) -> Result<Self, anyhow::Error> {
        match Kind::of(bytes).map_err(explained)? {
            Kind::Bloom => view(bytes, verify).map(Self::Bloom),
            Kind::Blocked => view(bytes, verify).map(Self::Blocked),
            Kind::Counting => view(bytes, verify).map(Self::Counting),
            Kind::Growing => view(bytes, verify).map(Self::Growing),
            Kind::DLeft => view(bytes, verify).map(Box::new).map(Self::DLeft),
            Kind::DLeftCounting => view(bytes, verify).map(Self::DLeftCounting),
            Kind::Line => view(bytes, verify).map(Box::new).map(Self::Line),
            other => return Err(no_filter(other)),
        }
        .map_err(explained)
    }
}

fn view<'a, F: Viewed<'a> + Clone>(bytes: &'a [u8], verify: bool) -> Result<F, LoadError> {
    let view = F::open(bytes)?;
    if verify {
        view.verify()?;
    }
    Ok((*view).clone())
}

impl<D, W: Words, L: Lines> Any<D, W, L> {
    /// Looks up lines; `answer` gets the answers in order.
    pub(super) fn contains_many<'q>(
        &self,
        lines: impl IntoIterator<Item = &'q [u8]>,
        answer: impl FnMut(bool),
    ) where
        D: Digester<[u8]>,
    {
        with_filter!(self, filter => filter.contains_many(lines, answer));
    }

    pub(super) fn layout(&self) -> Layout {
        match self {
            Self::Bloom(filter) => Layout::Bloom(filter.layout()),
            Self::Blocked(filter) => Layout::Blocked(filter.layout()),
            Self::Counting(filter) => Layout::Counting(filter.layout()),
            Self::Growing(filter) => Layout::Growing(filter.layout()),
            Self::DLeft(filter) => Layout::DLeft(filter.layout()),
            Self::DLeftCounting(filter) => Layout::DLeftCounting(filter.layout()),
            Self::Line(filter) => Layout::Line(filter.layout()),
        }
    }

    pub(super) fn digester(&self) -> &D {
        with_filter!(self, filter => filter.digester())
    }
}

/// The error for a filter of `keys` keys that has no room for another.
fn full(keys: u64) -> Result<()> {
    bail!(
        "it is full: with {} keys in it there is no room for the next; build it with a larger --items, or with none to have the lines counted first",
        HumanCount(keys)
    )
}

fn no_filter(kind: Kind) -> anyhow::Error {
    anyhow!("it holds {kind}, but this command reads only filters")
}
