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

    /// Whether `test` holds for all locations of the digest, in their order; stops at the first that fails.
    #[inline(always)]
    pub fn all(&self, digest: Digest, test: impl FnMut(u64) -> bool) -> bool {
        with_scheme!(&self.0, scheme => scheme.locations(digest).all(test))
    }

    /// Visits all locations of the digest, in their order.
    #[inline(always)]
    pub fn for_each(&self, digest: Digest, visit: impl FnMut(u64)) {
        with_scheme!(&self.0, scheme => scheme.locations(digest).for_each(visit));
    }
}
