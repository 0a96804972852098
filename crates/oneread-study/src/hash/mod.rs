//! Functions with theorems, and digesters for experiments.
//!
//! - [`family`] holds hash families with proved guarantees for two, three or k keys.
//! - [`Ideal`] makes digests that no test can distinguish from random ones. It checks a plan
//!   independently of the quality of any hash function.
//! - [`FromFamily`] makes digests as random as a family's theorem guarantees. It lets any structure
//!   of `oneread` use a weak family.

pub mod family;
mod from_family;
mod ideal;

pub use from_family::FromFamily;
pub use ideal::Ideal;
