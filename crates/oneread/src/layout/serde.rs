//! Layouts in serde's formats: by their fields, checked as in their constructors.
//!
//! `oneread plan --layout-out` writes them as JSON. Unknown fields are ignored, so that one object
//! can hold a table and its summary.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    BlockedLayout, BloomLayout, BoundedLayout, BucketBits, CountMinLayout, Counting, CountingCellsLayout,
    CountingFiltersLayout, CountingLayout, DLeftCountingLayout, DLeftLayout, Division, GrowingLayout,
    InterpolationLayout, LayoutError, LineLayout, ListLayout, Moves, MultilevelLayout, MultipleFiltersLayout,
    OnCrisis, Remainders, Repeats, Rows, Semisort, SingleFilterLayout, Ties, Update,
};
use crate::hash::probes::SchemeName;

/// Reads a layout from its fields.
macro_rules! from_fields {
    ($($layout:ident {
        $($(#[$attribute:meta])* $field:ident: $type:ty),*
    } => $made:expr;)*) => {$(
        impl<'de> Deserialize<'de> for $layout {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                struct Fields {
                    $($(#[$attribute])* $field: $type),*
                }
                let Fields { $($field),* } = Fields::deserialize(deserializer)?;
                let made = || -> Result<Self, LayoutError> { $made };
                made().map_err(D::Error::custom)
            }
        }
    )*};
}

from_fields! {
    BlockedLayout { blocks: u64 } => Self::new(blocks);
    BloomLayout { bits: u64, hashes: u32, scheme: SchemeName } => Self::new(bits, hashes)?.with_scheme(scheme);
    BoundedLayout { capacity: u64, home_lines: u64, last_lines: u64 } => Self::new(capacity, home_lines, last_lines);
    CountMinLayout {
        width: u64,
        depth: u32,
        update: Update,
        // Layouts written before there was a choice have rows of two words.
        #[serde(default = "two_words")]
        rows: Rows
    } => Ok(Self::new(width, depth)?.with_update(update).with_rows(rows));
    CountingCellsLayout { cells: u64, hashes: u32, counter_bits: Vec<u32> } => {
        Self::new(SingleFilterLayout::new(cells, hashes)?, counter_bits)
    };
    CountingFiltersLayout { filters: Vec<CountersOfLevel>, #[serde(default)] list: Option<ListLayout> } => {
        let sizes: Vec<_> = filters.iter().map(|filter| (filter.counters, filter.hashes)).collect();
        let counters: Vec<_> = filters.iter().map(|filter| (filter.counter_bits, filter.counting)).collect();
        Self::new(with_list(MultipleFiltersLayout::new(sizes)?, list)?, counters)
    };
    CountingLayout {
        counters: u64,
        hashes: u32,
        counter_bits: u32,
        counting: Counting,
        scheme: SchemeName
    } => Self::new(counters, hashes, counter_bits)?.with_counting(counting).with_scheme(scheme);
    DLeftCountingLayout {
        subtables: u32,
        buckets_each: u64,
        remainders: Remainders,
        capacity: u32,
        counter_bits: u32,
        repeats: Repeats
    } => Self::new(subtables, buckets_each)?.with_policies(remainders, capacity, counter_bits, repeats);
    DLeftLayout {
        buckets: Vec<u64>,
        bucket_bits: BucketBits,
        semisort: Semisort,
        group: u32,
        ties: Ties,
        #[serde(default)]
        division: Division,
        #[serde(default)]
        pages: Option<u64>
    } => {
        let layout = match pages {
            // Their sub-tables have only one size.
            Some(pages) => Self::paged(pages, bucket_bits)?,
            None => Self::uneven(&buckets, bucket_bits)?,
        };
        layout.with_semisort(semisort).with_ties(ties).with_division(division).with_group(group)
    };
    GrowingLayout { first_items: u64, rate: f64, growth: u32, tightening: f64 } => {
        Self::new(first_items, rate)?.with_growth(growth)?.with_tightening(tightening)
    };
    InterpolationLayout { fingerprint_bits: u32 } => Self::new(fingerprint_bits);
    LineLayout { remainder_bits: u32, lines: u64 } => Self::new(remainder_bits, lines);
    ListLayout { levels: usize, items: u64, fingerprint_bits: u32 } => Self::new(levels, items, fingerprint_bits);
    MultilevelLayout {
        levels: Vec<u64>,
        slots: u32,
        #[serde(default = "default_stash")]
        stash: u32,
        #[serde(default)]
        moves: Moves,
        #[serde(default)]
        on_crisis: OnCrisis
    } => Self::new(levels)?.with_slots(slots)?.with_stash(stash)?.with_moves(moves)?.with_crisis(on_crisis);
    MultipleFiltersLayout { filters: Vec<FilterOfLevel>, #[serde(default)] list: Option<ListLayout> } => {
        let filters: Vec<_> = filters.iter().map(|filter| (filter.bits, filter.hashes)).collect();
        with_list(Self::new(filters)?, list)
    };
    SingleFilterLayout { cells: u64, hashes: u32 } => Self::new(cells, hashes);
}

const fn two_words() -> Rows {
    Rows::TwoWords
}

const fn default_stash() -> u32 {
    MultilevelLayout::DEFAULT_STASH
}

fn with_list(
    filters: MultipleFiltersLayout,
    list: Option<ListLayout>,
) -> Result<MultipleFiltersLayout, LayoutError> {
    match list {
        Some(list) => filters.with_list(list),
        None => Ok(filters),
    }
}

#[derive(Serialize, Deserialize)]
struct FilterOfLevel {
    bits: u64,
    hashes: u32,
}

#[derive(Serialize, Deserialize)]
struct CountersOfLevel {
    counters: u64,
    hashes: u32,
    counter_bits: u32,
    counting: Counting,
}

/// Filters and their list, as two summaries have them.
#[derive(Serialize)]
#[serde(rename = "Filters")]
struct Listed<F> {
    filters: Vec<F>,
    list: Option<ListLayout>,
}

impl Serialize for MultipleFiltersLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filters = self.filters().iter().map(|&(bits, hashes)| FilterOfLevel { bits, hashes });
        Listed { filters: filters.collect(), list: self.list() }.serialize(serializer)
    }
}

impl Serialize for CountingFiltersLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filters = self.filters().filters().iter().zip(self.counters());
        let filters = filters.map(|(&(counters, hashes), &(counter_bits, counting))| CountersOfLevel {
            counters,
            hashes,
            counter_bits,
            counting,
        });
        Listed { filters: filters.collect(), list: self.filters().list() }.serialize(serializer)
    }
}

impl Serialize for CountingCellsLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Cells<'a> {
            cells: u64,
            hashes: u32,
            counter_bits: &'a [u32],
        }
        let (cells, hashes) = (self.filter().cells(), self.filter().hashes());
        Cells { cells, hashes, counter_bits: self.counter_bits() }.serialize(serializer)
    }
}

impl Serialize for DLeftLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct DLeft<'a> {
            buckets: &'a [u64],
            bucket_bits: BucketBits,
            semisort: Semisort,
            group: u32,
            ties: Ties,
            division: Division,
            pages: Option<u64>,
        }
        let fields = DLeft {
            buckets: self.buckets(),
            bucket_bits: self.bucket_bits(),
            semisort: self.semisort(),
            group: self.group(),
            ties: self.ties(),
            division: self.division(),
            pages: self.pages(),
        };
        fields.serialize(serializer)
    }
}

/// By its name.
impl Serialize for SchemeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SchemeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// As a number: 64 or 128.
impl Serialize for BucketBits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.bits())
    }
}

impl<'de> Deserialize<'de> for BucketBits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bits = u32::deserialize(deserializer)?;
        Self::from_bits(bits).ok_or_else(|| D::Error::custom("expected buckets of 64 or 128 bits"))
    }
}
