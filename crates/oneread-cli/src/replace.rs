//! Files that may take the place of others: whole or not at all, and never the place of a store.

use std::fs;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use oneread_store::{Error, Occupant, StoreLock};
use tempfile::Builder;

/// Makes a file of what `write` writes; says how many bytes that is. It has its name only once it
/// is whole and on the medium. A file of this name is replaced only if `replace` says so.
pub(crate) fn write_whole(
    path: &Path,
    replace: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<u64> {
    let mut builder = Builder::new();
    builder.prefix(".oneread-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file: what the user's mask leaves of it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder(path))?;
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    // What fails takes the temporary file with it.
    if replace {
        file.persist(path)?
    } else {
        file.persist_noclobber(path)?
    };
    Ok(bytes)
}

/// Makes a file of a text, in the place of any other but a store. Into a pipe or a device it is
/// written as it is.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    let write = || -> Result<()> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return fs::write(path, text).context("cannot write it");
        }
        refuse_store(path)?;
        // Of a link, the file that it leads to is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        write_whole(&place, true, |writer| writer.write_all(text.as_bytes())).context("cannot write it")?;
        Ok(())
    };
    write().with_context(|| path.display().to_string())
}

/// Refuses to replace a store: others may have it open, and the files beside it belong to it.
pub(crate) fn refuse_store(path: &Path) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    match StoreLock::take(path) {
        Ok(lock) if matches!(lock.occupant(), Occupant::Sealed | Occupant::Live) => {
            bail!("it is a store: name another file")
        }
        Err(error @ Error::Locked { .. }) => Err(error.into()),
        // What is wrong with the folder, writing to it tells.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Where a file lies.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
