//! How a d-left filter is laid out.

use super::error::check_places;
use super::{LayoutError, MAX_PLACES};

/// Which of several equally good places is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Ties {
    /// The leftmost: that of the first sub-table, or of the first child.
    #[default]
    Left,
    /// Each with the same probability.
    Random,
}

/// The size of a d-left filter's bucket: what it reserves for its state, how much it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BucketBits {
    /// 64 bits: 4 of state, 60 for at most six fingerprints.
    Bits64,
    /// 128 bits: 8 of state, 120 for at most eleven fingerprints.
    Bits128,
}

impl BucketBits {
    /// The size of 64 or 128 bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            64 => Some(Self::Bits64),
            128 => Some(Self::Bits128),
            _ => None,
        }
    }

    /// The bits of a bucket: 64 or 128.
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

/// The leading bits of fingerprints that a bucket's state tells, so that they need not be stored.
///
/// Fingerprints are kept in the order of their leading bits; the state then says how many begin
/// with 0 (one bit saved), or with 00, 01, 10 and 11 (two bits saved). How many states there are
/// for that:
///
/// | states | 64-bit bucket: 16 | 128-bit bucket: 256 |
/// | --- | --- | --- |
/// | `None` | loads 0–6 | loads 0–11 |
/// | `One` | loads 0–3; 4 with 0–4 zeros; 5 with 0–5; 6: all 16 | loads 0–11 with their zeros: 78 |
/// | `Paper` | the same | loads 0–5 and 8–10 with their zeros: 51; 6 and 7 by two bits: 84 + 120; 11: all 256 |
///
/// Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006, section
/// II-B, which gives a load of 11 a zero count too: that would take 267 states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Semisort {
    /// Nothing is saved: all bits are stored.
    None,
    /// One bit, at the loads whose zeros the state can count.
    One,
    /// As much as the state can tell: one bit in a 64-bit bucket, up to two in a 128-bit bucket.
    #[default]
    Paper,
}

/// How the bits of a bucket, or of a group of them, are divided among its fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Division {
    /// Equally; what is left over is not used.
    #[default]
    Equal,
    /// Equally in a bucket, but of what is left over in a group, the first buckets that it is
    /// enough for get one bit more for each of their fingerprints. (The paper's example, loads of
    /// 5, 5, 4 and 4: one bucket of fourteen bits, three of thirteen.)
    Uneven,
    /// The same for every load, as if each bucket were full, and nothing is told by the state: what
    /// the paper starts from. For comparison.
    Fixed,
}

/// A d-left filter's sub-tables, bucket size, way of semi-sorting, groups and tie rule; and whether
/// all buckets of a key lie in one page.
///
/// A key has one bucket in each sub-table; its fingerprint goes to the least loaded of them. The
/// bits of a bucket are divided equally among its fingerprints, whose length so depends on the
/// load. [`plan::dleft`](crate::plan::dleft) computes its odds.
///
/// # Example
/// ```
/// use oneread::layout::{BucketBits, DLeftLayout};
///
/// assert!(DLeftLayout::new(0, 4096, BucketBits::Bits64).is_err());
/// let layout = DLeftLayout::new(3, 4096, BucketBits::Bits64)?;
/// assert_eq!((layout.total_buckets(), layout.capacity(), layout.byte_len()), (12288, 6, 98304));
/// // Four fingerprints share 60 bits, and the state tells the first bit of each.
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
    /// How many pages there are, each with these sub-tables; 0 if there are none.
    pages: u64,
}

impl DLeftLayout {
    /// The bytes of a page.
    pub const PAGE_BYTES: u64 = 4096;

    /// The most pages.
    pub const MAX_PAGES: u64 = 1 << 30;

    /// The most sub-tables. Three are best, four not much worse.
    pub const MAX_SUBTABLES: usize = 8;

    /// The most buckets in a group.
    pub const MAX_GROUP: u32 = 16;

    /// How many times larger than the smallest sub-table the largest may be.
    pub const MAX_RATIO: u64 = 16;

    /// `subtables` (d in the papers) sub-tables of `buckets_each` buckets, semi-sorted as in the
    /// paper, not grouped, with ties to the left.
    ///
    /// # Errors
    /// If there are no sub-tables or more than [`MAX_SUBTABLES`](Self::MAX_SUBTABLES), no buckets
    /// or more bits in all than [`MAX_PLACES`].
    pub fn new(subtables: u32, buckets_each: u64, bucket_bits: BucketBits) -> Result<Self, LayoutError> {
        check_places("sub-tables", u64::from(subtables), Self::MAX_SUBTABLES as u64)?;
        let subtables = subtables as usize;
        Self::uneven(&[buckets_each; Self::MAX_SUBTABLES][..subtables], bucket_bits)
    }

    /// Sub-tables of different sizes, by their buckets, otherwise as [`new`](Self::new).
    ///
    /// With ties to the left, a larger first sub-table makes for fewer false positives: 2:1:1 for
    /// 12% fewer than equal ones at four items a 64-bit bucket. A smaller first one makes for more.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if a sub-table is more than [`MAX_RATIO`](Self::MAX_RATIO) times
    /// as large as another.
    pub fn uneven(buckets: &[u64], bucket_bits: BucketBits) -> Result<Self, LayoutError> {
        check_places("sub-tables", buckets.len() as u64, Self::MAX_SUBTABLES as u64)?;
        let most = MAX_PLACES / u64::from(bucket_bits.bits());
        for &found in buckets {
            check_places("buckets", found, most)?;
        }
        // At most eight times 2^40: no overflow.
        check_places("buckets", buckets.iter().sum(), most)?;
        let (smallest, largest) = buckets
            .iter()
            .fold((u64::MAX, 0), |(smallest, largest), &size| (smallest.min(size), largest.max(size)));
        let most = smallest * Self::MAX_RATIO;
        check_places("buckets in the largest sub-table (16 times the smallest)", largest, most)?;
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

    /// Pages of 4096 bytes, each a small filter of three sub-tables, the first as large as the
    /// others together: all buckets of a key lie in its page. Otherwise as [`new`](Self::new).
    ///
    /// A lookup then costs one TLB miss in memory, or one read of a file. The last sixteen bytes of
    /// a page are for a checksum: 510 buckets of 64 bits are left, 255 of 128.
    ///
    /// # Errors
    /// If there are no pages, or more than [`MAX_PAGES`](Self::MAX_PAGES).
    pub fn paged(pages: u64, bucket_bits: BucketBits) -> Result<Self, LayoutError> {
        check_places("pages", pages, Self::MAX_PAGES)?;
        let buckets = match bucket_bits {
            BucketBits::Bits64 => [254, 128, 128],
            BucketBits::Bits128 => [127, 64, 64],
        };
        Ok(Self { pages, ..Self::uneven(&buckets, bucket_bits)? })
    }

    /// The same with another way of semi-sorting.
    #[must_use]
    pub const fn with_semisort(self, semisort: Semisort) -> Self {
        Self { semisort, ..self }
    }

    /// The same with buckets in groups of `group` that share their bits. Each sub-table is rounded
    /// down to whole groups.
    ///
    /// # Errors
    /// If the group is 0 or more than [`MAX_GROUP`](Self::MAX_GROUP), or larger than a sub-table.
    pub fn with_group(mut self, group: u32) -> Result<Self, LayoutError> {
        check_places("buckets in a group", u64::from(group), u64::from(Self::MAX_GROUP))?;
        for buckets in &mut self.buckets[..self.subtables] {
            check_places("buckets in a group (those of a sub-table)", u64::from(group), *buckets)?;
            *buckets -= *buckets % u64::from(group);
        }
        Ok(Self { group, ..self })
    }

    /// The same with another rule for ties between sub-tables.
    #[must_use]
    pub const fn with_ties(self, ties: Ties) -> Self {
        Self { ties, ..self }
    }

    /// The same with bits divided in another way.
    #[must_use]
    pub const fn with_division(self, division: Division) -> Self {
        Self { division, ..self }
    }

    /// The buckets of each sub-table, from left to right; if there are pages, those of one page.
    #[must_use]
    pub fn buckets(&self) -> &[u64] {
        &self.buckets[..self.subtables]
    }

    /// The pages; none if a key's buckets may lie anywhere.
    #[must_use]
    pub const fn pages(&self) -> Option<u64> {
        if self.pages == 0 { None } else { Some(self.pages) }
    }

    /// The buckets of all sub-tables, and of all pages.
    #[must_use]
    pub fn total_buckets(&self) -> u64 {
        self.buckets().iter().sum::<u64>() * self.pages.max(1)
    }

    getters! {
        /// The size of a bucket.
        bucket_bits: BucketBits,
        /// Which leading bits the state tells.
        semisort: Semisort,
        /// The buckets of a group; 1 if they are not grouped.
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

    /// The most bits of a fingerprint that a filter stores, apart from those that the state tells.
    /// Lone fingerprints in large buckets could have more; at once in 10^18 lookups nobody would
    /// notice.
    pub const MAX_STORED_BITS: u32 = 60;

    /// The length of each fingerprint in a bucket of `load` fingerprints, in a group of
    /// `group_load` in all: the stored bits and those that the state tells. In a group of one
    /// bucket the two loads are equal.
    ///
    /// The bits of a group are divided equally, and the remainder of the division is not counted.
    #[must_use]
    pub const fn fingerprint_bits(&self, load: u32, group_load: u32) -> u32 {
        if group_load == 0 { 0 } else { self.share(group_load) + self.told_bits(load) }
    }

    /// The bits that there are for each fingerprint in a group of `group_load`, which is not 0.
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

    /// The leading bits of a fingerprint that the state tells at a load.
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

    /// The bits of all buckets, and those that pages have for their checksums.
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
