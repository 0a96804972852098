//! Double hashing whose step accelerates, in the ring of 64-bit words: fast, and accurate in all
//! but tiny tables.

use super::super::{Digest, Domain, reduce};
use super::{Parameters, ProbeError, Scheme};

/// h1 + i·h2 + i(i−1)/2·h3 modulo 2^64, then reduced to the table, with h3 = (h1 rotated by 32) ^
/// h2.
///
/// Two words of the digest, and two additions per location. Arithmetic modulo 2^64, reduced last,
/// avoids the short cycles of double hashing: h2 = 0 or h2 = m/2 occurs for one key in 2^64, not
/// for one in m. The changing step removes most other dependence: for 100 keys at 16 bits per key,
/// false positives are 1.03 times those of independent hash functions. Fewer keys at lower rates
/// are worse: 1.4 times for 10 keys at 20 bits per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accelerated(Parameters);

/// The locations of one digest under [`Accelerated`].
#[derive(Clone, Debug)]
pub(super) struct AcceleratedLocations {
    place: u64,
    step: u64,
    acceleration: u64,
    size: u64,
    left: u32,
}

impl Scheme for Accelerated {
    const NAME: &'static str = "accelerated";

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Parameters::new(domain, hashes, size).map(Self)
    }

    fn parameters(&self) -> &Parameters {
        &self.0
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> impl ExactSizeIterator<Item = u64> {
        self.locations_of(digest)
    }
}

impl Accelerated {
    #[inline(always)]
    pub(super) fn locations_of(&self, digest: Digest) -> AcceleratedLocations {
        self.locations_from(digest.word(self.0.domain, 0), digest)
    }

    /// The locations of a digest whose first word is `place`.
    #[inline(always)]
    fn locations_from(&self, place: u64, digest: Digest) -> AcceleratedLocations {
        let step = digest.word(self.0.domain, 1);
        let acceleration = place.rotate_left(32) ^ step;
        AcceleratedLocations { place, step, acceleration, size: self.0.size, left: self.0.hashes }
    }

    /// Reports whether `test` holds for all locations, in their order; stops at the first that
    /// fails.
    ///
    /// Draws the second word only if the first location passes, which happens for half of the
    /// absent keys (`docs/decisions/bloom-lookups.md`).
    #[inline(always)]
    pub(super) fn all(&self, digest: Digest, mut test: impl FnMut(u64) -> bool) -> bool {
        let first = digest.word(self.0.domain, 0);
        if !test(reduce(first, self.0.size)) {
            return false;
        }
        let mut others = self.locations_from(first, digest);
        others.next();
        others.all(test)
    }
}

impl AcceleratedLocations {
    /// Returns the location and steps to the next one, even beyond the last.
    #[inline(always)]
    fn step(&mut self) -> u64 {
        let location = reduce(self.place, self.size);
        self.place = self.place.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.acceleration);
        location
    }

    /// Reports whether a bit of `test` is 1 for all locations; one branch tests the first four.
    #[inline(always)]
    pub(super) fn every(mut self, bit: u32, test: impl Fn(u64) -> u64) -> bool {
        if let Some(left) = self.left.checked_sub(4) {
            self.left = left;
            let four = test(self.step()) & test(self.step()) & test(self.step()) & test(self.step());
            if four >> bit & 1 == 0 {
                return false;
            }
        }
        self.all(move |location| test(location) >> bit & 1 == 1)
    }
}

impl Iterator for AcceleratedLocations {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        Some(self.step())
    }

    /// Two at a time, which halves the cost of counting.
    #[inline(always)]
    fn fold<T, F: FnMut(T, u64) -> T>(mut self, start: T, mut visit: F) -> T {
        let mut folded = start;
        if self.left % 2 == 1 {
            folded = visit(folded, self.step());
        }
        for _ in 0..self.left / 2 {
            folded = visit(folded, self.step());
            folded = visit(folded, self.step());
        }
        folded
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for AcceleratedLocations {}
