//! A word of the digest for each location.

use super::super::{Digest, Domain, reduce};
use super::{ProbeError, Scheme, error};

/// Location i is word i of the digest, reduced: as good as k independent hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Independent {
    domain: Domain,
    hashes: u32,
    size: u64,
}

/// The locations of one digest under [`Independent`].
#[derive(Clone, Debug)]
pub struct IndependentLocations {
    digest: Digest,
    scheme: Independent,
    next: u32,
}

impl Scheme for Independent {
    const NAME: &'static str = "independent";
    type Locations = IndependentLocations;

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        error::check(hashes, size)?;
        Ok(Self { domain, hashes, size })
    }

    fn hashes(&self) -> u32 {
        self.hashes
    }

    fn size(&self) -> u64 {
        self.size
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> IndependentLocations {
        IndependentLocations { digest, scheme: *self, next: 0 }
    }
}

impl Iterator for IndependentLocations {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.next == self.scheme.hashes {
            return None;
        }
        let word = self.digest.word(self.scheme.domain, self.next);
        self.next += 1;
        Some(reduce(word, self.scheme.size))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.scheme.hashes - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for IndependentLocations {}
