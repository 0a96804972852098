//! Everything a lookup needs, as one immutable value.
//!
//! # Why a reader is never wrong
//! Except for the first buffer, nothing in a [`Root`] ever changes: every change installs a new
//! root. A reader takes the root once, under a lock that is never held during disk I/O. It looks in
//! the newer buffer, the older one, and the segment's pages. It sees every change that was
//! acknowledged before it began:
//!
//! - A change is in the first buffer of the root of its time. A new root turns the full buffer into
//!   the second one.
//! - The second buffer disappears with a root whose segments have all its changes.
//! - A merge makes a root whose segment has the changes on pages, while they are still in the
//!   second buffer too. So any root has a key's last change of its time: buffers are never behind
//!   pages.
//!
//! A slot is reused only when no root that uses it is held. A merge retires the version that it
//! replaces. The version's slots become free when nobody holds it or a version retired earlier
//! ([`Arc::get_mut`] says so, and no root leads to it), and a checkpoint without it is on the
//! medium. So a reader can say *absent* without checking again: moves, splits and pulled records
//! are in other versions than its own.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::buffer::Buffer;
use super::directory::Directory;
use crate::totals::Totals;

/// A buffer, and the number of the log with its changes.
#[derive(Debug)]
pub(super) struct LogBuffer {
    pub(super) log: u64,
    buffer: RwLock<Buffer>,
}

impl LogBuffer {
    pub(super) fn new(log: u64, buffer: Buffer) -> Arc<Self> {
        Arc::new(Self { log, buffer: RwLock::new(buffer) })
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Buffer> {
        self.buffer.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Buffer> {
        self.buffer.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything a lookup needs.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The first buffer, which takes changes.
    pub(super) active: Arc<LogBuffer>,
    /// The second buffer, which is being merged and never changes.
    pub(super) frozen: Option<Arc<LogBuffer>>,
    pub(super) directory: Directory,
    /// The totals of the directory's pages.
    pub(super) totals: Totals,
    /// Changes of the second buffer with words before this one are on pages.
    pub(super) merged: u128,
}

impl Root {
    /// Both buffers, the newer one first.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Arc<LogBuffer>> {
        std::iter::once(&self.active).chain(&self.frozen)
    }

    /// The first log with changes that pages may lack.
    pub(super) fn first_log(&self) -> u64 {
        self.frozen.as_ref().unwrap_or(&self.active).log
    }
}

/// The current root.
#[derive(Debug)]
pub(super) struct CurrentRoot(RwLock<Arc<Root>>);

impl CurrentRoot {
    pub(super) fn new(root: Root) -> Self {
        Self(RwLock::new(Arc::new(root)))
    }

    #[inline]
    pub(super) fn get(&self) -> Arc<Root> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first buffer, and whether there is a second one. For writers: while they hold a whole
    /// root, slots that no later root uses cannot be reused.
    pub(super) fn active(&self) -> (Arc<LogBuffer>, bool) {
        let root = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (root.active.clone(), root.frozen.is_some())
    }

    /// Replaces the current root.
    pub(super) fn replace(&self, change: impl FnOnce(&Root) -> Root) {
        let mut root = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let new = Arc::new(change(&root));
        let old = std::mem::replace(&mut *root, new);
        drop(root);
        // This may drop a buffer, which takes time, so the lock is released first.
        drop(old);
    }
}
