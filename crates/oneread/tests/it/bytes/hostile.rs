//! Files made to do harm: both checksums are right, and the content is impossible.

use oneread::bytes::{Kind, LoadError};
use oneread::filter::GrowingFilter;
use proptest::prelude::*;

use super::{
    DIGESTER, HEADER, LAYOUT, PAYLOAD_LENGTH, SEED, VERSION, growing, is_saved_again_if_it_loads,
    load_and_open, put, reseal, samples, with_payload,
};

fn sample(kind: Kind) -> Vec<u8> {
    samples().into_iter().find_map(|(of, bytes)| (of == kind).then_some(bytes)).unwrap()
}

/// The sample with one field of its layout changed.
fn with_field(kind: Kind, field: usize, value: u64) -> Vec<u8> {
    let mut bytes = sample(kind);
    put(&mut bytes, LAYOUT + 8 * field, value);
    reseal(&mut bytes);
    bytes
}

/// Both ways in refuse it, as something this library did not write.
#[track_caller]
fn refused(kind: Kind, bytes: &[u8], what: &str) {
    match load_and_open(kind, bytes) {
        Err(LoadError::Invalid { .. } | LoadError::Length { .. }) => {}
        Err(error) => panic!("{kind}, {what}: {error}"),
        Ok(_) => panic!("{kind}, {what}: loaded"),
    }
}

/// Numbers around every limit.
const ABSURD: [u64; 16] = [
    0,
    1,
    7,
    10,
    64,
    65,
    255,
    256,
    4097,
    1_000_000,
    1 << 32,
    (1 << 46) - 1,
    1 << 46,
    (1 << 46) + 1,
    1 << 63,
    u64::MAX,
];

#[test]
fn sizes_that_are_not_those_of_the_payload_are_refused() {
    // Field 0 is the size of each kind. Payloads of the samples fit 257 to 320 bits, 2 blocks, 86
    // to 106 counters, a width of 11.
    for kind in [Kind::Bloom, Kind::Blocked, Kind::Counting, Kind::CountMin] {
        for size in ABSURD {
            refused(kind, &with_field(kind, 0, size), &format!("size {size}"));
        }
    }
}

#[test]
fn numbers_of_hashes_schemes_and_policies_are_checked() {
    for field in [0, 65, 256 + 3, 1 << 32, (1 << 32) + 3, u64::MAX] {
        refused(Kind::Bloom, &with_field(Kind::Bloom, 1, field), &format!("{field} hashes"));
        refused(Kind::Counting, &with_field(Kind::Counting, 1, field), &format!("{field} hashes"));
        refused(Kind::CountMin, &with_field(Kind::CountMin, 1, field), &format!("{field} rows"));
    }
    for field in [10, 255, 256, 257, 1 << 32, u64::MAX] {
        refused(Kind::Bloom, &with_field(Kind::Bloom, 2, field), &format!("scheme {field}"));
        refused(Kind::Counting, &with_field(Kind::Counting, 2, field), &format!("scheme {field}"));
    }
    for field in [0, 1, 9, 16, 259, (1 << 32) + 3, u64::MAX] {
        refused(Kind::Counting, &with_field(Kind::Counting, 3, field), &format!("counters of {field} bits"));
    }
    for field in [2, 3, 256, 1 << 32, u64::MAX] {
        refused(Kind::Counting, &with_field(Kind::Counting, 4, field), &format!("counting {field}"));
    }
    for field in [4, 5, 256, 1 << 32, u64::MAX] {
        refused(Kind::CountMin, &with_field(Kind::CountMin, 2, field), &format!("update {field}"));
    }
}

#[test]
fn bands_must_fill_the_table() {
    // 300 bits in 3 bands of 100 are a layout; 7 bands would leave 6 bits over. Schemes 8 and 9 are
    // banded.
    for scheme in [8, 9] {
        let mut bytes = with_field(Kind::Bloom, 2, scheme);
        assert_eq!(load_and_open(Kind::Bloom, &bytes).unwrap(), bytes);
        put(&mut bytes, LAYOUT + 8, 7);
        reseal(&mut bytes);
        refused(Kind::Bloom, &bytes, "bits that no band has");
        // 100 counters in 3 bands leave one over.
        refused(Kind::Counting, &with_field(Kind::Counting, 2, scheme), "a counter that no band has");
    }
}

#[test]
fn fields_beyond_those_of_the_kind_are_refused() {
    for (kind, used) in [
        (Kind::Bloom, 3),
        (Kind::Blocked, 1),
        (Kind::Counting, 5),
        (Kind::CountMin, 4),
        (Kind::Growing, 5),
        (Kind::DLeft, 6),
    ] {
        for field in used..8 {
            refused(kind, &with_field(kind, field, 1), &format!("field {field}"));
        }
    }
}

#[test]
fn reserved_bytes_and_version_zero_are_refused() {
    for (kind, bytes) in samples() {
        for at in (14..16).chain(48..56) {
            let mut forged = bytes.clone();
            forged[at] = 1;
            reseal(&mut forged);
            refused(kind, &forged, &format!("byte {at}"));
        }
        let mut forged = bytes.clone();
        forged[VERSION] = 0;
        reseal(&mut forged);
        refused(kind, &forged, "version 0");
    }
}

#[test]
fn digesters_that_do_not_exist_are_refused() {
    for (kind, bytes) in samples() {
        for number in [0, 2, 3, 4, 256, u16::MAX] {
            let mut forged = bytes.clone();
            forged[DIGESTER..DIGESTER + 2].copy_from_slice(&number.to_le_bytes());
            reseal(&mut forged);
            let error = load_and_open(kind, &forged).unwrap_err();
            assert!(matches!(error, LoadError::DigesterNeeded), "{kind}, digester {number}: {error}");
        }
        // A seed of more than 64 bits.
        let mut forged = bytes.clone();
        forged[SEED + 8] = 1;
        reseal(&mut forged);
        assert!(load_and_open(kind, &forged).is_err(), "{kind}");
    }
}

#[test]
fn payloads_longer_or_shorter_than_the_layout_are_refused() {
    for (kind, bytes) in samples() {
        let payload = &bytes[HEADER..];
        // Whole words, and partial ones: views once opened payloads with up to seven bytes too
        // many.
        for more in [1, 3, 7, 8, 64] {
            refused(
                kind,
                &with_payload(&bytes, &[payload, &vec![0; more]].concat()),
                &format!("{more} bytes more"),
            );
        }
        for less in [1, 7, 8, 64, payload.len()] {
            let cut = payload.len().saturating_sub(less);
            refused(kind, &with_payload(&bytes, &payload[..cut]), &format!("{less} bytes less"));
        }
        // The header announces another length than that of the payload.
        for length in ABSURD.into_iter().filter(|&length| length != payload.len() as u64) {
            let mut forged = bytes.clone();
            put(&mut forged, PAYLOAD_LENGTH, length);
            reseal(&mut forged);
            refused(kind, &forged, &format!("a payload of {length} bytes"));
        }
    }
}

#[test]
fn bits_beyond_the_last_are_refused() {
    for (kind, used) in [(Kind::Bloom, 300), (Kind::Counting, 300)] {
        let bytes = sample(kind);
        for bit in used..320 {
            let mut payload = bytes[HEADER..].to_vec();
            payload[bit / 8] |= 1 << (bit % 8);
            refused(kind, &with_payload(&bytes, &payload), &format!("bit {bit}"));
        }
    }
}

#[test]
fn impossible_growth_is_refused() {
    let kind = Kind::Growing;
    for items in [0, (1 << 46) + 1, u64::MAX] {
        refused(kind, &with_field(kind, 0, items), &format!("{items} first items"));
    }
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -0.5, 2.0] {
        refused(kind, &with_field(kind, 1, number.to_bits()), &format!("rate {number}"));
        refused(kind, &with_field(kind, 3, number.to_bits()), &format!("tightening {number}"));
    }
    for growth in [0, 1, 1 << 32, (1 << 32) + 2, u64::MAX] {
        refused(kind, &with_field(kind, 2, growth), &format!("growth {growth}"));
    }
    let layers = growing().layers() as u64;
    for count in ABSURD.into_iter().filter(|&count| count != layers) {
        refused(kind, &with_field(kind, 4, count), &format!("{count} layers"));
    }
}

/// A layer's record: number, items, capacity, bits, hashes, scheme, eight bytes each.
fn with_record_field(layer: usize, field: usize, value: u64) -> Vec<u8> {
    let bytes = sample(Kind::Growing);
    let mut payload = bytes[HEADER..].to_vec();
    put(&mut payload, 48 * layer + 8 * field, value);
    with_payload(&bytes, &payload)
}

#[test]
fn impossible_layers_are_refused() {
    let layers = growing().layers();
    assert_eq!(layers, 3, "8 + 16 + 32 keys");
    for layer in 0..layers {
        for value in ABSURD.into_iter().filter(|&value| value != layer as u64) {
            refused(Kind::Growing, &with_record_field(layer, 0, value), &format!("layer number {value}"));
        }
        let capacity = 8 << layer;
        for value in ABSURD.into_iter().filter(|&value| value != capacity) {
            refused(Kind::Growing, &with_record_field(layer, 2, value), &format!("room for {value} keys"));
            if value > capacity {
                refused(Kind::Growing, &with_record_field(layer, 1, value), &format!("{value} keys"));
            }
        }
        for value in [0, 1, 1 << 46, (1 << 46) + 1, 1 << 63, u64::MAX] {
            refused(Kind::Growing, &with_record_field(layer, 3, value), &format!("{value} bits"));
        }
        for value in [0, 65, 1 << 32, u64::MAX] {
            refused(Kind::Growing, &with_record_field(layer, 4, value), &format!("{value} hashes"));
        }
        for value in [10, 256, u64::MAX] {
            refused(Kind::Growing, &with_record_field(layer, 5, value), &format!("scheme {value}"));
        }
    }
}

/// Layers that claimed 2^64 − 1 keys each were once loaded, and adding them up overflowed.
#[test]
fn layers_of_absurd_sizes_are_not_added_up() {
    let bytes = sample(Kind::Growing);
    let mut payload = bytes[HEADER..].to_vec();
    for layer in 0..3 {
        put(&mut payload, 48 * layer + 8, u64::MAX);
        put(&mut payload, 48 * layer + 16, u64::MAX);
    }
    refused(Kind::Growing, &with_payload(&bytes, &payload), "2^64 − 1 keys in each layer");
}

#[test]
fn a_loaded_filter_grows_on() {
    let mut filter: GrowingFilter = oneread::bytes::Saved::from_bytes(&sample(Kind::Growing)).unwrap();
    for key in 0..1000u64 {
        filter.insert(&key).unwrap();
    }
    assert!((0..1000u64).all(|key| filter.contains(&key)));
}

proptest! {
    /// Whatever the fields say, nothing panics, and a file that loads is saved again as the same
    /// bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        sample in 0usize..6,
        changes in prop::collection::vec(
            (0usize..200, prop_oneof![
                prop::sample::select(&ABSURD[..]),
                0u64..20,
                any::<u64>(),
                any::<f64>().prop_map(f64::to_bits),
            ]),
            1..4,
        ),
    ) {
        let (kind, bytes) = samples().into_iter().nth(sample).unwrap();
        is_saved_again_if_it_loads(kind, bytes, changes)?;
    }
}
