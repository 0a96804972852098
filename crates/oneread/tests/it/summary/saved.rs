//! Saved summaries load as they were and answer as views; damaged or forged ones are refused.

use oneread::bytes::{Identified, Kind, LoadError, Saved};
use oneread::hash::{Digest, Digester, Keyed, Portable};
use oneread::layout::{
    Counting, CountingFiltersLayout, InterpolationLayout, ListLayout, MultipleFiltersLayout,
    SingleFilterLayout,
};
use oneread::summary::{
    AnySummary, CountingMultiFilterSummary, CountingMultiFilterView, CountingSingleFilterSummary,
    CountingSingleFilterView, InterpolationSummary, InterpolationView, LevelSet, MultiFilterSummary,
    MultiFilterView, SingleFilterSummary, SingleFilterView, Summary,
};
use xxhash_rust::xxh3::xxh3_64;

use super::{Random, counting_cells};

const SEED: u64 = 42;
const LEVELS: usize = 4;
const KEYS: u64 = 40;
const PAYLOAD: usize = 128;
const LAYOUT: usize = 64;

/// Returns level 0 for most keys, 1 for every fourth, 2 for every eighth, 3 for every sixteenth.
fn level_of(key: u64) -> usize {
    (key.trailing_zeros() as usize).saturating_sub(1).min(LEVELS - 1)
}

fn fill<S: Summary<Digester = D>, D: Digester<u64>>(mut summary: S) -> S {
    for key in 1..=KEYS {
        let digest = summary.digester().digest(&key);
        summary.insert(digest, level_of(key)).unwrap();
    }
    summary
}

fn filters() -> MultipleFiltersLayout {
    MultipleFiltersLayout::new([(400, 5), (300, 11), (100, 11), (70, 12)]).unwrap()
}

fn with_list() -> MultipleFiltersLayout {
    let filters = MultipleFiltersLayout::new([(400, 5), (300, 11)]).unwrap();
    filters.with_list(ListLayout::new(2, 7, 40).unwrap()).unwrap()
}

fn counting(filters: MultipleFiltersLayout) -> CountingFiltersLayout {
    let width = |at: usize| (3 + at as u32 % 2, [Counting::EachProbe, Counting::OncePerItem][at % 2]);
    let counters: Vec<_> = (0..filters.filters().len()).map(width).collect();
    CountingFiltersLayout::new(filters, counters).unwrap()
}

/// A small file of each kind and form.
fn samples() -> Vec<(&'static str, Kind, Vec<u8>)> {
    let single = |levels| {
        let layout = SingleFilterLayout::new(130, 5).unwrap();
        fill(SingleFilterSummary::with_seed(layout, levels, SEED).unwrap()).to_bytes()
    };
    let strings = InterpolationLayout::new(29).unwrap();
    let multiple = |layout| fill(MultiFilterSummary::with_seed(layout, SEED).unwrap()).to_bytes();
    let counting =
        |layout| fill(CountingMultiFilterSummary::with_seed(counting(layout), SEED).unwrap()).to_bytes();
    let cells = CountingSingleFilterSummary::with_seed(counting_cells(130, 5, &[4, 3, 2, 1]), SEED);
    let array = InterpolationSummary::with_seed(strings, LEVELS, SEED);
    // Four blocks.
    let blocks = InterpolationSummary::in_blocks(strings, LEVELS, 256, Portable::with_seed(SEED));
    vec![
        ("multiple", Kind::MultiFilterSummary, multiple(filters())),
        ("multiple_list", Kind::MultiFilterSummary, multiple(with_list())),
        ("single", Kind::SingleFilterSummary, single(5)),
        ("single_bits", Kind::SingleFilterSummary, single(9)),
        ("counting_multiple", Kind::CountingMultiFilterSummary, counting(filters())),
        ("counting_multiple_list", Kind::CountingMultiFilterSummary, counting(with_list())),
        ("counting_single", Kind::CountingSingleFilterSummary, fill(cells.unwrap()).to_bytes()),
        ("interpolation", Kind::InterpolationSummary, fill(array.unwrap()).to_bytes()),
        ("interpolation_blocks", Kind::InterpolationSummary, fill(blocks.unwrap()).to_bytes()),
    ]
}

fn digest(key: u64) -> Digest {
    Portable::with_seed(SEED).digest(&key)
}

/// Loads a summary, queries it and changes it a little. Returns the levels of some keys, and the
/// bytes saved again.
fn loaded<S: Summary + Saved>(bytes: &[u8]) -> Result<(Vec<LevelSet>, Vec<u8>), LoadError> {
    let mut summary = S::from_bytes(bytes)?;
    let levels = (0..100).map(|key| summary.lookup(digest(key))).collect();
    let saved = summary.to_bytes();
    for key in 0..100 {
        _ = summary.insert(digest(1000 + key), key as usize % 3);
        _ = summary.relocate(digest(1000 + key), key as usize % 3, 1);
        _ = summary.remove(digest(key), 0);
    }
    let changed = summary.to_bytes();
    assert_eq!(S::from_bytes(&changed).expect("what was saved").to_bytes(), changed);
    summary.reset();
    assert!((0..100).all(|key| summary.lookup(digest(key)).is_empty()));
    Ok((levels, saved))
}

/// Calls a function for the summary of a kind.
macro_rules! by_kind {
    ($kind:expr, $function:ident, $bytes:expr) => {
        match $kind {
            Kind::MultiFilterSummary => $function::<MultiFilterSummary>($bytes),
            Kind::SingleFilterSummary => $function::<SingleFilterSummary>($bytes),
            Kind::CountingMultiFilterSummary => $function::<CountingMultiFilterSummary>($bytes),
            Kind::CountingSingleFilterSummary => $function::<CountingSingleFilterSummary>($bytes),
            Kind::InterpolationSummary => $function::<InterpolationSummary>($bytes),
            kind => panic!("a kind without a sample: {kind}"),
        }
    };
}

fn load_with_levels(kind: Kind, bytes: &[u8]) -> Result<(Vec<LevelSet>, Vec<u8>), LoadError> {
    by_kind!(kind, loaded, bytes)
}

/// Opens a view, queries it, and verifies it.
fn open_with_levels(kind: Kind, bytes: &[u8]) -> Result<Vec<LevelSet>, LoadError> {
    macro_rules! open {
        ($view:ident) => {{
            let view = <$view<'_>>::open(bytes)?;
            let levels = (0..100u64).map(|key| view.levels_of(&key)).collect();
            view.verify().map(|()| levels)
        }};
    }
    match kind {
        Kind::MultiFilterSummary => open!(MultiFilterView),
        Kind::SingleFilterSummary => open!(SingleFilterView),
        Kind::CountingMultiFilterSummary => open!(CountingMultiFilterView),
        Kind::CountingSingleFilterSummary => open!(CountingSingleFilterView),
        Kind::InterpolationSummary => open!(InterpolationView),
        _ => panic!("a kind without a sample: {kind}"),
    }
}

/// Loads a summary of the kind and saves it again.
pub(crate) fn load(kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    load_with_levels(kind, bytes).map(|(_, saved)| saved)
}

/// Opens and verifies a view of the kind.
pub(crate) fn open(kind: Kind, bytes: &[u8]) -> Result<(), LoadError> {
    open_with_levels(kind, bytes).map(drop)
}

/// Checks that loading and opening agree.
#[track_caller]
fn load_and_open(kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    match (load_with_levels(kind, bytes), open_with_levels(kind, bytes)) {
        (Ok((levels, saved)), Ok(viewed)) => {
            assert_eq!(levels, viewed, "{kind}");
            Ok(saved)
        }
        (Err(error), Err(_)) => Err(error),
        (loaded, opened) => panic!("{kind}: loading gives {loaded:?}, viewing {opened:?}"),
    }
}

#[test]
fn summaries_of_every_kind_come_back_as_they_were() {
    for (name, kind, bytes) in samples() {
        assert_eq!(Kind::of(&bytes).unwrap(), kind);
        let (levels, saved) = load_with_levels(kind, &bytes).unwrap();
        assert_eq!(saved, bytes, "{name}");
        assert_eq!(open_with_levels(kind, &bytes).unwrap(), levels, "{name}: viewed");
        for key in 1..=KEYS {
            assert!(levels[key as usize].contains(level_of(key)), "{name}: key {key}");
        }
        // Most of these were never inserted, and most filters recognize that.
        let named = levels[KEYS as usize + 1..].iter().filter(|levels| levels.first().is_some()).count();
        assert!(named < 30, "{name}: {named} of 59 absent keys");
    }
}

#[test]
fn an_emptied_summary_is_as_one_that_was_reset() {
    fn check<S: Summary<Digester = Portable> + Saved + Clone>(bytes: &[u8]) {
        let summary = S::from_bytes(bytes).unwrap();
        let mut expected = summary.clone();
        expected.reset();
        let mut found = summary.emptied().unwrap();
        assert!(found.to_bytes() == expected.to_bytes());
        assert_eq!(found.insert(digest(1), 1), expected.insert(digest(1), 1));
        assert!(found.to_bytes() == expected.to_bytes() && !found.lookup(digest(1)).is_empty());
        assert!(summary.to_bytes() == bytes, "it has what it had");
    }
    for (_, kind, bytes) in samples() {
        by_kind!(kind, check, &bytes);
    }
}

#[test]
fn a_loaded_summary_goes_on_as_the_other_would() {
    fn check<S: Summary + Saved>(bytes: &[u8]) {
        let (mut ours, mut loaded) = (S::from_bytes(bytes).unwrap(), S::from_bytes(bytes).unwrap());
        let mut random = Random::new(1);
        for _ in 0..200 {
            let (key, from, to) =
                (digest(random.below(60)), random.below(4) as usize, random.below(4) as usize);
            assert_eq!(ours.relocate(key, from, to), loaded.relocate(key, from, to));
            assert_eq!(ours.insert(key, from), loaded.insert(key, from));
            assert_eq!(ours.remove(key, to), loaded.remove(key, to));
            loaded = S::from_bytes(&loaded.to_bytes()).unwrap();
        }
        assert!(ours.to_bytes() == loaded.to_bytes());
    }
    for (_, kind, bytes) in samples() {
        by_kind!(kind, check, &bytes);
    }
}

#[test]
fn every_bit_that_is_changed_and_every_cut_is_noticed() {
    for (name, kind, bytes) in samples() {
        for at in (0..bytes.len()).step_by(if cfg!(miri) { 101 } else { 1 }) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(load_and_open(kind, &damaged).is_err(), "{name}: byte {at}");
            assert!(load_and_open(kind, &bytes[..at]).is_err(), "{name}: cut at {at}");
        }
        assert!(load_and_open(kind, &[&bytes[..], &[0; 8]].concat()).is_err(), "{name}: added to");
    }
}

#[test]
fn a_secret_is_needed_to_load_what_it_made() {
    let digester = Keyed::with_secret([7; 16]);
    let layout = InterpolationLayout::new(50).unwrap();
    let summary = fill(InterpolationSummary::with_digester(layout, LEVELS, digester).unwrap());
    let bytes = summary.to_bytes();
    assert!(matches!(InterpolationSummary::<Keyed>::from_bytes(&bytes), Err(LoadError::DigesterNeeded)));
    assert!(matches!(<InterpolationSummary>::from_bytes(&bytes), Err(LoadError::DigesterNeeded)));
    let other = Keyed::with_secret([8; 16]);
    assert!(matches!(InterpolationSummary::from_bytes_with(&bytes, other), Err(LoadError::Digester)));
    let loaded = InterpolationSummary::from_bytes_with(&bytes, digester).unwrap();
    let view = InterpolationView::open_with(&bytes, digester).unwrap();
    for key in 1..=KEYS {
        assert_eq!(loaded.lookup(digester.digest(&key)).first(), Some(level_of(key)));
        assert_eq!(view.levels_of(&key).first(), Some(level_of(key)));
    }
    assert_ne!(digester.identity(), other.identity());
}

#[test]
fn a_summary_of_any_kind_is_loaded_as_what_it_is() {
    for (name, kind, bytes) in samples() {
        let any = <AnySummary>::from_bytes(&bytes);
        match kind {
            Kind::MultiFilterSummary | Kind::SingleFilterSummary | Kind::InterpolationSummary => {
                let any = any.unwrap();
                assert_eq!(any.to_bytes(), bytes, "{name}");
                let digester = Portable::with_seed(SEED);
                assert_eq!(AnySummary::from_bytes_with(&bytes, digester).unwrap().to_bytes(), bytes);
                let other = AnySummary::from_bytes_with(&bytes, Portable::with_seed(1));
                assert!(matches!(other, Err(LoadError::Digester)));
            }
            _ => assert!(matches!(any, Err(LoadError::Kind { .. })), "{name}"),
        }
    }
}

fn put(bytes: &mut [u8], at: usize, field: u64) {
    bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
}

/// Corrects both checksums.
fn reseal(bytes: &mut [u8]) {
    let payload = xxh3_64(&bytes[PAYLOAD..]);
    put(bytes, 40, payload);
    let header = xxh3_64(&[&bytes[..56], &bytes[LAYOUT..PAYLOAD]].concat());
    put(bytes, 56, header);
}

#[test]
fn forged_summaries_are_refused_or_work() {
    for (name, kind, bytes) in samples() {
        let mut random = Random::new(3);
        let mut refused = 0;
        for _ in 0..if cfg!(miri) { 3 } else { 600 } {
            let mut forged = bytes.clone();
            let words = (forged.len() - LAYOUT) / 8;
            for _ in 0..=random.below(2) {
                let at = LAYOUT + 8 * random.below(words as u64) as usize;
                let value = match random.below(3) {
                    0 => random.word(),
                    1 => random.below(200),
                    _ => u64::from_le_bytes(forged[at..at + 8].try_into().unwrap()) ^ 1 << random.below(64),
                };
                put(&mut forged, at, value);
            }
            reseal(&mut forged);
            match load_and_open(kind, &forged) {
                Ok(saved) => assert_eq!(saved, forged, "{name}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0, "{name}");
    }
}

/// Numbers around every limit.
const ABSURD: [u64; 12] = [0, 1, 63, 64, 65, 129, 1025, 1 << 32, (1 << 46) + 1, 1 << 61, 1 << 63, u64::MAX];

#[test]
fn a_small_file_cannot_ask_for_a_large_summary() {
    for (name, kind, bytes) in samples() {
        // The fields of the layout, and the records of filters or levels that begin the payload.
        for at in (LAYOUT..bytes.len().min(PAYLOAD + 128)).step_by(8) {
            for value in ABSURD {
                let mut forged = bytes.clone();
                put(&mut forged, at, value);
                reseal(&mut forged);
                match load_and_open(kind, &forged) {
                    Ok(saved) => assert_eq!(saved, forged, "{name}: {value} at {at}"),
                    Err(error) => {
                        assert!(
                            matches!(error, LoadError::Invalid { .. }),
                            "{name}: {value} at {at}: {error}"
                        );
                    }
                }
            }
        }
        // Fields that the kind does not use.
        let mut forged = bytes.clone();
        put(&mut forged, PAYLOAD - 8, 1);
        reseal(&mut forged);
        assert!(matches!(load_and_open(kind, &forged), Err(LoadError::Invalid { .. })), "{name}");
    }
}

#[track_caller]
fn refused(name: &str, at: usize, change: impl Fn(u64) -> u64) {
    let (_, kind, bytes) = samples().into_iter().find(|sample| sample.0 == name).unwrap();
    let mut forged = bytes.clone();
    let word = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    put(&mut forged, at, change(word));
    reseal(&mut forged);
    let error = load_and_open(kind, &forged).unwrap_err();
    assert!(matches!(error, LoadError::Invalid { .. }), "{name}: {error}");
}

#[test]
fn what_no_summary_has_is_refused() {
    // Three cells per byte: 215 is the largest valid value. The last of 44 bytes has one cell and a
    // digit of up to 5.
    refused("single", PAYLOAD, |word| word | 0xff);
    refused("single", PAYLOAD + 40, |word| word & !(0xff << 24) | 6 << 24);
    refused("single", PAYLOAD + 40, |word| word | 1 << 32);
    // Levels 0 to 9 take 4 bits, of which 10 to 15 are invalid.
    refused("single_bits", PAYLOAD, |word| word | 0xf);
    // 130 cells of 4 bits use 8 bits of the last of nine words.
    refused("single_bits", PAYLOAD + 64, |word| word | 1 << 8);
    // 29 + 2 bits per entry: the first string becomes larger than the second.
    refused("interpolation", PAYLOAD, |word| word | ((1 << 29) - 1));
    // A block that claims one more.
    refused("interpolation_blocks", PAYLOAD, |word| word + 1);
    // Two records, then 700 bits of filters, then the spilled level in two bits: 3 is invalid for
    // two levels.
    refused("multiple_list", PAYLOAD + 32 + 8 * 10, |word| word | 3 << 60);
    // The counting of the last record.
    refused("counting_multiple", PAYLOAD + 3 * 32 + 24, |_| 2);
    // 130 cells in five bands: 129 would leave four over.
    refused("single", LAYOUT, |_| 129);
    refused("counting_single", LAYOUT, |_| 129);
}

#[test]
fn damaged_views_answer_something() {
    for (_, kind, bytes) in samples() {
        let mut random = Random::new(1);
        for _ in 0..if cfg!(miri) { 2 } else { 200 } {
            let mut damaged = bytes.clone();
            for _ in 0..8 {
                // After the records, which views trust only once they are verified.
                let at = PAYLOAD + random.below((bytes.len() - PAYLOAD) as u64) as usize;
                damaged[at] = random.word() as u8;
            }
            assert!(open_with_levels(kind, &damaged).is_err() || damaged == bytes);
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn summaries_go_through_serde() {
    fn check<S: Saved + ::serde::Serialize + ::serde::de::DeserializeOwned>(bytes: &[u8]) {
        let summary = S::from_bytes(bytes).unwrap();
        let json = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<S>(&json).unwrap().to_bytes(), bytes);
        let packed = postcard::to_stdvec(&summary).unwrap();
        assert_eq!(postcard::from_bytes::<S>(&packed).unwrap().to_bytes(), bytes);
        assert!(postcard::from_bytes::<S>(&packed[..packed.len() - 1]).is_err());
    }
    for (_, kind, bytes) in samples() {
        by_kind!(kind, check, &bytes);
    }
}

/// Checks that a golden file has the bytes made now; `ONEREAD_BLESS=1` writes a missing one.
#[cfg(not(miri))]
fn golden(name: &str, made: &[u8]) -> std::path::PathBuf {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let path = path.join(format!("summary_{name}.oneread"));
    if std::env::var_os("ONEREAD_BLESS").is_some() && !path.exists() {
        std::fs::write(&path, made).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(bytes == made, "{name}: the format has changed, and needs a new version");
    path
}

#[cfg(not(miri))]
#[test]
fn summaries_of_version_1_load() {
    for (name, kind, bytes) in samples() {
        let path = golden(name, &bytes);
        assert_eq!(load_and_open(kind, &std::fs::read(path).unwrap()).unwrap(), bytes);
    }
    let (_, kind, bytes) = samples().swap_remove(0);
    let mut damaged = bytes.clone();
    damaged[PAYLOAD + 70] ^= 4;
    let damaged = std::fs::read(golden("multiple_damaged", &damaged)).unwrap();
    let error = load_and_open(kind, &damaged).unwrap_err();
    assert!(matches!(error, LoadError::Checksum { part: "payload", .. }), "{error}");
    let cut = std::fs::read(golden("multiple_cut", &bytes[..PAYLOAD + 33])).unwrap();
    let error = load_and_open(kind, &cut).unwrap_err();
    // Four records of two words, and 870 bits.
    assert!(matches!(error, LoadError::Length { expected: 304, found: 161 }), "{error}");
}

/// The reader in Python was written from `docs/format.md` alone.
#[cfg(not(miri))]
#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn a_reader_in_python_names_the_same_levels() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/oneread_reader.py");
    for (name, kind, bytes) in samples() {
        let python = Command::new("python3")
            .args(["-B", reader, "query"])
            .arg(golden(name, &bytes))
            .arg("u64")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut python =
            python.unwrap_or_else(|error| panic!("this test runs python3 and cannot: {error}; install it"));
        let lines: String = (0..100).map(|key| format!("{key}\n")).collect();
        python.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        assert!(output.status.success(), "{name}");
        let (levels, _) = load_with_levels(kind, &bytes).unwrap();
        let line = |levels: LevelSet| {
            let levels: Vec<_> = levels.map(|level| level.to_string()).collect();
            if levels.is_empty() { "-\n".to_owned() } else { levels.join(",") + "\n" }
        };
        let expected: String = levels.into_iter().map(line).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{name}");
    }
}
