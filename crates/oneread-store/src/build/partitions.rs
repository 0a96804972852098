//! Partitions records by directory word, in memory or in a file.
//!
//! # Invariants
//! 1. Records of one partition keep their order of insertion: first those in the file, extent by
//!    extent, then those in memory.

use std::io::{Seek, SeekFrom, Write};

use oneread::bits::prefetch_to_write;
use oneread::hash::{Digest, reduce};

use super::temporary::TemporaryFile;
use crate::{Error, Options, domain};

/// Many enough that groups of segments begin and end near partition borders; few enough that each
/// partition is written in long pieces.
const PARTITIONS: u64 = 1024;

/// Offsets of the cache lines to prefetch behind the last record: as many as stay cached for all
/// partitions.
const PREFETCHED: [usize; 3] = [0, 64, 128];

/// A contiguous piece of the file.
#[derive(Clone, Copy, Debug)]
struct Extent {
    offset: u64,
    length: usize,
}

#[derive(Debug)]
pub(super) struct Partitions {
    held: Vec<Vec<u8>>,
    held_bytes: usize,
    extents: Vec<Vec<Extent>>,
    file: Option<TemporaryFile>,
    file_bytes: u64,
}

impl Partitions {
    pub(super) fn new() -> Self {
        let count = PARTITIONS as usize;
        Self {
            held: vec![Vec::new(); count],
            held_bytes: 0,
            extents: vec![Vec::new(); count],
            file: None,
            file_bytes: 0,
        }
    }

    /// The bytes of records held in memory.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The bytes in the file.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Adds the record that `record` appends, and returns its length.
    pub(super) fn push(&mut self, digest: Digest, record: impl FnOnce(&mut Vec<u8>)) -> usize {
        let partition = reduce(digest.word(domain::DIRECTORY, 0), PARTITIONS);
        let held = &mut self.held[partition as usize];
        let before = held.len();
        record(held);
        // Prefetches the lines where this partition's next record will go, about a thousand records
        // from now. The processor cannot predict that many write streams, and each write would wait
        // for memory.
        let room = held.spare_capacity_mut();
        PREFETCHED.into_iter().for_each(|at| prefetch_to_write(room, at));
        let bytes = held.len() - before;
        self.held_bytes += bytes;
        bytes
    }

    /// Writes all records in memory to the file. If that fails, what is not written stays in
    /// memory.
    pub(super) fn spill(&mut self, options: &Options) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(options.temporary_file()?),
        };
        let failed = "write a temporary file";
        file.seek(SeekFrom::Start(self.file_bytes)).map_err(Error::io(failed))?;
        for (held, extents) in
            self.held.iter_mut().zip(&mut self.extents).filter(|(held, _)| !held.is_empty())
        {
            file.write_all(held).map_err(Error::io(failed))?;
            extents.push(Extent { offset: self.file_bytes, length: held.len() });
            self.file_bytes += held.len() as u64;
            self.held_bytes -= held.len();
            held.clear();
        }
        Ok(())
    }

    /// Call it after the last record: if any records are in the file, spills the rest too, so that
    /// the memory is free for placing.
    pub(super) fn complete(&mut self, options: &Options) -> Result<(), Error> {
        if self.file.is_some() {
            self.spill(options)?;
            self.held.iter_mut().for_each(|held| *held = Vec::new());
        }
        Ok(())
    }

    /// Reads all partitions that overlap segments `first..end` of `segments`. Records of adjacent
    /// segments may be among them.
    pub(super) fn read(&self, first: u32, end: u32, segments: u32, out: &mut Vec<u8>) -> Result<(), Error> {
        // Segment s begins at word s·2^64/segments, partition p at word p·2^64/PARTITIONS.
        let start = u64::from(first) * PARTITIONS / u64::from(segments);
        let end = (u64::from(end) * PARTITIONS).div_ceil(u64::from(segments));
        for partition in start as usize..end as usize {
            for extent in &self.extents[partition] {
                let at = out.len();
                reserve(out, extent.length)?;
                out.resize(at + extent.length, 0);
                if let Some(file) = &self.file {
                    file.read_exact_at(&mut out[at..], extent.offset)
                        .map_err(Error::io("read a temporary file"))?;
                }
            }
            reserve(out, self.held[partition].len())?;
            out.extend_from_slice(&self.held[partition]);
        }
        Ok(())
    }
}

fn reserve(out: &mut Vec<u8>, bytes: usize) -> Result<(), Error> {
    out.try_reserve(bytes).map_err(|_| Error::OutOfMemory { bytes: (out.len() + bytes) as u64 })
}
