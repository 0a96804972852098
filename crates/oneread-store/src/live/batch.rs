//! Changes that are applied together.

use super::log::Changes;
use crate::Error;

/// Changes that are applied together: all of them, or none.
///
/// # Example
/// ```
/// use oneread_store::{Batch, Store, StoreOptions};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("a.store"), StoreOptions::new())?;
/// store.put(b"old", b"1")?;
/// let mut batch = Batch::new();
/// batch.delete(b"old")?;
/// batch.put(b"new", b"1")?;
/// assert!(store.contains(b"old")?);
/// store.batch(&mut batch)?;
/// assert!(!store.contains(b"old")? && store.contains(b"new")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(super) changes: Changes,
}

impl Batch {
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a key. The last change of a key in the batch wins.
    ///
    /// # Errors
    /// If the key has more than 1024 bytes, the value more than 2^30, or the batch more than 2^31.
    /// Then nothing is added.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.changes.push(key, Some(value))
    }

    /// Deletes a key, if it exists.
    ///
    /// # Errors
    /// Like [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> Result<(), Error> {
        self.changes.push(key, None)
    }

    /// The number of changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Reports whether there are no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Removes all changes.
    pub fn clear(&mut self) {
        self.changes.clear();
    }
}
