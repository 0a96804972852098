//! What the system reports about files: bytes on disk, cached pages, bytes read by this process.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use memmap2::Mmap;
use rustix::fs::Advice;

pub(super) const PAGE: u64 = 4096;

/// All files in a folder and below.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Disk space of all files in a folder. Holes take none.
pub(super) fn disk_bytes(folder: &Path) -> Result<u64> {
    /// The unit of `st_blocks`, whatever the file system's own block size.
    const UNIT: u64 = 512;
    files(folder)?.iter().map(|file| Ok(fs::metadata(file)?.blocks() * UNIT)).sum()
}

/// Fails if the folder's disk has less than `bytes` free.
pub(super) fn ensure_free(folder: &Path, bytes: u64) -> Result<()> {
    let disk = rustix::fs::statvfs(folder).context("cannot determine the free disk space")?;
    let free = disk.f_bavail * disk.f_frsize;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    ensure!(
        free >= bytes,
        "the stores may take {:.1} GiB in {}, where {:.1} GiB are free: free some, or name another folder by TMPDIR",
        gib(bytes),
        folder.display(),
        gib(free)
    );
    Ok(())
}

/// Reads all files in a folder, so that the system caches them.
pub(super) fn remember(folder: &Path) -> Result<()> {
    for file in files(folder)? {
        io::copy(&mut File::open(&file)?, &mut io::sink())?;
    }
    Ok(())
}

/// Drops all files in a folder from the system's cache, and checks that they are gone. None of them
/// may be mapped.
///
/// (They may still be in the cache of a disk, or of the host of a virtual one; dropping those needs
/// rights.)
pub(super) fn forget(folder: &Path) -> Result<()> {
    /// Pages that the system is moving between its lists cannot be dropped, but can be soon after.
    const TRIES: usize = 20;
    /// At most one page in `FEW` may stay cached.
    const FEW: u64 = 1000;
    for path in files(folder)? {
        let file = File::open(&path)?;
        // Only clean pages can be dropped.
        file.sync_all()?;
        let allowed = file.metadata()?.len() / PAGE / FEW;
        for attempt in 1.. {
            rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
                .context("cannot advise the system to drop the file from its cache")?;
            let stayed = resident_pages(&file)?;
            if stayed <= allowed {
                break;
            }
            if attempt == TRIES {
                bail!("{stayed} pages of {} stay in the system's cache", path.display());
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    Ok(())
}

/// The pages of a file that are in the system's cache.
fn resident_pages(file: &File) -> Result<u64> {
    if file.metadata()?.len() == 0 {
        return Ok(0);
    }
    // SAFETY: nothing reads through this map, so that changes to the file do no harm.
    let map = unsafe { Mmap::map(file)? };
    let mut pages = vec![0u8; map.len().div_ceil(PAGE as usize)];
    // SAFETY: the range is that of the map, and `pages` has a byte for each of its pages.
    let answer = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr()) };
    ensure!(
        answer == 0,
        "the system does not report which pages are cached: {}",
        std::io::Error::last_os_error()
    );
    // The other bits are reserved.
    Ok(pages.iter().map(|page| u64::from(page & 1)).sum())
}

/// The bytes that this process has made the system read from disk, by calls and through maps;
/// `None` where the system does not report it.
pub(super) fn bytes_read() -> Option<u64> {
    let counts = fs::read_to_string("/proc/self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

/// The bytes written to the device of a folder, by all programs; `None` where the system does not
/// report it.
pub(super) fn device_bytes_written(folder: &Path) -> Option<u64> {
    /// The unit of this counter, whatever the device's own sectors are.
    const SECTOR: u64 = 512;
    /// In `Documentation/block/stat.rst`: the seventh field is "write sectors".
    const WRITTEN: usize = 6;
    let device = fs::metadata(folder).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let counts = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?;
    Some(SECTOR * counts.split_whitespace().nth(WRITTEN)?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cached_when_it_was_read_and_not_when_it_was_forgotten() {
        let folder = tempfile::tempdir_in(".").unwrap();
        let path = folder.path().join("inner").join("file");
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, vec![1; 100 * PAGE as usize]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        assert_eq!((resident_pages(&file).unwrap(), disk_bytes(folder.path()).unwrap()), (100, 100 * PAGE));
        forget(folder.path()).unwrap();
        assert_eq!(resident_pages(&file).unwrap(), 0);
        let before = bytes_read();
        fs::read(&path).unwrap();
        assert_eq!(resident_pages(&file).unwrap(), 100);
        // Other threads of this process may have read too.
        if let (Some(before), Some(after)) = (before, bytes_read()) {
            assert!(after - before >= 100 * PAGE, "{before} to {after}");
        }
    }
}
