//! A store that changes.
//!
//! ```text
//!  put ──▶ log, on the medium ──▶ buffer, in memory ──▶ pages on free slots, a segment at a time ──▶ checkpoint: the manifest
//!          safe, acknowledged     full? another log                                                  the log is used again
//!
//!  get ──▶ buffers ──▶ segment, by a range of words ──▶ guide, in memory ──▶ one page
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `NAME` | pages, large values, descriptions of segments: in *slots* of a page |
//! | `NAME.manifest` | the last checkpoint |
//! | `NAME.log0`, `NAME.log1` | changes since, in turn |
//! | `NAME.lock` | who writes; there while somebody does |
//! | `NAME.unfinished`, `NAME.replacing` | a sealed store that will take the name: see `store_lock.rs` |
//!
//! Three types do the work, each with a state of its own:
//!
//! | type | has | does |
//! | --- | --- | --- |
//! | [`Reader`](reader::Reader) | the present [`Root`](root::Root), which never changes | lookups, iteration, counts |
//! | [`Writer`](writer::Writer) | the log, with a [`GroupCommit`](group_commit::GroupCommit) | puts changes into the log and the buffer, and acknowledges them |
//! | [`Checkpointer`](checkpointer::Checkpointer) | free slots, the tools of [`merge`], the last manifest | brings changes to pages, and makes checkpoints |
//!
//! `root.rs` tells why a reader beside a writer is never wrong, `checkpointer.rs` why a crash loses
//! nothing, `ranked.rs` in which order locks are taken.

mod adopt;
mod backup;
mod batch;
mod buffer;
mod checkpointer;
mod count;
mod create;
mod data;
mod directory;
pub(crate) mod disk;
mod files;
mod follow;
mod group_commit;
mod iter;
mod load;
mod log;
mod manifest;
mod manifest_file;
mod mark;
mod merge;
mod metrics;
mod open;
mod options;
mod overflow;
mod plan;
mod ranked;
mod reader;
mod rebuild;
mod root;
mod segment;
mod segment_pages;
mod slots;
mod stats;
mod store;
pub(crate) mod store_lock;
mod verify;
mod worker;
mod writer;

pub use batch::Batch;
pub use disk::{Disk, DiskFile, Holder, Lock, OpenMode, SystemDisk};
pub use iter::StoreIter;
pub use metrics::Metrics;
pub use options::{StoreOptions, SyncPolicy};
pub use stats::StoreStats;
pub use store::Store;
pub use store_lock::{Occupant, StoreLock};
