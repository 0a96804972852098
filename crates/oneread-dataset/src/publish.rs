//! Publishing: makes a finished version the current one.

use crate::pointer::Pointer;
use crate::version::{check, manifest, now};
use crate::{Dataset, Error, Result};

impl Dataset {
    /// The current version, if one is published.
    ///
    /// # Errors
    /// If the pointer cannot be read, or is damaged.
    pub async fn current(&self) -> Result<Option<String>> {
        Ok(Pointer::read(&self.location).await?.0.map(|pointer| pointer.version))
    }

    /// Makes a finished version current. Returns the one that was current before.
    ///
    /// # Errors
    /// [`Error::NoVersion`] if it is not finished; [`Error::Conflict`] if somebody else published
    /// meanwhile: then theirs is current, and this one is not.
    pub async fn publish(&self, version: &str) -> Result<Option<String>> {
        check(version)?;
        // In this order: collection retires a version before it removes its manifest.
        let (before, seen) = Pointer::read(&self.location).await?;
        let (_, checksum) = manifest(&self.location, version).await?;
        if before.as_ref().is_some_and(|before| before.is_retired(version)) {
            return Err(Error::retired(version));
        }
        Pointer::after(before.as_ref(), version, checksum, now()).swap(&self.location, seen).await?;
        Ok(before.map(|before| before.version))
    }

    /// Goes back to the version that was current before, or to `version`. Returns the current one.
    ///
    /// # Errors
    /// Like [`publish`](Self::publish); also if there is no former version.
    pub async fn rollback(&self, version: Option<&str>) -> Result<String> {
        let to = match version {
            Some(version) => version.to_owned(),
            None => {
                let (pointer, _) = Pointer::read(&self.location).await?;
                let pointer = pointer.ok_or_else(|| self.nothing())?;
                let former = pointer.history.iter().find(|former| former.version != pointer.version);
                former
                    .ok_or_else(|| Error::option("rollback", "a dataset with a former version"))?
                    .version
                    .clone()
            }
        };
        self.publish(&to).await?;
        Ok(to)
    }

    pub(crate) fn nothing(&self) -> Error {
        Error::NoDataset { url: self.location.url().to_owned() }
    }
}
