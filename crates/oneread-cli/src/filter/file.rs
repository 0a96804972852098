//! Filter files: mapped for reading, and written whole or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use memmap2::Mmap;
use oneread::bytes::{Kind, LoadError};
use oneread_store::StoreLock;

use crate::replace::{folder, reserve, scratch, write_whole};

/// The bytes of a file.
pub(super) enum Contents {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(bytes) => bytes,
        }
    }
}

/// Opens a file and checks that it holds one of our containers.
pub(super) fn open(path: &Path) -> Result<Contents> {
    let contents = || {
        let mut file = File::open(path).context("cannot open it")?;
        let metadata = file.metadata().context("cannot open it")?;
        if metadata.is_dir() {
            bail!("it is a directory: name a file in it");
        }
        if metadata.is_file() {
            // SAFETY: a map is undefined if the file changes under it. `build`, `merge`,
            // `add` and `remove` never change a file: they rename a new one to its place, and the
            // map keeps the old one.
            // Nothing here relies on the contents to stay the same: a view checks every position
            // against the length of the map. (Truncating the file in place ends this process by a
            // signal.)
            if let Ok(map) = unsafe { Mmap::map(&file) } {
                return Ok(Contents::Mapped(map));
            }
        }
        // A pipe may be endless: its first bytes tell whether to continue.
        const BEGINNING: u64 = 128;
        let mut bytes = Vec::new();
        (&mut file).take(BEGINNING).read_to_end(&mut bytes).context("cannot read it")?;
        Kind::of(&bytes).map_err(explained)?;
        file.read_to_end(&mut bytes).context("cannot read it")?;
        Ok(Contents::Read(bytes))
    };
    contents().with_context(|| path.display().to_string())
}

/// Explains what is wrong with a file, and what its owner can do.
pub(super) fn explained(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::NotAContainer => anyhow!("{error}: make a filter with `oneread filter build`"),
        LoadError::Length { .. } | LoadError::Checksum { .. } => {
            anyhow!("{error}: build it again, or restore a copy")
        }
        LoadError::DigesterNeeded => {
            anyhow!("it was made by a program with its own digester, and only that program can query it")
        }
        error => anyhow!("{error}"),
    }
}

const TAKEN: &str = "there already is such a file: name another one, or add --force";

/// A file that is about to be written.
pub(super) struct Target {
    path: PathBuf,
    force: bool,
    /// Held until the file is written: no other command changes or replaces it meanwhile.
    _lock: StoreLock,
}

impl Target {
    /// Checks in advance that there is no file (or a plain one that may be replaced), and that its
    /// directory accepts files.
    pub(super) fn new(path: &Path, force: bool) -> Result<Self> {
        let target = || {
            match fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
                Ok(metadata) if !metadata.is_file() => bail!("it is not a plain file: name another one"),
                Ok(_) if !force => bail!(TAKEN),
                _ => {}
            }
            Ok(Self { path: path.to_owned(), force, _lock: reserve(path)? })
        };
        target().with_context(|| path.display().to_string())
    }

    /// An unnamed file in the target's directory, which has room for it; the system's temporary
    /// directory may lie in memory.
    pub(super) fn scratch(&self) -> Result<File> {
        scratch(folder(&self.path))
    }

    /// Writes the file with `write`; returns its length.
    pub(super) fn write(self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<u64> {
        let written = write_whole(&self.path, self.force, write).map_err(|error| match error.kind() {
            // The file was created after `new` had looked.
            ErrorKind::AlreadyExists => anyhow!(TAKEN),
            _ => anyhow::Error::new(error).context("cannot write it"),
        });
        written.with_context(|| self.path.display().to_string())
    }
}
