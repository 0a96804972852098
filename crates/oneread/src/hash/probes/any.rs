//! A scheme chosen at run time.

use super::super::{Digest, Domain};
use super::{
    Accelerated, Double, Enhanced, ExtendedCube, ExtendedSquare, Independent, IndependentBands, Partitioned,
    ProbeError, Quadruple, Scheme, SchemeName, Triple,
};

/// Any of the schemes, ready to probe: what a filter whose layout names its scheme holds.
///
/// Visiting the locations chooses the scheme once, not once a location.
///
/// ```
/// use oneread::hash::probes::{AnyScheme, SchemeName};
/// use oneread::hash::{Digester, Domain, Portable};
///
/// let scheme = AnyScheme::new(SchemeName::Triple, Domain::FILTER, 5, 100)?;
/// let mut seen = 0;
/// assert!(!scheme.all(Portable::with_seed(1).digest("key"), |location| location >= 100));
/// assert!(scheme.all(Portable::with_seed(1).digest("key"), |location| {
///     seen += 1;
///     location < 100
/// }));
/// assert_eq!(seen, 5);
/// # Ok::<(), oneread::hash::probes::ProbeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyScheme(Chosen);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    Independent(Independent),
    Accelerated(Accelerated),
    Double(Double),
    ExtendedSquare(ExtendedSquare),
    ExtendedCube(ExtendedCube),
    Enhanced(Enhanced),
    Triple(Triple),
    Quadruple(Quadruple),
    Partitioned(Partitioned),
    IndependentBands(IndependentBands),
}

/// Runs an expression with the scheme that was chosen, whatever its type.
macro_rules! with_scheme {
    ($chosen:expr, $scheme:ident => $body:expr) => {
        match $chosen {
            Chosen::Accelerated($scheme) => $body,
            Chosen::Independent($scheme) => $body,
            Chosen::Double($scheme) => $body,
            Chosen::ExtendedSquare($scheme) => $body,
            Chosen::ExtendedCube($scheme) => $body,
            Chosen::Enhanced($scheme) => $body,
            Chosen::Triple($scheme) => $body,
            Chosen::Quadruple($scheme) => $body,
            Chosen::Partitioned($scheme) => $body,
            Chosen::IndependentBands($scheme) => $body,
        }
    };
}

impl AnyScheme {
    /// The named scheme; see [`Scheme::new`].
    ///
    /// # Errors
    /// As [`Scheme::new`].
    pub fn new(name: SchemeName, domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        Ok(Self(match name {
            SchemeName::Independent => Chosen::Independent(Scheme::new(domain, hashes, size)?),
            SchemeName::Accelerated => Chosen::Accelerated(Scheme::new(domain, hashes, size)?),
            SchemeName::Double => Chosen::Double(Scheme::new(domain, hashes, size)?),
            SchemeName::ExtendedSquare => Chosen::ExtendedSquare(Scheme::new(domain, hashes, size)?),
            SchemeName::ExtendedCube => Chosen::ExtendedCube(Scheme::new(domain, hashes, size)?),
            SchemeName::Enhanced => Chosen::Enhanced(Scheme::new(domain, hashes, size)?),
            SchemeName::Triple => Chosen::Triple(Scheme::new(domain, hashes, size)?),
            SchemeName::Quadruple => Chosen::Quadruple(Scheme::new(domain, hashes, size)?),
            SchemeName::Partitioned => Chosen::Partitioned(Scheme::new(domain, hashes, size)?),
            SchemeName::IndependentBands => Chosen::IndependentBands(Scheme::new(domain, hashes, size)?),
        }))
    }

    /// The size of the table.
    #[must_use]
    pub fn size(&self) -> u64 {
        with_scheme!(&self.0, scheme => scheme.size())
    }

    /// Whether `test` holds for all locations of the digest, in their order; stops at the first
    /// that fails.
    #[inline(always)]
    pub fn all(&self, digest: Digest, test: impl FnMut(u64) -> bool) -> bool {
        match &self.0 {
            Chosen::Accelerated(scheme) => scheme.all(digest, test),
            _ => self.all_of_another(digest, test),
        }
    }

    /// Whether a bit of `test`, counted from the lowest, is 1 for all locations of the digest; may
    /// test a few after the first for which it is not.
    ///
    /// The first four are tested with one branch for all of them. In a filter at its planned load a
    /// single bit is a fair coin for an absent key, and a branch on it is mispredicted every other
    /// time; four of them pass one time in sixteen. Measured, that takes a third off the lookup of
    /// an absent key. (A bit of a word, and not a `bool`: of four of those compilers make four
    /// branches again.)
    #[inline(always)]
    pub fn every(&self, digest: Digest, bit: u32, test: impl Fn(u64) -> u64) -> bool {
        match &self.0 {
            Chosen::Accelerated(scheme) => scheme.locations(digest).every(bit, test),
            _ => self.all_of_another(digest, |location| test(location) >> bit & 1 == 1),
        }
    }

    /// Visits all locations of the digest, in their order.
    #[inline(always)]
    pub fn for_each(&self, digest: Digest, mut visit: impl FnMut(u64)) {
        self.fold(digest, (), |(), location| visit(location));
    }

    /// Visits all locations of the digest, in their order, handing what one visit returns to the
    /// next.
    #[inline(always)]
    pub fn fold<T>(&self, digest: Digest, start: T, visit: impl FnMut(T, u64) -> T) -> T {
        match &self.0 {
            Chosen::Accelerated(scheme) => scheme.locations(digest).fold(start, visit),
            _ => self.fold_another(digest, start, visit),
        }
    }

    /// All schemes but the default one. Out of line: ten copies of a filter's loop in one place
    /// leave no registers for any of them.
    #[inline(never)]
    fn all_of_another(&self, digest: Digest, test: impl FnMut(u64) -> bool) -> bool {
        with_scheme!(&self.0, scheme => scheme.locations(digest).all(test))
    }

    #[inline(never)]
    fn fold_another<T>(&self, digest: Digest, start: T, visit: impl FnMut(T, u64) -> T) -> T {
        with_scheme!(&self.0, scheme => scheme.locations(digest).fold(start, visit))
    }
}
