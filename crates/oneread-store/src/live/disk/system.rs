//! The files of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Disk, DiskFile, Holder, Lock, OpenMode};
#[cfg(unix)]
use crate::Hold;
use crate::error::at;
#[cfg(unix)]
use crate::read::file::hold;
use crate::read::file::read_exact_at;

/// The files of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => &mut options,
            OpenMode::Write => options.write(true),
            OpenMode::Create => options.write(true).create(true).truncate(true),
            OpenMode::CreateNew => options.write(true).create_new(true),
        };
        let file = options.open(path).map_err(at(path))?;
        Ok(Arc::new(SystemFile { file, path: path.to_owned() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to).map_err(at(to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).map_err(at(path))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path).map_err(at(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Where folders cannot be synced, the system makes names safe by itself.
        #[cfg(unix)]
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))?;
        let _ = folder;
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>> {
        take_lock(path).map_err(at(path))
    }
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path).map_err(at(path)),
            _ => Ok(path.to_owned()),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<u64> {
        let metadata = fs::metadata(path).map_err(at(path))?;
        let time =
            metadata.modified().map_err(at(path))?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let file = metadata.len();
        Ok((time.as_nanos() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ file)
    }
}

/// Takes a lock, or returns its holder.
fn take_lock(path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>> {
    loop {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            // The last holder may have removed the file since it was opened: then another file has
            // the name by now, or none.
            Ok(()) if !is_at(&file, path)? => {}
            Ok(()) => {
                let held = Held { path: path.to_owned(), file };
                // The content only serves the message of other processes.
                held.file.set_len(0)?;
                writeln!(&held.file, "{} {}", std::process::id(), program())?;
                return Ok(Ok(Box::new(held)));
            }
            Err(fs::TryLockError::WouldBlock) => return Ok(Err(holder(&mut file))),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Reports whether an open file still has this name. Where that cannot be determined, lock files
/// are never removed.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let opened = file.metadata()?;
        match fs::metadata(path) {
            Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}

/// The printable part of this program's name.
fn program() -> String {
    const SHOWN: usize = 64;
    let path = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    name.chars().filter(|character| !character.is_control()).take(SHOWN).collect()
}

/// Reads the holder from the lock file.
fn holder(file: &mut File) -> Option<Holder> {
    /// Holders write right after taking the lock, which may take some time on a busy machine.
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        let mut text = String::new();
        file.rewind().and_then(|()| file.take(512).read_to_string(&mut text)).ok()?;
        if let Some(line) = text.strip_suffix('\n') {
            let (process, program) = line.split_once(' ').unwrap_or((line, ""));
            let program = (!program.is_empty()).then(|| program.to_owned());
            return Some(Holder::new(process.parse().ok()?, program));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    None
}

/// Closing the file releases the lock.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    #[cfg_attr(not(unix), expect(dead_code, reason = "it is only kept open"))]
    file: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Removed while the lock is held, so that no other holder's file is removed. Elsewhere the
        // file stays: nobody could tell whether it still has its name.
        #[cfg(unix)]
        if is_at(&self.file, &self.path).unwrap_or(false) {
            // A leftover file is harmless; the next process locks it.
            _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock for Held {}

#[derive(Debug)]
struct SystemFile {
    file: File,
    path: PathBuf,
}

impl DiskFile for SystemFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata().map_err(at(&self.path))?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, buffer, offset).map_err(at(&self.path))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(&self.file, bytes, offset).map_err(at(&self.path))
    }

    fn sync(&self) -> io::Result<()> {
        // The length is data; the times are not.
        self.file.sync_data().map_err(at(&self.path))
    }

    fn try_lock_alone(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(at(&self.path)(error)),
        }
    }

    // On other systems, locks block readers.
    #[cfg(unix)]
    fn pin(&self) -> io::Result<bool> {
        Ok(hold(&self.file) == Hold::Held)
    }

    #[cfg(unix)]
    fn is_pinned(&self) -> bool {
        match self.file.try_lock() {
            // Readers that pin the file from here on read the manifest later.
            Ok(()) => self.file.unlock().is_err(),
            Err(fs::TryLockError::WouldBlock) => true,
            // Without file locks there are no pins.
            Err(fs::TryLockError::Error(_)) => false,
        }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length).map_err(at(&self.path))
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
