//! One test binary; its modules mirror `src/`.

mod filter;
mod hash;
mod layout;
mod plan;
mod statistics;
