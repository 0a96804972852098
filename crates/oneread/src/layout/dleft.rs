//! How a d-left filter is laid out.

use super::error::check_places;
use super::{LayoutError, MAX_PLACES, Quantity};

/// Which of several equally good places is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Ties {
    /// The leftmost: that of the first sub-table or the first child.
    #[default]
    Left,
    /// Each with the same probability.
    Random,
}

/// The size of a d-left filter's bucket, which fixes its state bits and its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BucketBits {
    /// 64 bits: 4 of state, 60 for at most six fingerprints.
    Bits64,
    /// 128 bits: 8 of state, 120 for at most eleven fingerprints.
    Bits128,
}

impl BucketBits {
    /// Finds the size with `bits` bits: 64 or 128.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            64 => Some(Self::Bits64),
            128 => Some(Self::Bits128),
            _ => None,
        }
    }

    /// The bits per bucket: 64 or 128.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits64 => 64,
            Self::Bits128 => 128,
        }
    }

    /// The bits that hold fingerprints: 60 or 120.
    #[must_use]
    pub const fn fingerprint_space(self) -> u32 {
        match self {
            Self::Bits64 => 60,
            Self::Bits128 => 120,
        }
    }

    /// The most fingerprints in a bucket: 6 or 11.
    #[must_use]
    pub const fn capacity(self) -> u32 {
        match self {
            Self::Bits64 => 6,
            Self::Bits128 => 11,
        }
    }
}

/// The leading bits of fingerprints that a bucket's state implies, so that they are not stored.
///
/// A bucket orders its fingerprints by their leading bits. Its state then says how many begin with
/// 0 (one implied bit), or with 00, 01, 10 and 11 (two implied bits). The states that this needs:
///
/// | states | 64-bit bucket: 16 | 128-bit bucket: 256 |
/// | --- | --- | --- |
/// | `None` | loads 0–6 | loads 0–11 |
/// | `One` | loads 0–3; 4 with 0–4 zeros; 5 with 0–5; 6: all 16 | loads 0–11 with their zeros: 78 |
/// | `Paper` | the same | loads 0–5 and 8–10 with their zeros: 51; 6 and 7 by two bits: 84 + 120; 11: all 256 |
///
/// Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006, section
/// II-B. The paper also counts zeros at a load of 11, which would take 267 states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Semisort {
    /// All bits are stored.
    None,
    /// One implied bit, at the loads whose zeros the state can count.
    One,
    /// As many as the state can imply: one in a 64-bit bucket, up to two in a 128-bit bucket.
    #[default]
    Paper,
}

/// How the bits of a bucket, or of a group of buckets, are divided among the fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Division {
    /// Equally; the remainder stays unused.
    #[default]
    Equal,
    /// Equally, but the remainder in a group gives one bit more per fingerprint to as many of the
    /// first buckets as it suffices for. (The paper's example, loads of 5, 5, 4 and 4: one bucket
    /// of fourteen bits, three of thirteen.)
    Uneven,
    /// As if each bucket were full, whatever its load, and without implied bits: the paper's
    /// starting point. For comparison.
    Fixed,
}

/// A d-left filter's sub-tables, bucket size, semi-sorting, groups, tie rule and optional pages.
///
/// A key has one bucket in each sub-table; its fingerprint goes to the least loaded one. The
/// fingerprints of a bucket share its bits equally, so that their length depends on the load.
/// [`plan::dleft`](crate::plan::dleft) computes its odds.
///
/// # Example
/// ```
/// use oneread::layout::{BucketBits, DLeftLayout};
///
/// assert!(DLeftLayout::new(0, 4096, BucketBits::Bits64).is_err());
/// let layout = DLeftLayout::new(3, 4096, BucketBits::Bits64)?;
/// assert_eq!((layout.total_buckets(), layout.capacity(), layout.byte_len()), (12288, 6, 98304));
/// // Four fingerprints share 60 bits, and the state implies the first bit of each.
/// assert_eq!(layout.fingerprint_bits(4, 4), 16);
/// assert_eq!(layout.fingerprint_bits(6, 6), 10);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DLeftLayout {
    buckets: [u64; Self::MAX_SUBTABLES],
    subtables: usize,
    bucket_bits: BucketBits,
    semisort: Semisort,
    group: u32,
    ties: Ties,
    division: Division,
    /// The number of pages, each with these sub-tables; 0 without pages.
    pages: u64,
}

impl DLeftLayout {
    /// The bytes of a page.
    pub const PAGE_BYTES: u64 = 4096;

    /// The most pages.
    pub const MAX_PAGES: u64 = 1 << 30;

    /// The most sub-tables. Three give the lowest rate, four a slightly higher one.
    pub const MAX_SUBTABLES: usize = 8;

    /// The most buckets per group.
    pub const MAX_GROUP: u32 = 16;

    /// The largest ratio between two sub-tables' sizes.
    pub const MAX_RATIO: u64 = 16;

    /// Takes `subtables` sub-tables (d in the papers) of `buckets_each` buckets: semi-sorted as in
    /// the paper, without groups, with ties to the left.
    ///
    /// # Errors
    /// If there are no sub-tables or more than [`MAX_SUBTABLES`](Self::MAX_SUBTABLES), no buckets
    /// or more bits in all than [`MAX_PLACES`].
    pub fn new(subtables: u32, buckets_each: u64, bucket_bits: BucketBits) -> Result<Self, LayoutError> {
        check_places(Quantity::Subtables, u64::from(subtables), Self::MAX_SUBTABLES as u64)?;
        let subtables = subtables as usize;
        Self::uneven(&[buckets_each; Self::MAX_SUBTABLES][..subtables], bucket_bits)
    }

    /// Like [`new`](Self::new), but takes the number of buckets of each sub-table.
    ///
    /// With ties to the left, a larger first sub-table lowers the false-positive rate, and a
    /// smaller one raises it. Sizes of 2:1:1 lower it by 12% at four items per 64-bit bucket.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if a sub-table is more than [`MAX_RATIO`](Self::MAX_RATIO) times
    /// as large as another.
    pub fn uneven(buckets: &[u64], bucket_bits: BucketBits) -> Result<Self, LayoutError> {
        check_places(Quantity::Subtables, buckets.len() as u64, Self::MAX_SUBTABLES as u64)?;
        let most = MAX_PLACES / u64::from(bucket_bits.bits());
        for &found in buckets {
            check_places(Quantity::Buckets, found, most)?;
        }
        // At most eight times 2^40: no overflow.
        check_places(Quantity::Buckets, buckets.iter().sum(), most)?;
        let (smallest, largest) = buckets
            .iter()
            .fold((u64::MAX, 0), |(smallest, largest), &size| (smallest.min(size), largest.max(size)));
        let most = smallest * Self::MAX_RATIO;
        check_places(Quantity::BucketsOfLargestSubtable, largest, most)?;
        let mut layout = Self {
            buckets: [0; Self::MAX_SUBTABLES],
            subtables: buckets.len(),
            bucket_bits,
            semisort: Semisort::default(),
            group: 1,
            ties: Ties::default(),
            division: Division::default(),
            pages: 0,
        };
        layout.buckets[..buckets.len()].copy_from_slice(buckets);
        Ok(layout)
    }

    /// Like [`new`](Self::new), but all buckets of a key lie in one page of 4096 bytes. Each page
    /// is a small filter of three sub-tables, the first as large as the other two together.
    ///
    /// A lookup then costs one TLB miss in memory, or one read of a file. The last sixteen bytes of
    /// a page hold a checksum, which leaves 510 buckets of 64 bits or 255 of 128.
    ///
    /// # Errors
    /// If there are no pages, or more than [`MAX_PAGES`](Self::MAX_PAGES).
    pub fn paged(pages: u64, bucket_bits: BucketBits) -> Result<Self, LayoutError> {
        check_places(Quantity::Pages, pages, Self::MAX_PAGES)?;
        let buckets = match bucket_bits {
            BucketBits::Bits64 => [254, 128, 128],
            BucketBits::Bits128 => [127, 64, 64],
        };
        Ok(Self { pages, ..Self::uneven(&buckets, bucket_bits)? })
    }

    /// Changes the semi-sorting.
    #[must_use]
    pub const fn with_semisort(self, semisort: Semisort) -> Self {
        Self { semisort, ..self }
    }

    /// Lets each `group` buckets share their bits. Each sub-table is rounded down to whole groups.
    ///
    /// # Errors
    /// If the group is 0 or more than [`MAX_GROUP`](Self::MAX_GROUP), or larger than a sub-table.
    pub fn with_group(mut self, group: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::BucketsPerGroup, u64::from(group), u64::from(Self::MAX_GROUP))?;
        for buckets in &mut self.buckets[..self.subtables] {
            check_places(Quantity::BucketsPerGroup, u64::from(group), *buckets)?;
            *buckets -= *buckets % u64::from(group);
        }
        Ok(Self { group, ..self })
    }

    /// Changes the rule for ties between sub-tables.
    #[must_use]
    pub const fn with_ties(self, ties: Ties) -> Self {
        Self { ties, ..self }
    }

    /// Changes the division of bits.
    #[must_use]
    pub const fn with_division(self, division: Division) -> Self {
        Self { division, ..self }
    }

    /// The buckets of each sub-table, from left to right; with pages, those of one page.
    #[must_use]
    pub fn buckets(&self) -> &[u64] {
        &self.buckets[..self.subtables]
    }

    /// The number of pages; `None` if a key's buckets may lie anywhere.
    #[must_use]
    pub const fn pages(&self) -> Option<u64> {
        if self.pages == 0 { None } else { Some(self.pages) }
    }

    /// The buckets of all sub-tables and pages.
    #[must_use]
    pub fn total_buckets(&self) -> u64 {
        self.buckets().iter().sum::<u64>() * self.pages.max(1)
    }

    getters! {
        /// The size of a bucket.
        bucket_bits: BucketBits,
        /// Which leading bits the state implies.
        semisort: Semisort,
        /// The buckets per group; 1 without groups.
        group: u32,
        /// Which of equally loaded buckets a fingerprint goes to.
        ties: Ties,
        /// How bits are divided among fingerprints.
        division: Division,
    }

    /// The most fingerprints in a bucket.
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.bucket_bits.capacity()
    }

    /// The most stored bits per fingerprint. A lone fingerprint in a large bucket could have more,
    /// but one false positive in 10^18 lookups is rare enough.
    pub const MAX_STORED_BITS: u32 = 60;

    /// The length of each fingerprint in a bucket of `load` fingerprints, in a group of
    /// `group_load` in all: its stored and its implied bits. In a group of one bucket the two loads
    /// are equal.
    ///
    /// The group's bits are divided equally, and the remainder is not counted.
    #[must_use]
    pub const fn fingerprint_bits(&self, load: u32, group_load: u32) -> u32 {
        if group_load == 0 { 0 } else { self.share(group_load) + self.told_bits(load) }
    }

    /// The bits available to each fingerprint in a group of `group_load`, which is not 0.
    const fn share(&self, group_load: u32) -> u32 {
        let space = self.bucket_bits.fingerprint_space();
        match self.division {
            Division::Fixed => space / self.capacity(),
            Division::Equal | Division::Uneven => self.group * space / group_load,
        }
    }

    /// The stored bits of each fingerprint in a group of `group_load`, which is not 0.
    pub(crate) const fn stored_bits(&self, group_load: u32) -> u32 {
        let share = self.share(group_load);
        if share < Self::MAX_STORED_BITS { share } else { Self::MAX_STORED_BITS }
    }

    /// The leading bits of a fingerprint that the state implies at a load.
    pub(crate) const fn told_bits(&self, load: u32) -> u32 {
        if matches!(self.division, Division::Fixed) {
            return 0;
        }
        match (self.bucket_bits, self.semisort) {
            (_, Semisort::None) => 0,
            (BucketBits::Bits64, Semisort::One | Semisort::Paper) => matches!(load, 4 | 5) as u32,
            (BucketBits::Bits128, Semisort::One) => 1,
            (BucketBits::Bits128, Semisort::Paper) => match load {
                6 | 7 => 2,
                11 => 0,
                _ => 1,
            },
        }
    }

    /// The bits of all buckets, and of the pages' checksums.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self.pages() {
            Some(pages) => pages * Self::PAGE_BYTES * 8,
            None => self.total_buckets() * u64::from(self.bucket_bits.bits()),
        }
    }

    /// The bytes of all buckets, and of the pages' checksums.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.bits() / 8
    }
}
