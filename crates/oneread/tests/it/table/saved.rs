//! Saved tables load as they were, including places and hints; damaged or forged ones are refused.

use oneread::bytes::{LoadError, Record, Saved};
use oneread::hash::{Keyed, Portable};
use oneread::layout::{Moves, MultilevelLayout, OnCrisis};
use oneread::table::MultilevelTable;
use xxhash_rust::xxh3::xxh3_64;

use super::{Random, halving, policies};

pub(super) type Table = MultilevelTable<u64, u32>;

const STEPS: u32 = if cfg!(miri) { 100 } else { 1000 };

/// A table after some churn.
pub(super) fn churned(moves: Moves) -> Table {
    let layout = halving(64, 3, moves).with_stash(9).unwrap();
    let mut table = MultilevelTable::with_seed(layout, 1).unwrap();
    let mut random = Random::new(1);
    for _ in 0..STEPS {
        _ = table.insert(random.below(90), 7);
        table.remove(&random.below(90));
    }
    table
}

#[test]
fn tables_of_every_policy_come_back_as_they_were() {
    for (name, moves) in policies() {
        let mut table = churned(moves);
        let bytes = table.to_bytes();
        let mut loaded = Table::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.to_bytes(), bytes, "{name}");
        assert_eq!((loaded.layout(), loaded.digester()), (table.layout(), table.digester()));
        assert!(table.iter().eq(loaded.iter()), "{name}: each item in its place");
        // Both behave alike from here on, since their hints are equal too.
        let mut random = Random::new(2);
        for _ in 0..STEPS {
            let key = random.below(90);
            assert_eq!(table.insert(key, 8), loaded.insert(key, 8));
            let key = random.below(90);
            assert_eq!(table.remove(&key), loaded.remove(&key));
            assert_eq!(table.last_moves(), loaded.last_moves(), "{name}");
        }
    }
}

#[test]
fn items_of_any_recordable_type_come_back() {
    let layout = MultilevelLayout::new([7, 5]).unwrap().with_slots(3).unwrap();
    let layout = layout.with_crisis(OnCrisis::Rebuild { attempts: 4 }).unwrap();
    let digester = Keyed::with_secret([1; 16]);
    let mut table = MultilevelTable::with_digester(layout, digester).unwrap();
    for (at, key) in ["", "a", "žluť", "a longer one"].into_iter().enumerate() {
        table.insert(key.to_owned(), (Some(at as i8), vec![9u8; at])).unwrap();
    }
    let bytes = table.to_bytes();
    let loaded = Saved::from_bytes_with(&bytes, digester).unwrap();
    assert!(table == loaded);
    assert!(matches!(
        MultilevelTable::<String, (Option<i8>, Vec<u8>), Keyed>::from_bytes(&bytes),
        Err(LoadError::DigesterNeeded)
    ));
    // Another type: the bytes of the items do not fit it.
    assert!(MultilevelTable::<String, (Option<i64>, u64), Keyed>::from_bytes_with(&bytes, digester).is_err());
}

#[test]
fn every_bit_that_is_changed_is_noticed() {
    let bytes = churned(Moves::None).to_bytes();
    for at in (0..bytes.len()).step_by(if cfg!(miri) { 101 } else { 1 }) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Table::from_bytes(&damaged).is_err(), "byte {at}");
        assert!(Table::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
}

/// Corrects both checksums.
pub(super) fn reseal(bytes: &mut [u8]) {
    let payload = xxh3_64(&bytes[128..]);
    bytes[40..48].copy_from_slice(&payload.to_le_bytes());
    let header = xxh3_64(&[&bytes[..56], &bytes[64..128]].concat());
    bytes[56..64].copy_from_slice(&header.to_le_bytes());
}

#[test]
fn forged_tables_are_refused_or_work() {
    for (name, moves) in policies() {
        let bytes = churned(moves).to_bytes();
        let mut random = Random::new(3);
        let mut refused = 0;
        for _ in 0..if cfg!(miri) { 3 } else { 300 } {
            let mut forged = bytes.clone();
            let words = (forged.len() - 64) / 8;
            for _ in 0..=random.below(2) {
                let at = 64 + 8 * random.below(words as u64) as usize;
                let value = match random.below(3) {
                    0 => random.word(),
                    1 => random.below(200),
                    _ => u64::from_le_bytes(forged[at..at + 8].try_into().unwrap()) ^ 1 << random.below(64),
                };
                forged[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            reseal(&mut forged);
            let Ok(mut table) = Table::from_bytes(&forged) else {
                refused += 1;
                continue;
            };
            assert_eq!(table.to_bytes(), forged, "{name}");
            for key in 0..90 {
                _ = table.insert(key, 1);
                table.remove(&random.below(90));
            }
            assert_eq!(table.iter().count(), table.len(), "{name}");
        }
        assert!(refused > 0, "{name}");
    }
}

#[test]
fn a_small_file_cannot_ask_for_a_large_table() {
    let table = Table::with_seed(MultilevelLayout::new([1]).unwrap(), 1).unwrap();
    let mut bytes = table.to_bytes();
    // 2^40 buckets, whose occupancy bits are missing.
    bytes[128..136].copy_from_slice(&(1u64 << 40).to_le_bytes());
    reseal(&mut bytes);
    assert!(matches!(Table::from_bytes(&bytes), Err(LoadError::Invalid { .. })));
}

#[test]
fn records_are_read_as_they_were_written() {
    #[track_caller]
    fn check<T: Record + PartialEq + std::fmt::Debug>(value: T, length: usize) {
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        assert_eq!(bytes.len(), length);
        for cut in 0..length {
            assert_eq!(T::read(&mut &bytes[..cut]), None);
        }
        bytes.push(77);
        let mut rest = bytes.as_slice();
        assert_eq!(T::read(&mut rest), Some(value));
        assert_eq!(rest, [77]);
    }
    check(1u8, 1);
    check(-2i16, 2);
    check(u128::MAX, 16);
    check(1.5f64, 8);
    check(7usize, 8);
    check(-7isize, 8);
    check(true, 1);
    check('ž', 4);
    check([1u8, 2, 3], 3);
    check((), 0);
    check("žluť".to_owned(), 8 + 6);
    check(vec![1u8, 2], 8 + 2);
    check((1u8, Some(2u32)), 1 + 5);
    check(None::<u32>, 1);
    assert_eq!(bool::read(&mut [2].as_slice()), None);
    assert_eq!(char::read(&mut 0xd800u32.to_le_bytes().as_slice()), None);
    assert_eq!(String::read(&mut [&1u64.to_le_bytes()[..], &[0xff]].concat().as_slice()), None);
    assert_eq!(Vec::<u8>::read(&mut u64::MAX.to_le_bytes().as_slice()), None);
}

#[test]
fn golden_bytes_load_forever() {
    // The smallest table: two levels, a stash of one, one item in level 0. By hand from
    // `docs/format.md`, except for the checksums and the key's bucket (there is one per level).
    let layout = MultilevelLayout::new([1, 1]).unwrap().with_stash(1).unwrap();
    let mut table = MultilevelTable::with_digester(layout, Portable::with_seed(5)).unwrap();
    table.insert(0x0102u16, 3u8).unwrap();
    let bytes = table.to_bytes();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(&bytes[8..16], [1, 0, 16, 0, 1, 0, 0, 0], "version 1, kind 16, portable");
    let layout: Vec<_> = (64..128).step_by(8).map(word).collect();
    assert_eq!(layout, [2, 1, 1, 0, 0, 0, 0, 0]);
    let payload: Vec<_> = (128..bytes.len()).step_by(8).map(word).collect();
    assert_eq!(payload, [1, 1, 0b001, 0x03_0102]);
}

#[cfg(feature = "serde")]
#[test]
fn tables_go_through_serde() {
    let table = churned(Moves::SecondChance);
    let json = serde_json::to_string(&table).unwrap();
    assert!(serde_json::from_str::<Table>(&json).unwrap() == table);
    let packed = postcard::to_stdvec(&table).unwrap();
    assert!(postcard::from_bytes::<Table>(&packed).unwrap() == table);
    assert!(postcard::from_bytes::<Table>(&packed[..packed.len() - 1]).is_err());
}

#[cfg(not(miri))]
#[test]
fn tables_of_version_1_load() {
    let moves = Moves::Both(oneread::layout::Hints::default());
    let layout = halving(16, 3, moves).with_stash(2).unwrap();
    let mut made = MultilevelTable::with_seed(layout, 42).unwrap();
    for key in 0..20u64 {
        made.insert(format!("key {key}"), key).unwrap();
    }
    (0..20).step_by(3).for_each(|key: u64| _ = made.remove(format!("key {key}").as_str()));
    let path =
        std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/multilevel.oneread");
    if std::env::var_os("ONEREAD_BLESS").is_some() && !path.exists() {
        std::fs::write(&path, made.to_bytes()).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(bytes == made.to_bytes(), "the format has changed, and needs a new version");
    let loaded = MultilevelTable::<String, u64>::from_bytes(&bytes).unwrap();
    for key in 0..20 {
        let expected = (key % 3 != 0).then_some(key);
        assert_eq!(loaded.get(format!("key {key}").as_str()).copied(), expected);
    }
}

/// The Python reader was written from `docs/format.md` alone; it calculates the bucket of every key
/// in its level.
#[cfg(not(miri))]
#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn a_reader_in_python_finds_every_item() {
    let python = |path: &std::path::Path, keys: &str| {
        let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/oneread_reader.py");
        let command =
            std::process::Command::new("python3").args(["-B", reader, "items"]).arg(path).arg(keys).output();
        let output =
            command.unwrap_or_else(|error| panic!("this test runs python3 and cannot: {error}; install it"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for (name, moves) in policies() {
        let layout = halving(64, 3, moves).with_stash(9).unwrap();
        let layout = layout.with_crisis(OnCrisis::Rebuild { attempts: 2 }).unwrap();
        let mut table = MultilevelTable::<u64, u64>::with_seed(layout, 3).unwrap();
        let mut random = Random::new(3);
        for _ in 0..500 {
            _ = table.insert(random.below(110), random.word());
            table.remove(&random.below(110));
        }
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("python.table");
        std::fs::write(&path, table.to_bytes()).unwrap();
        let line = |(key, value): (&u64, &u64)| {
            let level = table.locate(key).location.map_or(usize::MAX, |location| location.level);
            format!("{level}\t{key}\t{value}\n")
        };
        assert_eq!(python(&path, "u64"), table.iter().map(line).collect::<String>(), "{name}");
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/multilevel.oneread");
    assert_eq!(python(golden.as_ref(), "str").lines().count(), 13);
}
