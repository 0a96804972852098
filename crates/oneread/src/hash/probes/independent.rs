//! A word of the digest for each location.

use super::super::{Digest, Domain, reduce};
use super::{Parameters, ProbeError, Scheme};

/// Location i is word i of the digest, reduced: as good as k independent hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Independent(Parameters);

impl Scheme for Independent {
    const NAME: &'static str = "independent";

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Parameters::new(domain, hashes, size).map(Self)
    }

    fn parameters(&self) -> &Parameters {
        &self.0
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> impl ExactSizeIterator<Item = u64> {
        let Parameters { domain, hashes, size } = self.0;
        (0..hashes).map(move |index| reduce(digest.word(domain, index), size))
    }
}
