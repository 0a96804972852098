//! Lookups: of what is cached at once, of the rest on threads that may wait.

use std::sync::Arc;

use bytes::Bytes;
use oneread_dataset::Error as DatasetError;
use tokio::task::spawn_blocking;

use super::Failed;
use super::slot::{Origin, Slot};
use super::version::{Opened, Version};
use super::warm::{without_waiting, would_wait};

/// Keys that are looked up without giving other tasks of the thread a turn: some tens of
/// microseconds.
const TOGETHER: usize = 64;

/// What a lookup found.
pub(crate) type Found<T> = Result<Option<T>, Failed>;

/// The part of a lookup that did not wait.
enum Early {
    Value(Bytes),
    Absent,
    Failed,
}

impl Slot {
    /// Looks up keys in one version, and passes what it finds to `found`, in order.
    pub(crate) async fn each<K: AsRef<[u8]>>(
        &self,
        version: &Arc<Version>,
        keys: &[K],
        mut found: impl FnMut(Found<&[u8]>),
    ) {
        for keys in keys.chunks(TOGETHER) {
            let done = self.cached(version, keys, &mut found);
            let rest = &keys[done..];
            if !rest.is_empty() {
                for value in self.waiting(version, rest).await {
                    found(value.as_ref().map(Option::as_deref).map_err(|&failed| failed));
                }
            }
            tokio::task::consume_budget().await;
        }
    }

    /// Looks up one key.
    pub(crate) async fn get(&self, version: &Arc<Version>, key: &[u8]) -> Found<Bytes> {
        let mut early = None;
        let mut keep = |found: Found<&[u8]>| {
            early = Some(match found {
                Ok(Some(value)) => Early::Value(Bytes::copy_from_slice(value)),
                Ok(None) => Early::Absent,
                Err(Failed) => Early::Failed,
            });
        };
        self.cached(version, &[key], &mut keep);
        match early {
            Some(Early::Value(value)) => Ok(Some(value)),
            Some(Early::Absent) => Ok(None),
            Some(Early::Failed) => Err(Failed),
            None => self.waiting(version, &[key]).await.pop().unwrap_or(Err(Failed)),
        }
    }

    /// Looks up keys until one would have to wait; returns how many it did.
    fn cached<K: AsRef<[u8]>>(
        &self,
        version: &Version,
        keys: &[K],
        found: &mut impl FnMut(Found<&[u8]>),
    ) -> usize {
        let Opened::Sealed(store) = &version.opened else { return 0 };
        without_waiting(|| {
            for (done, key) in keys.iter().enumerate() {
                match store.get_with(key.as_ref(), |value| found(Ok(Some(value)))) {
                    Ok(Some(())) => {}
                    Ok(None) => found(Ok(None)),
                    Err(error) if would_wait(&error) => return done,
                    Err(error) => found(Err(self.failed(&error))),
                }
            }
            keys.len()
        })
    }

    /// Looks up keys where waiting is allowed.
    async fn waiting<K: AsRef<[u8]>>(&self, version: &Arc<Version>, keys: &[K]) -> Vec<Found<Bytes>> {
        if let Opened::Dataset(snapshot) = &version.opened {
            let found = match snapshot.get_many(keys).await {
                // The version was removed: clients want the values of the one that is there.
                Err(DatasetError::Missing { object }) => {
                    tracing::info!(
                        source = self.name,
                        object,
                        "an object is gone; looking for a newer version"
                    );
                    self.refresh().await;
                    match &self.current().opened {
                        Opened::Dataset(newer) => newer.get_many(keys).await,
                        _ => return vec![Err(Failed); keys.len()],
                    }
                }
                found => found,
            };
            return match found {
                Ok(values) => values.into_iter().map(Ok).collect(),
                Err(error) => {
                    let failed = self.failed(&error);
                    vec![Err(failed); keys.len()]
                }
            };
        }
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.as_ref().to_vec()).collect();
        let count = keys.len();
        let version = version.clone();
        let found = spawn_blocking(move || match &version.opened {
            Opened::Sealed(store) => store.get_many(&keys),
            Opened::Live(store) => store.get_many(&keys),
            Opened::Dataset(_) => Vec::new(),
        });
        match found.await {
            Ok(values) => values
                .into_iter()
                .map(|value| value.map(|value| value.map(Bytes::from)).map_err(|error| self.failed(&error)))
                .collect(),
            Err(error) => {
                let failed = self.failed(&error);
                vec![Err(failed); count]
            }
        }
    }

    /// What clients are told of a lookup that failed: the source and its file, without the folder.
    #[cold]
    pub(crate) fn trouble(&self) -> String {
        let file = match &self.origin {
            Origin::File { path, .. } => path.file_name(),
            Origin::Dataset(_) => None,
        };
        let file = file.map(|file| format!(" ({})", file.display())).unwrap_or_default();
        format!("{}{file} cannot be read now; the server's log says why", self.name)
    }

    /// Says in the log why a lookup failed.
    #[cold]
    pub(super) fn failed(&self, error: &dyn std::error::Error) -> Failed {
        let place = match &self.origin {
            Origin::File { path, .. } => Some(path.display()),
            Origin::Dataset(_) => None,
        };
        tracing::error!(source = self.name, file = place.map(tracing::field::display), error = %error, "a lookup failed");
        Failed
    }
}
