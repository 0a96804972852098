//! Statistics of the buckets.

use alloc::vec;
use alloc::vec::Vec;

use super::choices::page_buckets;
use super::{DLeft, bucket64};
use crate::bits::Words;
use crate::filter::Filter;
use crate::filter::cores::Shared;
use crate::filter::simd::Isa;
use crate::plan::dleft::{any_match, bucket_match};

/// The loads of a filter's buckets, and the lengths of its fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DLeftStatistics {
    /// The number of buckets with each load, from 0 to the capacity, per sub-table from left to
    /// right.
    pub loads: Vec<Vec<u64>>,
    /// The number of fingerprints of each length in bits, from 0 to 64.
    pub lengths: Vec<u64>,
}

impl DLeftStatistics {
    /// The number of fingerprints.
    #[must_use]
    pub fn fingerprints(&self) -> u64 {
        self.lengths.iter().sum()
    }
}

/// A core of d-left buckets, shared or not.
pub trait HasBuckets {
    type Words: Words;
    fn buckets(&self) -> &DLeft<Self::Words>;
    fn buckets_mut(&mut self) -> &mut DLeft<Self::Words>;
}

impl<S: Words> HasBuckets for DLeft<S> {
    type Words = S;

    fn buckets(&self) -> &Self {
        self
    }

    fn buckets_mut(&mut self) -> &mut Self {
        self
    }
}

impl<S: Words> HasBuckets for Shared<DLeft<S>> {
    type Words = S;

    fn buckets(&self) -> &DLeft<S> {
        &self.0
    }

    fn buckets_mut(&mut self) -> &mut DLeft<S> {
        &mut self.0
    }
}

impl<C: HasBuckets, D> Filter<C, D> {
    /// Counts loads and lengths. Reads the whole filter.
    pub fn statistics(&self) -> DLeftStatistics {
        self.core().buckets().statistics()
    }

    /// The number of fingerprints. Keys that were false positives when inserted have none of their
    /// own. Reads the whole filter.
    pub fn fingerprints(&self) -> u64 {
        self.core().buckets().fingerprints()
    }

    /// Returns the same filter, restricted to instructions that every machine has: for comparisons,
    /// and to see on one machine what others do.
    ///
    /// Answers and buckets are the same, bit for bit. Saving and loading, or converting between
    /// [`DLeftFilter`](super::DLeftFilter) and [`AtomicDLeftFilter`](super::AtomicDLeftFilter),
    /// lifts the restriction.
    ///
    /// ```
    /// use oneread::filter::DLeftFilter;
    /// use oneread::plan;
    ///
    /// let layout = plan::dleft::for_items(1000, 16.0)?;
    /// let mut filter = DLeftFilter::with_seed(layout, 1)?;
    /// let mut portable = DLeftFilter::with_seed(layout, 1)?.without_simd();
    /// assert!(!portable.contains("key"));
    /// assert_eq!(filter.insert("key"), portable.insert("key"));
    /// assert!(portable.contains("key") && filter == portable);
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[must_use]
    pub fn without_simd(mut self) -> Self {
        self.core_mut().buckets_mut().isa = Isa::Portable;
        self
    }
}

impl<S: Words> DLeft<S> {
    pub(super) fn statistics(&self) -> DLeftStatistics {
        let capacity = self.layout.capacity() as usize;
        let mut statistics = DLeftStatistics {
            loads: vec![vec![0; capacity + 1]; self.layout.buckets().len()],
            lengths: vec![0; 65],
        };
        self.for_each_bucket(|_, subtable, load, length| {
            statistics.loads[subtable][load as usize] += 1;
            statistics.lengths[length as usize] += u64::from(load);
        });
        statistics
    }

    pub(super) fn fingerprints(&self) -> u64 {
        let mut count = 0;
        self.for_each_bucket(|_, _, load, _| count += u64::from(load));
        count
    }

    /// A bucket of load a with fingerprints of length f matches with probability 1 − (1 − 2^−f)^a.
    /// A key has one bucket per sub-table, in its page if there are pages.
    pub(super) fn rate(&self) -> f64 {
        let sizes = self.layout.buckets();
        let pages = self.layout.pages().unwrap_or(1);
        // The matches of all buckets together, for each sub-table of the present page.
        let mut sums = vec![0.0; sizes.len()];
        let mut total = 0.0;
        let mut present = 0;
        let of_page = |sums: &mut Vec<f64>| {
            let rate = any_match(sums.iter().zip(sizes).map(|(sum, &size)| sum / size as f64));
            sums.fill(0.0);
            rate
        };
        self.for_each_bucket(|page, subtable, load, length| {
            if page != present {
                total += of_page(&mut sums);
                present = page;
            }
            sums[subtable] += bucket_match(f64::from(load), length);
        });
        (total + of_page(&mut sums)) / pages as f64
    }

    /// Calls `call` with the page, sub-table, load and length of each bucket.
    fn for_each_bucket(&self, mut call: impl FnMut(u64, usize, u32, u32)) {
        let pages = self.layout.pages().unwrap_or(1);
        let group = self.layout.group() as usize;
        for page in 0..pages {
            let mut bucket = page as usize * page_buckets(self.layout.bucket_bits());
            for (subtable, &size) in self.layout.buckets().iter().enumerate() {
                // Each sub-table has whole groups.
                for _ in 0..size / group as u64 {
                    let loads: Vec<u32> = (bucket..bucket + group).map(|bucket| self.load(bucket)).collect();
                    for (place, &load) in loads.iter().enumerate() {
                        call(page, subtable, load, self.length(&loads, place));
                    }
                    bucket += group;
                }
            }
        }
    }

    pub(super) fn load(&self, bucket: usize) -> u32 {
        match &self.codec {
            None => bucket64::load(self.words.word(bucket)),
            Some(codec) => self.load_encoded(bucket, codec),
        }
    }

    /// The length of the fingerprints in a bucket of a group with these loads.
    fn length(&self, loads: &[u32], bucket: usize) -> u32 {
        match &self.codec {
            None => self.layout.fingerprint_bits(loads[bucket], loads[bucket]),
            Some(codec) => codec.lengths(loads)[bucket].into(),
        }
    }
}
