mod blocked;
mod bloom;
mod count_min;
mod counting;
mod dleft;
mod error;
mod growing;
#[cfg(feature = "serde")]
mod serde;
