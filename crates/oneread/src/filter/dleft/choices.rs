//! The buckets of a key.

use crate::hash::{Digest, Domain, reduce};
use crate::layout::{BucketBits, DLeftLayout};

/// The most sub-tables of a filter.
pub(super) const MAX_SUBTABLES: usize = 4;

/// The locations of digests' buckets.
///
/// Buckets are numbered through all sub-tables, or through all pages with their sub-tables; a page
/// counts as many buckets as its bytes would hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choices {
    /// Sub-tables one after the other.
    Spread {
        /// The number of buckets of each.
        buckets: [u64; MAX_SUBTABLES],
        subtables: usize,
    },
    /// Pages of three sub-tables.
    Paged { pages: u64, bucket_bits: BucketBits },
}

/// The choices of one digest: its buckets, and the fingerprint to find in one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<const D: usize> {
    pub(super) buckets: [usize; D],
    pub(super) fingerprint: u64,
}

impl<const D: usize> Default for Choice<D> {
    fn default() -> Self {
        Self { buckets: [0; D], fingerprint: 0 }
    }
}

impl<const D: usize> Choice<D> {
    /// The same choices, with the first bucket in place of sub-tables that do not exist.
    #[inline(always)]
    fn padded(self) -> Choice<MAX_SUBTABLES> {
        let buckets = core::array::from_fn(|at| self.buckets[if at < D { at } else { 0 }]);
        Choice { buckets, fingerprint: self.fingerprint }
    }
}

impl Choices {
    pub(super) fn new(layout: DLeftLayout) -> Self {
        if let Some(pages) = layout.pages() {
            return Self::Paged { pages, bucket_bits: layout.bucket_bits() };
        }
        let mut buckets = [0; MAX_SUBTABLES];
        buckets.iter_mut().zip(layout.buckets()).for_each(|(own, &buckets)| *own = buckets);
        Self::Spread { buckets, subtables: layout.buckets().len() }
    }

    /// The choices of a digest, whatever the layout. In place of sub-tables that do not exist, the
    /// first bucket is repeated, which changes no operation: the leftmost of equal loads is taken.
    #[inline(always)]
    pub(super) fn of(self, digest: Digest) -> Choice<MAX_SUBTABLES> {
        match self {
            Self::Paged { pages, bucket_bits } => paged(digest, pages, bucket_bits).padded(),
            Self::Spread { buckets, subtables: 1 } => spread::<1>(digest, &buckets).padded(),
            Self::Spread { buckets, subtables: 2 } => spread::<2>(digest, &buckets).padded(),
            Self::Spread { buckets, subtables: 3 } => spread::<3>(digest, &buckets).padded(),
            Self::Spread { buckets, .. } => spread::<MAX_SUBTABLES>(digest, &buckets),
        }
    }
}

/// Does work in a filter whose buckets are words, with the function that makes its choices: one for
/// the pages of plans, one for the three sub-tables of the paper, and one for all other layouts.
macro_rules! with_choices {
    ($filter:expr, $choose:ident => $work:expr) => {
        match ($filter.usual_pages, $filter.choices) {
            (Some(pages), _) => {
                let $choose = |digest| choices::paged(digest, pages.get(), BucketBits::Bits64);
                $work
            }
            (None, Choices::Spread { buckets, subtables: 3 }) => {
                let $choose = |digest| choices::spread::<3>(digest, &buckets);
                $work
            }
            (None, choices) => {
                let $choose = |digest| choices.of(digest);
                $work
            }
        }
    };
}

pub(super) use with_choices;

/// The buckets that the bytes of a page would hold: a power of two.
pub(super) const fn page_buckets(bucket_bits: BucketBits) -> usize {
    (DLeftLayout::PAGE_BYTES * 8) as usize / bucket_bits.bits() as usize
}

/// Sub-tables one after the other: one word per sub-table, and one for the fingerprint.
#[inline(always)]
pub(super) fn spread<const D: usize>(digest: Digest, buckets: &[u64; MAX_SUBTABLES]) -> Choice<D> {
    let mut start = 0;
    let mut numbers = [0; D];
    for (subtable, number) in numbers.iter_mut().enumerate() {
        *number = (start + reduce(digest.word(Domain::DLEFT, subtable as u32), buckets[subtable])) as usize;
        start += buckets[subtable];
    }
    Choice { buckets: numbers, fingerprint: digest.word(Domain::DLEFT, D as u32) }
}

/// Pages: the upper bits of a word select the page, its lowest thirty the buckets in it; another
/// word gives the fingerprint.
///
/// If the kind of bucket is a constant, so are the sizes of the sub-tables. The last two are powers
/// of two.
#[inline(always)]
pub(super) fn paged(digest: Digest, pages: u64, bucket_bits: BucketBits) -> Choice<3> {
    /// The bits for the first sub-table, whose size is no power of two: one bucket is at most 1.004
    /// times as likely as another.
    const FIRST_BITS: u32 = 16;
    let (first, bits) = match bucket_bits {
        BucketBits::Bits64 => (254, 7),
        BucketBits::Bits128 => (127, 6),
    };
    let word = digest.word(Domain::DLEFT, 0);
    let mask = (1 << bits) - 1;
    let page = (reduce(word, pages) as usize) << (bits + 2);
    let in_first = ((word & ((1 << FIRST_BITS) - 1)) * first) >> FIRST_BITS;
    let in_second = word >> FIRST_BITS & mask;
    let in_third = word >> (FIRST_BITS + bits) & mask;
    let buckets =
        [in_first, first + in_second, first + mask + 1 + in_third].map(|bucket| page + bucket as usize);
    Choice { buckets, fingerprint: digest.word(Domain::DLEFT, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Portable};

    #[test]
    fn buckets_of_a_page_are_in_the_sub_tables_of_the_layout() {
        for bucket_bits in [BucketBits::Bits64, BucketBits::Bits128] {
            let layout = DLeftLayout::paged(5, bucket_bits).unwrap();
            let mut starts = [0; 4];
            for (at, &buckets) in layout.buckets().iter().enumerate() {
                starts[at + 1] = starts[at] + buckets as usize;
            }
            let mut seen = alloc::vec![false; 5 * page_buckets(bucket_bits)];
            // The probability that a bucket is not seen is below e^-40.
            for key in 0..100_000_u64 {
                let Choice { buckets, .. } = paged(Portable::with_seed(1).digest(&key), 5, bucket_bits);
                for (subtable, bucket) in buckets.into_iter().enumerate() {
                    let in_page = bucket % page_buckets(bucket_bits);
                    assert!((starts[subtable]..starts[subtable + 1]).contains(&in_page));
                    assert_eq!(bucket / page_buckets(bucket_bits), buckets[0] / page_buckets(bucket_bits));
                    seen[bucket] = true;
                }
            }
            assert_eq!(seen.iter().filter(|&&seen| seen).count(), 5 * starts[3]);
        }
    }
}
