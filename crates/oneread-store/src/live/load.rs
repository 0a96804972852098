//! Loads a live store's files: the manifest, the segments that it names, and the logs.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oneread::hash::Digester;

use super::adopt::{sealed_segment, sealed_summary};
use super::buffer::Buffer;
use super::data::Data;
use super::directory::{Directory, Entry, word};
use super::disk::{Disk, OpenMode};
use super::files::{Paths, whole};
use super::log::{self, LogEnd};
use super::manifest::{Manifest, Named};
use super::manifest_file;
use super::mark::Mark;
use super::root::{LogBuffer, Root};
use super::segment::Segment;
use super::slots::slot_at;
use crate::Error;
use crate::digest::Portable;
use crate::format::PAGE;

/// The content of the files.
pub(super) struct Loaded {
    pub(super) manifest: Manifest,
    pub(super) data: Data,
    pub(super) root: Root,
    /// The end of the newest log, if it exists.
    pub(super) newest: Option<LogEnd>,
    /// The session of the newest log, as the previous log names it.
    pub(super) session: Option<u64>,
    /// The manifest's stamp.
    pub(super) stamp: u64,
}

/// Loads manifest, segments and logs.
pub(super) fn load(
    disk: &dyn Disk,
    paths: &Paths,
    mode: OpenMode,
    lose_damaged_log: bool,
) -> Result<Loaded, Error> {
    let stamp = manifest_file::stamp(disk, paths)?;
    let manifest = manifest_file::read(disk, paths)?;
    let file = disk.open(&paths.data, mode).map_err(Error::io("open the store"))?;
    // Without the mark, the file is still that of the sealed store.
    Mark::is_written(&*file, &manifest)?;
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
    let ((first, buffer), second) = logs(disk, paths, &manifest, lose_damaged_log)?;
    let totals = manifest.totals;
    let session = first.next;
    let first_buffer = LogBuffer::new(first.number, buffer);
    let (newest, active, frozen) = match (session, second) {
        (None, _) => ((first.end > 0).then_some(first), first_buffer, None),
        (Some(_), Some((second, buffer))) => {
            (Some(second), LogBuffer::new(first.number + 1, buffer), Some(first_buffer))
        }
        (Some(_), None) => (None, LogBuffer::new(first.number + 1, Buffer::default()), Some(first_buffer)),
    };
    let root = Root { active, frozen, directory, totals, merged: 0 };
    Ok(Loaded { manifest, data, root, newest, session, stamp })
}

/// Attempts to read one state of a store that another process changes.
#[derive(Default)]
pub(super) struct Attempts {
    made: u32,
    since: Option<Instant>,
}

impl Attempts {
    /// Usually checkpoints are seconds apart, and a second attempt succeeds.
    const MIN: u32 = 20;
    /// With tiny buffers or a busy machine, checkpoints may outrun a reader for a while.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// Reports whether to try once more.
    pub(super) fn again(&mut self) -> bool {
        self.made += 1;
        self.made <= Self::MIN || self.since.get_or_insert_with(Instant::now).elapsed() < Self::PATIENCE
    }
}

/// Loads while another process may write; repeats if a checkpoint came in between.
pub(super) fn load_beside_a_writer(
    disk: &dyn Disk,
    paths: &Paths,
    lose_damaged_log: bool,
) -> Result<Loaded, Error> {
    let mut attempts = Attempts::default();
    while attempts.again() {
        let before = manifest_file::stamp(disk, paths).ok();
        match load(disk, paths, OpenMode::Read, lose_damaged_log) {
            Ok(loaded) if loaded.stamp == manifest_file::stamp(disk, paths)? => return Ok(loaded),
            Ok(_) => {}
            // The files may be of two checkpoints, or the log may be mid-write. Real damage stays.
            Err(Error::Damaged { .. } | Error::Log { .. })
                if attempts.made < Attempts::MIN || manifest_file::stamp(disk, paths).ok() != before => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Changed)
}

/// The directory, with a damaged segment where a description cannot be read.
fn segments(data: &Data, manifest: &Manifest) -> Result<Directory, Error> {
    // Memory is limited by the length of the file.
    let length = data.file.len().map_err(Error::io("read the store's length"))?;
    let base = manifest.sealed_part();
    if base.is_some_and(|base| base.store_bytes().is_none_or(|bytes| bytes > length)) {
        return Err(Error::Damaged { part: "summary", what: "the file ends before it" });
    }
    let base = base.map(|header| Ok::<_, Error>((sealed_summary(&*data.file, header)?, header)));
    let base = base.transpose()?;
    let twice = Error::Damaged { part: "manifest", what: "it names a segment twice" };
    let mut seen = vec![false; base.as_ref().map_or(0, |(_, header)| header.segments as usize)];
    let end = manifest.slots.end();
    let mut entries: Vec<Entry> = Vec::with_capacity(manifest.segments.len());
    let mut bytes = Vec::new();
    for &Named { first, id, described } in &manifest.segments {
        let segment = match (described, &base) {
            (None, Some((summary, header))) if seen.get(id as usize) == Some(&false) => {
                seen[id as usize] = true;
                sealed_segment(summary, header, id)
            }
            (None, _) => return Err(twice),
            (Some(described), _) if !described.extent.ends_within(length) => {
                Segment::damaged(id, described, "the file ends before it")
            }
            (Some(described), _) => {
                bytes.resize(described.extent.count as usize * PAGE, 0);
                let read = data.file.read_at(slot_at(described.extent.slot), &mut bytes);
                match read {
                    // A writer may have cut the file meanwhile; then there is a new manifest.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        Segment::damaged(id, described, "the file ends before it")
                    }
                    read => {
                        read.map_err(Error::io("read the store's segments"))?;
                        let decoded = Segment::decode(&bytes, id, described, end);
                        decoded.unwrap_or_else(|what| Segment::damaged(id, described, what))
                    }
                }
            }
        };
        entries.push((first, Arc::new(segment)));
    }
    Ok(Directory::new(entries))
}

/// The end of a log that was read, and its changes.
type Changes = (LogEnd, Buffer);

/// Reads the log that a manifest names, and the next one if the first names it.
fn logs(
    disk: &dyn Disk,
    paths: &Paths,
    manifest: &Manifest,
    lose_damaged_log: bool,
) -> Result<(Changes, Option<Changes>), Error> {
    let another = Error::Damaged { part: "log", what: "it is not the one that the manifest names" };
    let digester = Portable::with_seed(manifest.seed);
    let read_log = |number: u64, session: Option<u64>| -> Result<Option<Changes>, Error> {
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
    let first = match read_log(manifest.log, None)? {
        None if lose_damaged_log => (LogEnd::nothing(manifest.log), Buffer::default()),
        None => return Err(another),
        Some(first) => first,
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
    // Anything safe in the second log requires a first log that is whole.
    if second.is_none() && manifest.safe.log > manifest.log && !lose_damaged_log {
        return Err(another);
    }
    Ok((first, second))
}
