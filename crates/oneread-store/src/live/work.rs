//! Bringing changes to pages, and checkpoints.
//!
//! # A round
//! When the buffer is full it becomes the second one, its log is closed, and another log begins. When the closed one is synced, segment by segment
//! in the order of the directory, its changes are merged into pages on slots that were free. A checkpoint at the end makes the log
//! needless; some in between make slots free that were replaced.
//!
//! # Why a crash loses nothing
//! At any moment the medium has a manifest, whole, since another one takes its name by a rename after it was synced. The manifest
//! names slots and a log.
//!
//! - *Slots of a manifest are not written to* until another manifest has its name on the medium: they are in use in [`Slots`](super::slots::Slots)
//!   until then. All of them were synced before it was written. So a crash finds the pages that the manifest means.
//! - *The logs from the manifest's on have every change that these pages may lack.* The pages of a manifest have all changes of logs before
//!   its own, since its log is raised only at the end of a round. The file of an older log is written again when the next round
//!   begins, which is after that manifest was safe.
//! - *Pages have no change that the log may have lost.* What is merged comes from a log that was closed and synced. So a batch is
//!   never there in part, and what is there is all up to some moment.
//! - *Changes may be applied twice.* Some are on pages already when the log is read; the last change of each key counts, and all changes
//!   since the first of them are read, in order.
//! - *A log that is cut off* ends where its first record is not whole. Records behind are not believed ([`log`](super::log)).
//!   Under `SyncPolicy::Always` all acknowledged ones are before that: a sync is for the closed log
//!   first, then for the one after it, which is read only if that is
//!   whole.
//!
//! A process that is killed leaves to the system what it did not sync, and the next one sees it. So opening a store syncs its folder and its logs before anything is built
//! on them.
//!
//! A sync that fails leaves unknown what is on the medium. Then nothing is written any more: the next to open the store reads what is there.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::buffer::Buffer;
use super::directory::Entry;
use super::disk::OpenMode;
use super::log::Log;
use super::manifest::{Manifest, Named};
use super::merge::{Merged, merge};
use super::options::SyncPolicy;
use super::shared::{Numbered, Retired, Root, Shared, Tail, Work, lock};
use super::slots::Extent;
use crate::Error;
use crate::format::PAGE;
use crate::format::header::Header;

/// One of so many slots may wait for a checkpoint.
const SLACK: u64 = 16;

/// What is left to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Some,
    None,
}

impl Shared {
    /// Merges the changes of one segment, or ends the round. What fails is as it was before, and may be tried again.
    pub(super) fn step(&self) -> Result<Left, Error> {
        self.check()?;
        let mut work = lock(&self.work);
        work.spent = None;
        let done = self.note(self.step_with(&mut work));
        *lock(&self.progress) = work.progress();
        let mut round = lock(&self.round);
        let left = match done {
            Ok((next, left)) => {
                round.error = None;
                round.next = next;
                Ok(left)
            }
            Err(error) => Err(error),
        };
        drop(round);
        self.turned.notify_all();
        left
    }

    /// Where the round goes on, and whether it does.
    fn step_with(&self, work: &mut Work) -> Result<(u128, Left), Error> {
        work.release();
        let root = self.root();
        let Some(frozen) = &root.frozen else { return Ok((0, Left::None)) };
        self.make_frozen_safe()?;
        let buffer = frozen.read();
        let next = lock(&self.round).next;
        let first = u64::try_from(next).ok().and_then(|next| buffer.first_from(next));
        let Some(first) = first else {
            // All are on pages.
            self.checkpoint(work, &root, root.active.log)?;
            self.replace_root(|root| Root { frozen: None, merged: 0, ..root.clone() });
            work.spent = root.frozen.clone();
            return Ok((0, Left::None));
        };
        let found = root.directory.find(first);
        // A small store has a buffer full of changes for one segment: they come in parts, so that this step is not much more than another.
        let most = work.tools.segment_pages as usize * PAGE;
        let last = buffer.last_of(first..=found.last, most);
        let merged = merge(&mut work.tools, &self.data, &found, buffer.range(first..=last))?;
        let Merged { segments, freed, delta } = merged;
        if let Some(segments) = segments {
            let start = found.first;
            self.replace_root(|root| {
                let mut totals = root.totals;
                delta.apply(&mut totals);
                let directory = root.directory.replaced(start, segments);
                Root { directory, totals, merged: u128::from(last) + 1, ..root.clone() }
            });
            work.retired.push(Retired { version: Some(found.segment.clone()), slots: freed });
        }
        let next = u128::from(last) + 1;
        let log = frozen.log;
        drop(buffer);
        drop(root);
        let slack = u64::from(self.options.slack_pages).max(work.tools.slots.used_count() / SLACK);
        if work.retired_slots() > slack {
            let root = self.root();
            // The merge is done whatever comes of this: it is tried again after the next one.
            lock(&self.round).next = next;
            self.checkpoint(work, &root, log)?;
        }
        Ok((next, Left::Some))
    }

    /// Sees to it that the log whose changes come to pages is on the medium to its end.
    fn make_frozen_safe(&self) -> Result<(), Error> {
        let synced = lock(&self.synced);
        let end = synced.tail.before.as_ref().map(|_| synced.tail.end);
        drop(synced);
        end.map_or(Ok(()), |end| self.sync_to(end))
    }

    /// Makes what is on pages safe, with the changes of logs from `log` on still to be applied.
    pub(super) fn checkpoint(&self, work: &mut Work, root: &Root, log: u64) -> Result<(), Error> {
        self.data.file.sync().map_err(Error::sync("the store"))?;
        work.drop_summary(root);
        let manifest = self.manifest(work, root, log);
        self.write_manifest(&manifest)?;
        work.checkpoint = manifest.number;
        work.known_safe = manifest.safe;
        let retired = std::mem::take(&mut work.retired);
        work.held.extend(retired);
        work.release();
        Ok(())
    }

    fn manifest(&self, work: &Work, root: &Root, log: u64) -> Manifest {
        let mut slots = work.tools.slots.clone();
        for &extent in work.retired.iter().chain(&work.held).flat_map(|retired| &retired.slots) {
            slots.free_if_used(extent);
        }
        let named =
            |(first, segment): &Entry| Named { first: *first, id: segment.id, described: segment.described };
        Manifest {
            store: self.store,
            seed: self.seed,
            number: work.checkpoint + 1,
            miss_rate: self.options.miss_rate,
            segment_pages: work.tools.segment_pages,
            log,
            safe: lock(&self.synced).safe,
            totals: root.totals,
            next_id: work.tools.next_id,
            base: work.base.clone(),
            segments: root.directory.iter().map(named).collect(),
            slots,
            has_overflow: root.directory.iter().any(|(_, segment)| !segment.overflow.is_empty()),
        }
    }

    /// Puts a manifest in place of the present one.
    pub(super) fn write_manifest(&self, manifest: &Manifest) -> Result<(), Error> {
        let next = self.paths.next_manifest();
        let file = self.disk.open(&next, OpenMode::Create).map_err(Error::io("make the store's manifest"))?;
        file.write_at(0, &manifest.encode()).map_err(Error::io("write the store's manifest"))?;
        file.sync().map_err(Error::sync("the store's manifest"))?;
        self.disk
            .rename(&next, &self.paths.manifest())
            .map_err(Error::io("give the store's manifest its name"))?;
        self.disk.sync_folder(&self.paths.folder).map_err(Error::sync("the store's folder"))
    }

    /// Makes the full buffer the second one, if there is none, and begins another log.
    pub(super) fn freeze(&self, log: &mut Log, session: u64) -> Result<(), Error> {
        let safe = lock(&self.synced).safe;
        let number = log.number + 1;
        let next = self.begin_log(number, session)?;
        log.close(session, if safe.log == log.number { safe.end } else { 0 })?;
        let old = std::mem::replace(log, next);
        lock(&self.synced).tail = Tail::new(log, Some(old.file));
        lock(&self.round).next = 0;
        self.replace_root(|root| Root {
            active: Numbered::new(number, Buffer::default()),
            frozen: Some(root.active.clone()),
            merged: 0,
            ..root.clone()
        });
        // Whoever looked at the root before it was replaced is waiting now.
        drop(lock(&self.round));
        self.turned.notify_all();
        Ok(())
    }

    /// Begins a log over the one before the last.
    pub(super) fn begin_log(&self, number: u64, session: u64) -> Result<Log, Error> {
        let path = self.paths.log(number);
        let failed = Error::io("open the log");
        let file = match self.disk.open(&path, OpenMode::Write) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let file = self.disk.open(&path, OpenMode::Create).map_err(failed)?;
                self.disk.sync_folder(&self.paths.folder).map_err(Error::sync("the store's folder"))?;
                file
            }
            opened => opened.map_err(failed)?,
        };
        Ok(Log::begin(file, self.store, number, session)?.for_buffer(self.options.buffer_bytes))
    }

    /// Lets the buffer of the last round go when nobody else has it: that takes time, which those who read and write should not pay with.
    fn bury(&self) {
        /// Lookups are shorter; whoever has it for longer, as a snapshot, pays.
        const PATIENCE: u32 = 50;
        let spent = lock(&self.work).spent.take();
        let Some(spent) = spent else { return };
        for _ in 0..PATIENCE {
            if Arc::strong_count(&spent) == 1 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// What the thread of its own does: steps while there is something to do, and syncs when it is time.
    pub(super) fn work_until_stopped(&self) {
        /// Whoever waits for a thread that is gone would wait for ever.
        struct Told<'a>(&'a Shared);
        impl Drop for Told<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    _ = self.0.failed.set("the work of the store's own thread");
                    self.0.turned.notify_all();
                }
            }
        }
        let _told = Told(self);
        /// How long to wait before what failed is tried again.
        const AGAIN: Duration = Duration::from_millis(50);
        let interval = match self.options.sync {
            SyncPolicy::Interval(milliseconds) => Duration::from_millis(milliseconds.max(1)),
            SyncPolicy::Always | SyncPolicy::None => Duration::MAX,
        };
        let mut last = Instant::now();
        loop {
            let wait = {
                let mut round = lock(&self.round);
                if round.stop {
                    return;
                }
                if self.root().frozen.is_some() && self.failed.get().is_none() {
                    drop(round);
                    match self.step() {
                        Ok(Left::Some) => None,
                        Ok(Left::None) => {
                            self.bury();
                            None
                        }
                        Err(error) => {
                            lock(&self.round).error = Some(error);
                            self.turned.notify_all();
                            Some(AGAIN.min(interval))
                        }
                    }
                } else {
                    round = if interval == Duration::MAX {
                        self.turned.wait(round).unwrap_or_else(PoisonError::into_inner)
                    } else {
                        self.turned.wait_timeout(round, interval).unwrap_or_else(PoisonError::into_inner).0
                    };
                    drop(round);
                    None
                }
            };
            if interval != Duration::MAX && last.elapsed() >= interval {
                last = Instant::now();
                // A failure is kept, and told to the next who writes.
                _ = self.flush();
            }
            if let Some(wait) = wait {
                std::thread::sleep(wait);
            }
        }
    }
}

impl Work {
    fn retired_slots(&self) -> u64 {
        self.retired.iter().flat_map(|retired| &retired.slots).map(|extent| u64::from(extent.count)).sum()
    }

    /// Frees the slots of versions that nobody holds.
    fn release(&mut self) {
        // By `get_mut`, after which all that the last reader did with it has been done.
        while let Some(first) = self.held.front_mut()
            && first.version.as_mut().is_none_or(|version| Arc::get_mut(version).is_some())
        {
            let slots = self.held.pop_front().map(|retired| retired.slots);
            slots.into_iter().flatten().for_each(|extent| self.tools.slots.free_if_used(extent));
        }
    }

    /// When no segment is described by the sealed store any more, the slots of its summary are free.
    fn drop_summary(&mut self, root: &Root) {
        if root.directory.iter().all(|(_, segment)| segment.described.is_some())
            && let Some(extent) = self.summary.take()
        {
            self.retired.push(Retired { version: None, slots: vec![extent] });
        }
    }
}

/// The slots of a sealed store's summary.
pub(super) fn summary_slots(base: &Header) -> Option<Extent> {
    let page = PAGE as u64;
    let slot = u32::try_from(base.summary_at()? / page - 1).ok()?;
    let count = u32::try_from(base.summary_bytes.div_ceil(page)).ok()?;
    Some(Extent { slot, count })
}
