//! What the crates of this workspace share beneath the public API. It is not part of that API: any
//! release may change it.

pub use crate::bits::counters::counter_words;
pub use crate::bits::memory::{reserved, zeroed};
pub use crate::filter::distinct::distinct;
pub use crate::plan::binomial::ln_upper_tail as ln_binomial_upper_tail;
pub use crate::plan::error::check;
pub use crate::plan::float::{exp, ln};
pub use crate::plan::solve::least_possible;

/// The domain of a structure in another crate of the workspace.
#[must_use]
pub const fn reserved_domain(number: u32) -> crate::hash::Domain {
    crate::hash::Domain::reserved(number)
}
