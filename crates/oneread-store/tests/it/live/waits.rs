//! How long a change waits, and how large the log gets.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use oneread_store::{Disk, DiskFile, Holder, Lock, OpenMode, Store, StoreOptions, SyncPolicy, SystemDisk};

use crate::{bytes, random};

/// The time of a sync on a slow disk.
const SYNC: Duration = Duration::from_secs(4);

/// A disk that syncs slowly, and counts syncs.
#[derive(Debug)]
struct Slow {
    syncs: Arc<AtomicU64>,
}

#[derive(Debug)]
struct SlowFile {
    file: Arc<dyn DiskFile>,
    syncs: Arc<AtomicU64>,
}

impl Disk for Slow {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(SlowFile { file: SystemDisk.open(path, mode)?, syncs: self.syncs.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        SystemDisk.remove(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        SystemDisk.exists(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        SystemDisk.sync_folder(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>> {
        SystemDisk.lock(path)
    }

    fn stamp(&self, path: &Path) -> io::Result<u64> {
        SystemDisk.stamp(path)
    }
}

impl DiskFile for SlowFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        thread::sleep(SYNC);
        self.syncs.fetch_add(1, Relaxed);
        self.file.sync()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
}

/// A change used to wait for the current checkpoint when merging was behind.
#[test]
#[ignore = "long: about 10 s"]
fn a_change_does_not_wait_for_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let syncs = Arc::new(AtomicU64::new(0));
    let disk = Arc::new(Slow { syncs: syncs.clone() });
    let options = StoreOptions::new().sync(SyncPolicy::Never).seed(3).buffer_bytes(1 << 20).slack_pages(100);
    let store = Store::create_on(disk, folder.path().join("a.store"), options).unwrap();
    let before = syncs.load(Relaxed);
    let mut random = random(1);
    let mut longest = Duration::ZERO;
    // A buffer holds about 5000 of them. Each round syncs the closed log, the pages and the
    // manifest at least once.
    let mut number = 0u64;
    while number < 8000 || syncs.load(Relaxed) - before < 4 {
        let value = bytes(&mut random, 100);
        let start = Instant::now();
        store.put(&number.to_le_bytes(), &value).unwrap();
        longest = longest.max(start.elapsed());
        number += 1;
    }
    // It waits 5 ms. A busy machine may add a second once, but not every time.
    assert!(longest < SYNC * 2 / 3, "{longest:?} of {number} changes");
    drop(store);
}

/// A key that changed repeatedly left one change in the buffer, which was never full, while its log
/// grew without end.
#[test]
fn the_log_is_bounded_though_one_key_changes_for_ever() {
    const BUFFER: u64 = 40_000;
    for background in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let options =
            StoreOptions::new().sync(SyncPolicy::Never).buffer_bytes(BUFFER as usize).background(background);
        let store = Store::create(folder.path().join("a.store"), options).unwrap();
        for number in 0..20_000u32 {
            store.put(b"key", &number.to_le_bytes()).unwrap();
        }
        assert_eq!(store.get(b"key").unwrap().as_deref(), Some(&19_999u32.to_le_bytes()[..]));
        for name in ["a.store.log0", "a.store.log1"] {
            let log = std::fs::metadata(folder.path().join(name)).unwrap().len();
            // One and a half buffers; a header, an end and a change; and a sixteenth of a buffer
            // ahead.
            assert!(log <= BUFFER * 3 / 2 + 1024 + BUFFER / 16, "{name} has {log} bytes");
        }
    }
}

#[test]
fn metrics_tell_what_was_done() {
    const CHANGES: u64 = 500;
    let disk = super::disk::Simulated::default();
    let store = super::create(disk.arc(), super::small()).unwrap();
    assert_eq!(store.metrics().log_bytes, 0);
    for number in 0..CHANGES as u32 {
        store.put(&number.to_le_bytes(), &[7; 100]).unwrap();
    }
    let done = store.metrics();
    // 40 bytes before the change, lengths of 2 and 4, the key, the value, and zeros up to 152.
    assert_eq!(done.log_bytes, 152 * CHANGES);
    // A single thread shares no sync, and a closed log is synced once more.
    assert!((CHANGES..CHANGES * 5 / 4).contains(&done.log_syncs), "{done:?}");
    // About 38 changes fill a buffer, and the writers of these do the work on pages.
    assert!(done.merges >= 20 && done.page_writes >= 2 * done.merges && done.checkpoints >= 10, "{done:?}");
    assert!(done.stalls > 0 && done.longest_stall <= done.stall_time);
    store.checkpoint().unwrap();
    let after = store.metrics();
    assert!(after.checkpoints > done.checkpoints && after.checkpoint_time >= after.longest_checkpoint);
    assert_eq!(after.log_bytes, done.log_bytes);
}
