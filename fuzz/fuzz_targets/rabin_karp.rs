//! A search finds the same matches as a naive search, at every point of its polynomial.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use oneread_study::hash::family::{MERSENNE_61, RabinKarp};

#[derive(Arbitrary, Debug)]
struct Input {
    point: u64,
    /// A mask for every byte: few letters make many matches.
    alphabet: u8,
    needle: Vec<u8>,
    haystack: Vec<u8>,
}

fuzz_target!(|input: Input| {
    let Input { point, alphabet, mut needle, mut haystack } = input;
    for byte in needle.iter_mut().chain(&mut haystack) {
        *byte &= alphabet;
    }
    match RabinKarp::with_point(&needle, point) {
        Err(_) => assert!(point >= MERSENNE_61),
        Ok(search) => {
            let expected: Vec<usize> =
                (0..=haystack.len()).filter(|&start| haystack[start..].starts_with(&needle)).collect();
            assert_eq!(search.find(&haystack), expected.first().copied());
            assert_eq!(search.find_all(&haystack).collect::<Vec<_>>(), expected);
        }
    }
});
