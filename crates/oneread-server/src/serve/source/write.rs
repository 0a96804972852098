//! Changes of live stores. What is acknowledged is on the disk.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use oneread_store::{Batch, Error as StoreError, Store};
use tokio::task::spawn_blocking;

use super::slot::{How, Origin, Slot};
use super::version::{Opened, Version};

/// A change of one key.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
}

/// Why nothing was changed.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// The source does not take changes.
    ReadOnly,
    /// The key or the value is too long.
    TooLong(String),
    /// The disk failed, and the log says how. After a failed sync, the change may be there or not.
    Failed,
}

impl Slot {
    /// Whether clients can change it.
    pub(crate) fn is_writable(&self, version: &Version) -> bool {
        let asked = matches!(self.origin, Origin::File { how: How { writable: true, .. }, .. });
        asked && matches!(version.opened, Opened::Live(_))
    }

    /// Applies changes, all or none. Returns how many of the deleted keys were there.
    pub(crate) async fn change(self: &Arc<Self>, changes: Vec<Change>) -> Result<u64, Refused> {
        let version = self.current();
        if !self.is_writable(&version) {
            return Err(Refused::ReadOnly);
        }
        let slot = self.clone();
        let work = move || match &version.opened {
            Opened::Live(store) => slot.apply(store, &changes),
            _ => Err(Refused::ReadOnly),
        };
        // A change goes on even if its client leaves.
        match spawn_blocking(work).await {
            Ok(done) => done,
            Err(error) => Err(self.refused(error)),
        }
    }

    fn apply(&self, store: &Store, changes: &[Change]) -> Result<u64, Refused> {
        let deletes = changes.iter().any(|change| matches!(change, Change::Delete(_)));
        let (_alone, _shared) = if deletes {
            (Some(self.changing.write().unwrap_or_else(PoisonError::into_inner)), None)
        } else {
            (None, Some(self.changing.read().unwrap_or_else(PoisonError::into_inner)))
        };
        let mut batch = Batch::new();
        let mut deleted = 0;
        let mut seen = HashSet::new();
        for change in changes {
            match change {
                Change::Put(key, value) => batch.put(key, value),
                Change::Delete(key) => {
                    let is_there =
                        !seen.contains(&key) && store.contains(key).map_err(|error| self.refused(error))?;
                    if is_there {
                        deleted += 1;
                        seen.insert(key);
                        batch.delete(key)
                    } else {
                        Ok(())
                    }
                }
            }
            .map_err(|error| self.refused(error))?;
        }
        if !batch.is_empty() {
            store.batch(&mut batch).map_err(|error| self.refused(error))?;
        }
        Ok(deleted)
    }

    fn refused(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Refused {
        let error = error.into();
        if let Some(StoreError::KeyTooLong { .. } | StoreError::ValueTooLong { .. }) = error.downcast_ref() {
            return Refused::TooLong(error.to_string());
        }
        tracing::error!(source = self.name, error = %error, "a change failed");
        Refused::Failed
    }
}
