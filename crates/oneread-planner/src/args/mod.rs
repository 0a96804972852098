//! The flags of `oneread plan` and `oneread simulate`.

pub mod parse;
pub(crate) mod plan;
pub(crate) mod simulate;
pub(crate) mod solve;
pub(crate) mod sweep;
