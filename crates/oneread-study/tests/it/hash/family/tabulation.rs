use oneread_study::hash::family::{
    FamilyError, HashFunction, Independent, Tabulation, TotalHashFunction, TupleTabulation,
};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, Script};

/// 2-bit characters, and 2 result bits: 4 tables of 4 entries for 8 bits.
const CHARACTER_BITS: u32 = 2;
const RESULT_BITS: u32 = 2;

/// All 4^8 contents of two of the tables of 4 entries; the others, whose characters are always 0
/// below, hold zeros.
fn all_tables(tables: usize, first: usize, second: usize) -> impl Iterator<Item = Vec<u64>> {
    (0..1u64 << 16).map(move |contents| {
        let mut entries = vec![0; 4 * tables];
        for i in 0..4 {
            entries[4 * first + i] = contents >> (2 * i) & 3;
            entries[4 * second + i] = contents >> (8 + 2 * i) & 3;
        }
        entries
    })
}

/// Three keys are exactly independent. Four are not: of 0000, 0001, 0100 and 0101 (two characters
/// with two values each), the fourth hash is the xor of the other three. So with m = 4 buckets c =
/// 4^4/4^3.
fn assert_exactly_three_independent(census: &Census) {
    assert_eq!((census.functions, census.keys, census.buckets), (65_536, 16, 4));
    assert_eq!(census.joint_range(3), (65_536 / 64, 65_536 / 64));
    assert_eq!(census.joint(&[(0, 1), (1, 2), (4, 0), (5, 3)]), 65_536 / 64);
    assert_eq!(census.joint(&[(0, 1), (1, 2), (4, 0), (5, 2)]), 0);
}

#[test]
fn words_are_exactly_three_independent_and_not_four() {
    // The lower two characters of a key below 16 are free, the upper two are 0.
    let keys: Vec<u8> = (0..16).collect();
    let functions = all_tables(4, 0, 1)
        .map(|entries| Tabulation::<u8>::new(CHARACTER_BITS, RESULT_BITS, entries).unwrap());
    assert_exactly_three_independent(&Census::of(&keys, functions));
}

#[test]
fn tuples_are_exactly_three_independent_and_not_four() {
    // Exercise 11. The lowest character of each of two words is free: tables 0 and 4 of 8.
    let keys: Vec<[u8; 2]> = (0..16).map(|i| [i % 4, i / 4]).collect();
    let functions = all_tables(8, 0, 4)
        .map(|entries| TupleTabulation::<u8, 2>::new(CHARACTER_BITS, RESULT_BITS, entries).unwrap());
    assert_exactly_three_independent(&Census::of(&keys, functions));
}

#[test]
fn any_width_of_characters_reads_the_right_tables() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for character_bits in 1..=16 {
        let tables = u32::div_ceil(32, character_bits);
        // Entry v of table i is i·2^16 + v + 1, so a hash shows which entries were read.
        let entry = |i: u32, v: u64| u64::from(i) << 16 | (v + 1);
        let entries = (0..tables).flat_map(|i| (0..1 << character_bits).map(move |v| entry(i, v))).collect();
        let function = Tabulation::<u32>::new(character_bits, 64, entries).unwrap();
        for _ in 0..20 {
            let key = rand_core::Rng::next_u32(&mut rng);
            let character = |i| u64::from(key) >> (i * character_bits) & ((1 << character_bits) - 1);
            let expected = (0..tables).fold(0, |hash, i| hash ^ entry(i, character(i)));
            assert_eq!(function.hash_any(&key), expected);
        }
    }
}

#[test]
fn entries_are_cut_to_the_result_bits() {
    let entries: Vec<u64> = vec![u64::MAX; 8 * 2];
    // Eight tables of ones have the xor 0; seven, with one table of zeros, have all bits set.
    let mut odd = entries.clone();
    (odd[0], odd[1]) = (0, 0);
    for result_bits in 1..=64 {
        let even = Tabulation::<u8>::new(1, result_bits, entries.clone()).unwrap();
        assert_eq!(even.hash_any(&0x5a), 0);
        let odd = Tabulation::<u8>::new(1, result_bits, odd.clone()).unwrap();
        assert_eq!(u128::from(odd.hash_any(&0x5a)), odd.buckets() - 1);
        assert_eq!(odd.buckets(), 1 << result_bits);
    }
}

#[test]
fn draws_fill_the_tables_in_order() {
    let script: Vec<u64> = (100..132).collect();
    let drawn = Tabulation::<u8>::draw(4, 64, &mut Script(&script)).unwrap();
    assert_eq!(drawn, Tabulation::new(4, 64, script.clone()).unwrap());
    assert_eq!(drawn.hash_any(&0x52), 102 ^ 121);
    let drawn = TupleTabulation::<u8, 2>::draw(1, 64, &mut Script(&script)).unwrap();
    // All characters are 0 except the lowest of the first word and the highest of the second.
    let expected = (100..132).step_by(2).fold(0, |hash, entry| hash ^ entry) ^ 100 ^ 101 ^ 130 ^ 131;
    assert_eq!(drawn.hash_any(&[1, 128]), expected);
}

#[test]
fn the_promise_is_three_independence() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let promise = Independent { k: 3, c: 1.0 };
    assert_eq!(Tabulation::<u64>::draw(8, 64, &mut rng).unwrap().guarantee(), promise);
    assert_eq!(TupleTabulation::<u32, 3>::draw(8, 64, &mut rng).unwrap().guarantee(), promise);
}

#[test]
fn the_empty_tuple_goes_to_bucket_zero() {
    let function = TupleTabulation::<u64, 0>::new(8, 64, vec![]).unwrap();
    assert_eq!(function.hash_any(&[]), 0);
}

#[test]
fn bad_parameters_are_errors() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    for found in [0, 17, u32::MAX] {
        let error = Err(FamilyError::CharacterBits { expected: 16, found });
        assert_eq!(Tabulation::<u64>::draw(found, 8, &mut rng), error);
    }
    for found in [0, 65, u32::MAX] {
        let error = FamilyError::ResultBits { expected: 64, found };
        assert_eq!(Tabulation::<u64>::draw(8, found, &mut rng), Err(error.clone()));
        assert_eq!(TupleTabulation::<u64, 2>::draw(8, found, &mut rng), Err(error));
    }
    // Three characters of 3 bits cover 8 bits: 3 · 8 entries.
    let error = Err(FamilyError::TableEntries { expected: 24, found: 23 });
    assert_eq!(Tabulation::<u8>::new(3, 8, vec![0; 23]), error);
    let error = Err(FamilyError::TableEntries { expected: 48, found: 24 });
    assert_eq!(TupleTabulation::<u8, 2>::new(3, 8, vec![0; 24]), error);
    let error = Err(FamilyError::OutOfMemory { found: usize::MAX });
    assert_eq!(TupleTabulation::<u64, { usize::MAX }>::draw(8, 8, &mut rng), error);
}

proptest! {
    #[test]
    fn rectangles_of_keys_always_x_or_to_zero(
        seed: u64, character_bits in 1u32..=8, low: (u16, u16), high: (u16, u16),
    ) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let key = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        // 16 bits are cut between characters only if the width divides them.
        let character_bits = character_bits.next_power_of_two();
        let function = Tabulation::<u32>::draw(character_bits, 64, &mut rng).unwrap();
        let corners = [key(low.0, high.0), key(low.0, high.1), key(low.1, high.0), key(low.1, high.1)];
        prop_assert_eq!(corners.iter().fold(0, |hash, corner| hash ^ function.hash_any(corner)), 0);
        prop_assert_eq!(function.hash(&corners[0]), Ok(function.hash_any(&corners[0])));
    }
}
