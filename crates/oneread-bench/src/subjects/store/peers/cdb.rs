//! cdb64: a hash table behind the records, built once and then only read, like ours; with 64-bit
//! positions.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use cdb64::{Cdb as Reader, CdbHash, CdbWriter};

use super::super::contenders::{Contender, Key, Opened, Pairs, Seen, Way, timed_load};
use crate::measure::Sample;

pub(in super::super) struct Cdb;

fn file(folder: &Path) -> PathBuf {
    folder.join("pairs.cdb")
}

impl Contender for Cdb {
    fn name(&self) -> &'static str {
        "cdb64"
    }

    fn ways(&self) -> &'static [Way] {
        // A map is faster with everything cached. With nothing cached, the system reads ahead in
        // it, and this crate cannot turn that off.
        &[Way::Mapped, Way::Positioned]
    }

    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample> {
        timed_load(pairs, || {
            let mut writer: CdbWriter<_, CdbHash> =
                CdbWriter::new(Sequential::new(File::create(file(folder))?))?;
            for (key, value) in pairs.iter() {
                writer.put(key, value)?;
            }
            writer.finalize()?;
            writer.into_inner()?.out.into_inner()?.sync_all()?;
            // The folder holds the file's name.
            File::open(folder)?.sync_all()?;
            Ok(())
        })
    }

    fn open(&self, folder: &Path, way: Way) -> Result<Box<dyn Opened>> {
        let reader: Reader<File, CdbHash> = match way {
            Way::Mapped => Reader::open_mmap(file(folder))?,
            Way::Positioned => Reader::open(file(folder))?,
        };
        Ok(Box::new(reader))
    }
}

impl Opened for Reader<File, CdbHash> {
    fn look_up(&self, keys: &[Key]) -> Result<Seen> {
        let mut seen = Seen::default();
        for key in keys {
            if let Some(value) = self.get(key)? {
                seen.note(&value);
            }
        }
        Ok(seen)
    }

    fn ram_bytes(&self) -> Option<u64> {
        // The positions of its 256 tables.
        Some(256 * 16)
    }
}

/// A buffered file that keeps its buffer on a seek to the current position: the crate seeks before
/// each pair.
struct Sequential {
    out: BufWriter<File>,
    at: u64,
}

impl Sequential {
    fn new(file: File) -> Self {
        Self { out: BufWriter::with_capacity(1 << 20, file), at: 0 }
    }
}

impl Write for Sequential {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Seek for Sequential {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if to != SeekFrom::Start(self.at) {
            self.at = self.out.seek(to)?;
        }
        Ok(self.at)
    }
}
