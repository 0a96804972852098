//! The odds of a layout, computed before anything is built, and the layout for given odds.
//!
//! | module | structure | false positives | solvers |
//! | --- | --- | --- | --- |
//! | [`bloom`] | Bloom filter | exact for independent probes, and exact or with a stated error for the others ([`probes`]) | [`for_rate`](bloom::for_rate), [`for_bits`](bloom::for_bits) |
//! | [`blocked`] | blocked Bloom filter | exact | [`for_rate`](blocked::for_rate), [`for_bits_per_key`](blocked::for_bits_per_key) |
//! | [`counting`] | counting Bloom filter | as Bloom filter; and the odds of a saturated counter | [`for_rate`](counting::for_rate) |
//! | [`count_min`] | count-min sketch | a proven bound, for independent rows and for two words | [`for_error`](count_min::for_error) |
//! | [`growing`] | layers of Bloom filters | as Bloom filter, for the present fill | a layer by [`layer`](growing::layer) |
//! | [`dleft`] | d-left filter | the limit for many buckets | [`for_bits_per_key`](dleft::for_bits_per_key) |
//! | [`mod@line`] | filter of cache lines that can delete | exact; the lines read are modelled | [`for_rate`](line::for_rate), [`for_bits_per_key`](line::for_bits_per_key) |
//! | [`placed`] | static filter | exact | – |
//! | [`dleft_counting`] | d-left filter that can delete | the limit for many buckets, new and aged | [`for_rate`](dleft_counting::for_rate), [`for_bits_per_key`](dleft_counting::for_bits_per_key) |
//!
//! | module | table | computes | accuracy |
//! | --- | --- | --- | --- |
//! | [`multilevel`] | multilevel, filled once | loads, and the odds of a crisis | exact or close, as each plan states |
//! | [`bounded`] | bounded map, under churn | spilled keys, and the odds that the stash is needed | modelled, for many lines |
//! | [`summary`] | multilevel with a summary | failures, false positives and reads of a lookup | failures are a union bound |
//!
//! [`solve`] does the reverse: it finds the smallest layout that meets all targets at once. The
//! crate `oneread-study` plans tables that move items, and solves for tables, summaries and maps.
//!
//! Every function takes or returns a [layout](crate::layout), and documents what is exact, what is
//! approximate and how far off. "Exact" means: under ideal hash functions, to a relative error
//! below 1e-11. Odds are those of a key that was not inserted, over the choice of the hash
//! functions. No probability is computed as 1 minus one near 1, so that one of 6.6e-24 keeps its
//! digits. Where a probability may underflow a float, a function with the prefix `ln_` gives its
//! logarithm.
//!
//! Items are distinct keys. A solver for no items plans for one. Results do not depend on the
//! standard library.

mod accuracy;
pub(crate) mod binomial;
pub mod blocked;
pub mod bloom;
pub mod bounded;
pub(crate) mod budget;
pub mod count_min;
pub mod counting;
pub(crate) mod differential;
pub mod dleft;
pub mod dleft_counting;
pub(crate) mod error;
pub(crate) mod float;
pub mod growing;
mod interpolation;
pub mod line;
pub mod multilevel;
pub(crate) mod occupancy;
pub mod placed;
pub mod probes;
pub(crate) mod search;
pub mod solve;
pub mod summary;

pub use accuracy::Accuracy;
pub use error::OutOfRange;
