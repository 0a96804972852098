//! Merges changes into pages, and makes checkpoints.
//!
//! # A round
//! A new log begins, the record that ends the old log names it, and the full buffer becomes the
//! second one. Once the closed log is synced, its changes are merged segment by segment, in
//! directory order, into pages on free slots. A checkpoint at the end makes that log obsolete;
//! checkpoints in between free replaced slots.
//!
//! # Why a crash loses nothing
//! At any moment the medium has a whole manifest, because a new one is synced before a rename gives
//! it the name ([`manifest_file`]). The manifest names slots and a log.
//!
//! - *The slots of a manifest are not written to* until the next manifest has its name on the
//!   medium: [`Slots`] counts them as used until then. All of them were synced before the manifest
//!   was written. So after a crash the pages are those that the manifest names.
//! - *A change that is missing from these pages is in the log that the manifest names, or in the
//!   next log.* The pages have
//!   all changes of earlier logs, since a manifest advances its log only at the end of a round. The
//!   file of an older log is overwritten when the next round begins, after that manifest is safe.
//! - *A crash cannot undo a change on a page.* Merged changes come from a log that was closed and
//!   synced. So a batch is never applied in part, and a crash leaves all changes up to some
//!   moment.
//! - *Changes may be applied twice.* Some are already on pages when the log is replayed. The last
//!   change of each key counts, and replay reads all later changes in order.
//! - *A torn log* ends at its first incomplete record. Records behind it are ignored
//!   ([`log`](super::log)). Under `SyncPolicy::Always` all acknowledged records are before it: see
//!   [`group_commit`](super::group_commit).
//!
//! When a process is killed, its unsynced writes stay in the system's cache, and the next process
//! reads them. So opening a store syncs its folder and its logs before it builds on them.
//!
//! A failed sync leaves the state of the medium unknown. Then the store writes nothing more; the
//! next process to open it reads what the medium has.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar};
use std::time::{Duration, Instant};

use super::directory::Entry;
use super::group_commit::GroupCommit;
use super::manifest::{Manifest, Named, Safe};
use super::manifest_file;
use super::merge::{Merged, Tools, merge};
use super::metrics::span;
use super::options::StoreOptions;
use super::plan::Plans;
use super::ranked::{Guard, Locks, Rank, Ranked};
use super::reader::Reader;
use super::root::{LogBuffer, Root};
use super::segment::Segment;
use super::slots::{Extent, Slots, slot_at};
use super::stats::Numbers;
use crate::Error;
use crate::format::PAGE;
use crate::format::guide::Solver;
use crate::format::header::Header;
use crate::totals::Totals;

/// The number of slots that may wait for a checkpoint: at least used / [`MIN_SLACK`], at most used
/// / [`MAX_SLACK`].
const MIN_SLACK: u64 = 24;
const MAX_SLACK: u64 = 12;

/// The planned size of all files, in percent of the bytes of keys and values. What pages and logs
/// leave of it may wait for a checkpoint. The rest, up to 150 percent, is for logs that are fuller
/// than planned.
const PLANNED_DISK: u64 = 138;

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It merged changes of a segment; more may follow.
    Merged,
    /// It ended the round, or there was no round.
    Ended,
}

/// Merges changes into pages, and makes checkpoints.
#[derive(Debug)]
pub(super) struct Checkpointer {
    pub(super) reader: Arc<Reader>,
    pub(super) commits: Arc<GroupCommit>,
    pub(super) options: StoreOptions,
    pages: Ranked<PageState>,
    pub(super) round: Ranked<Round>,
    /// Signals that the round has advanced, or failed.
    pub(super) turned: Condvar,
    numbers: Ranked<Numbers>,
}

/// The state that a step changes.
#[derive(Debug)]
struct PageState {
    tools: Tools,
    /// The number of the last checkpoint.
    checkpoint: u64,
    /// How far logs are safe, as the last manifest says.
    known_safe: Safe,
    /// Versions that the last checkpoint still names.
    retired: Vec<Retired>,
    /// Versions that it no longer names, oldest first.
    held: VecDeque<Retired>,
    /// The header of the sealed store that it began as.
    base: Option<Box<Header>>,
    /// The slots of that store's summary, while it describes a segment.
    summary: Option<Extent>,
    /// The buffer of the last round, now obsolete.
    spent: Option<Arc<LogBuffer>>,
}

/// A replaced version, and the slots that no later version uses.
#[derive(Debug)]
struct Retired {
    /// `None` if nobody can hold it.
    version: Option<Arc<Segment>>,
    slots: Vec<Extent>,
}

/// The progress of merging the second buffer.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// All changes with words before this one are on pages.
    pub(super) next: u128,
    /// Why it has stopped.
    pub(super) error: Option<Error>,
    /// Whether the store is closing.
    pub(super) stop: bool,
}

impl Checkpointer {
    pub(super) fn new(
        reader: Arc<Reader>,
        commits: Arc<GroupCommit>,
        locks: Locks,
        options: StoreOptions,
        manifest: Manifest,
    ) -> Self {
        let summary = manifest.summary_slots();
        let tools = Tools {
            digester: reader.digester,
            segment_pages: manifest.segment_pages,
            plans: Plans::new(manifest.miss_rate),
            solver: Solver::default(),
            slots: manifest.slots,
            next_id: manifest.next_id,
        };
        let pages = PageState {
            tools,
            checkpoint: manifest.number,
            known_safe: manifest.safe,
            retired: Vec::new(),
            held: VecDeque::new(),
            base: manifest.base,
            summary,
            spent: None,
        };
        Self {
            reader,
            commits,
            options,
            numbers: locks.lock(Rank::Numbers, pages.numbers()),
            pages: locks.lock(Rank::Pages, pages),
            round: locks.lock(Rank::Round, Round::default()),
            turned: Condvar::new(),
        }
    }

    /// The bytes of a full buffer, or of a full log.
    pub(super) fn buffer_bytes(&self) -> u64 {
        self.numbers().buffer_bytes(&self.options)
    }

    pub(super) fn numbers(&self) -> Numbers {
        *self.numbers.lock()
    }

    /// The state that [`verify`](super::verify) compares pages with.
    pub(super) fn snapshot(&self) -> (Arc<Root>, Slots, Option<Extent>) {
        // Only the holder of this lock changes the directory.
        let pages = self.pages.lock();
        (self.reader.root(), pages.tools.slots.clone(), pages.summary)
    }

    /// Merges the changes of one segment, or ends the round. On an error nothing changes, and the
    /// step can be repeated.
    pub(super) fn step(&self) -> Result<Step, Error> {
        self.reader.files.check()?;
        let mut pages = self.pages.lock();
        pages.spent = None;
        let done = self.reader.files.note(self.step_with(&mut pages));
        *self.numbers.lock() = pages.numbers();
        let mut round = self.round.lock();
        let step = done.map(|(next, step)| {
            round.error = None;
            round.next = next;
            step
        });
        drop(round);
        self.turned.notify_all();
        step
    }

    /// Returns where the round continues, and whether it does.
    fn step_with(&self, pages: &mut PageState) -> Result<(u128, Step), Error> {
        self.release(pages);
        let root = self.reader.root();
        let Some(frozen) = &root.frozen else { return Ok((0, Step::Ended)) };
        self.commits.sync_closed_log()?;
        let buffer = frozen.read();
        let next = self.round.lock().next;
        let first = u64::try_from(next).ok().and_then(|next| buffer.first_from(next));
        let Some(first) = first else {
            // All changes are on pages.
            self.checkpoint(pages, &root, root.active.log)?;
            self.reader.root.replace(|root| Root { frozen: None, merged: 0, ..root.clone() });
            pages.spent = root.frozen.clone();
            return Ok((0, Step::Ended));
        };
        let found = root.directory.find(first);
        // In a small store one segment may have a buffer full of changes. They are merged in parts,
        // so that no step takes much longer than another.
        let most = pages.tools.segment_pages as usize * PAGE;
        let last = buffer.last_of(first..=found.last, most);
        let next = u128::from(last) + 1;
        span!("merge");
        let merged = merge(&mut pages.tools, &self.reader.data, &found, buffer.range(first..=last))?;
        let Merged { segments, freed, delta, writes } = merged;
        if let Some(segments) = segments {
            let start = found.first;
            self.reader.root.replace(|root| {
                let mut totals = root.totals;
                totals.add(delta);
                let directory = root.directory.replaced(start, segments);
                Root { directory, totals, merged: next, ..root.clone() }
            });
            pages.retired.push(Retired { version: Some(found.segment.clone()), slots: freed });
        }
        let meters = &self.reader.files.meters;
        meters.merges.fetch_add(1, Relaxed);
        meters.page_writes.fetch_add(writes, Relaxed);
        let log = frozen.log;
        drop(buffer);
        drop(root);
        let root = self.reader.root();
        if pages.retired_slots() > self.slack(pages, &root.totals) {
            // The merge stands even if the checkpoint fails; the next merge tries again.
            self.round.lock().next = next;
            self.checkpoint(pages, &root, log)?;
        }
        Ok((next, Step::Merged))
    }

    /// The number of slots that may wait for a checkpoint. A larger number means fewer checkpoints,
    /// which wait for the disk, and a larger file.
    fn slack(&self, pages: &PageState, totals: &Totals) -> u64 {
        let page = PAGE as u64;
        let used = pages.tools.slots.used_count();
        let planned = totals.raw_bytes() / (100 * page) * PLANNED_DISK;
        let logs = 2 * self.buffer_bytes() / page;
        let left = planned.saturating_sub(used.saturating_sub(pages.retired_slots()) + logs);
        left.clamp(used / MIN_SLACK, used / MAX_SLACK).max(self.options.slack_pages.into())
    }

    /// Makes all pages safe. Changes of logs from `log` on must still be replayed.
    fn checkpoint(&self, pages: &mut PageState, root: &Root, log: u64) -> Result<(), Error> {
        span!("checkpoint");
        let start = Instant::now();
        let files = &self.reader.files;
        // Steps 5 to 8 of `docs/architecture.md`, *The life of a crash*.
        self.reader.data.file.sync().map_err(Error::sync("the store"))?;
        pages.drop_summary(root);
        let manifest = self.manifest(pages, root, log);
        manifest_file::write(&*files.disk, &files.paths, &manifest)?;
        pages.checkpoint = manifest.number;
        pages.known_safe = manifest.safe;
        let retired = std::mem::take(&mut pages.retired);
        pages.held.extend(retired);
        self.release(pages);
        // No manifest on the medium names these slots, and no reader holds them.
        if let Some(end) = pages.tools.slots.cut() {
            let cut = self.reader.data.file.truncate(slot_at(end));
            cut.map_err(Error::io("cut unused space off the store"))?;
        }
        files.meters.checkpoints.since(start);
        Ok(())
    }

    /// Frees the slots of versions that nobody holds, in this process or another.
    fn release(&self, pages: &mut PageState) {
        if !pages.held.is_empty() && !self.reader.data.file.is_pinned() {
            pages.release();
        }
    }

    fn manifest(&self, pages: &PageState, root: &Root, log: u64) -> Manifest {
        let mut slots = pages.tools.slots.clone();
        for &extent in pages.retired.iter().chain(&pages.held).flat_map(|retired| &retired.slots) {
            slots.free_if_used(extent);
        }
        let named =
            |(first, segment): &Entry| Named { first: *first, id: segment.id, described: segment.described };
        Manifest {
            store: self.reader.files.store,
            seed: self.reader.digester.seed(),
            number: pages.checkpoint + 1,
            miss_rate: self.options.miss_rate,
            segment_pages: pages.tools.segment_pages,
            log,
            safe: self.commits.safe(),
            totals: root.totals,
            next_id: pages.tools.next_id,
            base: pages.base.clone(),
            segments: root.directory.iter().map(named).collect(),
            slots,
            has_overflow: root.directory.iter().any(|(_, segment)| !segment.overflow.is_empty()),
        }
    }

    /// Begins a round: the root gets a second buffer, whose log is closed.
    pub(super) fn begin_round(&self, active: Arc<LogBuffer>) {
        self.round.lock().next = 0;
        self.reader.root.replace(|root| Root {
            active,
            frozen: Some(root.active.clone()),
            merged: 0,
            ..root.clone()
        });
        // Everyone who saw the root before it was replaced is waiting by now.
        drop(self.round.lock());
        self.turned.notify_all();
    }

    /// Waits for the end of a step of the round, at most for `time`.
    pub(super) fn wait<'a>(&self, round: Guard<'a, Round>, time: Duration) -> Guard<'a, Round> {
        round.wait(&self.turned, time)
    }

    /// Records how far the log is safe, so that later damage is recognized.
    pub(super) fn close(&self) -> Result<(), Error> {
        self.commits.flush()?;
        let mut pages = self.pages.lock();
        if pages.retired.is_empty() && pages.known_safe == self.commits.safe() {
            return Ok(());
        }
        let root = self.reader.root();
        self.reader.files.note(self.checkpoint(&mut pages, &root, root.first_log()))
    }

    /// Drops the buffer of the last round when nobody else holds it. Dropping takes time, which
    /// readers and writers should not pay for.
    pub(super) fn drop_spent(&self) {
        /// Lookups are shorter. Longer holders, such as snapshots, drop the buffer themselves.
        const PATIENCE: u32 = 50;
        let spent = self.pages.lock().spent.take();
        let Some(spent) = spent else { return };
        for _ in 0..PATIENCE {
            if Arc::strong_count(&spent) == 1 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl PageState {
    fn numbers(&self) -> Numbers {
        Numbers::new(self.checkpoint, &self.tools.slots)
    }

    fn retired_slots(&self) -> u64 {
        self.retired.iter().flat_map(|retired| &retired.slots).map(|extent| u64::from(extent.count)).sum()
    }

    /// Frees the slots of versions that nobody in this process holds.
    fn release(&mut self) {
        // `get_mut` synchronizes with the last reader's release.
        while let Some(first) = self.held.front_mut()
            && first.version.as_mut().is_none_or(|version| Arc::get_mut(version).is_some())
        {
            let slots = self.held.pop_front().map(|retired| retired.slots);
            slots.into_iter().flatten().for_each(|extent| self.tools.slots.free_if_used(extent));
        }
    }

    /// Frees the slots of the sealed store's summary when it describes no segment any more.
    fn drop_summary(&mut self, root: &Root) {
        if root.directory.iter().all(|(_, segment)| segment.described.is_some())
            && let Some(extent) = self.summary.take()
        {
            self.retired.push(Retired { version: None, slots: vec![extent] });
        }
    }
}
