//! Damaged, truncated or extended bytes are refused without a panic.

use std::error::Error;

use oneread::bits::OutOfMemory;
use oneread::bytes::{Kind, LoadError};
use oneread::filter::BloomFilter;

use super::{
    HEADER, KIND, PAYLOAD_LENGTH, VERSION, bloom, load, load_and_open, put, refuses_every_flipped_bit,
    reseal, samples,
};

#[test]
fn the_samples_themselves_are_whole() {
    for (kind, bytes) in samples() {
        assert_eq!(load_and_open(kind, &bytes).unwrap(), bytes, "{kind}");
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    refuses_every_flipped_bit(samples());
}

#[test]
fn every_cut_is_an_error() {
    for (kind, bytes) in samples() {
        for length in 0..bytes.len() {
            let error = load_and_open(kind, &bytes[..length]).unwrap_err();
            match error {
                // Fewer bytes do not contain the kind.
                LoadError::NotAContainer => assert!(length < KIND + 2, "{kind}, {length} bytes"),
                LoadError::Length { expected, found } => {
                    let whole = if length < HEADER { HEADER } else { bytes.len() };
                    assert_eq!((expected, found), (whole as u64, length as u64), "{kind}");
                }
                error => panic!("{kind}, {length} bytes: {error}"),
            }
        }
    }
}

#[test]
fn bytes_that_follow_are_an_error() {
    for (kind, bytes) in samples() {
        for more in [1, 8, 64] {
            let longer = [&bytes[..], &vec![0; more]].concat();
            let error = load_and_open(kind, &longer).unwrap_err();
            let LoadError::Length { expected, found } = error else { panic!("{kind}: {error}") };
            assert_eq!((expected, found), (bytes.len() as u64, longer.len() as u64), "{kind}");
        }
    }
}

#[test]
fn one_kind_is_not_loaded_as_another() {
    for (kind, bytes) in samples() {
        for other in Kind::ALL.into_iter().filter(|&other| other != kind) {
            let error = load_and_open(other, &bytes).unwrap_err();
            let LoadError::Kind { expected, found } = error else { panic!("{kind}: {error}") };
            assert_eq!((expected, found), (other, kind as u16));
            assert_eq!(error.to_string(), format!("expected {other}, found {kind}"));
        }
    }
}

#[test]
fn what_is_not_a_container_says_so() {
    for bytes in
        [&b""[..], b"o", b"oneread!", &[0; 128], &[0xff; 300], b"\x89ONEREAD and a lot of other bytes"]
    {
        for kind in Kind::ALL {
            assert!(matches!(load(kind, bytes), Err(LoadError::NotAContainer)), "{kind}");
        }
        assert!(matches!(Kind::of(bytes), Err(LoadError::NotAContainer)));
    }
}

#[test]
fn a_later_version_says_so_even_if_all_else_is_new() {
    for (kind, mut bytes) in samples() {
        bytes[VERSION] = 2;
        // A later version may compute its checksum in another way.
        let error = load_and_open(kind, &bytes).unwrap_err();
        assert!(matches!(error, LoadError::Version { expected: 1, found: 2 }), "{kind}: {error}");
        bytes[VERSION] = 0;
        assert!(matches!(
            load_and_open(kind, &bytes).unwrap_err(),
            LoadError::Checksum { part: "header", .. }
        ));
        reseal(&mut bytes);
        assert!(matches!(load_and_open(kind, &bytes).unwrap_err(), LoadError::Invalid { .. }));
    }
}

#[test]
fn a_kind_that_does_not_exist_yet_says_so() {
    for (kind, mut bytes) in samples() {
        bytes[KIND] = 200;
        reseal(&mut bytes);
        let error = load_and_open(kind, &bytes).unwrap_err();
        assert!(matches!(error, LoadError::Kind { found: 200, .. }), "{error}");
        assert!(error.to_string().contains("unknown kind 200"));
        let error = Kind::of(&bytes).unwrap_err();
        assert!(matches!(error, LoadError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("a kind of structure that this version does not know"));
    }
}

#[test]
fn damage_names_the_part_and_both_checksums() {
    let mut bytes = bloom().to_bytes();
    let written = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    bytes[HEADER] ^= 1;
    let error = <BloomFilter>::from_bytes(&bytes).unwrap_err();
    let LoadError::Checksum { part, expected, found } = error else { panic!("{error}") };
    assert_eq!((part, expected), ("payload", written));
    assert_ne!(found, written);
    assert_eq!(
        error.to_string(),
        format!("the payload is damaged: its checksum should be {expected:016x} and is {found:016x}")
    );
}

/// Every variant names the problem and its cause, which is then no source.
#[test]
fn errors_are_sentences() {
    let errors = [
        (LoadError::NotAContainer, "not a file of oneread: it begins with other bytes"),
        (
            LoadError::Version { expected: 1, found: 2 },
            "written in version 2 of the format, this library reads up to 1: use a newer one",
        ),
        (
            LoadError::Kind { expected: Kind::Bloom, found: 4 },
            "expected a Bloom filter, found a Count-Min sketch",
        ),
        (
            LoadError::Length { expected: 200, found: 199 },
            "expected 200 bytes, found 199: the file was cut short or added to",
        ),
        (LoadError::Invalid { what: "so and so" }, "not written by oneread: so and so"),
        (LoadError::Digester, "made with another digester or seed than the one given"),
        (
            LoadError::DigesterNeeded,
            "made with a digester that a file does not hold, such as one with a secret: give it when loading",
        ),
        (
            LoadError::from(OutOfMemory { bytes: 800 }),
            "there is no memory for 800 bytes: use a smaller layout",
        ),
        (LoadError::Io(std::io::Error::other("the disk is gone")), "cannot read: the disk is gone"),
    ];
    for (error, sentence) in errors {
        assert_eq!(error.to_string(), sentence);
        assert!(error.source().is_none());
    }
}

#[test]
fn a_length_that_overflows_is_an_error() {
    for (kind, mut bytes) in samples() {
        for length in [u64::MAX, u64::MAX - 127, u64::MAX - 128, 1 << 63] {
            put(&mut bytes, PAYLOAD_LENGTH, length);
            reseal(&mut bytes);
            assert!(load_and_open(kind, &bytes).is_err(), "{kind}, {length}");
        }
    }
}
