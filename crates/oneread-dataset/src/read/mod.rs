//! Lookups: one ranged request per hit, almost none per miss.
//!
//! ```text
//!  key ──▶ shard ──▶ guides (memory) ──▶ page cache ──▶ one ranged request ──▶ value
//!                    absent? no request
//! ```

mod guides;
mod many;
mod options;
mod reader;
mod request;
mod snapshot;

pub use options::{ReadOptions, Requests};
pub use reader::Reader;
pub use snapshot::Snapshot;
