//! What is served: sealed and live stores, and datasets, each under a name.
//!
//! ```text
//!  Catalog ──▶ Slot, a name ──▶ Version, the newest ──▶ Opened: sealed, live, or a dataset's
//! ```
//!
//! A request takes the newest [`Version`] once, and is answered from it. When a newer one is there,
//! it takes the slot, and the old one stays until its last request is answered.

mod describe;
mod lookup;
mod refresh;
mod slot;
mod version;
mod warm;
mod write;

pub(super) use slot::{Catalog, Slot};
pub(super) use version::Version;
pub(super) use write::{Change, Refused};

/// A lookup that failed. The reason is in the log, since it names folders that clients need not
/// know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;
