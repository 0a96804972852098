//! Writes files atomically, and never over a store.

use std::fs::{self, File};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use oneread_store::{Error, Occupant, StoreLock};
use tempfile::{Builder, tempfile_in};

/// Writes a file with `write`, and returns its length. The file gets its name only once it is whole
/// and on the medium; until then it is FILE.unfinished, as for stores. An existing file is replaced
/// only if `replace` is set.
///
/// The caller holds the [lock](reserve) of the name, so a FILE.unfinished that exists was left by a
/// killed process.
pub(crate) fn write_whole(
    path: &Path,
    replace: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<u64> {
    let mut unfinished = path.file_name().unwrap_or_default().to_owned();
    unfinished.push(".unfinished");
    match fs::remove_file(folder(path).join(&unfinished)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        removed => removed?,
    }
    let mut builder = Builder::new();
    builder.prefix(&unfinished).rand_bytes(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The usual permissions of a new file, reduced by the user's mask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder(path))?;
    // A replaced file keeps its permissions.
    if let Some(replaced) = fs::metadata(path).ok().filter(|_| replace) {
        file.as_file().set_permissions(replaced.permissions())?;
    }
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    // An error removes the temporary file.
    if replace {
        file.persist(path)?
    } else {
        file.persist_noclobber(path)?
    };
    Ok(bytes)
}

/// Writes a text to a file, replacing any file but a store. Writes directly to a pipe or a device.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    let write = || -> Result<()> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return fs::write(path, text).context("cannot write it");
        }
        // For a link, replaces the file that it leads to.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let _lock = reserve(&place)?;
        write_whole(&place, true, |writer| writer.write_all(text.as_bytes())).context("cannot write it")?;
        Ok(())
    };
    write().with_context(|| path.display().to_string())
}

/// Takes the lock of a name, and refuses to replace a store: others may have it open, and other
/// files belong to it.
pub(crate) fn reserve(path: &Path) -> Result<StoreLock> {
    scratch(folder(path))?;
    let lock = StoreLock::take(path).map_err(|error| match error {
        Error::Locked { holder: Some(holder) } => anyhow!("{holder} changes it: wait until it is done"),
        Error::Locked { holder: None } => anyhow!("another process changes it: wait until it is done"),
        error => error.into(),
    })?;
    if matches!(lock.occupant(), Occupant::Sealed | Occupant::Live) {
        bail!("it is a store: name another file");
    }
    Ok(lock)
}

/// An unnamed file in a folder, which goes when it is closed.
pub(crate) fn scratch(folder: &Path) -> Result<File> {
    tempfile_in(folder).with_context(|| format!("cannot make a file in {}", folder.display()))
}

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
