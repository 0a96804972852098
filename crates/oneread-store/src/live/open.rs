//! Making a live store, opening one, and beginning one from a sealed store.
//!
//! A sealed store begins a live one when it gets a manifest: its segments are named there as the sealed store describes them, and
//! none of its pages is written or moved. Then its header is marked as that of a live store, so that nobody reads it as sealed while
//! it changes. If a crash tears that write, the manifest has the header too, and the mark is written again.
//!
//! Whoever reads a sealed store holds a shared lock on its file, and looks at the header after it has that lock. All of the above
//! is done under the exclusive lock. So while somebody reads, the store stays sealed, and whoever comes later sees the mark.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};
use std::time::Instant;

use oneread::hash::Digester;

use super::buffer::Buffer;
use super::data::Data;
use super::directory::{Directory, Entry, sealed_start, word};
use super::disk::{Disk, DiskFile, OpenMode};
use super::log::{self, Log};
use super::manifest::{Manifest, Named, Safe, Totals};
use super::merge::Tools;
use super::options::StoreOptions;
use super::overflow::Overflow;
use super::plan::Plans;
use super::segment::{Described, Segment};
use super::shared::{Numbered, Paths, Root, Round, Shared, Synced, Tail, Work, Writer};
use super::slots::{Extent, Slots, slot_at};
use super::stats::Counters;
use super::store_lock::{Occupant, StoreLock, remove};
use super::work::summary_slots;
use crate::digest::Portable;
use crate::format::guide::Solver;
use crate::format::header::{self, Header};
use crate::format::page::{self, Place};
use crate::format::summary;
use crate::format::{PAGE, checksum, long_at};
use crate::{Error, ReadAt};

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
}

/// Makes a store without keys.
pub(super) fn create(lock: StoreLock, options: StoreOptions) -> Result<Shared, Error> {
    options.check()?;
    if lock.occupant() != Occupant::Nothing {
        return Err(Error::Exists);
    }
    // The file gets its name last, so that whoever reads finds no store or one with a manifest.
    let made = lock.unfinished()?;
    let manifest = make(&lock, made.path(), &options)?;
    if let Err(error) = begin(&*lock.disk, &lock.paths, &manifest).and_then(|()| made.install()) {
        // A manifest must not outlast the file that it belongs to. The first error is the one to
        // report.
        if !lock.disk.exists(&lock.paths.data).unwrap_or(true) {
            _ = remove(&*lock.disk, &lock.paths.manifest());
        }
        return Err(error);
    }
    let StoreLock { disk, paths, lock, .. } = lock;
    load(disk, paths, options, Access::Write, Some(lock))
}

/// Writes the file of a store without keys: its first manifest.
fn make(lock: &StoreLock, path: &Path, options: &StoreOptions) -> Result<Manifest, Error> {
    let StoreLock { disk, paths, .. } = lock;
    // What a crash has left of making a store.
    remove(&**disk, &paths.manifest())?;
    disk.sync_folder(&paths.folder).map_err(Error::io("sync the store's folder"))?;
    let data = disk.open(path, OpenMode::CreateNew).map_err(Error::io("make the store's file"))?;
    let (store, seed) = (Portable::random().seed(), options.seed_or_random());
    data.write_at(0, &header::live(store, seed)).map_err(Error::io("write the store's header"))?;

    // One segment of one page that has no records.
    let form = Plans::new(options.miss_rate).form([1, 0, 0], 0);
    let mut guide = vec![0; form.bytes as usize];
    Solver::default().write(&[], &mut guide);
    let mut page = vec![0; PAGE];
    page::encode(Place { segment: 0, level: 0, index: 0 }, [].into_iter(), &mut page);
    page::seal(&mut page);
    data.write_at(slot_at(0), &page).map_err(Error::io("write the store"))?;
    let segment = Segment::new(0, [1, 0, 0], vec![0], (form, guide), 0).encode()?;
    data.write_at(slot_at(1), &segment).map_err(Error::io("write the store"))?;
    data.sync().map_err(Error::sync("the store"))?;
    let extent = Extent { slot: 1, count: (segment.len() / PAGE) as u32 };
    let mut slots = Slots::empty(extent.slot + extent.count);
    slots.take(Extent { slot: 0, count: slots.end() });
    let described = Described { extent, checksum: long_at(&segment, 0) };
    Ok(Manifest {
        store,
        seed,
        number: 1,
        miss_rate: options.miss_rate,
        segment_pages: options.segment_pages,
        log: 1,
        safe: Safe { log: 1, end: log::HEADER as u64 },
        totals: Totals::default(),
        next_id: 1,
        base: None,
        segments: vec![Named { first: 0, id: 0, described: Some(described) }],
        slots,
        has_overflow: false,
    })
}

/// Writes a store's first log and manifest.
fn begin(disk: &dyn Disk, paths: &Paths, manifest: &Manifest) -> Result<(), Error> {
    let file = disk.open(&paths.log(manifest.log), OpenMode::Create).map_err(Error::io("make the log"))?;
    Log::begin(file.clone(), manifest.store, manifest.log, 0)?;
    file.sync().map_err(Error::sync("the log"))?;
    disk.sync_folder(&paths.folder).map_err(Error::sync("the store's folder"))?;
    let next = paths.next_manifest();
    let file = disk.open(&next, OpenMode::Create).map_err(Error::io("make the store's manifest"))?;
    file.write_at(0, &manifest.encode()).map_err(Error::io("write the store's manifest"))?;
    file.sync().map_err(Error::sync("the store's manifest"))?;
    disk.rename(&next, &paths.manifest()).map_err(Error::io("give the store's manifest its name"))?;
    disk.sync_folder(&paths.folder).map_err(Error::sync("the store's folder"))
}

/// Opens a store to be written; a sealed one becomes live.
pub(super) fn open_to_write(lock: StoreLock, options: StoreOptions) -> Result<Shared, Error> {
    let StoreLock { disk, paths, lock, .. } = lock;
    make_live(&*disk, &paths, &options)?;
    load(disk, paths, options, Access::Write, Some(lock))
}

/// Makes a sealed store a live one, or ends what a crash has left of that.
fn make_live(disk: &dyn Disk, paths: &Paths, options: &StoreOptions) -> Result<(), Error> {
    let file = disk.open(&paths.data, OpenMode::Write).map_err(Error::io("open the store"))?;
    let has_manifest = has_manifest(disk, paths)?;
    match live_header(&*file) {
        // Whether it belongs to the manifest is checked when both are read.
        Ok(Mark::Live { .. }) | Err(_) if has_manifest => return Ok(()),
        Ok(_) if has_manifest => {}
        header => header?.check_sealed()?,
    }
    let manifest = if has_manifest { read_manifest(disk, paths)? } else { adopt(&*file, options)? };
    // Until the file is dropped, when the mark is written. Readers that come wait for that.
    if !file.try_lock_alone().map_err(Error::io("lock the store's file"))? {
        return Err(Error::InUse);
    }
    if !has_manifest {
        begin(disk, paths, &manifest)?;
    }
    if is_marked(&*file, &manifest)? {
        return Ok(());
    }
    file.write_at(0, &header::live(manifest.store, manifest.seed))
        .map_err(Error::io("write the store's header"))?;
    file.sync().map_err(Error::sync("the store"))
}

/// Opens a live store to be read only.
pub(super) fn open_to_read(disk: Arc<dyn Disk>, path: &Path, options: StoreOptions) -> Result<Shared, Error> {
    let paths = Paths::new(&*disk, path)?;
    if !has_manifest(&*disk, &paths)? {
        let file = disk.open(&paths.data, OpenMode::Read).map_err(Error::io("open the store"))?;
        live_header(&*file)?.check_sealed()?;
        return Err(Error::Live { what: "it is a sealed store: open it as such, or to be written" });
    }
    load(disk, paths, options, Access::Read, None)
}

fn has_manifest(disk: &dyn Disk, paths: &Paths) -> Result<bool, Error> {
    disk.exists(&paths.manifest()).map_err(Error::io("look for the store's manifest"))
}

/// What the first page says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Sealed,
    Live {
        store: u64,
    },
    /// Neither: somebody was writing it, or has damaged it.
    Torn,
}

impl Mark {
    /// An error unless the store is sealed, as one without a manifest must be.
    fn check_sealed(&self) -> Result<(), Error> {
        match self {
            Self::Sealed => Ok(()),
            Self::Live { .. } => Err(Error::Live {
                what: "it is a live store without its manifest: put back the files that stood beside it",
            }),
            Self::Torn => Err(Error::Damaged { part: "header", what: "its checksum is wrong" }),
        }
    }
}

pub(super) fn live_header(file: &dyn DiskFile) -> Result<Mark, Error> {
    let length = file.len().map_err(Error::io("read the store's length"))?.min(PAGE as u64);
    let mut page = vec![0; length as usize];
    file.read_at(0, &mut page).map_err(Error::io("read the store's header"))?;
    if let Some(store) = header::live_store(&page) {
        return Ok(Mark::Live { store });
    }
    match Header::decode(&page) {
        Ok(_) => Ok(Mark::Sealed),
        Err(Error::Damaged { .. } | Error::Length { .. } | Error::Live { .. }) => Ok(Mark::Torn),
        Err(error) => Err(error),
    }
}

/// A disk file as what a sealed store is read from.
struct Reading<'a>(&'a dyn DiskFile);

impl ReadAt for Reading<'_> {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        scratch.resize(length, 0);
        self.0.read_at(offset, scratch)?;
        Ok(scratch)
    }
}

/// The first manifest of a store that is sealed.
fn adopt(file: &dyn DiskFile, options: &StoreOptions) -> Result<Manifest, Error> {
    options.check()?;
    let reader = Reading(file);
    let header = crate::sealed::read_header(&reader)?;
    // Checked here, so that a damaged summary does not become a live store.
    base_segments(&reader, &header)?;
    let bytes = header.store_bytes().unwrap_or(u64::MAX);
    let end = u32::try_from(bytes.div_ceil(PAGE as u64) - 1).ok().filter(|&end| end <= super::slots::MOST);
    let end = end.ok_or(Error::TooLarge { pages: bytes / PAGE as u64 })?;
    let mut slots = Slots::empty(end);
    slots.take(Extent { slot: 0, count: end });
    let words = slots.words().to_vec();
    let named = |id| Named { first: sealed_start(id, header.segments), id, described: None };
    Ok(Manifest {
        store: Portable::random().seed(),
        seed: header.seed,
        number: 1,
        miss_rate: options.miss_rate,
        segment_pages: options.segment_pages,
        log: 1,
        safe: Safe { log: 1, end: log::HEADER as u64 },
        totals: Totals { items: header.items, key_bytes: header.key_bytes, value_bytes: header.value_bytes },
        next_id: header.segments,
        segments: (0..header.segments).map(named).collect(),
        slots: Slots::from_words(words, end).ok_or(Error::TooLarge { pages: end.into() })?,
        has_overflow: header.overflow_bytes > 0,
        base: Some(Box::new(header)),
    })
}

/// The segments of a sealed store, by their numbers.
fn base_segments(reader: &Reading<'_>, header: &Header) -> Result<Vec<Segment>, Error> {
    let damaged = |what| Error::Damaged { part: "summary", what };
    let content = crate::sealed::read_summary(reader, header, |_| {})?;
    let (directory, overflow, guides_at) = summary::parts(&content, header)?;
    let mut guides = &content[guides_at..];
    let used: u64 = header.levels.iter().fold(0, |sum, level| sum.saturating_add(level.used_bytes));
    let mut first = 0u64;
    let mut segments = Vec::new();
    for (id, entry) in (0..).zip(directory.chunks_exact(4)) {
        let of_segment = summary::overflow_of(&overflow, id);
        let (pages, more) = summary::pages_of(entry, of_segment)?;
        let levels_end = first + u64::from(pages);
        let end = levels_end + u64::from(more);
        if end > header.pages {
            return Err(damaged("the segments have more pages than the store"));
        }
        let levels = header.shape.levels(pages);
        let split = usize::try_from(header.guides.all_bytes(levels[0]))
            .ok()
            .and_then(|bytes| guides.split_at_checked(bytes));
        let (mine, rest) = split.ok_or(damaged("there are not as many guides as homes"))?;
        guides = rest;
        // What each segment has of it is not known; they are alike.
        let used = (u128::from(used) * u128::from(pages) / u128::from(header.pages.max(1))) as u64;
        let slots = (first as u32..levels_end as u32).collect();
        let mut segment = Segment::new(id, levels, slots, (header.guides, mine.to_vec()), used);
        if let Some(of_segment) = of_segment {
            let slots = (levels_end as u32..end as u32).collect();
            segment.overflow = Overflow { slots, words: of_segment.words.clone() };
        }
        segments.push(segment);
        first = end;
    }
    if first != header.pages || !guides.is_empty() {
        return Err(damaged("the segments have fewer pages than the store"));
    }
    Ok(segments)
}

/// All that a manifest and the logs say.
pub(super) struct Loaded {
    pub(super) manifest: Manifest,
    pub(super) data: Data,
    pub(super) directory: Directory,
    pub(super) first: (log::Read, Buffer),
    /// Of the log after it, if there is one.
    pub(super) second: Option<(log::Read, Buffer)>,
    pub(super) stamp: u64,
}

/// Reads manifest, segments and logs.
pub(super) fn read(
    disk: &dyn Disk,
    paths: &Paths,
    access: Access,
    lose_damaged_log: bool,
) -> Result<Loaded, Error> {
    let stamp = stamp(disk, paths)?;
    let manifest = read_manifest(disk, paths)?;
    let mode = if access == Access::Write { OpenMode::Write } else { OpenMode::Read };
    let file = disk.open(&paths.data, mode).map_err(Error::io("open the store"))?;
    // If it is not marked, it is still as the sealed store was.
    is_marked(&*file, &manifest)?;
    let page = PAGE as u64;
    let (runs_at, shared) = match &manifest.base {
        None => (page, 0..0),
        Some(base) => {
            let end =
                base.summary_at().ok_or(Error::Damaged { part: "manifest", what: "its store has no end" })?;
            (base.runs_at(), base.runs_at() / page - 1..end / page - 1)
        }
    };
    let data = Data { file, runs_at, shared };
    let directory = segments(&data, &manifest)?;

    let digester = Portable::with_seed(manifest.seed);
    let read_log = |number: u64, session: Option<u64>| -> Result<Option<(log::Read, Buffer)>, Error> {
        let file = match disk.open(&paths.log(number), OpenMode::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(Error::io("open the log"))?,
        };
        let bytes = whole(&*file).map_err(Error::io("read the log"))?;
        let damaged_at = |offset| Error::Log { file: paths.log(number), offset };
        if !log::begins(&bytes, manifest.store, number, session) {
            if log::begins_damaged(&bytes) && !lose_damaged_log {
                return Err(damaged_at(0));
            }
            return Ok(None);
        }
        let mut buffer = Buffer::default();
        let safe = if manifest.safe.log == number { manifest.safe.end } else { 0 };
        let read = log::read(&bytes, number, safe, |key, value| {
            buffer.set(word(digester.digest(key)), key, value);
        });
        if read.damaged && !lose_damaged_log {
            return Err(damaged_at(read.end));
        }
        Ok(Some((read, buffer)))
    };
    let damaged = Error::Damaged { part: "log", what: "it is not the one that the manifest names" };
    let first = match read_log(manifest.log, None)? {
        Some(first) => first,
        None if lose_damaged_log => (log::Read::nothing(manifest.log), Buffer::default()),
        None => return Err(damaged),
    };
    let second = match first.0.next {
        Some(session) => read_log(manifest.log + 1, Some(session))?,
        None => {
            let next = disk.open(&paths.log(manifest.log + 1), OpenMode::Read);
            let next = next.and_then(|file| whole(&*file)).unwrap_or_default();
            if log::tells_of_sync(&next, manifest.store, manifest.log + 1) && !lose_damaged_log {
                return Err(Error::Log { file: paths.log(manifest.log), offset: first.0.end });
            }
            None
        }
    };
    // Whatever was safe in the second log is behind a first one that is whole.
    if second.is_none() && manifest.safe.log > manifest.log && !lose_damaged_log {
        return Err(damaged);
    }
    Ok(Loaded { manifest, data, directory, first, second, stamp })
}

/// What tells one manifest from the next.
pub(super) fn stamp(disk: &dyn Disk, paths: &Paths) -> Result<u64, Error> {
    disk.stamp(&paths.manifest()).map_err(changed_or("look for the store's manifest"))
}

/// A live store had a manifest a moment ago: if it is gone, a sealed store has replaced the live
/// one.
fn changed_or(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |error| match error.kind() {
        io::ErrorKind::NotFound => Error::Changed,
        _ => Error::io(what)(error),
    }
}

fn read_manifest(disk: &dyn Disk, paths: &Paths) -> Result<Manifest, Error> {
    let file =
        disk.open(&paths.manifest(), OpenMode::Read).map_err(changed_or("open the store's manifest"))?;
    Manifest::decode(&whole(&*file).map_err(Error::io("read the store's manifest"))?)
}

/// The bytes of a file.
pub(super) fn whole(file: &dyn DiskFile) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.len()?).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(length, 0);
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// Whether the file is marked as live; an error if it is not that of the manifest.
fn is_marked(file: &dyn DiskFile, manifest: &Manifest) -> Result<bool, Error> {
    let replaced = Error::Live {
        what: "another file has the name of this live store: put the right one back, or remove the files beside it",
    };
    match live_header(file) {
        Ok(Mark::Live { store }) if store == manifest.store => Ok(true),
        Ok(Mark::Live { .. }) | Err(Error::NotAStore) => Err(replaced),
        Ok(Mark::Torn) => {
            // The rest of the page may still show that it is another file's: then its header was damaged, and that is what to say.
            if manifest.base.is_none() {
                return Err(Error::Damaged { part: "header", what: "its checksum is wrong" });
            }
            Ok(false)
        }
        Ok(Mark::Sealed) => {
            let mut page = vec![0; PAGE];
            file.read_at(0, &mut page).map_err(Error::io("read the store's header"))?;
            let same = manifest.base.as_ref().is_some_and(|base| checksum(&base.encode()) == checksum(&page));
            if same { Ok(false) } else { Err(replaced) }
        }
        Err(error) => Err(error),
    }
}

/// The directory, with a damaged segment where a description cannot be read.
fn segments(data: &Data, manifest: &Manifest) -> Result<Directory, Error> {
    let in_base = manifest.segments.iter().any(|named| named.described.is_none());
    // No memory is taken for what the file cannot have.
    let length = data.file.len().map_err(Error::io("read the store's length"))?;
    if let Some(base) = manifest.base.as_ref().filter(|_| in_base)
        && base.store_bytes().is_none_or(|bytes| bytes > length)
    {
        return Err(Error::Damaged { part: "summary", what: "the file ends before it" });
    }
    let mut base: Vec<Option<Segment>> = match manifest.base.as_ref().filter(|_| in_base) {
        Some(header) => base_segments(&Reading(&*data.file), header)?.into_iter().map(Some).collect(),
        None => Vec::new(),
    };
    let end = manifest.slots.end();
    let mut entries: Vec<Entry> = Vec::with_capacity(manifest.segments.len());
    let mut bytes = Vec::new();
    for &Named { first, id, described } in &manifest.segments {
        let segment = match described {
            None => {
                let segment = base.get_mut(id as usize).and_then(Option::take);
                segment.ok_or(Error::Damaged { part: "manifest", what: "it names a segment twice" })?
            }
            Some(described) if !described.extent.ends_within(length) => {
                Segment::damaged(id, described, "the file ends before it")
            }
            Some(described) => {
                bytes.resize(described.extent.count as usize * PAGE, 0);
                let read = data.file.read_at(slot_at(described.extent.slot), &mut bytes);
                read.map_err(Error::io("read the store's segments"))?;
                let decoded = Segment::decode(&bytes, id, described, end);
                decoded.unwrap_or_else(|what| Segment::damaged(id, described, what))
            }
        };
        entries.push((first, Arc::new(segment)));
    }
    Ok(Directory::new(entries))
}

/// Makes an open store of what is read.
fn load(
    disk: Arc<dyn Disk>,
    paths: Paths,
    mut options: StoreOptions,
    access: Access,
    lock: Option<Box<dyn super::disk::Lock>>,
) -> Result<Shared, Error> {
    let loaded = match access {
        Access::Write => read(&*disk, &paths, access, options.lose_damaged_log)?,
        Access::Read => read_beside_a_writer(&*disk, &paths, options.lose_damaged_log)?,
    };
    let Loaded { manifest, data, directory, first, second, stamp } = loaded;
    options.miss_rate = manifest.miss_rate;
    let summary = summary_of(&manifest);
    let session = Portable::random().seed();
    let next_session = first.0.next;
    let (newest, root) = root_of(directory, manifest.totals, first, second);
    let (writer, tail) = match access {
        Access::Read => (None, Tail { file: data.file.clone(), end: Safe { log: 0, end: 0 }, before: None }),
        Access::Write => {
            let number = root.active.log;
            // A process that was killed may have left to the system what it had done last: the name of the manifest, and the end of
            // logs. Whatever is built on them comes after they are safe.
            disk.sync_folder(&paths.folder).map_err(Error::sync("the store's folder"))?;
            if let Some(frozen) = &root.frozen {
                let file =
                    disk.open(&paths.log(frozen.log), OpenMode::Write).map_err(Error::io("open the log"))?;
                file.sync().map_err(Error::sync("the log"))?;
            }
            let log = match newest {
                Some(read) => {
                    let file =
                        disk.open(&paths.log(number), OpenMode::Write).map_err(Error::io("open the log"))?;
                    if read.damaged {
                        // What is given up must not be found again.
                        file.truncate(read.end).map_err(Error::io("cut the log"))?;
                    }
                    let log = Log::resume(file, &read, session)?;
                    log.file.sync().map_err(Error::sync("the log"))?;
                    log
                }
                None => {
                    // As the end of the log before names it; and emptied, so that nothing follows that was written under that name.
                    let file =
                        disk.open(&paths.log(number), OpenMode::Create).map_err(Error::io("open the log"))?;
                    let log = Log::begin(file, manifest.store, number, next_session.unwrap_or(session))?;
                    log.file.sync().map_err(Error::sync("the log"))?;
                    disk.sync_folder(&paths.folder).map_err(Error::sync("the store's folder"))?;
                    log.with_session(session)
                }
            };
            let log = log.for_buffer(options.buffer_bytes);
            let tail = Tail::new(&log, None);
            (Some(Writer { log, last_sync: Instant::now() }), tail)
        }
    };
    let tools = Tools {
        digester: Portable::with_seed(manifest.seed),
        segment_pages: manifest.segment_pages,
        plans: Plans::new(manifest.miss_rate),
        solver: Solver::default(),
        slots: manifest.slots,
        next_id: manifest.next_id,
    };
    let work = Work {
        tools,
        checkpoint: manifest.number,
        known_safe: manifest.safe,
        retired: Vec::new(),
        held: VecDeque::new(),
        base: manifest.base,
        summary,
        spent: None,
    };
    Ok(Shared {
        disk,
        paths,
        options,
        store: manifest.store,
        seed: manifest.seed,
        digester: Portable::with_seed(manifest.seed),
        data,
        segment_pages: manifest.segment_pages,
        progress: Mutex::new(work.progress()),
        root: RwLock::new(Arc::new(root)),
        writer: Mutex::new(writer),
        work: Mutex::new(work),
        round: Mutex::new(Round::default()),
        turned: Condvar::new(),
        synced: Mutex::new(Synced { safe: tail.end, busy: false, tail }),
        woken: Condvar::new(),
        failed: OnceLock::new(),
        counters: Counters::default(),
        stamp: (access == Access::Read).then(|| AtomicU64::new(stamp)),
        _lock: lock,
    })
}

/// The slots of the sealed store's summary, while a segment is described by it.
pub(super) fn summary_of(manifest: &Manifest) -> Option<Extent> {
    let in_base = manifest.segments.iter().any(|named| named.described.is_none());
    manifest.base.as_ref().filter(|_| in_base).and_then(|base| summary_slots(base))
}

/// The root, and what was read of the newest log, if it was there.
pub(super) fn root_of(
    directory: Directory,
    totals: Totals,
    first: (log::Read, Buffer),
    second: Option<(log::Read, Buffer)>,
) -> (Option<log::Read>, Root) {
    let (read, buffer) = first;
    let number = read.number;
    let numbered = Numbered::new(number, buffer);
    if read.next.is_none() {
        let begun = read.end > 0;
        return (
            begun.then_some(read),
            Root { active: numbered, frozen: None, directory, totals, merged: 0 },
        );
    }
    let (newest, active) = match second {
        Some((read, buffer)) => (Some(read), buffer),
        None => (None, Buffer::default()),
    };
    (
        newest,
        Root {
            active: Numbered::new(number + 1, active),
            frozen: Some(numbered),
            directory,
            totals,
            merged: 0,
        },
    )
}

/// Reads while somebody may write: again, if a checkpoint came in between.
pub(super) fn read_beside_a_writer(
    disk: &dyn Disk,
    paths: &Paths,
    lose_damaged_log: bool,
) -> Result<Loaded, Error> {
    /// Checkpoints are seconds apart, and reading takes less.
    const TRIES: u32 = 20;
    let mut last = Error::Changed;
    for _ in 0..TRIES {
        match read(disk, paths, Access::Read, lose_damaged_log) {
            Ok(loaded) => {
                if loaded.stamp == stamp(disk, paths)? {
                    return Ok(loaded);
                }
            }
            // It may be of two checkpoints, or of a log that is being written.
            Err(error @ (Error::Damaged { .. } | Error::Log { .. })) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
