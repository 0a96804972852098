//! A simulated disk that can crash, be full, and fail to sync.
//!
//! Writes are visible at once. Bytes are safe when their file is synced, names when their folder
//! is. A crash keeps what is safe, and a random part of the rest: all, nothing, or any 512-byte
//! sectors of each write; a prefix of the changes of names.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use oneread_store::{Disk, DiskFile, Holder, Lock, OpenMode};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::{below, random};

const SECTOR: usize = 512;

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(offset, written) => put(bytes, *offset, written),
            Self::Truncate(length) => bytes.resize(*length, 0),
        }
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    if bytes.len() < offset + written.len() {
        bytes.resize(offset + written.len(), 0);
    }
    bytes[offset..offset + written.len()].copy_from_slice(written);
}

#[derive(Clone, Debug, Default)]
struct Bytes {
    /// The visible content.
    now: Vec<u8>,
    /// The safe content.
    safe: Vec<u8>,
    /// The changes since the last sync.
    pending: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Naming {
    Give(PathBuf, usize),
    Move(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Give(path, file) => _ = names.insert(path.clone(), *file),
            Self::Remove(path) => _ = names.remove(path),
            Self::Move(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
        }
    }
}

/// A failure, and the operation at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The disk is full until there is room again.
    Full(u64),
    /// One sync fails, and its data is never safe.
    Sync(u64),
    /// Every operation fails.
    Off(u64),
}

#[derive(Debug, Default)]
struct State {
    files: Vec<Bytes>,
    names: BTreeMap<PathBuf, usize>,
    safe_names: BTreeMap<PathBuf, usize>,
    namings: Vec<Naming>,
    operations: u64,
    trouble: Option<Trouble>,
    locked: BTreeSet<PathBuf>,
}

type Hook = Box<dyn FnMut(&Simulated) + Send>;

#[derive(Default)]
pub(crate) struct Inner {
    state: Mutex<State>,
    /// Called before each operation that changes something.
    hook: Mutex<Option<Hook>>,
}

#[derive(Clone, Default)]
pub(crate) struct Simulated(Arc<Inner>);

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulated").finish_non_exhaustive()
    }
}

impl Simulated {
    pub(crate) fn arc(&self) -> Arc<dyn Disk> {
        Arc::new(self.clone())
    }

    pub(crate) fn set_hook(&self, hook: impl FnMut(&Simulated) + Send + 'static) {
        *self.0.hook.lock().unwrap() = Some(Box::new(hook));
    }

    pub(crate) fn remove_hook(&self) {
        *self.0.hook.lock().unwrap() = None;
    }

    pub(crate) fn set_trouble(&self, trouble: Option<Trouble>) {
        self.0.state.lock().unwrap().trouble = trouble;
    }

    /// The number of operations that changed something.
    pub(crate) fn operations(&self) -> u64 {
        self.0.state.lock().unwrap().operations
    }

    /// The remains of a crash at this moment.
    pub(crate) fn crashed(&self, random: &mut Pcg64Mcg) -> Self {
        let state = self.0.state.lock().unwrap();
        let mut names = state.safe_names.clone();
        let kept = below(random, state.namings.len() as u64 + 1) as usize;
        state.namings[..kept].iter().for_each(|naming| naming.apply(&mut names));
        let mut files = vec![Bytes::default(); state.files.len()];
        for &file in names.values() {
            let mut safe = state.files[file].safe.clone();
            for change in &state.files[file].pending {
                match (below(random, 4), change) {
                    (0, _) | (1, Change::Truncate(_)) => {}
                    (1, _) | (2, Change::Truncate(_)) => change.apply(&mut safe),
                    (_, Change::Truncate(_)) => change.apply(&mut safe),
                    (_, Change::Write(offset, written)) => {
                        let mut at = 0;
                        while at < written.len() {
                            let end = (at + SECTOR - (offset + at) % SECTOR).min(written.len());
                            if random.next_u64() & 1 == 0 {
                                put(&mut safe, offset + at, &written[at..end]);
                            }
                            at = end;
                        }
                    }
                }
            }
            files[file] = Bytes { now: safe.clone(), safe, pending: Vec::new() };
        }
        let state = State { files, names: names.clone(), safe_names: names, ..State::default() };
        Self(Arc::new(Inner { state: Mutex::new(state), hook: Mutex::new(None) }))
    }

    /// The remains of a killed process: all its writes, safe or not.
    pub(crate) fn killed(&self) -> Self {
        let state = self.0.state.lock().unwrap();
        let state = State {
            files: state.files.clone(),
            names: state.names.clone(),
            safe_names: state.safe_names.clone(),
            namings: state.namings.clone(),
            ..State::default()
        };
        Self(Arc::new(Inner { state: Mutex::new(state), hook: Mutex::new(None) }))
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let state = self.0.state.lock().unwrap();
        state.names.get(path.as_ref()).map(|&file| state.files[file].now.clone())
    }

    /// Adds a file that is safe.
    pub(crate) fn set_bytes(&self, path: impl AsRef<Path>, bytes: Vec<u8>) {
        let mut state = self.0.state.lock().unwrap();
        let file = state.files.len();
        state.files.push(Bytes { now: bytes.clone(), safe: bytes, pending: Vec::new() });
        state.names.insert(path.as_ref().to_owned(), file);
        state.safe_names.insert(path.as_ref().to_owned(), file);
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        self.0.state.lock().unwrap().names.keys().cloned().collect()
    }

    /// The same files, all safe.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::default();
        for name in self.names() {
            copy.set_bytes(&name, self.bytes(&name).unwrap());
        }
        copy
    }

    /// Counts an operation, or fails if it must. Returns whether this is the failing sync.
    fn operation(&self, writes: bool, syncs: bool) -> io::Result<bool> {
        let hook = self.0.hook.lock().unwrap().take();
        if let Some(mut hook) = hook {
            hook(self);
            *self.0.hook.lock().unwrap() = Some(hook);
        }
        let mut state = self.0.state.lock().unwrap();
        let number = state.operations;
        state.operations += 1;
        match state.trouble {
            Some(Trouble::Full(from)) if writes && number >= from => Err(io::ErrorKind::StorageFull.into()),
            Some(Trouble::Off(from)) if number >= from => Err(io::Error::other("the machine is off")),
            Some(Trouble::Sync(from)) if syncs && number >= from => {
                state.trouble = None;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

impl Disk for Simulated {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let present = self.0.state.lock().unwrap().names.get(path).copied();
        let file = match (mode, present) {
            (OpenMode::Read | OpenMode::Write, None) => return Err(io::ErrorKind::NotFound.into()),
            (OpenMode::CreateNew, Some(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            (OpenMode::Read | OpenMode::Write, Some(file)) => file,
            (OpenMode::Create, Some(file)) => {
                self.operation(false, false)?;
                let mut state = self.0.state.lock().unwrap();
                state.files[file].now.clear();
                state.files[file].pending.push(Change::Truncate(0));
                file
            }
            (OpenMode::Create | OpenMode::CreateNew, None) => {
                self.operation(true, false)?;
                let mut state = self.0.state.lock().unwrap();
                let file = state.files.len();
                state.files.push(Bytes::default());
                state.names.insert(path.to_owned(), file);
                state.namings.push(Naming::Give(path.to_owned(), file));
                file
            }
        };
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation(false, false)?;
        let mut state = self.0.state.lock().unwrap();
        if !state.names.contains_key(from) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let naming = Naming::Move(from.to_owned(), to.to_owned());
        naming.apply(&mut state.names);
        state.namings.push(naming);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.operation(false, false)?;
        let mut state = self.0.state.lock().unwrap();
        if !state.names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let naming = Naming::Remove(path.to_owned());
        naming.apply(&mut state.names);
        state.namings.push(naming);
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.0.state.lock().unwrap().names.contains_key(path))
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        if self.operation(false, true)? {
            return Err(io::Error::other("the sync failed"));
        }
        let mut state = self.0.state.lock().unwrap();
        state.safe_names = state.names.clone();
        state.namings.clear();
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>> {
        let mut state = self.0.state.lock().unwrap();
        if !state.locked.insert(path.to_owned()) {
            return Ok(Err(Some(Holder::new(1, None))));
        }
        Ok(Ok(Box::new(Held(self.clone(), path.to_owned()))))
    }

    fn stamp(&self, path: &Path) -> io::Result<u64> {
        let state = self.0.state.lock().unwrap();
        state.names.get(path).map(|&file| file as u64).ok_or(io::ErrorKind::NotFound.into())
    }
}

#[derive(Debug)]
struct Held(Simulated, PathBuf);

impl Lock for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.state.lock().unwrap().locked.remove(&self.1);
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: Simulated,
    file: usize,
}

impl SimulatedFile {
    fn change(&self, change: Change) -> io::Result<()> {
        if let Err(error) = self.disk.operation(true, false) {
            // A full disk accepts a part.
            if let (Change::Write(offset, bytes), io::ErrorKind::StorageFull) = (&change, error.kind()) {
                self.apply(Change::Write(*offset, bytes[..bytes.len() / 2].to_vec()));
            }
            return Err(error);
        }
        self.apply(change);
        Ok(())
    }

    fn apply(&self, change: Change) {
        let bytes = &mut self.disk.0.state.lock().unwrap().files[self.file];
        change.apply(&mut bytes.now);
        bytes.pending.push(change);
    }
}

impl DiskFile for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.0.state.lock().unwrap().files[self.file].now.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let state = self.disk.0.state.lock().unwrap();
        let bytes = state.files[self.file].now.get(offset as usize..offset as usize + buffer.len());
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(Change::Write(offset as usize, bytes.to_vec()))
    }

    fn sync(&self) -> io::Result<()> {
        let fails = self.disk.operation(false, true)?;
        let bytes = &mut self.disk.0.state.lock().unwrap().files[self.file];
        let pending = std::mem::take(&mut bytes.pending);
        if fails {
            // As in real systems: the failed data is forgotten, and the next sync succeeds without
            // it.
            return Err(io::Error::other("the sync failed"));
        }
        pending.iter().for_each(|change| change.apply(&mut bytes.safe));
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.change(Change::Truncate(length as usize))
    }
}

#[test]
fn a_crash_keeps_what_is_safe_and_parts_of_the_rest() {
    let disk = Simulated::default();
    let path = Path::new("file");
    let file = disk.open(path, OpenMode::Create).unwrap();
    file.write_at(0, &[1; 2000]).unwrap();
    file.sync().unwrap();
    let mut random = random(1);
    assert!((0..50).any(|_| disk.crashed(&mut random).bytes(path).is_none()));
    disk.sync_folder(path).unwrap();
    file.write_at(100, &[2; 1500]).unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..500 {
        let bytes = disk.crashed(&mut random).bytes(path).unwrap();
        assert!(bytes.len() == 2000 && bytes[..100] == [1; 100] && bytes[1600..] == [1; 400]);
        assert!(bytes[100..1600].chunk_by(|a, b| a == b).count() <= 4);
        seen.insert(bytes);
    }
    // Four sectors or parts of them, each old or new.
    assert_eq!(seen.len(), 16);
}
