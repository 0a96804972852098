//! One test binary; its modules mirror `src/`.

mod hash;
mod statistics;
