//! The file with pages and large values.

use std::io;
use std::sync::Arc;

use super::disk::DiskFile;
use super::slots::{Extent, slot_at};
use crate::Error;
use crate::format::page::{Place, View};
use crate::format::record::Run;
use crate::format::{PAGE, checksum};

#[derive(Debug)]
pub(super) struct Data {
    pub(super) file: Arc<dyn DiskFile>,
    /// The position of offset 0 of runs: behind the pages of the sealed store, or behind the
    /// header. Runs before it have negative offsets, modulo 2^64.
    pub(super) runs_at: u64,
    /// Slots with runs of the sealed store, which may share a slot.
    pub(super) shared: std::ops::Range<u64>,
}

impl Data {
    /// Reads a page into a buffer of its length.
    #[inline]
    pub(super) fn page<'a>(&self, slot: u32, place: Place, buffer: &'a mut [u8]) -> Result<View<'a>, Error> {
        let page = u64::from(slot);
        self.file.read_at(slot_at(slot), buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Page { page, what: "the file ends before it" },
            _ => Error::io("read a page")(error),
        })?;
        View::open(buffer, place).map_err(|what| Error::Page { page, what })
    }

    /// Reads a large value into `value`, replacing its content.
    pub(super) fn run(&self, run: Run, value: &mut Vec<u8>) -> Result<(), Error> {
        let damaged = |what| Error::Run { offset: run.offset, what };
        let start = self.runs_at.wrapping_add(run.offset);
        let file = self.file.len().map_err(Error::io("read the store's length"))?;
        let length = start.checked_add(run.length).filter(|&end| end <= file && start >= PAGE as u64);
        let length = length
            .and_then(|_| usize::try_from(run.length).ok())
            .ok_or(damaged("it lies outside of the store"))?;
        value.clear();
        value.try_reserve_exact(length).map_err(|_| Error::OutOfMemory { bytes: run.length })?;
        value.resize(length, 0);
        self.file.read_at(start, value).map_err(Error::io("read a large value"))?;
        if checksum(value) != run.checksum {
            return Err(damaged("its checksum is wrong"));
        }
        Ok(())
    }

    /// Writes a large value to slots of its own, and returns its reference.
    pub(super) fn write_run(&self, extent: Extent, value: &[u8]) -> Result<Run, Error> {
        let mut bytes = Vec::with_capacity(value.len().next_multiple_of(PAGE));
        bytes.extend_from_slice(value);
        bytes.resize(value.len().next_multiple_of(PAGE), 0);
        self.file.write_at(slot_at(extent.slot), &bytes).map_err(Error::io("write a large value"))?;
        let offset = slot_at(extent.slot).wrapping_sub(self.runs_at);
        Ok(Run { offset, length: value.len() as u64, checksum: checksum(value) })
    }

    /// The slots that become free when a run is gone. Slots that runs of a sealed store share are
    /// never reused.
    pub(super) fn slots_of(&self, run: Run) -> Option<Extent> {
        let page = PAGE as u64;
        let start = self.runs_at.wrapping_add(run.offset);
        let end = start.checked_add(run.length)?;
        let first = (start / page).checked_sub(1)?;
        let (first, end) = if self.shared.contains(&first) {
            (start.div_ceil(page).checked_sub(1)?, (end / page).checked_sub(1)?)
        } else {
            (first, end.div_ceil(page).checked_sub(1)?)
        };
        let (slot, end) = (u32::try_from(first).ok()?, u32::try_from(end).ok()?);
        end.checked_sub(slot).filter(|&count| count > 0).map(|count| Extent { slot, count })
    }

    /// Writes pages; those on adjacent slots in one write.
    pub(super) fn write_pages(&self, mut pages: Vec<(u32, Vec<u8>)>) -> Result<(), Error> {
        /// The most bytes per write.
        const TOGETHER: usize = 1 << 18;
        pages.sort_unstable_by_key(|&(slot, _)| slot);
        let mut together = Vec::new();
        let mut first = 0;
        for (slot, bytes) in pages {
            let next = u64::from(first) + (together.len() / PAGE) as u64;
            if !together.is_empty() && (u64::from(slot) != next || together.len() >= TOGETHER) {
                self.file.write_at(slot_at(first), &together).map_err(Error::io("write pages"))?;
                together.clear();
            }
            if together.is_empty() {
                first = slot;
            }
            together.extend_from_slice(&bytes);
        }
        if together.is_empty() {
            return Ok(());
        }
        self.file.write_at(slot_at(first), &together).map_err(Error::io("write pages"))
    }
}
