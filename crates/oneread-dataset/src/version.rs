//! Versions: their names, their states, and the pins that keep them.

use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::{StreamExt, TryStreamExt, stream};
use oneread::hash::Portable;
use serde::{Deserialize, Serialize};

use crate::location::Location;
use crate::manifest::{FORMAT, FORMAT_VERSION, Manifest};
use crate::pointer::Pointer;
use crate::{Dataset, Error, Result};

/// The longest name.
const MAX_BYTES: usize = 128;

/// Manifests that are read at once.
const IN_FLIGHT: usize = 16;

/// A version of a dataset, as listed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VersionInfo {
    /// Its name.
    pub version: String,
    /// Whether it is the current one.
    pub current: bool,
    /// Its state.
    pub state: State,
    /// Keys, if it is finished.
    pub items: Option<u64>,
    /// The bytes of its shards, if it is finished.
    pub bytes: Option<u64>,
    /// Shards, if it is finished.
    pub shards: Option<u32>,
    /// When it was finished, in seconds since 1970.
    pub created: Option<u64>,
    /// When another version took its place, in seconds since 1970.
    pub until: Option<u64>,
    /// The names of its pins.
    pub pins: Vec<String>,
}

/// The state of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// It has a manifest, and can be published.
    Finished,
    /// It is being built, or its build ended early.
    Unfinished,
    /// Its manifest is damaged.
    Damaged,
}

/// A pin: an object that keeps a version.
#[derive(Serialize, Deserialize)]
struct Pin {
    format: String,
    format_version: u32,
    version: String,
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Checks the name of a version or a pin.
pub(crate) fn check(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || name.len() > MAX_BYTES || name.starts_with('.') || !name.bytes().all(is_plain) {
        let expected = "a name of 1 to 128 letters, digits, hyphens, underscores and full stops, of which the \
                        first is no full stop";
        return Err(Error::option("version", expected));
    }
    Ok(())
}

/// A new name: the time and a random number, so that names sort by time.
pub(crate) fn new_name() -> String {
    let (days, seconds) = (now() / 86_400, now() % 86_400);
    // The civil calendar from days, by counting years from March: Hinnant, "chrono-compatible
    // low-level date algorithms".
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let random = Portable::random().seed() as u32;
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z-{random:08x}")
}

/// Reads and checks the manifest of a version; also returns its checksum.
pub(crate) async fn manifest(location: &Location, version: &str) -> Result<(Manifest, u64)> {
    check(version)?;
    let object = location.object(&format!("versions/{version}/manifest.json"));
    let (manifest, checksum, _) = match location.document::<Manifest>(&object).await {
        Err(Error::Missing { .. }) => return Err(Error::NoVersion { version: version.to_owned() }),
        read => read?,
    };
    manifest.check(&object, version)?;
    Ok((manifest, checksum))
}

impl Dataset {
    /// Lists the versions, by name.
    ///
    /// # Errors
    /// If the object store fails.
    pub async fn versions(&self) -> Result<Vec<VersionInfo>> {
        let location = &self.location;
        let (pointer, _) = Pointer::read(location).await?;
        let pins = self.pins().await?;
        let listed = location.list("versions").await?;
        let names = listed.common_prefixes.iter().filter_map(|prefix| prefix.filename().map(str::to_owned));
        // Folders of others are no versions.
        let names: Vec<String> = names.filter(|name| check(name).is_ok()).collect();
        let read = |name: String| async {
            let read = manifest(location, &name).await;
            Ok::<_, Error>((name, read))
        };
        let mut all: Vec<_> = stream::iter(names).map(read).buffer_unordered(IN_FLIGHT).try_collect().await?;
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        let info = |(version, read): (String, Result<(Manifest, u64)>)| {
            let (state, manifest) = match read {
                Ok((manifest, _)) => (State::Finished, Some(manifest)),
                Err(Error::NoVersion { .. }) => (State::Unfinished, None),
                Err(error @ (Error::Remote { .. } | Error::File { .. })) => return Err(error),
                Err(_) => (State::Damaged, None),
            };
            let manifest = manifest.as_ref();
            let is_current = pointer.as_ref().is_some_and(|pointer| pointer.version == version);
            let until = pointer.as_ref().and_then(|pointer| {
                pointer.history.iter().find(|former| former.version == version).map(|former| former.until)
            });
            Ok(VersionInfo {
                current: is_current,
                state,
                items: manifest.map(|manifest| manifest.items),
                bytes: manifest.map(|manifest| manifest.disk_bytes),
                shards: manifest.map(Manifest::shard_count),
                created: manifest.map(|manifest| manifest.created),
                until: until.filter(|_| !is_current),
                pins: pins.iter().filter(|pin| pin.1 == version).map(|pin| pin.0.clone()).collect(),
                version,
            })
        };
        all.into_iter().map(info).collect()
    }

    /// The manifest of a version; of the current one by default.
    ///
    /// # Errors
    /// If there is no such version, or its manifest is damaged.
    pub async fn manifest(&self, version: Option<&str>) -> Result<Manifest> {
        let version = match version {
            Some(version) => version.to_owned(),
            None => self.current().await?.ok_or_else(|| self.nothing())?,
        };
        Ok(manifest(&self.location, &version).await?.0)
    }

    /// Pins a version under a name: garbage collection keeps it until [`unpin`](Self::unpin).
    ///
    /// # Errors
    /// If the name is taken, or the version does not exist or is being removed.
    pub async fn pin(&self, name: &str, version: &str) -> Result<()> {
        check(name)?;
        manifest(&self.location, version).await?;
        let object = self.location.object(&format!("pins/{name}"));
        let pin =
            Pin { format: FORMAT.to_owned(), format_version: FORMAT_VERSION, version: version.to_owned() };
        if self.location.create(&object, &pin).await?.is_none() {
            return Err(Error::option("pin", format_args!("another name than {name}, which is taken")));
        }
        // Collection retires a version first, then looks at the pins: one of the two sees the
        // other.
        let (pointer, _) = Pointer::read(&self.location).await?;
        if pointer.is_some_and(|pointer| pointer.is_retired(version)) {
            self.location.remove(&object).await?;
            return Err(Error::retired(version));
        }
        Ok(())
    }

    /// Removes a pin.
    ///
    /// # Errors
    /// If the object store fails.
    pub async fn unpin(&self, name: &str) -> Result<()> {
        check(name)?;
        self.location.remove(&self.location.object(&format!("pins/{name}"))).await
    }

    /// The pins: their names and versions.
    pub(crate) async fn pins(&self) -> Result<Vec<(String, String)>> {
        let mut pins = Vec::new();
        for object in self.location.list("pins").await?.objects {
            match self.location.document::<Pin>(&object.location).await {
                Ok((pin, ..)) => {
                    pins.push((object.location.filename().unwrap_or_default().to_owned(), pin.version));
                }
                // Removed meanwhile.
                Err(Error::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_new_ones_sort_by_time() {
        for name in ["", ".", "..", ".hidden", "a/b", "a b", "é", &"x".repeat(129)] {
            assert!(check(name).is_err(), "{name}");
        }
        for name in ["a", "2026-11-19", "v1.2_3", &"x".repeat(128)] {
            assert!(check(name).is_ok(), "{name}");
        }
        let name = new_name();
        check(&name).unwrap();
        assert!(name.starts_with("20") && name.len() == "20261119T174500Z-01234567".len(), "{name}");
    }
}
