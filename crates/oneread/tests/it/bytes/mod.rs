//! Saved structures: intact ones load unchanged, damaged or forged ones are refused.

mod damage;
mod dleft;
mod dleft_counting;
// Reads files, which an isolated interpreter cannot.
#[cfg(not(miri))]
mod golden;
mod growing_line;
mod hostile;
mod identity;
mod line;
mod placed;
// Runs another program.
#[cfg(not(miri))]
mod python;
mod reader;
mod round_trip;
#[cfg(feature = "serde")]
mod serde;

use oneread::bytes::{Kind, LoadError, Saved};
use oneread::filter::{
    BlockedBloomFilter, BlockedView, BloomFilter, BloomView, CountMinSketch, CountMinView,
    CountingBloomFilter, CountingView, DLeftCountingFilter, DLeftCountingView, DLeftFilter, DLeftView,
    GrowingDLeftCountingFilter, GrowingDLeftCountingView, GrowingFilter, GrowingLineFilter, GrowingLineView,
    GrowingView, LineFilter, LineView, PlacedFilter, PlacedView,
};
use oneread::layout::{
    BlockedLayout, BloomLayout, BucketBits, CountMinLayout, CountingLayout, DLeftLayout, GrowingLayout,
};
use oneread::table::MultilevelTable;
use proptest::test_runner::TestCaseError;
use xxhash_rust::xxh3::xxh3_64;

// Positions in a container, as in `docs/format.md`.
const VERSION: usize = 8;
const KIND: usize = 10;
const DIGESTER: usize = 12;
const SEED: usize = 16;
const PAYLOAD_LENGTH: usize = 32;
const PAYLOAD_CHECKSUM: usize = 40;
const HEADER_CHECKSUM: usize = 56;
const LAYOUT: usize = 64;
const HEADER: usize = 128;

const SEED_OF_SAMPLES: u64 = 2026;

fn bloom() -> BloomFilter {
    let mut filter = BloomFilter::with_seed(BloomLayout::new(300, 3).unwrap(), SEED_OF_SAMPLES).unwrap();
    (0..40u64).for_each(|key| _ = filter.insert(&key));
    filter
}

fn blocked() -> BlockedBloomFilter {
    let mut filter = BlockedBloomFilter::with_seed(BlockedLayout::new(2).unwrap(), SEED_OF_SAMPLES).unwrap();
    (0..40u64).for_each(|key| _ = filter.insert(&key));
    filter
}

fn counting() -> CountingBloomFilter {
    let layout = CountingLayout::new(100, 3, 3).unwrap();
    let mut filter = CountingBloomFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    (0..40u64).for_each(|key| _ = filter.insert(&key));
    filter
}

fn count_min() -> CountMinSketch {
    let mut sketch = CountMinSketch::with_seed(CountMinLayout::new(11, 3).unwrap(), SEED_OF_SAMPLES).unwrap();
    (0..40u64).for_each(|key| sketch.add(&key, key + 1));
    sketch
}

fn growing() -> GrowingFilter {
    let mut filter = GrowingFilter::with_seed(GrowingLayout::new(8, 0.05).unwrap(), SEED_OF_SAMPLES).unwrap();
    (0..40u64).for_each(|key| _ = filter.insert(&key).unwrap());
    filter
}

fn dleft() -> DLeftFilter {
    let layout = DLeftLayout::uneven(&[8, 4, 4], BucketBits::Bits64).unwrap();
    let mut filter = DLeftFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    (0..40u64).for_each(|key| _ = filter.insert(&key).unwrap());
    filter
}

/// A small file of each kind.
fn samples() -> [(Kind, Vec<u8>); 6] {
    [
        (Kind::Bloom, bloom().to_bytes()),
        (Kind::Blocked, blocked().to_bytes()),
        (Kind::Counting, counting().to_bytes()),
        (Kind::CountMin, count_min().to_bytes()),
        (Kind::Growing, growing().to_bytes()),
        (Kind::DLeft, dleft().to_bytes()),
    ]
}

/// Loads a structure of the kind, queries it, and saves it again.
fn load(kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    Ok(match kind {
        Kind::Bloom => {
            let filter = <BloomFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            filter.to_bytes()
        }
        Kind::Blocked => {
            let filter = <BlockedBloomFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            filter.to_bytes()
        }
        Kind::Counting => {
            let filter = <CountingBloomFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0 && filter.stuck() <= filter.occupied());
            filter.to_bytes()
        }
        Kind::CountMin => {
            let sketch = <CountMinSketch>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = sketch.estimate(&key));
            sketch.to_bytes()
        }
        Kind::Growing => {
            let mut filter = <GrowingFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            _ = (filter.len(), filter.byte_len());
            let saved = filter.to_bytes();
            // Changing a loaded filter must not fail either, whatever its layers say.
            filter.merge(<GrowingFilter>::from_bytes(bytes)?).ok();
            _ = (filter.insert(&u64::MAX), filter.len());
            saved
        }
        Kind::Multilevel => <MultilevelTable<u64, u64>>::from_bytes(bytes)?.to_bytes(),
        Kind::DLeftCounting => {
            let mut filter = <DLeftCountingFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            let saved = filter.to_bytes();
            // Changing a loaded filter must not fail either, whatever its buckets say.
            (0..100u64).for_each(|key| _ = (filter.insert(&key), filter.remove(&(key + 50))));
            saved
        }
        Kind::GrowingDLeftCounting => {
            let mut filter = <GrowingDLeftCountingFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            _ = (filter.len(), filter.byte_len());
            let saved = filter.to_bytes();
            (0..100u64).for_each(|key| _ = (filter.insert(&key), filter.remove(&(key + 50))));
            saved
        }
        Kind::Line => {
            let mut filter = <LineFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            _ = (filter.lines_read(), filter.fingerprints().count());
            let saved = filter.to_bytes();
            // Changing a loaded filter must not fail either, whatever its lines say.
            (0..100u64).for_each(|key| _ = (filter.insert(&key), filter.remove(&(key + 50))));
            saved
        }
        Kind::GrowingLine => {
            let mut filter = <GrowingLineFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = (filter.contains(&key), filter.count(&key)));
            assert!(filter.false_positive_rate() <= 1.0);
            _ = (filter.len(), filter.byte_len());
            let saved = filter.to_bytes();
            (0..100u64).for_each(|key| _ = (filter.insert_within(&key, 1 << 20), filter.remove(&(key + 50))));
            saved
        }
        Kind::DLeft => {
            let mut filter = <DLeftFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            let saved = filter.to_bytes();
            (0..100u64).for_each(|key| _ = filter.insert(&key));
            saved
        }
        Kind::Placed => {
            let filter = <PlacedFilter>::from_bytes(bytes)?;
            (0..100u64).for_each(|key| _ = filter.contains(&key));
            assert!(filter.false_positive_rate() <= 1.0);
            filter.to_bytes()
        }
        _ => crate::summary::saved::load(kind, bytes)?,
    })
}

/// Opens a view of the kind, queries it, and verifies it.
fn open(kind: Kind, bytes: &[u8]) -> Result<(), LoadError> {
    match kind {
        Kind::Bloom => {
            let view = <BloomView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            view.verify()
        }
        Kind::Blocked => {
            let view = <BlockedView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            view.verify()
        }
        Kind::Counting => {
            let view = <CountingView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            view.verify()
        }
        Kind::CountMin => {
            let view = <CountMinView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.estimate(&key));
            view.verify()
        }
        Kind::Growing => {
            let view = <GrowingView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            view.verify()
        }
        Kind::DLeft => {
            let view = <DLeftView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            _ = (view.false_positive_rate(), view.fingerprints());
            view.verify()
        }
        Kind::DLeftCounting => {
            let view = <DLeftCountingView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            _ = (view.false_positive_rate(), view.len());
            view.verify()
        }
        Kind::GrowingDLeftCounting => {
            let view = <GrowingDLeftCountingView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            _ = (view.false_positive_rate(), view.len());
            view.verify()
        }
        Kind::Placed => {
            let view = <PlacedView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            _ = (view.false_positive_rate(), view.len());
            view.verify()
        }
        Kind::Line => {
            let view = <LineView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = view.contains(&key));
            _ = (view.lines_read(), view.fingerprints().count());
            view.verify()
        }
        Kind::GrowingLine => {
            let view = <GrowingLineView<'_>>::open(bytes)?;
            (0..100u64).for_each(|key| _ = (view.contains(&key), view.count(&key)));
            _ = (view.false_positive_rate(), view.len());
            view.verify()
        }
        // Tables have no view.
        Kind::Multilevel => <MultilevelTable<u64, u64>>::from_bytes(bytes).map(drop),
        _ => crate::summary::saved::open(kind, bytes),
    }
}

/// Checks that both ways in agree; returns the error, or the bytes as saved again.
#[track_caller]
fn load_and_open(kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let (loaded, opened) = (load(kind, bytes), open(kind, bytes));
    assert_eq!(loaded.is_ok(), opened.is_ok(), "{kind}: loading gives {loaded:?}, viewing {opened:?}");
    loaded
}

fn put(bytes: &mut [u8], at: usize, field: u64) {
    bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
}

/// Recomputes both checksums, so that only the content is wrong.
fn reseal(bytes: &mut [u8]) {
    let payload = xxh3_64(&bytes[HEADER..]);
    put(bytes, PAYLOAD_CHECKSUM, payload);
    let header = xxh3_64(&[&bytes[..HEADER_CHECKSUM], &bytes[LAYOUT..HEADER]].concat());
    put(bytes, HEADER_CHECKSUM, header);
}

/// A container with its payload replaced, resealed.
fn with_payload(bytes: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = [&bytes[..HEADER], payload].concat();
    put(&mut bytes, PAYLOAD_LENGTH, payload.len() as u64);
    reseal(&mut bytes);
    bytes
}

fn refuses_every_flipped_bit(samples: impl IntoIterator<Item = (Kind, Vec<u8>)>) {
    for (kind, bytes) in samples {
        let mut damaged = bytes.clone();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                damaged[at] ^= 1 << bit;
                assert!(load_and_open(kind, &damaged).is_err(), "{kind}, byte {at}, bit {bit}");
                damaged[at] ^= 1 << bit;
            }
        }
        assert_eq!(damaged, bytes);
    }
}

/// Changes words from the layout on. Nothing may panic, and what still loads must be saved again as
/// the same bytes.
fn is_saved_again_if_it_loads(
    kind: Kind,
    mut bytes: Vec<u8>,
    changes: Vec<(usize, u64)>,
) -> Result<(), TestCaseError> {
    for (word, value) in changes {
        let at = LAYOUT + 8 * word;
        if at + 8 <= bytes.len() {
            put(&mut bytes, at, value);
        }
    }
    reseal(&mut bytes);
    match load_and_open(kind, &bytes) {
        Ok(saved) if saved != bytes => Err(TestCaseError::fail("it is not saved as the same bytes")),
        _ => Ok(()),
    }
}
