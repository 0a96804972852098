//! Building from all keys at once, with loads that are more even than those of keys that come one after the other.

use alloc::vec::Vec;

use super::choices::{Buckets, Choice, Choices};
use super::{DLeft, DLeftFilter, Work};
use crate::bits::{OutOfMemory, reserved};
use crate::filter::cores::FilterCore;
use crate::filter::distinct::distinct;
use crate::filter::{BuildError, Full};
use crate::hash::Digest;
#[cfg(feature = "std")]
use crate::hash::{Digester, Portable};
use crate::layout::DLeftLayout;

/// What balancing gained.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Balance {
    /// The false-positive rate with every key where it went first.
    pub rate_before: f64,
    /// The false-positive rate now.
    pub rate: f64,
    /// How often a key was put elsewhere.
    pub moves: u64,
}

/// How often every key is tried anew, as in the paper.
const PASSES: usize = 10;

impl DLeftFilter {
    /// A filter of all these keys, with a random seed, and what balancing gained; see
    /// [`insert_balanced`](Self::insert_balanced).
    ///
    /// ```
    /// use oneread::filter::DLeftFilter;
    /// use oneread::layout::{BucketBits, DLeftLayout};
    ///
    /// // Two sub-tables are enough, and best, for keys that can be moved.
    /// let layout = DLeftLayout::new(2, 4096, BucketBits::Bits64)?;
    /// let keys: Vec<u64> = (0..32768).collect();
    /// let (filter, balance) = DLeftFilter::from_keys(layout, &keys)?;
    /// assert!(filter.contains(&7) && balance.rate < 0.6 * balance.rate_before);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`insert_balanced`](Self::insert_balanced).
    #[cfg(feature = "std")]
    pub fn from_keys<'q, Q: ?Sized + 'q>(
        layout: DLeftLayout,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(Self, Balance), BalanceError>
    where
        Portable: Digester<Q>,
    {
        let mut filter = Self::new(layout)?;
        let digester = *filter.digester();
        let balance = filter.insert_balanced(keys.into_iter().map(|key| digester.digest(key)))?;
        Ok((filter, balance))
    }
}

/// Why a filter cannot be built from all keys at once.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BalanceError {
    /// There is no such filter, or no memory for it.
    Build(BuildError),
    /// A key finds no room.
    Full(Full),
}

impl From<BuildError> for BalanceError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<OutOfMemory> for BalanceError {
    fn from(error: OutOfMemory) -> Self {
        Self::Build(error.into())
    }
}

impl From<Full> for BalanceError {
    fn from(error: Full) -> Self {
        Self::Full(error)
    }
}

impl core::fmt::Display for BalanceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BalanceError {}

impl<D> DLeftFilter<D> {
    /// Inserts all keys of these digests, and puts each in turn where its bucket is least loaded, ten times over. Keys that are there
    /// already stay where they are. A digest that comes twice is one key.
    ///
    /// Loads become more even, so that fingerprints are longer: at four keys a bucket of 64 bits, 2.36e-4 false positives with two
    /// sub-tables (section II-D of the paper), where keys that come one by one have 4.48e-4 with three.
    ///
    /// # Costs
    /// While it runs, 17 bytes a key, four a bucket, and a copy of the filter.
    ///
    /// # Errors
    /// If there is no memory for that, or if a key finds no room; nothing was changed.
    pub fn insert_balanced(
        &mut self,
        digests: impl IntoIterator<Item = Digest>,
    ) -> Result<Balance, BalanceError> {
        let all = distinct(digests)?;
        let filter = self.core_mut();
        filter.choices.run(Balanced { filter, digests: all })
    }
}

struct Balanced<'a> {
    filter: &'a mut DLeft<Vec<u64>>,
    digests: Vec<Digest>,
}

impl Work for Balanced<'_> {
    type Output = Result<Balance, BalanceError>;

    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<Balance, BalanceError> {
        let Self { filter, digests } = self;
        let capacity = filter.layout.capacity();
        let buckets = bucket_count(filter.choices, filter.layout);
        // Wide enough for any number of keys that crowd into one bucket.
        let mut loads: Vec<u32> = reserved(buckets as u64)?;
        loads.extend((0..buckets).map(|bucket| filter.load(bucket)));
        let mut chosen: Vec<u8> = reserved(digests.len() as u64)?;
        let least = |choice: &Choice<DD>, loads: &[u32]| {
            let load = |subtable: &usize| loads[choice.buckets.0[*subtable]];
            (0..DD).min_by_key(load).unwrap_or(0)
        };
        for &digest in &digests {
            let choice = choose(digest);
            let subtable = least(&choice, &loads);
            loads[choice.buckets.0[subtable]] += 1;
            chosen.push(subtable as u8);
        }
        // Without balancing.
        let mut before = filter.clone();
        let fits = before.fill(&digests, &chosen, &choose).is_ok();
        let rate_before = if fits { before.false_positive_rate() } else { 1.0 };
        drop(before);
        let mut moves = 0;
        for _ in 0..PASSES {
            for (&digest, own) in digests.iter().zip(&mut chosen) {
                let choice = choose(digest);
                loads[choice.buckets.0[usize::from(*own)]] -= 1;
                let subtable = least(&choice, &loads);
                loads[choice.buckets.0[subtable]] += 1;
                moves += u64::from(subtable != usize::from(*own));
                *own = subtable as u8;
            }
        }
        if loads.iter().any(|&load| load > capacity) {
            return Err(Full.into());
        }
        filter.fill(&digests, &chosen, &choose)?;
        Ok(Balance { rate_before, rate: filter.false_positive_rate(), moves })
    }
}

/// The buckets, those included that a page's checksum takes.
fn bucket_count(choices: Choices, layout: DLeftLayout) -> usize {
    match choices {
        Choices::Paged { .. } => (layout.bits() / u64::from(layout.bucket_bits().bits())) as usize,
        Choices::Spread { .. } => layout.total_buckets() as usize,
    }
}

impl DLeft<Vec<u64>> {
    /// Inserts each key into the sub-table that was chosen for it.
    fn fill<const DD: usize>(
        &mut self,
        digests: &[Digest],
        chosen: &[u8],
        choose: &impl Fn(Digest) -> Choice<DD>,
    ) -> Result<(), Full> {
        for (&digest, &subtable) in digests.iter().zip(chosen) {
            let Choice { buckets, fingerprint } = choose(digest);
            let buckets = Buckets([buckets.0[usize::from(subtable)]]);
            self.insert_at(Choice { buckets, fingerprint })?;
        }
        Ok(())
    }
}
