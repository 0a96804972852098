//! One test binary; its modules mirror `src/`.

mod hash;
mod layout;
mod plan;
mod statistics;
