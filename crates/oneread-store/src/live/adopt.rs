//! Turns a sealed store into a live one.
//!
//! The first manifest names the segments as the sealed store describes them; no page is written or
//! moved. Then the header is marked as live, so that nobody reads the file as sealed while it
//! changes. The manifest has a copy of the header: if a crash tears the mark, it is written again.
//!
//! Readers of a sealed store hold a shared lock on its file, and read the header after they have
//! the lock. Everything above happens under the exclusive lock. So the store stays sealed while it
//! is read, and later readers see the mark.

use std::io;

use super::create::begin;
use super::disk::{Disk, DiskFile, OpenMode};
use super::files::Paths;
use super::manifest::{Manifest, Named};
use super::manifest_file;
use super::mark::Mark;
use super::options::StoreOptions;
use super::overflow::Overflow;
use super::segment::Segment;
use super::slots::{self, Extent, Slots};
use crate::format::PAGE;
use crate::format::geometry;
use crate::format::header::{self, Header};
use crate::format::summary::Summary;
use crate::totals::Totals;
use crate::{Error, ReadAt};

/// Makes a sealed store live, or completes what a crash interrupted.
pub(super) fn make_live(disk: &dyn Disk, paths: &Paths, options: &StoreOptions) -> Result<(), Error> {
    let file = disk.open(&paths.data, OpenMode::Write).map_err(Error::io("open the store"))?;
    let has_manifest = manifest_file::exists(disk, paths)?;
    match Mark::read(&*file) {
        // Whether it belongs to the manifest is checked when both are loaded.
        Ok(Mark::Live { .. }) | Err(_) if has_manifest => return Ok(()),
        Ok(_) if has_manifest => {}
        header => header?.check_sealed()?,
    }
    let manifest = if has_manifest { manifest_file::read(disk, paths)? } else { adopt(&*file, options)? };
    // Held until the file is dropped, after the mark is written. New readers wait for that.
    if !file.try_lock_alone().map_err(Error::io("lock the store's file"))? {
        return Err(Error::InUse);
    }
    if !has_manifest {
        begin(disk, paths, &manifest)?;
    }
    if Mark::is_written(&*file, &manifest)? {
        return Ok(());
    }
    file.write_at(0, &header::live(manifest.store, manifest.seed))
        .map_err(Error::io("write the store's header"))?;
    file.sync().map_err(Error::sync("the store"))
}

/// The first manifest of a sealed store.
fn adopt(file: &dyn DiskFile, options: &StoreOptions) -> Result<Manifest, Error> {
    options.check()?;
    let reader = Reading(file);
    let header = crate::sealed::read_header(&reader)?;
    // Checked here, so that a store with a damaged summary does not become live.
    sealed_summary(file, &header)?;
    let bytes = header.store_bytes().unwrap_or(u64::MAX);
    let end = u32::try_from(bytes.div_ceil(PAGE as u64) - 1).ok().filter(|&end| end <= slots::MAX_SLOTS);
    let end = end.ok_or(Error::TooLarge { pages: bytes / PAGE as u64 })?;
    let mut slots = Slots::empty(end);
    slots.take(Extent { slot: 0, count: end });
    let words = slots.words().to_vec();
    let named = |id| Named { first: *geometry::words(id, header.segments).start(), id, described: None };
    let slots = Slots::from_words(words, end).ok_or(Error::TooLarge { pages: end.into() })?;
    let segments = (0..header.segments).map(named).collect();
    Ok(Manifest {
        totals: Totals { items: header.items, key_bytes: header.key_bytes, value_bytes: header.value_bytes },
        has_overflow: header.overflow_bytes > 0,
        base: Some(Box::new(header.clone())),
        ..Manifest::first(header.seed, options, segments, slots)
    })
}

/// Reads the summary of the sealed store that a live store began as.
pub(super) fn sealed_summary(file: &dyn DiskFile, header: &Header) -> Result<Summary, Error> {
    let reader = Reading(file);
    Summary::decode(crate::sealed::read_summary(&reader, header, |_| {})?, header)
}

/// The segment with this number, as the sealed store describes it.
pub(super) fn sealed_segment(summary: &Summary, header: &Header, number: u32) -> Segment {
    let of = summary.segment(number);
    let in_levels: u32 = of.levels.iter().sum();
    let levels_end = of.first_page + in_levels;
    // The bytes used per segment are not known; segments are alike.
    let used: u64 = header.levels.iter().fold(0, |sum, level| sum.saturating_add(level.used_bytes));
    let used = (u128::from(used) * u128::from(in_levels) / u128::from(header.pages.max(1))) as u64;
    let slots = (of.first_page..levels_end).collect();
    let guides = (header.guides, summary.guides_of(number).to_vec());
    let mut segment = Segment::new(number, of.levels, slots, guides, used);
    if let Some(words) = summary.overflow_words(number) {
        let slots = (levels_end..levels_end + of.overflow).collect();
        segment.overflow = Overflow { slots, words: words.clone() };
    }
    segment
}

/// Reads a disk file as the source of a sealed store.
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
