//! Files of every version of the format load in all later versions: `tests/golden`.
//!
//! `ONEREAD_BLESS=1 cargo test golden` writes missing files of the current version. It never
//! rewrites a file: if one differs, the format has changed and needs a new version.

use std::path::PathBuf;

use oneread::bytes::{Kind, LoadError, Saved};
use oneread::filter::{BlockedBloomFilter, BloomFilter, CountMinSketch, CountingBloomFilter, GrowingFilter};
use oneread::hash::Keyed;
use oneread::hash::probes::SchemeName;
use oneread::layout::{
    BlockedLayout, BloomLayout, CountMinLayout, Counting, CountingLayout, GrowingLayout, Rows, Update,
};

use super::{HEADER, load_and_open};

const SEED: u64 = 42;
const SECRET: [u8; 16] = *b"not a secret any";
const STRINGS: [&str; 6] =
    ["", "a", "key", "café", "0123456789abcdef", "a string that is longer than sixteen bytes"];
const KEYS: u64 = 60;

/// The bytes of a golden file, which must equal those made today.
pub(super) fn golden(name: &str, made: &[u8]) -> Vec<u8> {
    let bytes = golden_of_any_plan(name, made);
    assert!(bytes == made, "{name} is not what would be written today: the format has changed");
    bytes
}

/// Like [`golden`], but a planner decides what is made today, which may differ.
pub(super) fn golden_of_any_plan(name: &str, made: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name);
    if std::env::var_os("ONEREAD_BLESS").is_some() && !path.exists() {
        std::fs::write(&path, made).unwrap();
    }
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn bloom(scheme: SchemeName) -> BloomFilter {
    let layout = BloomLayout::new(1100, 7).unwrap().with_scheme(scheme).unwrap();
    let mut filter = BloomFilter::with_seed(layout, SEED).unwrap();
    (0..KEYS).for_each(|key| _ = filter.insert(&key));
    STRINGS.iter().for_each(|key| _ = filter.insert(*key));
    filter
}

#[test]
fn bloom_filters_of_version_1_load() {
    for (name, scheme) in
        [("bloom.oneread", SchemeName::Accelerated), ("bloom_bands.oneread", SchemeName::IndependentBands)]
    {
        let bytes = golden(name, &bloom(scheme).to_bytes());
        assert_eq!(load_and_open(Kind::Bloom, &bytes).unwrap(), bytes, "saved again as it was");
        let filter = <BloomFilter>::from_bytes(&bytes).unwrap();
        assert_eq!((filter.layout().hashes(), filter.layout().scheme()), (7, scheme));
        // 66 keys at 16 bits per key: an absent one is found once in about 1500 times; none of
        // these 20 is.
        assert!(
            (0..KEYS).all(|key| filter.contains(&key)) && (KEYS..KEYS + 20).all(|key| !filter.contains(&key))
        );
        assert!(STRINGS.iter().all(|key| filter.contains(*key)) && !filter.contains("absent"));
    }
}

#[test]
fn keyed_bloom_filters_of_version_1_load_with_their_secret() {
    let digester = Keyed::with_secret(SECRET);
    let mut filter = BloomFilter::with_digester(BloomLayout::new(1100, 7).unwrap(), digester).unwrap();
    (0..KEYS).for_each(|key| _ = filter.insert(&key));
    let bytes = golden("bloom_keyed.oneread", &filter.to_bytes());
    let filter = BloomFilter::from_bytes_with(&bytes, digester).unwrap();
    assert!(
        (0..KEYS).all(|key| filter.contains(&key)) && (KEYS..KEYS + 20).all(|key| !filter.contains(&key))
    );
    assert_eq!(filter.to_bytes(), bytes);
    assert!(matches!(BloomFilter::<Keyed>::from_bytes(&bytes), Err(LoadError::DigesterNeeded)));
}

#[test]
fn blocked_filters_of_version_1_load() {
    let mut made = BlockedBloomFilter::with_seed(BlockedLayout::new(3).unwrap(), SEED).unwrap();
    (0..KEYS).for_each(|key| _ = made.insert(&key));
    STRINGS.iter().for_each(|key| _ = made.insert(*key));
    let bytes = golden("blocked.oneread", &made.to_bytes());
    assert_eq!(load_and_open(Kind::Blocked, &bytes).unwrap(), bytes, "saved again as it was");
    let filter = <BlockedBloomFilter>::from_bytes(&bytes).unwrap();
    assert!(
        (0..KEYS).all(|key| filter.contains(&key)) && (KEYS..KEYS + 20).all(|key| !filter.contains(&key))
    );
    assert!(STRINGS.iter().all(|key| filter.contains(*key)) && !filter.contains("absent"));
}

#[test]
fn counting_filters_of_version_1_load() {
    for (name, counting, width) in
        [("counting.oneread", Counting::EachProbe, 4), ("counting_once.oneread", Counting::OncePerItem, 3)]
    {
        let layout = CountingLayout::new(1000, 5, width).unwrap().with_counting(counting);
        let mut made = CountingBloomFilter::with_seed(layout, SEED).unwrap();
        (0..2 * KEYS).for_each(|key| _ = made.insert(&key));
        (KEYS..2 * KEYS).for_each(|key| made.remove(&key).unwrap());
        STRINGS.iter().for_each(|key| _ = made.insert(*key));
        // One key nine times, more than a counter of three bits can count.
        (0..9).for_each(|_| _ = made.insert("often"));
        let bytes = golden(name, &made.to_bytes());
        assert_eq!(load_and_open(Kind::Counting, &bytes).unwrap(), bytes, "saved again as it was");
        let mut filter = <CountingBloomFilter>::from_bytes(&bytes).unwrap();
        assert!(
            (0..KEYS).all(|key| filter.contains(&key)) && (KEYS..KEYS + 10).all(|key| !filter.contains(&key))
        );
        assert!(STRINGS.iter().all(|key| filter.contains(*key)) && !filter.contains("absent"));
        let stuck = width == 3;
        assert_eq!(filter.stuck() > 0, stuck, "{name}");
        // Saturated counters stay; others can be decremented.
        (0..9).for_each(|_| filter.remove("often").unwrap());
        assert_eq!(filter.contains("often"), stuck, "{name}");
    }
}

#[test]
fn count_min_sketches_of_version_1_load() {
    for (name, update, rows) in [
        ("count_min.oneread", Update::Plain, Rows::TwoWords),
        ("count_min_conservative.oneread", Update::Conservative, Rows::TwoWords),
        ("count_min_independent.oneread", Update::Plain, Rows::Independent),
        ("count_min_independent_conservative.oneread", Update::Conservative, Rows::Independent),
    ] {
        let layout = CountMinLayout::new(31, 4).unwrap().with_update(update).with_rows(rows);
        let mut made = CountMinSketch::with_seed(layout, SEED).unwrap();
        (0..KEYS).for_each(|key| made.add(&key, key));
        made.add("key", 1 << 40);
        let bytes = golden(name, &made.to_bytes());
        assert_eq!(load_and_open(Kind::CountMin, &bytes).unwrap(), bytes, "saved again as it was");
        let sketch = <CountMinSketch>::from_bytes(&bytes).unwrap();
        assert!((0..KEYS).all(|key| sketch.estimate(&key) >= key) && sketch.estimate("key") >= 1 << 40);
        // 0 + 1 + … + 59 = 1770.
        assert_eq!((sketch.total(), sketch.layout()), ((1 << 40) + 1770, layout));
    }
}

#[test]
fn growing_filters_of_version_1_load() {
    let mut made = GrowingFilter::with_seed(GrowingLayout::new(8, 0.01).unwrap(), SEED).unwrap();
    (0..KEYS).for_each(|key| _ = made.insert(&key).unwrap());
    STRINGS.iter().for_each(|key| _ = made.insert(*key).unwrap());
    let bytes = golden_of_any_plan("growing.oneread", &made.to_bytes());
    assert_eq!(load_and_open(Kind::Growing, &bytes).unwrap(), bytes, "saved again as it was");
    let filter = <GrowingFilter>::from_bytes(&bytes).unwrap();
    assert!(
        (0..KEYS).all(|key| filter.contains(&key)) && (KEYS..KEYS + 20).all(|key| !filter.contains(&key))
    );
    assert!(STRINGS.iter().all(|key| filter.contains(*key)) && !filter.contains("absent"));
    // 8 + 16 + 32 + 10 keys.
    assert_eq!((filter.layers(), filter.len()), (4, 66));
}

#[test]
fn damaged_files_of_version_1_are_refused() {
    let mut made = bloom(SchemeName::Accelerated).to_bytes();
    made[HEADER + 17] ^= 4;
    let bytes = golden("bloom_damaged.oneread", &made);
    let error = load_and_open(Kind::Bloom, &bytes).unwrap_err();
    assert!(matches!(error, LoadError::Checksum { part: "payload", .. }), "{error}");
    let mut made = bloom(SchemeName::Accelerated).to_bytes();
    made.truncate(HEADER + 17);
    let bytes = golden("bloom_cut.oneread", &made);
    let error = load_and_open(Kind::Bloom, &bytes).unwrap_err();
    // 1100 bits take 18 words.
    assert!(matches!(error, LoadError::Length { expected: 272, found: 145 }), "{error}");
}
