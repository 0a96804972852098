//! Functions with theorems, and digesters for experiments.
//!
//! - [`family`] has the hash families of the theory: what two, three or k keys do is proved.
//! - [`Ideal`] makes digests that no test can tell from random ones: it checks a plan apart from
//!   the quality of any hash function.
//! - [`FromFamily`] makes digests as random as a family's theorem says: it puts a weak family under
//!   any structure of `oneread`.

pub mod family;
mod from_family;
mod ideal;

pub use from_family::FromFamily;
pub use ideal::Ideal;
