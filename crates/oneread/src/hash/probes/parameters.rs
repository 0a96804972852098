//! What every scheme is made of.

use super::super::Domain;
use super::ProbeError;

/// The parameters of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) domain: Domain,
    pub(super) hashes: u32,
    pub(super) size: u64,
}

impl Parameters {
    /// Sizes stay below 2^63, so that the sum of two locations never overflows.
    const MAX_PLACES: u64 = 1 << 63;

    /// Checks what every scheme requires.
    pub(super) fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        if size == 0 {
            return Err(ProbeError::NoPlaces);
        }
        if size > Self::MAX_PLACES {
            return Err(ProbeError::TooManyPlaces { expected: Self::MAX_PLACES, found: size });
        }
        if hashes == 0 {
            return Err(ProbeError::NoHashes);
        }
        Ok(Self { domain, hashes, size })
    }
}
