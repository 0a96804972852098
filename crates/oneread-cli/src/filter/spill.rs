//! Spills digests to disk until their number is known.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};

use oneread::hash::Digest;

/// The bytes of a digest in the file.
const DIGEST: usize = 16;

/// Digests per read and per write: a megabyte.
const BATCH: usize = 1 << 16;

pub(super) struct Spill {
    writer: BufWriter<File>,
    count: u64,
}

impl Spill {
    /// Spills to this file, which must be empty.
    pub(super) fn new(file: File) -> Self {
        Self { writer: BufWriter::with_capacity(BATCH * DIGEST, file), count: 0 }
    }

    pub(super) fn push(&mut self, digest: Digest) -> io::Result<()> {
        self.count += 1;
        self.writer.write_all(&digest.to_le_bytes())
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Switches from writing to reading.
    pub(super) fn rewind(self) -> io::Result<Spilled> {
        let mut file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Spilled { file, left: self.count, bytes: vec![0; BATCH * DIGEST], digests: Vec::new() })
    }
}

/// Reads the digests of a [`Spill`] in the order of insertion.
pub(super) struct Spilled {
    file: File,
    left: u64,
    bytes: Vec<u8>,
    digests: Vec<Digest>,
}

impl Spilled {
    /// The next digests, at least one; none at the end.
    pub(super) fn next_batch(&mut self) -> io::Result<&[Digest]> {
        let count = self.left.min(BATCH as u64);
        let bytes = &mut self.bytes[..count as usize * DIGEST];
        self.file.read_exact(bytes)?;
        self.left -= count;
        self.digests.clear();
        self.digests.extend(bytes.as_chunks().0.iter().map(|bytes| Digest::from_le_bytes(*bytes)));
        Ok(&self.digests)
    }
}
