//! All that a lookup needs, as one value that never changes.
//!
//! # Why a reader is never wrong
//! But for the first buffer, nothing in a [`Root`] ever changes: whoever changes something makes
//! another root and puts it in place. A reader takes the root once, under a lock that is never held
//! while somebody waits for the disk, and looks in the newer buffer, the older one, and the
//! segment's pages. It sees every change that was acknowledged before it began:
//!
//! - A change is in the first buffer of the root of its time. Buffers change places by a new root,
//!   in which the full one is the second.
//! - The second buffer goes away by a root whose segments have all its changes.
//! - A merge makes a root whose segment has these changes on pages, while they are still in the
//!   second buffer too. So a reader that holds any root finds a key's last change of that time in
//!   it: pages are never ahead of what follows them in this order, only behind.
//!
//! A slot is written again only when no root that uses it is held: a merge retires the version that
//! it replaces, and its slots are free once it, and all that were retired before it, are held by
//! nobody ([`Arc::get_mut`] says so, and no root leads to it), and a checkpoint without it is on
//! the medium. Hence a reader needs no second look before it says *absent*: moves, splits and
//! records that are pulled home are in another version than its own.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::buffer::Buffer;
use super::directory::Directory;
use super::manifest::Totals;

/// A buffer, and the number of the log that its changes are in.
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

/// All that a lookup needs.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// Takes changes.
    pub(super) active: Arc<LogBuffer>,
    /// Its changes are being brought to pages; it does not change any more.
    pub(super) frozen: Option<Arc<LogBuffer>>,
    pub(super) directory: Directory,
    /// What the pages of the directory come to.
    pub(super) totals: Totals,
    /// The changes of the second buffer with words before this one are on these pages.
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

/// The present root.
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

    /// The first buffer, and whether there is a second one. For those who write: while they hold a
    /// whole root, slots that no later one uses cannot be used again.
    pub(super) fn active(&self) -> (Arc<LogBuffer>, bool) {
        let root = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (root.active.clone(), root.frozen.is_some())
    }

    /// Puts another root in place of the present one.
    pub(super) fn replace(&self, change: impl FnOnce(&Root) -> Root) {
        let mut root = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let new = Arc::new(change(&root));
        let old = std::mem::replace(&mut *root, new);
        drop(root);
        // A buffer may end with it, which takes time.
        drop(old);
    }
}
