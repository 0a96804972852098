//! Digests match the published ones, for every kind of key.

use std::borrow::Cow;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;

use oneread::hash::{Digest, Digester, Domain, Key, Keyed, Portable, Std};
use oneread_study::hash::Ideal;

/// From `digest_vectors.py` beside it, an independent implementation.
const VECTORS: &str = include_str!("../../golden/digest_vectors.tsv");

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The key of a row as the Rust type that the row names.
fn typed_key(kind: &str, key: &str) -> Box<dyn Key> {
    macro_rules! number {
        ($($name:literal => $type:ty),*) => {
            match kind {
                $($name => Box::new(key.parse::<$type>().unwrap()),)*
                "bool" => Box::new(key == "1"),
                "char" => Box::new(char::from_u32(key.parse().unwrap()).unwrap()),
                "ipv4" => Box::new(Ipv4Addr::from_bits(key.parse().unwrap())),
                "ipv6" => Box::new(Ipv6Addr::from_bits(key.parse().unwrap())),
                "str" => Box::new(String::from_utf8(bytes_of(key)).unwrap()),
                "bytes" => Box::new(bytes_of(key)),
                _ => panic!("a vector of unknown type {kind}"),
            }
        };
    }
    number!("u8" => u8, "u16" => u16, "u32" => u32, "u64" => u64, "usize" => usize, "u128" => u128,
            "i8" => i8, "i16" => i16, "i32" => i32, "i64" => i64, "isize" => isize, "i128" => i128)
}

#[test]
fn digests_and_words_are_those_of_the_vector_file() {
    let mut rows = 0;
    for line in VECTORS.lines().skip(1) {
        let [digester, seed, kind, key, digest, word_0, word_9] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let found = match digester {
            "portable" => {
                Portable::with_seed(u64::from_str_radix(seed, 16).unwrap()).digest(&*typed_key(kind, key))
            }
            "keyed" => Keyed::with_secret(bytes_of(seed).try_into().unwrap()).digest(&*typed_key(kind, key)),
            "ideal" => {
                let ideal = Ideal::with_seed(u64::from_str_radix(seed, 16).unwrap());
                match kind {
                    "u64" => ideal.digest(&key.parse::<u64>().unwrap()),
                    _ => ideal.digest(&key.parse::<u128>().unwrap()),
                }
            }
            _ => panic!("a vector of unknown digester {digester}"),
        };
        assert_eq!(format!("{:032x}", u128::from(found)), digest, "{line}");
        assert_eq!(format!("{:016x}", found.word(Domain::FILTER, 0)), word_0, "{line}");
        assert_eq!(format!("{:016x}", found.word(Domain::FILTER, 9)), word_9, "{line}");
        rows += 1;
    }
    assert!(rows > 200, "the vector file was cut short: {rows} rows");
}

#[test]
fn what_borrows_as_another_type_has_its_digest() {
    let digester = Portable::with_seed(9);
    let text = digester.digest("text");
    assert_ne!(text, digester.digest("Text"));
    assert_eq!(digester.digest(&String::from("text")), text);
    assert_eq!(digester.digest(b"text"), text);
    assert_eq!(digester.digest(&b"text"[..]), text);
    assert_eq!(digester.digest(&b"text".to_vec()), text);
    assert_eq!(digester.digest(&"text"), text);
    assert_eq!(digester.digest(&Box::<str>::from("text")), text);
    assert_eq!(digester.digest(&Rc::<str>::from("text")), text);
    assert_eq!(digester.digest(&Arc::new(String::from("text"))), text);
    assert_eq!(digester.digest(&Cow::Borrowed("text")), text);
    let address = Ipv4Addr::new(10, 0, 0, 1);
    assert_eq!(digester.digest(&IpAddr::V4(address)), digester.digest(&address));
    assert_eq!(digester.digest(&address), digester.digest(&0x0a00_0001u32));
    let six = Ipv6Addr::LOCALHOST;
    assert_eq!(digester.digest(&IpAddr::V6(six)), digester.digest(&six));
}

#[test]
fn integers_are_the_same_key_in_every_width() {
    let digester = Portable::with_seed(3);
    let seven = digester.digest(&7u64);
    assert_eq!(digester.digest(&7u8), seven);
    assert_eq!(digester.digest(&7usize), seven);
    assert_eq!(digester.digest(&7i16), seven);
    assert_eq!(digester.digest(&-1i8), digester.digest(&u64::MAX));
    assert_ne!(digester.digest(&7u128), seven);
}

#[test]
fn std_digests_hold_the_hashers_64_bits() {
    let digester = Std(BuildHasherDefault::<DefaultHasher>::default());
    let pair = (1, "one");
    assert_ne!(digester.digest(&pair), digester.digest(&(2, "one")));
    assert_eq!(digester.digest(&pair), digester.digest(&(1, "one")));
    // The 64 bits become the digest of the portable digester with seed 0.
    assert_eq!(Digest::from_hash64(5), Portable::with_seed(0).digest(&5u64));
}

#[test]
fn random_digesters_differ_from_each_other() {
    assert_ne!(Portable::random().seed(), Portable::random().seed());
    assert_ne!(Keyed::random().digest("key"), Keyed::random().digest("key"));
}

#[test]
fn debug_output_tells_the_seed_but_not_the_secret() {
    assert_eq!(format!("{:?}", Portable::with_seed(5)), "Portable { seed: 5 }");
    assert_eq!(format!("{:?}", Keyed::with_secret([7; 16])), "Keyed { .. }");
    assert_eq!(format!("{:?}", Digest::from_halves(1, 2)), "Digest(00000000000000020000000000000001)");
}

#[test]
fn integers_never_share_a_digest() {
    // Neighbours, and pairs that agree in either half of the word; `digest_word` has the proof.
    for seed in 0..100 {
        let digester = Portable::with_seed(seed);
        let keys = (0..1000).chain((0..1000).map(|i| i << 32)).chain((0..1000).map(|i| u64::MAX - i));
        let mut digests: Vec<_> = keys.map(|key| digester.digest(&key)).collect();
        digests.sort_unstable();
        // The key 0 occurs twice, as 0 and as 0 << 32.
        assert_eq!(digests.windows(2).filter(|pair| pair[0] == pair[1]).count(), 1);
    }
}

#[test]
fn a_digest_survives_bytes_and_numbers() {
    let digest = Digest::from_halves(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
    assert_eq!(Digest::from_le_bytes(digest.to_le_bytes()), digest);
    assert_eq!(digest.to_le_bytes()[..2], [0xef, 0xcd]);
    assert_eq!(Digest::from(u128::from(digest)), digest);
    assert!(Digest::from_halves(0, 1) > Digest::from_halves(u64::MAX, 0));
}

#[test]
fn the_librarys_domains_cannot_be_made_by_callers() {
    assert_ne!(Domain::new(Domain::FILTER.id()), Domain::FILTER);
    assert_eq!(Domain::new(Domain::FILTER.id() + 4), Domain::new(4));
}
