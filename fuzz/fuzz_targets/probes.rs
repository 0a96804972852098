//! Every probe scheme refuses its parameters, or returns the requested number of locations inside
//! the table.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use oneread::hash::probes::{
    Accelerated, Double, Enhanced, ExtendedCube, ExtendedSquare, Independent, IndependentBands, Partitioned,
    Quadruple, Scheme, Triple,
};
use oneread::hash::{Digest, Domain};

#[derive(Arbitrary, Debug)]
struct Input {
    domain: u32,
    /// Small, so that the target checks all locations.
    hashes: u8,
    size: u64,
    digest: u128,
}

fuzz_target!(|input: Input| {
    check::<Independent>(&input);
    check::<Accelerated>(&input);
    check::<Double>(&input);
    check::<ExtendedSquare>(&input);
    check::<ExtendedCube>(&input);
    check::<Enhanced>(&input);
    check::<Triple>(&input);
    check::<Quadruple>(&input);
    check::<Partitioned>(&input);
    check::<IndependentBands>(&input);
});

fn check<S: Scheme>(input: &Input) {
    match S::new(Domain::new(input.domain), input.hashes.into(), input.size) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(scheme) => {
            // Schemes of bands leave a remainder unused.
            assert!(scheme.size() <= input.size, "{}", S::NAME);
            let locations = scheme.locations(Digest::from(input.digest));
            assert_eq!(locations.len(), usize::from(input.hashes), "{}", S::NAME);
            let locations: Vec<u64> = locations.collect();
            assert_eq!(locations.len(), usize::from(input.hashes), "{}", S::NAME);
            assert!(locations.iter().all(|&location| location < scheme.size()), "{}: {locations:?}", S::NAME);
        }
    }
}
