//! A scheme chosen at run time.

use super::super::{Digest, Domain};
use super::{
    Accelerated, Double, Enhanced, ExtendedCube, ExtendedSquare, Independent, IndependentBands, Partitioned,
    ProbeError, Quadruple, Scheme, SchemeName, Triple,
};

/// A scheme chosen at run time, ready to probe: what a filter holds whose layout names its scheme.
///
/// Visiting the locations dispatches once, not once per location.
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

/// Runs an expression with the chosen scheme, whatever its type.
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
    /// Like [`Scheme::new`].
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

    /// Reports whether `test` holds for all locations of the digest, in their order; stops at the
    /// first that fails.
    #[inline(always)]
    pub fn all(&self, digest: Digest, test: impl FnMut(u64) -> bool) -> bool {
        match &self.0 {
            Chosen::Accelerated(scheme) => scheme.all(digest, test),
            _ => self.all_of_another(digest, test),
        }
    }

    /// Reports whether bit number `bit` of `test` is 1 for all locations of the digest; may test a
    /// few after the first for which it is not.
    ///
    /// One branch tests the first four. In a filter at its planned load an absent key finds each
    /// bit set with probability one half, so a branch on one bit is mispredicted every other time,
    /// while four bits pass one time in sixteen (`docs/decisions/bloom-lookups.md`). `test` returns
    /// a word because compilers turn four `bool`s into four branches again.
    #[inline(always)]
    pub fn every(&self, digest: Digest, bit: u32, test: impl Fn(u64) -> u64) -> bool {
        match &self.0 {
            Chosen::Accelerated(scheme) => scheme.locations_of(digest).every(bit, test),
            _ => self.all_of_another(digest, |location| test(location) >> bit & 1 == 1),
        }
    }

    /// Visits all locations of the digest, in their order.
    #[inline(always)]
    pub fn for_each(&self, digest: Digest, mut visit: impl FnMut(u64)) {
        self.fold(digest, (), |(), location| visit(location));
    }

    /// Visits all locations of the digest, in their order, and passes the result of each visit to
    /// the next.
    #[inline(always)]
    pub fn fold<T>(&self, digest: Digest, start: T, visit: impl FnMut(T, u64) -> T) -> T {
        match &self.0 {
            Chosen::Accelerated(scheme) => scheme.locations(digest).fold(start, visit),
            _ => self.fold_another(digest, start, visit),
        }
    }

    /// All schemes but the default one. Out of line: ten copies of a filter's loop in one function
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
