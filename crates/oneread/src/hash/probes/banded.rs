//! Schemes with a band of the table per hash, so that no two probes of a key coincide.

use super::super::{Digest, Domain, reduce};
use super::recurrence::add_modulo;
use super::{ProbeError, Scheme, error};

/// A table divided into equal bands, one per hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bands {
    domain: Domain,
    hashes: u32,
    /// Locations per band: m′ in the paper.
    band: u64,
}

impl Bands {
    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        error::check(hashes, size)?;
        if size < u64::from(hashes) {
            return Err(ProbeError::MoreHashesThanPlaces { hashes, size });
        }
        Ok(Self { domain, hashes, band: size / u64::from(hashes) })
    }

    fn size(&self) -> u64 {
        self.band * u64::from(self.hashes)
    }
}

/// Location i is (h1 + i·h2) modulo the band's size, in band i: the partition scheme of
/// less-hashing, section 4.1.
///
/// If `size` is not a multiple of `hashes`, the remainder is unused: see [`size`](Scheme::size).
/// With a band of prime size p (choose `size` = k·p) two keys share no probe, one, or all k
/// (section 2 of the paper); with other sizes some numbers between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioned(Bands);

/// The locations of one digest under [`Partitioned`].
#[derive(Clone, Debug)]
pub struct PartitionedLocations {
    start_of_band: u64,
    in_band: u64,
    step: u64,
    band: u64,
    left: u32,
}

impl Scheme for Partitioned {
    const NAME: &'static str = "partitioned";
    type Locations = PartitionedLocations;

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Bands::new(domain, hashes, size).map(Self)
    }

    fn hashes(&self) -> u32 {
        self.0.hashes
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> PartitionedLocations {
        let Bands { domain, hashes, band } = self.0;
        PartitionedLocations {
            start_of_band: 0,
            in_band: reduce(digest.word(domain, 0), band),
            step: reduce(digest.word(domain, 1), band),
            band,
            left: hashes,
        }
    }
}

impl Iterator for PartitionedLocations {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let location = self.start_of_band + self.in_band;
        self.start_of_band += self.band;
        self.in_band = add_modulo(self.in_band, self.step, self.band);
        Some(location)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for PartitionedLocations {}

/// Location i is word i of the digest, reduced to band i: the lecture's multi-band filter, with
/// independent functions.
///
/// If `size` is not a multiple of `hashes`, the remainder is unused: see [`size`](Scheme::size).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndependentBands(Bands);

/// The locations of one digest under [`IndependentBands`].
#[derive(Clone, Debug)]
pub struct IndependentBandsLocations {
    digest: Digest,
    bands: Bands,
    next: u32,
}

impl Scheme for IndependentBands {
    const NAME: &'static str = "independent-bands";
    type Locations = IndependentBandsLocations;

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Bands::new(domain, hashes, size).map(Self)
    }

    fn hashes(&self) -> u32 {
        self.0.hashes
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> IndependentBandsLocations {
        IndependentBandsLocations { digest, bands: self.0, next: 0 }
    }
}

impl Iterator for IndependentBandsLocations {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let Bands { domain, hashes, band } = self.bands;
        if self.next == hashes {
            return None;
        }
        let in_band = reduce(self.digest.word(domain, self.next), band);
        let location = u64::from(self.next) * band + in_band;
        self.next += 1;
        Some(location)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.bands.hashes - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for IndependentBandsLocations {}
