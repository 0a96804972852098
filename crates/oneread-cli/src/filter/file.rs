//! Files of filters: mapped to be read, and written whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use memmap2::Mmap;
use oneread::bytes::{Kind, LoadError};
use tempfile::{Builder, tempfile_in};

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

/// The contents of a file that holds one of our containers.
pub(super) fn open(path: &Path) -> Result<Contents> {
    let contents = || {
        let mut file = File::open(path).context("cannot open it")?;
        let metadata = file.metadata().context("cannot open it")?;
        if metadata.is_dir() {
            bail!("it is a directory: name a file in it");
        }
        if metadata.is_file() {
            // SAFETY: a map is undefined if the file changes under it. `build` and `merge` never change a file:
            // they rename a new one to its place, and the map keeps the old one. Nothing here relies on the
            // contents to stay the same: a view checks every position against the length of the map. (Whoever
            // truncates the file in place ends this process by a signal.)
            if let Ok(map) = unsafe { Mmap::map(&file) } {
                return Ok(Contents::Mapped(map));
            }
        }
        // A pipe, which may be endless: its beginning tells whether to go on.
        const BEGINNING: u64 = 128;
        let mut bytes = Vec::new();
        (&mut file).take(BEGINNING).read_to_end(&mut bytes).context("cannot read it")?;
        Kind::of(&bytes).map_err(explained)?;
        file.read_to_end(&mut bytes).context("cannot read it")?;
        Ok(Contents::Read(bytes))
    };
    contents().with_context(|| path.display().to_string())
}

/// What is wrong with a file, and what its owner can do.
pub(super) fn explained(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::NotAContainer => anyhow!("{error}: make a filter with `oneread filter build`"),
        LoadError::Length { .. } | LoadError::Checksum { .. } => {
            anyhow!("{error}: build it again, or restore a copy")
        }
        LoadError::DigesterNeeded => {
            anyhow!("it was made by a program with a digester of its own, and only that program can ask it")
        }
        error => anyhow!("{error}"),
    }
}

/// A file to be made.
pub(super) struct Target {
    path: PathBuf,
    directory: PathBuf,
    force: bool,
}

impl Target {
    /// Checks beforehand what can be checked: that no file is there (or a plain one may be replaced), and that
    /// its directory takes files.
    pub(super) fn new(path: &Path, force: bool) -> Result<Self> {
        let target = || {
            match fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
                Ok(metadata) if !metadata.is_file() => bail!("it is not a plain file: name another one"),
                Ok(_) if !force => bail!("there already is such a file: name another one, or add --force"),
                _ => {}
            }
            let directory = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            let target = Self { path: path.to_owned(), directory: directory.to_owned(), force };
            target.scratch()?;
            Ok(target)
        };
        target().with_context(|| path.display().to_string())
    }

    /// A file without a name in the same directory: there is as much room as for the target, while the system's
    /// directory for temporary files may lie in memory.
    pub(super) fn scratch(&self) -> Result<File> {
        tempfile_in(&self.directory)
            .with_context(|| format!("cannot make a file in {}", self.directory.display()))
    }

    /// Makes the file of what `write` writes; says how many bytes that is.
    pub(super) fn write(self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<u64> {
        let written = || {
            let mut builder = Builder::new();
            builder.prefix(".oneread-");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // As for any new file: what the user's mask leaves of it.
                builder.permissions(fs::Permissions::from_mode(0o666));
            }
            let file = builder.tempfile_in(&self.directory)?;
            let mut writer = BufWriter::with_capacity(1 << 20, file);
            write(&mut writer)?;
            let file = writer.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            let bytes = file.as_file().metadata()?.len();
            // What fails takes the temporary file with it.
            if self.force {
                file.persist(&self.path)?
            } else {
                file.persist_noclobber(&self.path)?
            };
            Ok::<_, std::io::Error>(bytes)
        };
        written().with_context(|| format!("{}: cannot write it", self.path.display()))
    }
}
