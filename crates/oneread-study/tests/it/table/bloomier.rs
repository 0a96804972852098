//! The static function that a summary is compared with.

use oneread::hash::{Digest, Digester};
use oneread::layout::LayoutError;
use oneread_study::hash::Ideal;
use oneread_study::table::{BloomierFunction, NoFunction};

use crate::fixtures::{SIX_SIGMA, binomial_z};

fn digest(key: u64) -> Digest {
    Ideal::with_seed(1).digest(&key)
}

fn items(count: u64) -> Vec<(Digest, u64)> {
    (0..count).map(|key| (digest(key), key * key % 5)).collect()
}

#[test]
#[cfg_attr(miri, ignore = "thousands of keys")]
fn every_key_has_its_value() {
    for count in [0, 1, 2, 3, 10, 100, 1000, 20_000] {
        for (value_bits, check_bits) in [(3, 0), (3, 8), (3, 13), (16, 0)] {
            let function = BloomierFunction::new(&items(count), value_bits, check_bits).unwrap();
            for key in 0..count {
                assert_eq!(function.get(digest(key)), Some(key * key % 5), "key {key} of {count}");
            }
            // 1.23 cells per key, 32 more, and up to two for equal bands.
            let bits = f64::from(value_bits + check_bits) * (1.23 * count as f64 + 34.0);
            assert!(function.byte_len() as f64 <= bits / 8.0 + 1.0, "{count}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "a hundred thousand lookups")]
fn absent_keys_pass_one_check_in_two_to_its_bits() {
    let function = BloomierFunction::new(&items(1000), 3, 5).unwrap();
    let trials = 100_000;
    let passed = (1000..1000 + trials).filter(|&key| function.get(digest(key)).is_some()).count();
    assert!(binomial_z(passed as u64, trials, 1.0 / 32.0).abs() < SIX_SIGMA, "{passed}");
}

#[test]
fn what_is_no_function_is_an_error() {
    let twice = [(digest(1), 1), (digest(2), 1), (digest(1), 1)];
    assert_eq!(BloomierFunction::new(&twice, 3, 8).unwrap_err(), NoFunction::Twice);
    assert!(matches!(BloomierFunction::new(&[], 0, 0), Err(NoFunction::Layout(LayoutError::Zero { .. }))));
    for (value_bits, check_bits) in [(17, 0), (8, 9), (u32::MAX, 2)] {
        let error = BloomierFunction::new(&[], value_bits, check_bits);
        assert!(matches!(error, Err(NoFunction::Layout(LayoutError::TooLarge { .. }))));
    }
}
