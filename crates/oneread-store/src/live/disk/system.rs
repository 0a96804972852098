//! The files of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use super::{Disk, DiskFile, Lock, OpenMode};
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
        Ok(Arc::new(SystemFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Where folders cannot be synced, the system sees to it.
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        let _ = folder;
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<u32>>> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {
                // Only for the message that another process shows.
                file.set_len(0)?;
                file.rewind()?;
                writeln!(file, "{}", std::process::id())?;
                Ok(Ok(Box::new(Held { _file: file })))
            }
            Err(fs::TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = (&file).take(32).read_to_string(&mut text);
                Ok(Err(read.ok().and_then(|_| text.trim().parse().ok())))
            }
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<u64> {
        let metadata = fs::metadata(path)?;
        let time = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let file = metadata.len();
        Ok((time.as_nanos() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ file)
    }
}

/// The system ends the lock with the file.
#[derive(Debug)]
struct Held {
    _file: File,
}

impl Lock for Held {}

#[derive(Debug)]
struct SystemFile(File);

impl DiskFile for SystemFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.0, buffer, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all_at(&self.0, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        // Its length is data; its times are not.
        self.0.sync_data()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
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
