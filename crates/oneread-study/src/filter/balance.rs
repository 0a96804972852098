//! d-left filters built from all keys at once, with more even loads than keys inserted one by one.

use alloc::vec::Vec;

use oneread::bits::OutOfMemory;
use oneread::filter::{BuildError, DLeftFilter, Full};
use oneread::hash::Digest;
use oneread::workspace::{distinct, reserved};

/// The result of balancing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Balance {
    /// The false-positive rate before any key moved.
    pub rate_before: f64,
    /// The false-positive rate after balancing.
    pub rate: f64,
    /// The number of moves.
    pub moves: u64,
}

/// A filter cannot be built from all keys at once.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BalanceError {
    /// The layout is invalid, or memory ran out.
    Build(BuildError),
    /// A key finds no room.
    Full(Full),
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

/// The number of passes over all keys, as in the paper.
const PASSES: usize = 10;

/// Inserts all keys of these digests, then moves each in turn to its least loaded bucket, in ten
/// passes. Keys already in the filter stay where they are. A repeated digest is one key.
///
/// More even loads give longer fingerprints. At four keys per bucket of 64 bits, the false-positive
/// rate is 2.36e-4 with two sub-tables; keys inserted one by one have 4.48e-4 with three.
///
/// # Source
/// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
/// Bit Reassignment", 2006, section II-D.
///
/// # Costs
/// 17 bytes per key, four per bucket, and a copy of the filter, while it runs.
///
/// # Errors
/// If memory runs out, or if a key finds no room. Nothing was changed.
///
/// # Example
/// ```
/// use oneread::filter::DLeftFilter;
/// use oneread::hash::Digester;
/// use oneread::layout::{BucketBits, DLeftLayout};
/// use oneread_study::filter::insert_balanced;
///
/// // Two sub-tables are enough, and best, for keys that can be moved.
/// let layout = DLeftLayout::new(2, 4096, BucketBits::Bits64)?;
/// let mut filter = DLeftFilter::with_seed(layout, 1)?;
/// let digester = *filter.digester();
/// let balance = insert_balanced(&mut filter, (0..32768u64).map(|key| digester.digest(&key)))?;
/// assert!(filter.contains(&7u64) && balance.rate < 0.6 * balance.rate_before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn insert_balanced<D: Clone>(
    filter: &mut DLeftFilter<D>,
    digests: impl IntoIterator<Item = Digest>,
) -> Result<Balance, BalanceError> {
    let digests = distinct(digests)?;
    let layout = filter.layout();
    // Includes the bits of page checksums.
    let buckets = layout.bits() / u64::from(layout.bucket_bits().bits());
    // Wide enough for any number of keys in one bucket.
    let mut loads: Vec<u32> = reserved(buckets)?;
    loads.extend((0..buckets as usize).map(|bucket| filter.load_of(bucket)));
    // The sub-table of each key.
    let mut chosen: Vec<u8> = reserved(digests.len() as u64)?;
    for &digest in &digests {
        let (subtable, bucket) = least_loaded(filter, digest, &loads);
        loads[bucket] += 1;
        chosen.push(subtable);
    }
    let mut before = filter.clone();
    let fits = fill(&mut before, &digests, &chosen).is_ok();
    let rate_before = if fits { before.false_positive_rate() } else { 1.0 };
    drop(before);
    let mut moves = 0;
    for _ in 0..PASSES {
        for (&digest, own) in digests.iter().zip(&mut chosen) {
            let lost = filter.buckets_of(digest).nth(usize::from(*own));
            loads[lost.expect("a bucket in each sub-table")] -= 1;
            let (subtable, bucket) = least_loaded(filter, digest, &loads);
            loads[bucket] += 1;
            moves += u64::from(subtable != *own);
            *own = subtable;
        }
    }
    if loads.iter().any(|&load| load > layout.capacity()) {
        return Err(Full.into());
    }
    fill(filter, &digests, &chosen)?;
    Ok(Balance { rate_before, rate: filter.false_positive_rate(), moves })
}

/// The sub-table and the bucket of a digest with the least load, the leftmost of them.
fn least_loaded<D>(filter: &DLeftFilter<D>, digest: Digest, loads: &[u32]) -> (u8, usize) {
    let buckets = (0..).zip(filter.buckets_of(digest));
    buckets.min_by_key(|&(_, bucket)| loads[bucket]).expect("there are sub-tables")
}

/// Inserts each key into its chosen sub-table.
fn fill<D>(filter: &mut DLeftFilter<D>, digests: &[Digest], chosen: &[u8]) -> Result<(), Full> {
    let mut keys = digests.iter().zip(chosen);
    keys.try_for_each(|(&digest, &subtable)| filter.insert_into(digest, usize::from(subtable)))
}
