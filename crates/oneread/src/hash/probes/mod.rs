//! Several locations from one digest: the k hash functions of a Bloom-type structure.
//!
//! A filter needs k locations in a table of m. Drawing k independent ones costs k words of the
//! digest; "less hashing" shows that two words are enough, if one looks at how they are combined:
//!
//! | scheme | location i | words | false positives, n = 100 at 16 bits a key |
//! | --- | --- | --- | --- |
//! | [`Independent`] | `h_i` | k | 1.01 × theory |
//! | [`Accelerated`] | h1 + i·h2 + C(i,2)·h3 in 64 bits, reduced last | 2 | 1.01 × |
//! | [`Double`] | h1 + i·h2 | 2 | 3.05 × |
//! | [`ExtendedSquare`] | h1 + i·h2 + i² | 2 | 1.74 × |
//! | [`ExtendedCube`] | h1 + i·h2 + i³ | 2 | 1.20 × |
//! | [`Enhanced`] | h1 + i·h2 + (i³ − i)/6 | 2 | 1.12 × |
//! | [`Triple`] | h1 + i·h2 + C(i,2)·h3 | 3 | 1.14 × |
//! | [`Quadruple`] | h1 + i·h2 + C(i,2)·h3 + C(i,3)·h4 | 4 | 1.06 × |
//! | [`Partitioned`] | band i: h1 + i·h2 mod m/k | 2 | 11.2 × |
//! | [`IndependentBands`] | band i: `h_i` mod m/k | k | 1.05 × |
//!
//! All other arithmetic is modulo m, which need not be a power of two. Asymptotically every row is
//! the same (theorems 2 and 3 of the paper); the last column shows that for small n they are not.
//! It is measured by this module's tests, within the error stated there.
//!
//! # Which to choose
//! [`Accelerated`], the default of the filters: as fast as [`Double`], and from a hundred keys on
//! nearly as accurate as [`Independent`] (at 20 bits a key 1.04 × for 100 keys, 1.01 × for 1000).
//! [`Independent`] where a proof needs independence (the summaries of a table do). The banded
//! schemes are for structures that keep a separate array for each hash. The others are here to be
//! compared.
//!
//! # Source
//! Kirsch, Mitzenmacher, "Less Hashing, Same Performance: Building a Better Bloom Filter", 2006.
//! Enhanced double and triple hashing are from Dillinger, Manolios, "Bloom Filters in Probabilistic
//! Verification", 2004.

mod accelerated;
mod any;
mod banded;
mod error;
mod independent;
mod name;
mod recurrence;

pub use accelerated::{Accelerated, AcceleratedLocations};
pub use any::AnyScheme;
pub use banded::{IndependentBands, IndependentBandsLocations, Partitioned, PartitionedLocations};
pub use error::ProbeError;
pub use independent::{Independent, IndependentLocations};
pub use name::{SchemeName, UnknownScheme};
pub use recurrence::{
    Double, Enhanced, ExtendedCube, ExtendedSquare, Quadruple, Recurrence, RecurrenceLocations, Triple,
};

use super::{Digest, Domain};

/// How a digest's k locations in a table of m places are found, without heap.
///
/// # Example
/// ```
/// use oneread::hash::probes::{Double, Scheme};
/// use oneread::hash::{Digester, Domain, Portable};
///
/// assert!(Double::new(Domain::FILTER, 0, 1000).is_err());
/// let scheme = Double::new(Domain::FILTER, 7, 1000)?;
/// let digest = Portable::with_seed(1).digest("key");
/// let locations: Vec<u64> = scheme.locations(digest).collect();
/// assert_eq!(locations.len(), 7);
/// assert!(locations.iter().all(|&location| location < 1000));
/// # Ok::<(), oneread::hash::probes::ProbeError>(())
/// ```
pub trait Scheme: Copy + Sized {
    /// What the command line and reports call the scheme.
    const NAME: &'static str;

    /// The iterator over the locations of one digest.
    type Locations: ExactSizeIterator<Item = u64>;

    /// `hashes` (k in the paper) locations in a table of `size` places (m in the paper), from words
    /// of the digest in `domain`.
    ///
    /// # Errors
    /// If `hashes` or `size` is 0, or if a scheme of bands has more hashes than places.
    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError>;

    /// The number of locations.
    fn hashes(&self) -> u32;

    /// The size of the table.
    fn size(&self) -> u64;

    /// The locations of a digest, all below [`size`](Scheme::size). They need not be distinct.
    fn locations(&self, digest: Digest) -> Self::Locations;
}
