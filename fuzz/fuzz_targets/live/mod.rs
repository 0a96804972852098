//! An in-memory disk with a small live store on it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use oneread_store::{Disk, DiskFile, Lock, OpenMode, Store, StoreOptions};

pub const PATH: &str = "a.store";

#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<PathBuf, Arc<File>>>>);

#[derive(Debug, Default)]
pub struct File(Mutex<Vec<u8>>);

#[derive(Debug)]
struct NoLock;

impl Lock for NoLock {}

impl Disk for Memory {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = self.0.lock().unwrap();
        let file = match (mode, files.get(path)) {
            (OpenMode::Read | OpenMode::Write, None) => return Err(io::ErrorKind::NotFound.into()),
            (OpenMode::CreateNew, Some(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            (OpenMode::Read | OpenMode::Write, Some(file)) => file.clone(),
            _ => files.entry(path.to_owned()).insert_entry(Arc::default()).get().clone(),
        };
        Ok(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.0.lock().unwrap();
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.lock().unwrap().remove(path);
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.0.lock().unwrap().contains_key(path))
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _: &Path) -> io::Result<Result<Box<dyn Lock>, Option<oneread_store::Holder>>> {
        Ok(Ok(Box::new(NoLock)))
    }

    fn stamp(&self, path: &Path) -> io::Result<u64> {
        let files = self.0.lock().unwrap();
        files.get(path).map(|file| Arc::as_ptr(file) as u64).ok_or(io::ErrorKind::NotFound.into())
    }
}

impl DiskFile for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.lock().unwrap();
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = start.checked_add(buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, written: &[u8]) -> io::Result<()> {
        /// Forged positions of free slots may lie far beyond the file.
        const MOST: u64 = 1 << 24;
        if offset + written.len() as u64 > MOST {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let mut bytes = self.0.lock().unwrap();
        let end = offset as usize + written.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(written);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.lock().unwrap().resize(length as usize, 0);
        Ok(())
    }
}

impl Memory {
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        self.0.lock().unwrap()[Path::new(path)].0.lock().unwrap().clone()
    }

    pub fn set(&self, path: &str, bytes: Vec<u8>) {
        self.0.lock().unwrap().insert(path.into(), Arc::new(File(Mutex::new(bytes))));
    }

    pub fn copy(&self) -> Self {
        let copy = Self::default();
        for (path, file) in &*self.0.lock().unwrap() {
            copy.set(path.to_str().unwrap(), file.0.lock().unwrap().clone());
        }
        copy
    }
}

fn options() -> StoreOptions {
    StoreOptions::new().seed(1).buffer_bytes(6000).segment_pages(3).slack_pages(6).background(false)
}

/// Several segments, large values, and changes in the log.
pub static STORE: LazyLock<Memory> = LazyLock::new(|| {
    let disk = Memory::default();
    let store = Store::create_on(Arc::new(disk.clone()), PATH, options()).unwrap();
    for key in 0..200u32 {
        let value = vec![7; if key % 16 == 0 { 1100 } else { 40 }];
        store.put(&key.to_le_bytes(), &value).unwrap();
    }
    store.close().unwrap();
    disk
});

/// Reads everything and makes a change; only panics count.
pub fn ask(disk: &Memory) {
    let options = options().lose_damaged_log(true);
    let Ok(store) = Store::open_on(Arc::new(disk.clone()), PATH, options) else { return };
    for key in 0..40u32 {
        _ = store.get(&key.to_le_bytes());
    }
    assert!(store.iter().count() <= 1 << 20);
    _ = (store.stats(), store.verify());
    for key in 190..230u32 {
        if store.put(&key.to_le_bytes(), &[7; 300]).is_err() {
            break;
        }
    }
    _ = store.checkpoint();
}
