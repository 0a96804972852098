//! Several locations from one digest: the k hash functions of a Bloom-type structure.
//!
//! A filter needs k locations in a table of m. Independent locations cost k words of the digest.
//! "Less hashing" shows that two words are enough if they are combined well:
//!
//! | scheme | location i | words | false positives, n = 100 at 16 bits per key |
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
//! All other arithmetic is modulo m, which need not be a power of two. Asymptotically all rows are
//! equal (theorems 2 and 3 of the paper); the last column shows that for small n they are not. This
//! module's tests measure it, within the error stated there.
//!
//! # Which to choose
//! Use [`Accelerated`], the default of the filters: it is as fast as [`Double`], and from 100 keys
//! on nearly as accurate as [`Independent`] (at 20 bits per key 1.04 × for 100 keys, 1.01 × for
//! 1000). Use [`Independent`] where a proof needs independence, as for the summaries of a table.
//! The banded schemes suit structures with a separate array per hash. The others are for
//! comparison.
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
mod parameters;
mod recurrence;

pub use accelerated::Accelerated;
pub use any::AnyScheme;
pub use banded::{IndependentBands, Partitioned};
pub use error::ProbeError;
pub use independent::Independent;
pub use name::SchemeName;
#[doc(hidden)]
pub use parameters::Parameters;
pub use recurrence::{Double, Enhanced, ExtendedCube, ExtendedSquare, Quadruple, Triple};

use super::{Digest, Domain};

/// Finds a digest's k locations in a table of m places, without heap memory.
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
    /// The name on the command line and in reports.
    const NAME: &'static str;

    /// A scheme of `hashes` (k in the paper) locations in a table of `size` places (m in the
    /// paper), from words of the digest in `domain`.
    ///
    /// # Errors
    /// If `hashes` or `size` is 0, or if a scheme of bands has more hashes than places.
    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError>;

    #[doc(hidden)]
    fn parameters(&self) -> &Parameters;

    /// The number of locations.
    fn hashes(&self) -> u32 {
        self.parameters().hashes
    }

    /// The size of the table.
    fn size(&self) -> u64 {
        self.parameters().size
    }

    /// The locations of a digest, all below [`size`](Scheme::size). They need not be distinct.
    fn locations(&self, digest: Digest) -> impl ExactSizeIterator<Item = u64>;
}
