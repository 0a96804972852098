//! Every filter against an obviously correct model: sets of locations, tables of counts, exact sets
//! of keys.

mod atomic;
// Filters that no cache holds: too large for an interpreter.
#[cfg(not(miri))]
mod batches;
mod bit_model;
mod blocked;
mod bloom;
mod contract;
mod count_min;
mod counting;
mod dleft;
mod dleft_counting;
#[cfg(not(miri))]
mod dleft_counting_rates;
mod dleft_portable;
mod growing;
mod growing_contract;
mod growing_dleft_counting;
mod growing_line;
mod interpreter;
mod line;
mod placed;
mod repeated_keys;
// Millions of queries: too many for an interpreter.
#[cfg(not(miri))]
mod promises;
#[cfg(not(miri))]
mod rates;

use oneread::bytes::Saved;
use oneread::hash::probes::{
    Accelerated, Double, Enhanced, ExtendedCube, ExtendedSquare, Independent, IndependentBands, Partitioned,
    Quadruple, Scheme, SchemeName, Triple,
};
use oneread::hash::{Digest, Domain};

/// Lengths around those of a batch, which is 32 keys, and one of many batches.
const BATCH_LENGTHS: [u64; 6] = [0, 1, 31, 32, 33, 1000];

/// The locations of a digest under a named scheme.
fn locations(scheme: SchemeName, domain: Domain, hashes: u32, size: u64, digest: Digest) -> Vec<u64> {
    fn of<S: Scheme>(domain: Domain, hashes: u32, size: u64, digest: Digest) -> Vec<u64> {
        S::new(domain, hashes, size).unwrap().locations(digest).collect()
    }
    let of = match scheme {
        SchemeName::Independent => of::<Independent>,
        SchemeName::Accelerated => of::<Accelerated>,
        SchemeName::Double => of::<Double>,
        SchemeName::ExtendedSquare => of::<ExtendedSquare>,
        SchemeName::ExtendedCube => of::<ExtendedCube>,
        SchemeName::Enhanced => of::<Enhanced>,
        SchemeName::Triple => of::<Triple>,
        SchemeName::Quadruple => of::<Quadruple>,
        SchemeName::Partitioned => of::<Partitioned>,
        SchemeName::IndependentBands => of::<IndependentBands>,
        _ => panic!("a scheme without a model: {scheme}"),
    };
    of(domain, hashes, size, digest)
}

/// The content of a structure as saved: the payload of its container.
fn payload(structure: &impl Saved) -> Vec<u8> {
    const HEADER: usize = 128;
    structure.to_bytes().split_off(HEADER)
}

/// The payload of a structure whose bits are 1 at these locations, the first byte's lowest bit
/// first.
fn payload_of_bits(bits: impl IntoIterator<Item = u64>, words: u64) -> Vec<u8> {
    let mut bytes = vec![0; 8 * words as usize];
    for bit in bits {
        bytes[(bit / 8) as usize] |= 1 << (bit % 8);
    }
    bytes
}
