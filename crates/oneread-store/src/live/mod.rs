//! A store that changes.
//!
//! ```text
//!  put ──▶ log (medium) ──▶ buffer (memory) ──▶ pages on free slots ──▶ checkpoint: the manifest
//!          safe, acked      full? another log   segment by segment      the log is reused
//!
//!  get ──▶ buffers ──▶ segment, by a range of words ──▶ guide (memory) ──▶ one page
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `NAME` | pages, large values, descriptions of segments: in *slots* of a page |
//! | `NAME.manifest` | the last checkpoint |
//! | `NAME.manifest-next` | the next checkpoint, while it is written |
//! | `NAME.log0`, `NAME.log1` | changes since, in turn |
//! | `NAME.lock` | locked by the writer, and exists while there is one |
//! | `NAME.unfinished`, `NAME.replacing` | a sealed store that will take the name: see `store_lock.rs` |
//!
//! Three types do the work, each with its own state:
//!
//! | type | owns | does |
//! | --- | --- | --- |
//! | [`Reader`](reader::Reader) | the current [`Root`](root::Root), an immutable version | lookups, iteration, counts |
//! | [`Writer`](writer::Writer) | the log, with a [`GroupCommit`](group_commit::GroupCommit) | appends changes to the log and the buffer, and acknowledges them |
//! | [`Checkpointer`](checkpointer::Checkpointer) | free slots, the state of [`merge`], the last manifest | merges changes into pages, and makes checkpoints |
//!
//! `root.rs` explains why a reader beside a writer is never wrong, `checkpointer.rs` why a crash
//! loses nothing, `ranked.rs` the order of locks.

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
mod loaded_page;
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
