//! What the system knows of files: their bytes on the disk, their pages in the cache, what this
//! process read.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use memmap2::Mmap;
use rustix::fs::Advice;

pub(super) const PAGE: u64 = 4096;

/// All files under a folder.
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

/// What all files under a folder take on the disk: holes take nothing, whatever their length.
pub(super) fn disk_bytes(folder: &Path) -> Result<u64> {
    /// The unit that file systems count in, whatever their own blocks are.
    const UNIT: u64 = 512;
    files(folder)?.iter().map(|file| Ok(fs::metadata(file)?.blocks() * UNIT)).sum()
}

/// Fails if a folder's disk has less than so many bytes free.
pub(super) fn ensure_free(folder: &Path, bytes: u64) -> Result<()> {
    let disk = rustix::fs::statvfs(folder).context("cannot ask how much of the disk is free")?;
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

/// Reads all files under a folder, so that the system's cache has them.
pub(super) fn remember(folder: &Path) -> Result<()> {
    for file in files(folder)? {
        io::copy(&mut File::open(&file)?, &mut io::sink())?;
    }
    Ok(())
}

/// Drops all files under a folder from the system's cache, and looks whether they are gone. None of
/// them may be mapped.
///
/// (They may still be in the cache of a disk, or of the host of a virtual one: nobody without
/// rights can drop that.)
pub(super) fn forget(folder: &Path) -> Result<()> {
    /// Pages on their way between two lists of the system are not dropped, but soon after they are.
    const TRIES: usize = 20;
    /// At most one page in so many may stay.
    const FEW: u64 = 1000;
    for path in files(folder)? {
        let file = File::open(&path)?;
        // Only pages that are on the disk can be dropped.
        file.sync_all()?;
        let allowed = file.metadata()?.len() / PAGE / FEW;
        for attempt in 1.. {
            rustix::fs::fadvise(&file, 0, None, Advice::DontNeed).context("the system takes no advice")?;
            let stayed = resident_pages(&file)?;
            if stayed <= allowed {
                break;
            }
            if attempt == TRIES {
                bail!("{stayed} pages of {} stay in the cache", path.display());
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
    // SAFETY: nothing is read through this map, whoever changes the file.
    let map = unsafe { Mmap::map(file)? };
    let mut pages = vec![0u8; map.len().div_ceil(PAGE as usize)];
    // SAFETY: the range is that of the map, and there is a byte for each of its pages.
    let answer = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr()) };
    ensure!(answer == 0, "the system does not tell what is cached: {}", std::io::Error::last_os_error());
    // The other bits are reserved.
    Ok(pages.iter().map(|page| u64::from(page & 1)).sum())
}

/// The bytes that this process had the system read from a disk so far, by calls and by touching
/// maps; none where it does not tell.
pub(super) fn bytes_read() -> Option<u64> {
    let counts = fs::read_to_string("/proc/self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

/// The bytes that the device of a folder has written so far, for everybody; none where the system
/// does not tell.
pub(super) fn device_bytes_written(folder: &Path) -> Option<u64> {
    /// What the system counts in, whatever the device's own sectors are.
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
        // Others of this process may have read too.
        if let (Some(before), Some(after)) = (before, bytes_read()) {
            assert!(after - before >= 100 * PAGE, "{before} to {after}");
        }
    }
}
