//! A store to be made: under its name only once it is whole, and never in the place of another without a word.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneread_store::{Report, Sealed};

pub(crate) struct Target {
    path: PathBuf,
    folder: PathBuf,
    /// Whether there may be something by now.
    replace: bool,
}

impl Target {
    /// Checks beforehand what can be checked: that there is no file, or a store without keys, or a plain file that may be
    /// replaced; and that its folder takes files.
    pub(crate) fn new(path: &Path, replace: bool) -> Result<Self> {
        let target = || {
            let mut replace = replace;
            match fs::metadata(path) {
                Ok(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
                Ok(metadata) if !metadata.is_file() => bail!("it is not a plain file: name another one"),
                Ok(_) if fs::exists(manifest(path)).unwrap_or(false) => {
                    bail!("it is a live store: remove it and the files beside it first, or name another one")
                }
                Ok(_) if replace => {}
                Ok(_) => match Sealed::open(path) {
                    Ok(store) if store.is_empty() => replace = true,
                    Ok(store) => bail!(
                        "there already is a store of {} keys, and an import makes a new one: name another one, or \
                         add --replace; `oneread store put` changes it",
                        store.len()
                    ),
                    Err(_) => bail!("there already is such a file: name another one, or add --replace"),
                },
                Err(_) => {}
            }
            let folder = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            let target = Self { path: path.to_owned(), folder: folder.to_owned(), replace };
            tempfile::tempfile_in(folder).with_context(|| target.no_files())?;
            Ok(target)
        };
        target().with_context(|| path.display().to_string())
    }

    /// Where the store will be: there is as much room as for it, while the system's folder for temporary files may lie in
    /// memory.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the store with a function that gives a file the name it is told.
    pub(crate) fn write(self, finish: impl FnOnce(&Path) -> Result<Report>) -> Result<Report> {
        let written = || {
            if self.replace {
                return finish(&self.path);
            }
            // Somebody may have made such a file in the meantime: the name is given only if it is free.
            let named = tempfile::Builder::new()
                .prefix(".oneread-")
                .suffix(".unfinished")
                .tempfile_in(&self.folder)
                .with_context(|| self.no_files())?;
            let path = named.into_temp_path();
            let report = finish(&path)?;
            path.persist_noclobber(&self.path).context("cannot give the store its name")?;
            #[cfg(unix)]
            fs::File::open(&self.folder)
                .and_then(|folder| folder.sync_all())
                .context("cannot sync the store's folder")?;
            Ok(report)
        };
        written().with_context(|| self.path.display().to_string())
    }

    fn no_files(&self) -> String {
        format!("cannot make a file in {}", self.folder.display())
    }
}

/// What a live store has beside it.
fn manifest(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".manifest");
    name.into()
}
