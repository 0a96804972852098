//! Changed, cut and forged files: never a wrong answer.

use oneread_store::{Builder, Error, Options, Sealed, verify_in};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Pairs, bytes, model, pairs, random, store};

const PAGE: usize = 4096;

/// A store of two pages, one run and a summary: about 16 KiB.
fn small() -> (Pairs, Vec<u8>) {
    let mut pairs = pairs(45, 1, |_| 12, |_| 60);
    pairs.push((b"large".to_vec(), bytes(&mut random(9), 3000)));
    let bytes = store(&pairs);
    (pairs, bytes)
}

/// Checks that each answer is right, or an error.
#[track_caller]
fn never_wrong(bytes: &[u8], pairs: &Pairs, what: &str) -> usize {
    let Ok(store) = Sealed::open_in(bytes) else { return pairs.len() };
    let mut errors = 0;
    for (key, value) in pairs {
        match store.get(key) {
            Ok(found) => assert_eq!(found.as_ref(), Some(value), "{what}"),
            Err(error) => {
                assert!(error.is_damage(), "{what}: {error}");
                errors += 1;
            }
        }
    }
    for absent in 0..8u64 {
        assert!(!matches!(store.get(&absent.to_le_bytes()[..7]), Ok(Some(_))), "{what}");
    }
    errors
}

#[test]
fn every_flipped_byte_is_found_and_no_answer_is_wrong() {
    let (pairs, whole) = small();
    assert_eq!(never_wrong(&whole, &pairs, "whole"), 0);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let found = verify_in(&bytes).unwrap();
        assert!(!found.is_whole(), "byte {at} was flipped, and nobody saw it");
        // Looking up all keys for every byte would take long; damage looks alike anywhere in a
        // page.
        if at % 7 == 0 {
            never_wrong(&bytes, &pairs, &format!("byte {at}"));
        }
    }
}

#[test]
fn every_cut_is_found() {
    let (pairs, whole) = small();
    for length in 0..whole.len() {
        let found = verify_in(&&whole[..length]).unwrap();
        assert!(!found.is_whole(), "cut at {length}");
        assert!(Sealed::open_in(&whole[..length]).is_err(), "cut at {length}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(matches!(Sealed::open_in(longer.as_slice()), Err(Error::Length { .. })));
    assert!(!verify_in(&longer).unwrap().is_whole());
    assert_eq!(never_wrong(&longer, &pairs, "longer"), pairs.len());
}

#[test]
fn a_damaged_page_hurts_its_own_keys_alone() {
    let pairs = pairs(2000, 2, |_| 16, |_| 100);
    let whole = store(&pairs);
    let pages = Sealed::open_in(whole.as_slice()).unwrap().stats().pages as usize;
    let mut all = 0;
    for page in 0..pages {
        let mut bytes = whole.clone();
        bytes[(page + 1) * PAGE + 2000] ^= 16;
        let found = verify_in(&bytes).unwrap();
        assert_eq!(found.damage.len(), 1);
        let here = never_wrong(&bytes, &pairs, "a page");
        // Its own keys, and the few others whose lookup reads it by mistake.
        assert_eq!(pairs.len() as u64 - found.items, here as u64 - strangers(&whole, page, &pairs));
        all += here;
        // Iteration shows the same: one error, and all other pairs.
        let store = Sealed::open_in(bytes.as_slice()).unwrap();
        let (ok, errors): (Vec<_>, Vec<_>) = store.iter().partition(Result::is_ok);
        assert_eq!((ok.len() as u64, errors.len()), (found.items, 1));
    }
    assert!(all >= pairs.len());
}

/// The keys of deeper levels whose lookup reads a page first.
fn strangers(whole: &[u8], page: usize, pairs: &Pairs) -> u64 {
    let mut bytes = whole.to_vec();
    // Another number in its segment field, under a right checksum: every reader reports that.
    let start = (page + 1) * PAGE;
    bytes[start + 8] ^= 1;
    let sum = xxh3_64(&bytes[start + 8..start + PAGE]);
    bytes[start..start + 8].copy_from_slice(&sum.to_le_bytes());
    let readers: Vec<_> = {
        let store = Sealed::open_in(bytes.as_slice()).unwrap();
        pairs.iter().filter(|(key, _)| store.get(key).is_err()).map(|(key, _)| key.clone()).collect()
    };
    let intact = Sealed::open_in(whole).unwrap();
    let keys: std::collections::HashSet<_> = Sealed::open_in(bytes.as_slice())
        .unwrap()
        .iter()
        .filter_map(|pair| pair.ok().map(|(key, _)| key))
        .collect();
    assert_eq!(intact.len(), pairs.len() as u64);
    readers.iter().filter(|key| keys.contains(*key)).count() as u64
}

#[test]
fn two_pages_exchanged_are_found() {
    let pairs = pairs(2000, 2, |_| 16, |_| 100);
    let mut bytes = store(&pairs);
    let (before, after) = bytes.split_at_mut(2 * PAGE);
    before[PAGE..].swap_with_slice(&mut after[..PAGE]);
    let found = verify_in(&bytes).unwrap();
    let told: Vec<_> = found.damage.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["page 0: it is another page", "page 1: it is another page"]);
    assert!(never_wrong(&bytes, &pairs, "exchanged") > 0);
}

#[test]
fn damage_of_the_summary_is_told_by_chunks_and_pages_are_still_checked() {
    let pairs = pairs(50_000, 3, |_| 8, |_| 2);
    let mut bytes = store(&pairs);
    let length = bytes.len();
    bytes[length - 1] ^= 1;
    bytes[PAGE + 100] ^= 1;
    let found = verify_in(&bytes).unwrap();
    let told: Vec<_> = found.damage.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["summary: the checksum of chunk 0 is wrong", "page 0: its checksum is wrong"]);
    let error = Sealed::open_in(bytes).unwrap_err();
    assert!(error.is_damage());
    assert!(error.to_string().contains("summary"), "{error}");
}

/// The header with eight bytes changed and a valid checksum.
fn forged(whole: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    let sum = xxh3_64(&bytes[..PAGE - 8]);
    bytes[PAGE - 8..PAGE].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn a_forged_header_is_refused_or_found_and_takes_no_memory() {
    let (pairs, whole) = small();
    let absurd = [
        0,
        1,
        2,
        255,
        4095,
        4096,
        1 << 16,
        1 << 24,
        1 << 32,
        1 << 40,
        1 << 52,
        1 << 63,
        u64::MAX - 4096,
        u64::MAX,
    ];
    for at in (8..200).step_by(4) {
        for value in absurd {
            let bytes = forged(&whole, at, value);
            if bytes == whole {
                continue;
            }
            let found = verify_in(&bytes).unwrap();
            // Nothing depends on the planned reads.
            let planned = (97..120).contains(&at);
            // Two pages are one level, so the shares of other levels have no effect.
            let of_no_level = (156..=164).contains(&at) || (180..=188).contains(&at);
            assert!(planned || of_no_level || !found.is_whole(), "{value} at {at}");
            // Another seed moves every key: then they are absent, as such a file says.
            if !(9..32).contains(&at) {
                never_wrong(&bytes, &pairs, &format!("{value} at {at}"));
            }
        }
    }
}

#[test]
fn a_forged_directory_is_refused() {
    let pairs = pairs(3000, 4, |_| 16, |_| 100);
    let whole = builder_of_segments(&pairs);
    let store = Sealed::open_in(whole.as_slice()).unwrap();
    assert!(store.stats().segments > 3);
    let summary = u64::from_le_bytes(whole[72..80].try_into().unwrap()) as usize;
    for (entry, value) in [(0, 0u32), (1, u32::MAX), (2, 1 << 24), (0, 1000), (1, 7)] {
        let mut bytes = whole.clone();
        let at = summary + 8 + 4 * entry;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let end = bytes.len().min(summary + (1 << 16));
        let sum = xxh3_64_with_seed(&bytes[summary + 8..end], 0);
        bytes[summary..summary + 8].copy_from_slice(&sum.to_le_bytes());
        assert!(
            matches!(Sealed::open_in(bytes.as_slice()), Err(Error::Damaged { .. })),
            "{value} for entry {entry}"
        );
        assert!(!verify_in(&bytes).unwrap().is_whole());
    }
}

fn builder_of_segments(pairs: &Pairs) -> Vec<u8> {
    super::builder(Options::new().segment_pages(16), pairs).finish_in_memory().unwrap().0
}

#[test]
fn a_key_that_belongs_elsewhere_is_found() {
    let (pairs, whole) = small();
    let mut bytes = whole.clone();
    // Changes one letter of the first key of page 0, behind the tags and lengths, and fixes the
    // checksum.
    let count = usize::from(u16::from_le_bytes([bytes[PAGE + 16], bytes[PAGE + 17]]));
    let key = PAGE + 20 + 3 * count + 60;
    bytes[key] ^= 0x55;
    let sum = xxh3_64(&bytes[PAGE + 8..2 * PAGE]);
    bytes[PAGE..PAGE + 8].copy_from_slice(&sum.to_le_bytes());
    let found = verify_in(&bytes).unwrap();
    let model = model(&pairs);
    let changed = Sealed::open_in(bytes.as_slice())
        .unwrap()
        .iter()
        .filter(|pair| pair.as_ref().is_ok_and(|(key, _)| !model.contains_key(key)))
        .count();
    // A changed key is found as damage. A changed value is not: a forger can fix its checksum.
    assert_eq!(changed, found.damage.len());
}

#[test]
fn what_is_no_store_is_told_so() {
    for bytes in [&b""[..], b"\x89onerea", b"\x89oneread", &[0; 9000]] {
        assert!(matches!(Sealed::open_in(bytes), Err(Error::NotAStore)));
        assert!(!verify_in(&bytes).unwrap().is_whole());
    }
    let (_, whole) = small();
    let mut later = whole.clone();
    later[8] = 3;
    assert!(matches!(Sealed::open_in(later.as_slice()), Err(Error::Version { expected: 2, found: 3 })));
    let missing = Sealed::open("/nowhere/at/all").unwrap_err();
    assert!(missing.to_string().starts_with("cannot open the store"), "{missing}");
    assert!(Builder::new(Options::new().load(0.0)).is_err());
}
