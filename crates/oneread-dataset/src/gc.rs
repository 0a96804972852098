//! Garbage collection: removes versions that nobody needs.
//!
//! # Why the pointer never names a version that is removed
//! Collection first writes the versions it is about to remove into the pointer, as *retired*, by
//! the same conditional swap as a publication. By cases, for somebody who publishes such a version:
//!
//! - *They read the pointer before.* Then their swap fails: the pointer has changed.
//! - *They read it after.* Then they see that the version is retired, and refuse.
//!
//! Retired names stay in the pointer, and no version of such a name begins again. So a collection
//! that is slow, or goes on after another one, never removes what was built later.

use std::time::Duration;

use serde::Serialize;

use crate::pointer::Pointer;
use crate::version::{State, VersionInfo, now};
use crate::{Dataset, Result};

/// Which versions to keep.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    versions: usize,
    min_age: Duration,
    dry_run: bool,
}

impl Default for Keep {
    fn default() -> Self {
        Self { versions: 3, min_age: Duration::from_secs(24 * 60 * 60), dry_run: false }
    }
}

impl Keep {
    /// Keeps the current version and two more, and what was current within the last day.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many finished versions to keep, the current one included.
    #[must_use]
    pub fn versions(self, versions: usize) -> Self {
        Self { versions, ..self }
    }

    /// Sets how long a version is kept after it was current last, or was finished. Readers that
    /// hold it must have let go by then. Unfinished versions are kept as long after their last
    /// write.
    #[must_use]
    pub fn min_age(self, min_age: Duration) -> Self {
        Self { min_age, ..self }
    }

    /// Only says what would be removed.
    #[must_use]
    pub fn dry_run(self, dry_run: bool) -> Self {
        Self { dry_run, ..self }
    }
}

/// What garbage collection removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Collected {
    /// The versions that were removed.
    pub removed: Vec<String>,
    /// The bytes of their objects.
    pub bytes: u64,
    /// The versions that are kept.
    pub kept: Vec<String>,
}

impl Dataset {
    /// Removes old versions, and what builds that ended early left behind. Never removes the
    /// current version or a pinned one.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if somebody else published meanwhile; then
    /// nothing was removed.
    pub async fn gc(&self, keep: &Keep) -> Result<Collected> {
        let location = &self.location;
        let (pointer, seen) = Pointer::read(location).await?;
        let Some(pointer) = pointer else { return Err(self.nothing()) };
        let mut versions = self.versions().await?;
        // The latest first.
        versions.sort_by_key(|version| {
            std::cmp::Reverse((version.until.or(version.created), version.version.clone()))
        });
        let mut collected = Collected::default();
        let mut doomed: Vec<(String, Vec<object_store::ObjectMeta>)> = Vec::new();
        let mut others = keep.versions.saturating_sub(1);
        let is_old = |since: u64| now().saturating_sub(since) >= keep.min_age.as_secs();
        for version in versions {
            let VersionInfo { version: name, state, until, created, pins, .. } = version;
            let keeps = match state {
                _ if name == pointer.version || !pins.is_empty() => true,
                State::Finished if others > 0 => {
                    others -= 1;
                    true
                }
                State::Finished => !until.or(created).is_none_or(is_old),
                State::Unfinished | State::Damaged => false,
            };
            if keeps {
                collected.kept.push(name);
                continue;
            }
            let objects = location.list_all(&format!("versions/{name}")).await?;
            let last_write = objects.iter().map(|object| object.last_modified.timestamp()).max();
            if state != State::Finished && !last_write.is_none_or(|last| is_old(last.max(0) as u64)) {
                collected.kept.push(name);
                continue;
            }
            doomed.push((name, objects));
        }
        let names = || doomed.iter().map(|(name, _)| name.clone());
        if keep.dry_run || doomed.is_empty() {
            collected.removed = names().collect();
            collected.bytes = doomed.iter().flat_map(|(_, objects)| objects).map(|object| object.size).sum();
            return Ok(collected);
        }
        pointer.retiring(names()).swap(location, seen).await?;
        let pins = self.pins().await?;
        for (name, objects) in doomed {
            if pins.iter().any(|(_, version)| *version == name) {
                collected.kept.push(name);
                continue;
            }
            // The manifest first: what is left after a crash is an unfinished version.
            location.remove(&location.object(&format!("versions/{name}/manifest.json"))).await?;
            for object in objects {
                location.remove(&object.location).await?;
                collected.bytes += object.size;
            }
            location.remove_folder(&format!("versions/{name}")).await?;
            collected.removed.push(name);
        }
        Ok(collected)
    }
}
