//! Large values on their way to the store: in a temporary file, first in order of insertion, then
//! in order of their keys.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::temporary::TemporaryFile;
use crate::format::record::Run;
use crate::format::{checksum, runs};
use crate::{Error, Options};

const WRITING: &str = "write a temporary file";
const READING: &str = "read a temporary file";

/// Collects large values in order of insertion.
#[derive(Debug)]
pub(super) struct Values {
    file: Option<BufWriter<TemporaryFile>>,
    bytes: u64,
    /// A write failed: the file's end is unknown, so no more values can follow.
    failed: bool,
}

impl Values {
    pub(super) const fn new() -> Self {
        Self { file: None, bytes: 0, failed: false }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Stores a value and returns its place in the temporary file.
    pub(super) fn push(&mut self, value: &[u8], options: &Options) -> Result<Run, Error> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::with_capacity(1 << 18, options.temporary_file()?)),
        };
        let written = if self.failed { Err(earlier()) } else { file.write_all(value) };
        self.failed = written.is_err();
        written.map_err(Error::io(WRITING))?;
        let run = Run { offset: self.bytes, length: value.len() as u64, checksum: checksum(value) };
        self.bytes += run.length;
        Ok(run)
    }

    /// Finishes collecting, after the last value.
    pub(super) fn complete(self, options: &Options) -> Result<Ordered, Error> {
        if self.failed {
            return Err(Error::io(WRITING)(earlier()));
        }
        let Some(file) = self.file else { return Ok(Ordered { files: None, end: 0 }) };
        let file = file.into_inner().map_err(|error| Error::io(WRITING)(error.into_error()))?;
        let order = BufWriter::new(options.temporary_file()?);
        Ok(Ordered { files: Some((file, order)), end: 0 })
    }
}

fn earlier() -> std::io::Error {
    std::io::Error::other("an earlier write failed")
}

/// The order in which values go from the temporary file to the store.
#[derive(Debug)]
pub(super) struct Ordered {
    /// The temporary file, and for each value in its new order the offset and length.
    files: Option<(TemporaryFile, BufWriter<TemporaryFile>)>,
    /// The total bytes of all runs so far.
    end: u64,
}

impl Ordered {
    /// The total bytes of all runs so far.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Appends a value to the order, and returns its offset among all runs.
    pub(super) fn push(&mut self, from: u64, length: u64) -> Result<u64, Error> {
        let offset = runs::place(self.end, length).ok_or(Error::TooLarge { pages: u64::MAX })?;
        self.end = offset.checked_add(length).ok_or(Error::TooLarge { pages: u64::MAX })?;
        if let Some((_, order)) = &mut self.files {
            for field in [from, length] {
                order.write_all(&field.to_le_bytes()).map_err(Error::io(WRITING))?;
            }
        }
        Ok(offset)
    }

    /// Writes all runs to `out`.
    pub(super) fn copy(self, out: &mut impl Write) -> Result<(), Error> {
        const STEP: usize = 1 << 18;
        let Some((values, order)) = self.files else { return Ok(()) };
        let mut order = order.into_inner().map_err(|error| Error::io(WRITING)(error.into_error()))?;
        let entries = order.stream_position().map_err(Error::io(READING))? / 16;
        order.seek(SeekFrom::Start(0)).map_err(Error::io(READING))?;
        let mut order = BufReader::new(order);
        let mut buffer = vec![0; STEP];
        let mut end = 0;
        for _ in 0..entries {
            let mut field = || {
                let mut bytes = [0; 8];
                order.read_exact(&mut bytes).map_err(Error::io(READING)).map(|()| u64::from_le_bytes(bytes))
            };
            let (mut from, mut left) = (field()?, field()?);
            let offset = runs::place(end, left).ok_or(Error::TooLarge { pages: u64::MAX })?;
            let gap = [0; crate::format::PAGE];
            out.write_all(&gap[..(offset - end) as usize]).map_err(Error::io(super::write::WRITING))?;
            end = offset + left;
            while left > 0 {
                let step = &mut buffer[..left.min(STEP as u64) as usize];
                values.read_exact_at(step, from).map_err(Error::io(READING))?;
                out.write_all(step).map_err(Error::io(super::write::WRITING))?;
                (from, left) = (from + step.len() as u64, left - step.len() as u64);
            }
        }
        Ok(())
    }
}
