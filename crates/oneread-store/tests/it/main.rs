//! The store against models, plans, and damaged or forged files.

mod build;
mod damage;
mod format;
mod guides;
mod live;
mod model;
mod plan;
mod reads;
mod sealed;

use std::collections::HashMap;

use oneread_store::{Builder, Options};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The pairs of a store.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A generator with the same output on every machine.
fn random(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::new(u128::from(seed) << 64 | 0xcafe_f00d_d15e_a5e5)
}

/// `length` random bytes.
fn bytes(random: &mut Pcg64Mcg, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random.fill_bytes(&mut bytes);
    bytes
}

/// A number below a limit.
fn below(random: &mut Pcg64Mcg, limit: u64) -> u64 {
    oneread::hash::reduce(random.next_u64(), limit)
}

/// Pairs with distinct keys: a number, then as many bytes as `key` says beyond eight; values are as
/// long as `value` says.
fn pairs(
    count: u64,
    seed: u64,
    key: impl Fn(&mut Pcg64Mcg) -> usize,
    value: impl Fn(&mut Pcg64Mcg) -> usize,
) -> Pairs {
    let mut random = random(seed);
    let mut pair = |number: u64| {
        let more = key(&mut random).saturating_sub(8);
        let mut whole = number.to_be_bytes().to_vec();
        whole.extend(bytes(&mut random, more));
        let length = value(&mut random);
        (whole, bytes(&mut random, length))
    };
    (0..count).map(&mut pair).collect()
}

/// A builder with a fixed seed and these pairs.
fn builder(options: Options, pairs: &Pairs) -> Builder {
    let mut builder = Builder::new(options.seed(7)).unwrap();
    for (key, value) in pairs {
        builder.insert(key, value).unwrap();
    }
    builder
}

/// The bytes of a store of these pairs.
fn store(pairs: &Pairs) -> Vec<u8> {
    builder(Options::new(), pairs).finish_in_memory().unwrap().0
}

/// The expected content of a store of these pairs.
fn model(pairs: &Pairs) -> HashMap<Vec<u8>, Vec<u8>> {
    pairs.iter().cloned().collect()
}

/// `oneread_store::Sync` once hid the trait of the prelude for glob imports.
mod with_everything_imported {
    use oneread_store::*;

    #[test]
    fn the_prelude_is_what_it_was() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<Store>();
        is_shared::<Sealed<Vec<u8>>>();
    }
}
