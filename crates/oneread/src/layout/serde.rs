//! Layouts in serde's formats: by their fields, checked as when they are made.
//!
//! In JSON these are the files of `oneread plan --layout-out`. Fields that a layout does not know are passed over, so that
//! a table and its summary can be read from one object.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    BlockedLayout, BloomLayout, BoundedLayout, BucketBits, CountMinLayout, Counting, CountingCellsLayout,
    CountingFiltersLayout, CountingLayout, DLeftCountingLayout, DLeftLayout, Division, GrowingLayout,
    InterpolationLayout, LayoutError, LineLayout, ListLayout, Moves, MultilevelLayout, MultipleFiltersLayout,
    OnCrisis, Remainders, Repeats, Rows, Semisort, SingleFilterLayout, SummaryLayout, Ties, Update,
};
use crate::hash::probes::SchemeName;

/// A layout as it is written, not checked.
trait Fields: Sized {
    type Layout;

    fn of(layout: &Self::Layout) -> Self;

    fn checked(self) -> Result<Self::Layout, LayoutError>;
}

fn serialize<F: Fields + Serialize, S: Serializer>(
    layout: &F::Layout,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    F::of(layout).serialize(serializer)
}

fn deserialize<'de, F: Fields + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<F::Layout, D::Error> {
    F::deserialize(deserializer)?.checked().map_err(D::Error::custom)
}

/// The two traits of a layout, by its fields.
macro_rules! by_fields {
    ($($layout:ty: $fields:ty;)*) => {$(
        impl Serialize for $layout {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize::<$fields, S>(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $layout {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize::<$fields, D>(deserializer)
            }
        }
    )*};
}

by_fields! {
    BlockedLayout: Blocked;
    BloomLayout: Bloom;
    BoundedLayout: Bounded;
    CountMinLayout: CountMin;
    CountingCellsLayout: CountingCells;
    CountingFiltersLayout: CountingFilters;
    CountingLayout: CountingFilter;
    DLeftCountingLayout: DLeftCounting;
    DLeftLayout: DLeft;
    GrowingLayout: Growing;
    InterpolationLayout: Interpolation;
    LineLayout: LineFilter;
    ListLayout: List;
    MultilevelLayout: Multilevel;
    MultipleFiltersLayout: Multiple;
    SingleFilterLayout: Single;
    SummaryLayout: Summary;
}

#[derive(Serialize, Deserialize)]
struct Bounded {
    capacity: u64,
    home_lines: u64,
    last_lines: u64,
}

impl Fields for Bounded {
    type Layout = BoundedLayout;

    fn of(layout: &BoundedLayout) -> Self {
        Self { capacity: layout.capacity(), home_lines: layout.home_lines(), last_lines: layout.last_lines() }
    }

    fn checked(self) -> Result<BoundedLayout, LayoutError> {
        BoundedLayout::new(self.capacity, self.home_lines, self.last_lines)
    }
}

#[derive(Serialize, Deserialize)]
struct Blocked {
    blocks: u64,
}

impl Fields for Blocked {
    type Layout = BlockedLayout;

    fn of(layout: &BlockedLayout) -> Self {
        Self { blocks: layout.blocks() }
    }

    fn checked(self) -> Result<BlockedLayout, LayoutError> {
        BlockedLayout::new(self.blocks)
    }
}

#[derive(Serialize, Deserialize)]
struct Bloom {
    bits: u64,
    hashes: u32,
    #[serde(with = "scheme")]
    scheme: SchemeName,
}

impl Fields for Bloom {
    type Layout = BloomLayout;

    fn of(layout: &BloomLayout) -> Self {
        Self { bits: layout.bits(), hashes: layout.hashes(), scheme: layout.scheme() }
    }

    fn checked(self) -> Result<BloomLayout, LayoutError> {
        BloomLayout::new(self.bits, self.hashes)?.with_scheme(self.scheme)
    }
}

/// A scheme by its name.
mod scheme {
    use super::{Deserialize, Deserializer, Error, SchemeName, Serializer, String};

    pub(super) fn serialize<S: Serializer>(scheme: &SchemeName, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(scheme.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SchemeName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
struct CountMin {
    width: u64,
    depth: u32,
    #[serde(with = "UpdateName")]
    update: Update,
    /// Layouts written before there was a choice have rows of two words.
    #[serde(with = "RowsName", default = "two_words")]
    rows: Rows,
}

const fn two_words() -> Rows {
    Rows::TwoWords
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Rows", rename_all = "kebab-case")]
enum RowsName {
    Independent,
    TwoWords,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Update", rename_all = "kebab-case")]
enum UpdateName {
    Plain,
    Conservative,
}

impl Fields for CountMin {
    type Layout = CountMinLayout;

    fn of(layout: &CountMinLayout) -> Self {
        Self { width: layout.width(), depth: layout.depth(), update: layout.update(), rows: layout.rows() }
    }

    fn checked(self) -> Result<CountMinLayout, LayoutError> {
        Ok(CountMinLayout::new(self.width, self.depth)?.with_update(self.update).with_rows(self.rows))
    }
}

#[derive(Serialize, Deserialize)]
struct CountingFilter {
    counters: u64,
    hashes: u32,
    counter_bits: u32,
    #[serde(with = "CountingName")]
    counting: Counting,
    #[serde(with = "scheme")]
    scheme: SchemeName,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Counting", rename_all = "kebab-case")]
enum CountingName {
    EachProbe,
    OncePerItem,
}

impl Fields for CountingFilter {
    type Layout = CountingLayout;

    fn of(layout: &CountingLayout) -> Self {
        Self {
            counters: layout.counters(),
            hashes: layout.hashes(),
            counter_bits: layout.counter_bits(),
            counting: layout.counting(),
            scheme: layout.scheme(),
        }
    }

    fn checked(self) -> Result<CountingLayout, LayoutError> {
        let layout = CountingLayout::new(self.counters, self.hashes, self.counter_bits)?;
        layout.with_counting(self.counting).with_scheme(self.scheme)
    }
}

#[derive(Serialize, Deserialize)]
struct DLeft {
    buckets: Vec<u64>,
    #[serde(with = "bucket_bits")]
    bucket_bits: BucketBits,
    #[serde(with = "SemisortName")]
    semisort: Semisort,
    group: u32,
    ties: Ties,
    #[serde(default, with = "DivisionName")]
    division: Division,
    #[serde(default)]
    pages: Option<u64>,
}

impl Fields for DLeft {
    type Layout = DLeftLayout;

    fn of(layout: &DLeftLayout) -> Self {
        Self {
            buckets: layout.buckets().into(),
            bucket_bits: layout.bucket_bits(),
            semisort: layout.semisort(),
            group: layout.group(),
            ties: layout.ties(),
            division: layout.division(),
            pages: layout.pages(),
        }
    }

    fn checked(self) -> Result<DLeftLayout, LayoutError> {
        let layout = match self.pages {
            // Their sub-tables have one size only, whatever is said.
            Some(pages) => DLeftLayout::paged(pages, self.bucket_bits)?,
            None => DLeftLayout::uneven(&self.buckets, self.bucket_bits)?,
        };
        let layout = layout.with_semisort(self.semisort).with_ties(self.ties).with_division(self.division);
        layout.with_group(self.group)
    }
}

#[derive(Serialize, Deserialize)]
struct DLeftCounting {
    subtables: u32,
    buckets_each: u64,
    remainders: Remainders,
    capacity: u32,
    counter_bits: u32,
    repeats: Repeats,
}

impl Fields for DLeftCounting {
    type Layout = DLeftCountingLayout;

    fn of(layout: &DLeftCountingLayout) -> Self {
        Self {
            subtables: layout.subtables(),
            buckets_each: layout.buckets_each(),
            remainders: layout.remainders(),
            capacity: layout.capacity(),
            counter_bits: layout.counter_bits(),
            repeats: layout.repeats(),
        }
    }

    fn checked(self) -> Result<DLeftCountingLayout, LayoutError> {
        let layout = DLeftCountingLayout::new(self.subtables, self.buckets_each)?;
        layout.with_policies(self.remainders, self.capacity, self.counter_bits, self.repeats)
    }
}

#[derive(Serialize, Deserialize)]
struct LineFilter {
    remainder_bits: u32,
    lines: u64,
}

impl Fields for LineFilter {
    type Layout = LineLayout;

    fn of(layout: &LineLayout) -> Self {
        Self { remainder_bits: layout.remainder_bits(), lines: layout.lines() }
    }

    fn checked(self) -> Result<LineLayout, LayoutError> {
        LineLayout::new(self.remainder_bits, self.lines)
    }
}

/// The size of a bucket as a number.
mod bucket_bits {
    use super::{BucketBits, Deserialize, Deserializer, Error, Serializer};

    pub(super) fn serialize<S: Serializer>(bits: &BucketBits, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(bits.bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BucketBits, D::Error> {
        match u32::deserialize(deserializer)? {
            64 => Ok(BucketBits::Bits64),
            128 => Ok(BucketBits::Bits128),
            _ => Err(D::Error::custom("expected buckets of 64 or 128 bits")),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Semisort", rename_all = "kebab-case")]
enum SemisortName {
    None,
    One,
    Paper,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Division", rename_all = "kebab-case")]
enum DivisionName {
    Equal,
    Uneven,
    Fixed,
}

#[derive(Serialize, Deserialize)]
struct Growing {
    first_items: u64,
    rate: f64,
    growth: u32,
    tightening: f64,
}

impl Fields for Growing {
    type Layout = GrowingLayout;

    fn of(layout: &GrowingLayout) -> Self {
        Self {
            first_items: layout.first_items(),
            rate: layout.rate(),
            growth: layout.growth(),
            tightening: layout.tightening(),
        }
    }

    fn checked(self) -> Result<GrowingLayout, LayoutError> {
        let layout = GrowingLayout::new(self.first_items, self.rate)?;
        layout.with_growth(self.growth)?.with_tightening(self.tightening)
    }
}

#[derive(Serialize, Deserialize)]
struct Multilevel {
    levels: Vec<u64>,
    slots: u32,
    #[serde(default = "usual_stash")]
    stash: u32,
    #[serde(default)]
    moves: Moves,
    #[serde(default)]
    on_crisis: OnCrisis,
}

fn usual_stash() -> u32 {
    MultilevelLayout::DEFAULT_STASH
}

impl Fields for Multilevel {
    type Layout = MultilevelLayout;

    fn of(layout: &MultilevelLayout) -> Self {
        Self {
            levels: layout.levels().into(),
            slots: layout.slots(),
            stash: layout.stash(),
            moves: layout.moves(),
            on_crisis: layout.on_crisis(),
        }
    }

    fn checked(self) -> Result<MultilevelLayout, LayoutError> {
        MultilevelLayout::new(self.levels)?
            .with_slots(self.slots)?
            .with_stash(self.stash)?
            .with_moves(self.moves)?
            .with_crisis(self.on_crisis)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Summary {
    Interpolation(InterpolationLayout),
    Single(SingleFilterLayout),
    Multiple(MultipleFiltersLayout),
}

impl Fields for Summary {
    type Layout = SummaryLayout;

    fn of(layout: &SummaryLayout) -> Self {
        match layout {
            SummaryLayout::Interpolation(layout) => Self::Interpolation(*layout),
            SummaryLayout::Single(layout) => Self::Single(*layout),
            SummaryLayout::Multiple(layout) => Self::Multiple(layout.clone()),
        }
    }

    fn checked(self) -> Result<SummaryLayout, LayoutError> {
        Ok(match self {
            Self::Interpolation(layout) => layout.into(),
            Self::Single(layout) => layout.into(),
            Self::Multiple(layout) => layout.into(),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Interpolation {
    fingerprint_bits: u32,
}

impl Fields for Interpolation {
    type Layout = InterpolationLayout;

    fn of(layout: &InterpolationLayout) -> Self {
        Self { fingerprint_bits: layout.fingerprint_bits() }
    }

    fn checked(self) -> Result<InterpolationLayout, LayoutError> {
        InterpolationLayout::new(self.fingerprint_bits)
    }
}

#[derive(Serialize, Deserialize)]
struct Single {
    cells: u64,
    hashes: u32,
}

impl Fields for Single {
    type Layout = SingleFilterLayout;

    fn of(layout: &SingleFilterLayout) -> Self {
        Self { cells: layout.cells(), hashes: layout.hashes() }
    }

    fn checked(self) -> Result<SingleFilterLayout, LayoutError> {
        SingleFilterLayout::new(self.cells, self.hashes)
    }
}

#[derive(Serialize, Deserialize)]
struct Multiple {
    filters: Vec<Filter>,
    #[serde(default)]
    list: Option<ListLayout>,
}

#[derive(Serialize, Deserialize)]
struct Filter {
    bits: u64,
    hashes: u32,
}

impl Fields for Multiple {
    type Layout = MultipleFiltersLayout;

    fn of(layout: &MultipleFiltersLayout) -> Self {
        let filters = layout.filters().iter().map(|&(bits, hashes)| Filter { bits, hashes });
        Self { filters: filters.collect(), list: layout.list() }
    }

    fn checked(self) -> Result<MultipleFiltersLayout, LayoutError> {
        let filters: Vec<_> = self.filters.iter().map(|filter| (filter.bits, filter.hashes)).collect();
        with_list(MultipleFiltersLayout::new(filters)?, self.list)
    }
}

fn with_list(
    filters: MultipleFiltersLayout,
    list: Option<ListLayout>,
) -> Result<MultipleFiltersLayout, LayoutError> {
    list.map_or(Ok(filters.clone()), |list| filters.with_list(list))
}

#[derive(Serialize, Deserialize)]
struct List {
    levels: usize,
    items: u64,
    fingerprint_bits: u32,
}

impl Fields for List {
    type Layout = ListLayout;

    fn of(layout: &ListLayout) -> Self {
        Self { levels: layout.levels(), items: layout.items(), fingerprint_bits: layout.fingerprint_bits() }
    }

    fn checked(self) -> Result<ListLayout, LayoutError> {
        ListLayout::new(self.levels, self.items, self.fingerprint_bits)
    }
}

#[derive(Serialize, Deserialize)]
struct CountingFilters {
    filters: Vec<FilterOfCounters>,
    #[serde(default)]
    list: Option<ListLayout>,
}

#[derive(Serialize, Deserialize)]
struct FilterOfCounters {
    counters: u64,
    hashes: u32,
    counter_bits: u32,
    #[serde(with = "CountingName")]
    counting: Counting,
}

impl Fields for CountingFilters {
    type Layout = CountingFiltersLayout;

    fn of(layout: &CountingFiltersLayout) -> Self {
        let filters = layout.filters().filters().iter().zip(layout.counters());
        let filter = |(&(counters, hashes), &(counter_bits, counting)): (&(u64, u32), &(u32, Counting))| {
            FilterOfCounters { counters, hashes, counter_bits, counting }
        };
        Self { filters: filters.map(filter).collect(), list: layout.filters().list() }
    }

    fn checked(self) -> Result<CountingFiltersLayout, LayoutError> {
        let filters: Vec<_> = self.filters.iter().map(|filter| (filter.counters, filter.hashes)).collect();
        let counters: Vec<_> =
            self.filters.iter().map(|filter| (filter.counter_bits, filter.counting)).collect();
        CountingFiltersLayout::new(with_list(MultipleFiltersLayout::new(filters)?, self.list)?, counters)
    }
}

#[derive(Serialize, Deserialize)]
struct CountingCells {
    cells: u64,
    hashes: u32,
    counter_bits: Vec<u32>,
}

impl Fields for CountingCells {
    type Layout = CountingCellsLayout;

    fn of(layout: &CountingCellsLayout) -> Self {
        let filter = layout.filter();
        Self { cells: filter.cells(), hashes: filter.hashes(), counter_bits: layout.counter_bits().into() }
    }

    fn checked(self) -> Result<CountingCellsLayout, LayoutError> {
        CountingCellsLayout::new(SingleFilterLayout::new(self.cells, self.hashes)?, self.counter_bits)
    }
}
