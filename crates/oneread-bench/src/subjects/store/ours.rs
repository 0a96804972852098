//! Our sealed store at its defaults: 1% of misses read a page; 256 MiB of memory to build.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::Result;
use oneread_store::{Builder, FileReader, Options, ReadAt, Sealed};

use super::contenders::{Contender, Key, Opened, Pairs, Seen, Way, timed_load};
use crate::measure::Sample;

pub(super) struct Ours;

impl Ours {
    pub(super) fn file(folder: &Path) -> PathBuf {
        folder.join("pairs.store")
    }
}

impl Contender for Ours {
    fn name(&self) -> &'static str {
        "oneread"
    }

    fn ways(&self) -> &'static [Way] {
        &[Way::Mapped, Way::Positioned]
    }

    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample> {
        timed_load(pairs, || {
            // Temporary files go to the same disk as those of the other stores.
            let mut builder = Builder::new(Options::new().seed(1).temporary_folder(folder))?;
            for (key, value) in pairs.iter() {
                builder.insert(key, value)?;
            }
            builder.finish(Self::file(folder))?;
            Ok(())
        })
    }

    fn open(&self, folder: &Path, way: Way) -> Result<Box<dyn Opened>> {
        let file = Self::file(folder);
        Ok(match way {
            Way::Positioned => Box::new(Sealed::open(file)?),
            // SAFETY: the file lies in a folder of this run, which no longer writes to it.
            Way::Mapped => Box::new(unsafe { Sealed::open_mapped(file) }?),
        })
    }
}

impl<R: ReadAt> Opened for Sealed<R> {
    fn look_up(&self, keys: &[Key]) -> Result<Seen> {
        let mut seen = Seen::default();
        for key in keys {
            self.get_with(key, |value| seen.note(value))?;
        }
        Ok(seen)
    }

    fn ram_bytes(&self) -> Option<u64> {
        Some(self.stats().ram_bytes)
    }
}

/// Page reads per hit and per miss, counted where the store calls its medium, so with no cache in
/// between. Keys and seed are fixed, so these are the same in every run.
pub(super) fn reads(pairs: &Pairs, folder: &Path) -> Result<(f64, f64)> {
    /// About one hit in hundreds reads a second page; the mean of this many is right to four
    /// decimals.
    const HITS: usize = 1_000_000;
    let hits = pairs.hits(pairs.len().min(HITS), 7).keys;
    let store = Sealed::open_in(Counting::new(FileReader::open(Ours::file(folder))?))?;
    let counted = |keys: &[Key]| -> Result<f64> {
        let before = store.reader().reads.load(Relaxed);
        store.look_up(keys)?;
        Ok((store.reader().reads.load(Relaxed) - before) as f64 / keys.len() as f64)
    };
    let (hit, miss) = (counted(&hits)?, counted(&pairs.absent)?);
    let own = store.reads();
    assert_eq!((own.per_hit(), own.per_miss()), (Some(hit), Some(miss)), "the store counts other reads");
    Ok((hit, miss))
}

/// A reader that counts its calls.
struct Counting<R> {
    reader: R,
    reads: AtomicU64,
}

impl<R> Counting<R> {
    fn new(reader: R) -> Self {
        Self { reader, reads: AtomicU64::new(0) }
    }
}

impl<R: ReadAt> ReadAt for Counting<R> {
    fn len(&self) -> io::Result<u64> {
        self.reader.len()
    }

    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.reads.fetch_add(1, Relaxed);
        self.reader.read_at(offset, length, scratch)
    }

    fn in_flight(&self) -> usize {
        self.reader.in_flight()
    }
}
