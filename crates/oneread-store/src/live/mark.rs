//! The first page of a store's file: sealed, or marked as that of a live store.

use crate::Error;
use crate::format::header::{self, Header};
use crate::format::{PAGE, checksum};

use super::disk::DiskFile;
use super::manifest::Manifest;

/// What the first page says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Sealed,
    Live {
        store: u64,
    },
    /// Neither: somebody was writing it, or has damaged it.
    Torn,
}

impl Mark {
    pub(super) fn read(file: &dyn DiskFile) -> Result<Self, Error> {
        let length = file.len().map_err(Error::io("read the store's length"))?.min(PAGE as u64);
        let mut page = vec![0; length as usize];
        file.read_at(0, &mut page).map_err(Error::io("read the store's header"))?;
        if let Some(store) = header::live_store(&page) {
            return Ok(Self::Live { store });
        }
        match Header::decode(&page) {
            Ok(_) => Ok(Self::Sealed),
            Err(Error::Damaged { .. } | Error::Length { .. } | Error::Live { .. }) => Ok(Self::Torn),
            Err(error) => Err(error),
        }
    }

    /// An error unless the store is sealed, as one without a manifest must be.
    pub(super) fn check_sealed(&self) -> Result<(), Error> {
        match self {
            Self::Sealed => Ok(()),
            Self::Live { .. } => Err(Error::Live {
                what: "it is a live store without its manifest: put back the files that stood beside it",
            }),
            Self::Torn => Err(Error::Damaged { part: "header", what: "its checksum is wrong" }),
        }
    }

    /// Whether the file is marked as live; an error if it is not that of the manifest.
    pub(super) fn is_written(file: &dyn DiskFile, manifest: &Manifest) -> Result<bool, Error> {
        let replaced = Error::Live {
            what: "another file has the name of this live store: put the right one back, or remove the files beside it",
        };
        match Self::read(file) {
            Ok(Self::Live { store }) if store == manifest.store => Ok(true),
            Ok(Self::Live { .. }) | Err(Error::NotAStore) => Err(replaced),
            Ok(Self::Torn) => {
                // The rest of the page may still show that it is another file's: then its header
                // was damaged, and that is what to say.
                if manifest.base.is_none() {
                    return Err(Error::Damaged { part: "header", what: "its checksum is wrong" });
                }
                Ok(false)
            }
            Ok(Self::Sealed) => {
                let mut page = vec![0; PAGE];
                file.read_at(0, &mut page).map_err(Error::io("read the store's header"))?;
                let is_base = |base: &Header| checksum(&base.encode()) == checksum(&page);
                if manifest.base.as_ref().is_some_and(|base| is_base(base)) {
                    Ok(false)
                } else {
                    Err(replaced)
                }
            }
            Err(error) => Err(error),
        }
    }
}
