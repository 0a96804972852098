//! Those who read while others write: how long they try, and that nobody waits for them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use oneread_store::{Disk, DiskFile, Error, Holder, Lock, OpenMode, Store};

use super::disk::Simulated;
use super::{PATH, create, small};

/// Called with the name of a file before it is opened, or before it is read.
type Hook = Arc<dyn Fn(&Path) + Send + Sync>;

/// A simulated disk on which something happens before a file is opened, or before it is read.
#[derive(Clone)]
struct Watched {
    disk: Simulated,
    on_open: Option<Hook>,
    on_read: Option<Hook>,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}

fn call(hook: Option<&Hook>, path: &Path) {
    if let Some(hook) = hook {
        hook(path);
    }
}

impl Disk for Watched {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        call(self.on_open.as_ref(), path);
        let file = self.disk.open(path, mode)?;
        Ok(Arc::new(WatchedFile { file, path: path.to_owned(), on_read: self.on_read.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.disk.sync_folder(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>> {
        self.disk.lock(path)
    }

    fn stamp(&self, path: &Path) -> io::Result<u64> {
        self.disk.stamp(path)
    }
}

struct WatchedFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    on_read: Option<Hook>,
}

impl std::fmt::Debug for WatchedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.fmt(f)
    }
}

impl DiskFile for WatchedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        call(self.on_read.as_ref(), &self.path);
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
}

/// A reader beside a writer that makes a checkpoint whenever the reader opens the manifest, as often
/// as the number says.
fn outrun(disk: &Simulated) -> (Store, Arc<Mutex<u64>>) {
    let left = Arc::new(Mutex::new(0u64));
    let writer = create(disk.arc(), small()).unwrap();
    writer.put(b"key", &0u64.to_le_bytes()).unwrap();
    writer.checkpoint().unwrap();
    let of_hook = left.clone();
    let hook = move |path: &Path| {
        let mut left = of_hook.lock().unwrap();
        if *left > 0 && path.extension().is_some_and(|extension| extension == "manifest") {
            writer.put(b"key", &left.to_le_bytes()).unwrap();
            writer.checkpoint().unwrap();
            *left -= 1;
        }
    };
    let disk = Watched { disk: disk.clone(), on_open: Some(Arc::new(hook)), on_read: None };
    let reader = Store::open_read_only_on(Arc::new(disk), Path::new(PATH), small()).unwrap();
    (reader, left)
}

/// With small buffers, a reader used to give up after 20 checkpoints that came while it loaded.
#[test]
fn a_reader_outlasts_checkpoints_that_come_whenever_it_loads() {
    let (reader, left) = outrun(&Simulated::default());
    assert_eq!(reader.get(b"key").unwrap().as_deref(), Some(&0u64.to_le_bytes()[..]));
    *left.lock().unwrap() = 100;
    reader.refresh().unwrap();
    assert_eq!(*left.lock().unwrap(), 0);
    assert_eq!(reader.get(b"key").unwrap().as_deref(), Some(&1u64.to_le_bytes()[..]));
    assert!(reader.verify().unwrap().is_whole());
}

#[test]
#[ignore = "long: 10 s"]
fn a_reader_that_is_always_outrun_says_so_after_ten_seconds() {
    let (reader, left) = outrun(&Simulated::default());
    *left.lock().unwrap() = u64::MAX;
    let start = Instant::now();
    assert!(matches!(reader.refresh(), Err(Error::Changed)));
    let took = start.elapsed();
    assert!((Duration::from_secs(10)..Duration::from_secs(30)).contains(&took), "{took:?}");
    *left.lock().unwrap() = 0;
    reader.refresh().unwrap();
    assert!(reader.get(b"key").unwrap().is_some());
}

#[test]
fn damage_is_reported_at_once_and_not_taken_for_a_change() {
    let disk = Simulated::default();
    let (reader, _) = outrun(&disk);
    let name = format!("{PATH}.manifest");
    let mut manifest = disk.bytes(&name).unwrap();
    manifest[50] ^= 1;
    disk.set_bytes(&name, manifest);
    let start = Instant::now();
    assert!(matches!(reader.refresh(), Err(Error::Damaged { part: "manifest", .. })));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Statistics hold the pages of their moment, and read some of them.
#[test]
fn writes_and_checkpoints_do_not_wait_for_statistics() {
    let disk = Simulated::default();
    let (reads, read) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let gate = Mutex::new(Some((reads, may_go_on)));
    let hook = move |path: &Path| {
        if thread::current().name() == Some("stats") && path == Path::new(PATH) {
            let first = gate.lock().unwrap().take();
            if let Some((reads, may_go_on)) = first {
                reads.send(()).unwrap();
                may_go_on.recv().unwrap();
            }
        }
    };
    let watched = Watched { disk, on_open: None, on_read: Some(Arc::new(hook)) };
    let store = Arc::new(create(Arc::new(watched), small().buffer_bytes(1 << 20)).unwrap());
    let key = |number: u32| number.to_le_bytes();
    (0..200).for_each(|number| store.put(&key(number), &[1; 50]).unwrap());
    store.checkpoint().unwrap();
    // A change of a key that is on a page, which must be read for the count.
    store.put(&key(7), &[2; 50]).unwrap();
    let of_thread = store.clone();
    let counting = thread::Builder::new().name("stats".to_owned());
    let counting = counting.spawn(move || of_thread.stats().unwrap().items).unwrap();
    read.recv().unwrap();

    let of_thread = store.clone();
    let (done, is_done) = mpsc::channel();
    let writing = thread::spawn(move || {
        for round in 0..20u8 {
            (0..200).for_each(|number| of_thread.put(&key(number), &[round; 50]).unwrap());
            of_thread.checkpoint().unwrap();
        }
        of_thread.put(b"one more", b"").unwrap();
        done.send(()).unwrap();
    });
    let is_done = is_done.recv_timeout(Duration::from_secs(60));
    go_on.send(()).unwrap();
    assert!(is_done.is_ok(), "a checkpoint waits for a count");
    writing.join().unwrap();
    // The count is of its own moment.
    assert_eq!(counting.join().unwrap(), 200);
    assert_eq!(store.len().unwrap(), 201);
    // The slots that it held are free again.
    store.checkpoint().unwrap();
    assert!(store.verify().unwrap().is_whole());
}
