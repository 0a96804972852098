//! Hashing: from keys to digests, and from digests to locations.
//!
//! ```text
//!  key ──▶ Digester ──▶ Digest, 128 bits ──▶ word(domain, i) ──▶ reduce ──▶ a location
//!          once, at the edge                 a fresh word for          └──▶ probes: k locations
//!                                            each structure
//! ```
//!
//! - A [`Digester`] turns a key into a [`Digest`], once. [`Portable`] is the default; its
//!   [documentation](Digester) compares the others.
//! - A structure draws [words](Digest::word) from the digest in its own [`Domain`], so that no two
//!   structures on one path depend on the same bits.
//! - [`reduce`] maps a word to a location in a range of any size, and a scheme of [`probes`] maps a
//!   digest to several.
//!
//! Hash families with theorems are in the crate `oneread-study`.

mod composite;
mod digest;
mod digester;
mod domain;
mod key;
mod long;
mod mix;
pub mod probes;
mod range;
mod short;

pub use digest::Digest;
pub use digester::{Digester, Keyed, Portable, Std};
pub use domain::Domain;
pub use key::{Canonical, Key};
pub use range::reduce;

/// An unpredictable seed, from the keys that the standard library draws for its own maps.
#[cfg(feature = "std")]
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
