//! The first page of a store's file: sealed, or marked as live.

use crate::Error;
use crate::format::header::{self, Header};
use crate::format::{PAGE, checksum};

use super::disk::DiskFile;
use super::manifest::Manifest;

/// The state of the first page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Sealed,
    Live {
        store: u64,
    },
    /// Neither: a torn write, or damage.
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

    /// Returns an error unless the store is sealed, as a store without a manifest must be.
    pub(super) fn check_sealed(&self) -> Result<(), Error> {
        match self {
            Self::Sealed => Ok(()),
            Self::Live { .. } => Err(Error::Live {
                what: "it is a live store without its manifest: restore the files beside it",
            }),
            Self::Torn => Err(Error::Damaged { part: "header", what: "its checksum is wrong" }),
        }
    }

    /// Reports whether the file is marked as live; an error if it belongs to another manifest.
    pub(super) fn is_written(file: &dyn DiskFile, manifest: &Manifest) -> Result<bool, Error> {
        let replaced = Error::Live {
            what: "another file has the name of this live store: put the right one back, or remove the files beside it",
        };
        match Self::read(file) {
            Ok(Self::Live { store }) if store == manifest.store => Ok(true),
            Ok(Self::Live { .. }) | Err(Error::NotAStore) => Err(replaced),
            Ok(Self::Torn) => {
                // The rest of the page may still show that the file belongs to another store: then
                // report the damaged header.
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
