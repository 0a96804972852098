//! Builds a version in pieces, on one machine or many.
//!
//! ```text
//!  begin ──▶ draft ──▶ shard_of(key) ──▶ ShardWriter, one per shard ──▶ upload ──▶ commit ──▶ publish
//!            an object              any process                        an object  manifest    pointer
//! ```

mod commit;
mod draft;
mod splitter;
mod upload;
mod writer;

pub use draft::{Draft, DraftOptions};
pub use splitter::{BuildProgress, Splitter, SplitterOptions};
pub use writer::{BuiltShard, ShardWriter, WriterOptions};
