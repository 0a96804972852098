//! Schemes with a band of the table per hash, so that no two probes of a key coincide.

use super::super::{Digest, Domain, reduce};
use super::recurrence::add_modulo;
use super::{Parameters, ProbeError, Scheme};

/// A table divided into equal bands, one per hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bands {
    parameters: Parameters,
    /// Locations per band: m′ in the paper.
    band: u64,
}

impl Bands {
    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        let parameters = Parameters::new(domain, hashes, size)?;
        if size < u64::from(hashes) {
            return Err(ProbeError::MoreHashesThanPlaces { hashes, size });
        }
        let band = size / u64::from(hashes);
        Ok(Self { parameters: Parameters { size: band * u64::from(hashes), ..parameters }, band })
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

impl Scheme for Partitioned {
    const NAME: &'static str = "partitioned";

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Bands::new(domain, hashes, size).map(Self)
    }

    fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> impl ExactSizeIterator<Item = u64> {
        let Bands { parameters: Parameters { domain, hashes, .. }, band } = self.0;
        let [first, step] = [0, 1].map(|index| reduce(digest.word(domain, index), band));
        let (mut start_of_band, mut in_band) = (0, first);
        (0..hashes).map(move |_| {
            let location = start_of_band + in_band;
            start_of_band += band;
            in_band = add_modulo(in_band, step, band);
            location
        })
    }
}

/// Location i is word i of the digest, reduced to band i: the lecture's multi-band filter, with
/// independent functions.
///
/// If `size` is not a multiple of `hashes`, the remainder is unused: see [`size`](Scheme::size).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndependentBands(Bands);

impl Scheme for IndependentBands {
    const NAME: &'static str = "independent-bands";

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Bands::new(domain, hashes, size).map(Self)
    }

    fn parameters(&self) -> &Parameters {
        &self.0.parameters
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> impl ExactSizeIterator<Item = u64> {
        let Bands { parameters: Parameters { domain, hashes, .. }, band } = self.0;
        (0..hashes).map(move |index| u64::from(index) * band + reduce(digest.word(domain, index), band))
    }
}
