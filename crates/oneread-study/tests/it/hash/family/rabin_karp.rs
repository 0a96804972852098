use memchr::memmem;
use oneread_study::hash::family::{FamilyError, MERSENNE_61, RabinKarp};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// All occurrences, including overlapping ones: `memchr` searches again from the byte after each.
fn model(haystack: &[u8], needle: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(position) = haystack.get(from..).and_then(|rest| memmem::find(rest, needle)) {
        found.push(from + position);
        from += position + 1;
    }
    found
}

#[test]
fn the_empty_needle_occurs_everywhere() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let search = RabinKarp::new(b"", &mut rng);
    assert_eq!(search.find_all(b"abc").collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(search.find_all(b"").collect::<Vec<_>>(), [0]);
    assert_eq!(search.find(b"abc"), Some(0));
    // As in the standard library.
    assert_eq!("abc".match_indices("").map(|(position, _)| position).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn a_needle_longer_than_the_haystack_does_not_occur() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let search = RabinKarp::new(b"abc", &mut rng);
    assert_eq!(search.find(b"ab"), None);
    assert_eq!(search.find(b""), None);
    assert_eq!(search.find(b"abc"), Some(0));
}

#[test]
fn false_alarms_are_counted_and_not_reported() {
    // At point 0 the hash of a window is its last byte: "ab" has the hash of "cb" and "bb", not of
    // "bc".
    let search = RabinKarp::with_point(b"ab", 0).unwrap();
    let mut matches = search.find_all(b"cbbcab");
    assert_eq!(matches.next(), Some(4));
    assert_eq!(matches.false_alarms(), 2);
    assert_eq!((matches.next(), matches.next()), (None, None));
    assert_eq!(matches.false_alarms(), 2);
    // At point 1 it is the sum of the bytes: "ab" has the hash of "ba".
    let search = RabinKarp::with_point(b"ab", 1).unwrap();
    let mut matches = search.find_all(b"baa");
    assert_eq!((matches.next(), matches.false_alarms()), (None, 1));
}

#[test]
fn a_random_point_raises_no_false_alarm_in_a_short_text() {
    // 10^5 windows of 8 bytes: at most 10^5·7/2^61 < 10^−12 false alarms expected.
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let haystack: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 31) as u8).collect();
    let search = RabinKarp::new(&haystack[50_000..50_008], &mut rng);
    let mut matches = search.find_all(&haystack);
    assert!(matches.by_ref().any(|position| position == 50_000));
    matches.by_ref().for_each(drop);
    assert_eq!(matches.false_alarms(), 0);
}

#[test]
fn points_outside_the_field_are_errors() {
    let error = FamilyError::OutsideField { expected: MERSENNE_61, found: MERSENNE_61 };
    assert_eq!(RabinKarp::with_point(b"a", MERSENNE_61), Err(error));
    assert!(RabinKarp::with_point(b"a", MERSENNE_61 - 1).is_ok());
}

/// Bytes of a tiny alphabet, including extreme ones.
fn text(length: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(255)], 0..length)
}

proptest! {
    #[test]
    fn finds_what_memmem_finds(haystack in text(60), needle in text(6), seed: u64) {
        let search = RabinKarp::new(&needle, &mut Pcg64Mcg::seed_from_u64(seed));
        prop_assert_eq!(search.find_all(&haystack).collect::<Vec<_>>(), model(&haystack, &needle));
        prop_assert_eq!(search.find(&haystack), memmem::find(&haystack, &needle));
    }

    #[test]
    fn finds_what_memmem_finds_at_bad_points(haystack in text(60), needle in text(6), point in 0u64..4) {
        let search = RabinKarp::with_point(&needle, point).unwrap();
        prop_assert_eq!(search.find_all(&haystack).collect::<Vec<_>>(), model(&haystack, &needle));
    }

    #[test]
    fn finds_any_part_of_a_text(
        haystack in proptest::collection::vec(any::<u8>(), 1..200), cut: (usize, usize), seed: u64,
    ) {
        let start = cut.0 % haystack.len();
        let end = start + cut.1 % (haystack.len() - start + 1);
        let needle = &haystack[start..end];
        let search = RabinKarp::new(needle, &mut Pcg64Mcg::seed_from_u64(seed));
        prop_assert_eq!(search.find_all(&haystack).collect::<Vec<_>>(), model(&haystack, needle));
    }
}
