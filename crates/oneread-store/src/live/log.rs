//! The log: the changes since the last checkpoint, one record per batch. `docs/format.md` has the
//! bytes: *Logs*.
//!
//! # Invariants
//! 1. A record counts only if its checksum is right (seeded with its position and the checksum of
//!    the log's header) and its `previous` is the checksum of the record before. So reading ends at
//!    the first record that a crash has torn or lost, and nothing behind it can come back later: it
//!    is erased before another record is written. New records name another `session`, so older
//!    records further behind do not follow them.
//! 2. The record that ends a log names the session of the next log. If a crash keeps the end but
//!    loses the next header, older content of the next file is not taken for the next log.
//! 3. `synced` is a position up to which the log was on the medium when the record was written. An
//!    unreadable record that a later record declares safe is damaged, not torn. [`tail`] judges the
//!    records after the last sync as far as possible.

mod changes;
mod tail;

pub(super) use changes::Changes;

use std::sync::Arc;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::disk::DiskFile;
use super::manifest::Safe;
use crate::Error;
use crate::format::{PLAIN_VERSION, long_at, word_at};
use changes::next_change;

const MAGIC: [u8; 8] = *b"\x89onelog\n";
/// The header has a sector of its own, so that no record shares it.
pub(super) const HEADER: usize = 512;
const VERSION_AT: usize = 8;
const STORE: usize = 16;
const NUMBER: usize = 24;
const HEADER_SESSION: usize = 32;
const HEADER_SUM: usize = 40;

const MARK: u32 = 0x6472_6f63;
/// The mark of the record that ends a log: another log follows.
const END_MARK: u32 = 0x2e64_6e65;
const LENGTH: usize = 12;
const PREVIOUS: usize = 16;
const SESSION: usize = 24;
const SYNCED: usize = 32;
const CHANGES: usize = 40;
const ALIGN: usize = 8;

/// A log that is being written.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) number: u64,
    seed: u64,
    session: u64,
    /// The position of the next record.
    end: u64,
    previous: u64,
    /// The length of the file, which grows ahead of the records by steps of zeros.
    length: u64,
    ahead: usize,
}

/// The most zeros to write ahead.
const MAX_AHEAD: usize = 128 << 10;

impl Log {
    /// Begins a log in a file, over any old content; its header is not safe yet.
    pub(super) fn begin(
        file: Arc<dyn DiskFile>,
        store: u64,
        number: u64,
        session: u64,
    ) -> Result<Self, Error> {
        let header = header(store, number, session);
        file.write_at(0, &header).map_err(Error::io("write the log"))?;
        let seed = long_at(&header, HEADER_SUM);
        let length = file.len().map_err(Error::io("read the log's length"))?;
        Ok(Self { file, number, seed, session, end: HEADER as u64, previous: seed, length, ahead: 0 })
    }

    /// Sets the growth step for a buffer of `bytes` bytes. Syncing a file that has grown also
    /// writes its length and blocks, for which journaling file systems wait. So the file grows by
    /// many records at once.
    pub(super) fn for_buffer(self, bytes: usize) -> Self {
        /// The steps by which the file grows while a buffer fills for the first time. Later logs
        /// reuse its space.
        const TIMES: usize = 16;
        Self { ahead: (bytes / TIMES).min(MAX_AHEAD), ..self }
    }

    /// Gives new records another session.
    pub(super) fn with_session(self, session: u64) -> Self {
        Self { session, ..self }
    }

    /// Continues a log that was read. New records must be synced before anything is built on them.
    ///
    /// Erases the start of what follows the last whole record: it may lack only zeros behind the
    /// end of the file, and become whole when the file grows.
    pub(super) fn resume(file: Arc<dyn DiskFile>, read: &LogEnd, session: u64) -> Result<Self, Error> {
        let &LogEnd { number, seed, end, previous, .. } = read;
        let length = file.len().map_err(Error::io("read the log's length"))?;
        let torn = length.saturating_sub(end).min(CHANGES as u64) as usize;
        if torn > 0 {
            file.write_at(end, &[0; CHANGES][..torn]).map_err(Error::io("write the log"))?;
        }
        Ok(Self { file, number, seed, session, end, previous, length, ahead: 0 })
    }

    /// The end of the last record.
    pub(super) const fn end(&self) -> Safe {
        Safe { log: self.number, end: self.end }
    }

    /// A random number for each opening of the store.
    pub(super) const fn session(&self) -> u64 {
        self.session
    }

    /// Appends a batch, which is not safe yet. On an error the log is unchanged.
    pub(super) fn append(&mut self, changes: &mut Changes, synced: u64) -> Result<(), Error> {
        self.write(&mut changes.record, MARK, synced)
    }

    /// Appends the record that ends the log; the next log's header has the session `next`.
    pub(super) fn close(&mut self, next: u64, synced: u64) -> Result<(), Error> {
        let mut record = vec![0; CHANGES];
        record.extend_from_slice(&next.to_le_bytes());
        self.write(&mut record, END_MARK, synced)
    }

    fn write(&mut self, record: &mut Vec<u8>, mark: u32, synced: u64) -> Result<(), Error> {
        let length = record.len();
        let mut put = |at: usize, field: &[u8]| record[at..at + field.len()].copy_from_slice(field);
        put(8, &mark.to_le_bytes());
        put(LENGTH, &(length as u32).to_le_bytes());
        put(PREVIOUS, &self.previous.to_le_bytes());
        put(SESSION, &self.session.to_le_bytes());
        put(SYNCED, &synced.to_le_bytes());
        let sum = record_sum(&record[8..], self.seed, self.end);
        record[..8].copy_from_slice(&sum.to_le_bytes());
        record.resize(length.next_multiple_of(ALIGN), 0);
        let written = self.file.write_at(self.end, record).map_err(Error::io("write the log"));
        let whole = record.len();
        record.truncate(length);
        if written.is_err() {
            // A part of the record may be written, and would later look like damage.
            _ = self.file.write_at(self.end, &[0; CHANGES]);
        }
        written?;
        self.end += whole as u64;
        self.previous = sum;
        if self.end > self.length {
            self.grow();
        }
        Ok(())
    }

    /// Writes zeros behind the last record. If that fails, say because the disk is full, the next
    /// record may still fit.
    fn grow(&mut self) {
        // A log with few records will likely stay short.
        let ahead = (self.ahead as u64).min(self.end);
        let grown = ahead > 0 && self.file.write_at(self.end, &vec![0; ahead as usize]).is_ok();
        self.length = self.end + if grown { ahead } else { 0 };
    }
}

/// The session keeps records of other logs with this number from following it.
fn header(store: u64, number: u64, session: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[VERSION_AT..VERSION_AT + 2].copy_from_slice(&PLAIN_VERSION.to_le_bytes());
    header[STORE..NUMBER].copy_from_slice(&store.to_le_bytes());
    header[NUMBER..HEADER_SESSION].copy_from_slice(&number.to_le_bytes());
    header[HEADER_SESSION..HEADER_SUM].copy_from_slice(&session.to_le_bytes());
    let sum = xxh3_64(&header[..HEADER_SUM]);
    header[HEADER_SUM..HEADER_SUM + 8].copy_from_slice(&sum.to_le_bytes());
    header
}

fn record_sum(bytes: &[u8], seed: u64, at: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed.wrapping_add(at))
}

/// The position at which reading a log ended.
#[derive(Debug)]
pub(super) struct LogEnd {
    pub(super) number: u64,
    /// The checksum of the log's header.
    seed: u64,
    /// The end of the last readable record.
    pub(super) end: u64,
    previous: u64,
    /// The session of the next log, if one follows.
    pub(super) next: Option<u64>,
    /// Whether records that were safe cannot be read.
    pub(super) damaged: bool,
}

impl LogEnd {
    /// The result for a missing log.
    pub(super) const fn nothing(number: u64) -> Self {
        Self { number, seed: 0, end: 0, previous: 0, next: None, damaged: true }
    }
}

/// Reports whether these bytes begin with the header of this log and, if given, this session.
pub(super) fn begins(bytes: &[u8], store: u64, number: u64, session: Option<u64>) -> bool {
    let expected = |found: &[u8]| header(store, number, session.unwrap_or(long_at(found, HEADER_SESSION)));
    bytes.get(..HEADER).is_some_and(|found| found == expected(found))
}

/// Reports whether the header is neither valid nor all zeros. It has a sector of its own, which is
/// written whole or not at all.
pub(super) fn begins_damaged(bytes: &[u8]) -> bool {
    bytes.get(..HEADER).is_some_and(|found| {
        let is_whole =
            found == header(long_at(found, STORE), long_at(found, NUMBER), long_at(found, HEADER_SESSION));
        !is_whole && found.iter().any(|&byte| byte != 0)
    })
}

/// Reports whether these bytes are the log of this number, and a record in it says that it was
/// synced. Then the previous log is safe to its end, since that one is always synced first.
pub(super) fn tells_of_sync(bytes: &[u8], store: u64, number: u64) -> bool {
    begins(bytes, store, number, None) && records(bytes).any(|(record, _)| long_at(record, SYNCED) > 0)
}

/// The whole records from the start of a log on, each with its mark.
fn records(bytes: &[u8]) -> impl Iterator<Item = (&[u8], u32)> {
    let seed = long_at(bytes, HEADER_SUM);
    let (mut at, mut previous) = (HEADER as u64, seed);
    std::iter::from_fn(move || {
        let (record, mark) = record_at(bytes, at, seed)?;
        if long_at(record, PREVIOUS) != previous {
            return None;
        }
        previous = long_at(record, 0);
        at += record.len().next_multiple_of(ALIGN) as u64;
        Some((record, mark))
    })
}

/// Reads a log that [begins](begins) as it should: passes on each change of each whole record in
/// order. The log was on the medium up to `safe` at least.
pub(super) fn read(
    bytes: &[u8],
    number: u64,
    safe: u64,
    mut change: impl FnMut(&[u8], Option<&[u8]>),
) -> LogEnd {
    let seed = long_at(bytes, HEADER_SUM);
    let mut read = LogEnd { number, seed, end: HEADER as u64, previous: seed, next: None, damaged: false };
    for (record, mark) in records(bytes) {
        let mut rest = &record[CHANGES..];
        if mark == END_MARK {
            read.next = Some(long_at(rest, 0));
            read.end += record.len() as u64;
            break;
        }
        while let Some((key, value, after)) = next_change(rest) {
            change(key, value);
            rest = after;
        }
        if !rest.is_empty() {
            // Its checksum is right but its content is invalid: it was crafted.
            read.damaged = true;
            break;
        }
        read.previous = long_at(record, 0);
        read.end += record.len().next_multiple_of(ALIGN) as u64;
    }
    let is_damaged = || safe_behind(bytes, &read) || tail::was_whole(bytes, &read);
    let damaged = read.end < safe || (read.next.is_none() && is_damaged());
    read.damaged |= damaged;
    read
}

/// A record with the right checksum, and its mark.
fn record_at(bytes: &[u8], at: u64, seed: u64) -> Option<(&[u8], u32)> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    let mark = word_at(rest.get(..CHANGES)?, 8);
    let length = word_at(rest, LENGTH) as usize;
    let record = rest.get(..length).filter(|record| record.len() >= CHANGES)?;
    let known = mark == MARK || (mark == END_MARK && length == CHANGES + 8);
    (known && record_sum(&record[8..], seed, at) == long_at(record, 0)).then_some((record, mark))
}

/// Reports whether a record behind the end says that the unreadable part was safe.
fn safe_behind(bytes: &[u8], read: &LogEnd) -> bool {
    /// The most look-alikes of records to examine, since values can be crafted to look like
    /// records.
    const PATIENCE: usize = 8;
    let mut left = PATIENCE * bytes.len();
    let mut at = read.end as usize;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= CHANGES) {
        let mark = word_at(rest, 8);
        if (mark == MARK || mark == END_MARK) && long_at(rest, SYNCED) > read.end {
            if record_at(bytes, at as u64, read.seed).is_some() {
                return true;
            }
            let Some(after) = left.checked_sub(rest.len().min(word_at(rest, LENGTH) as usize)) else {
                return false;
            };
            left = after;
        }
        at += ALIGN;
    }
    false
}
