//! One test binary; its modules mirror `src/`.

mod bits;
mod bytes;
mod filter;
mod hash;
mod layout;
mod plan;
mod statistics;
mod summary;
mod table;
