//! Writes the file from partitions: several threads place groups of segments, one writes them in
//! order.

use std::io::SeekFrom;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::plan::{Loads, StorePlan};

use crate::Error;
use crate::format::PAGE;
use crate::format::geometry::{LEVELS, SEGMENT_PAGES, Shape};
use crate::format::guide::{Form, Solver};
use crate::format::header::{Header, Level};
use crate::format::overflow;
use crate::format::page::{self, ROOM};
use crate::format::summary;
use crate::totals::Totals;

use super::Builder;
use super::group::Group;
use super::out::{Out, Pages};
use super::report::{Progress, Report};
use super::segment::{Encoded, Placed};
use super::values::Ordered;

pub(super) const WRITING: &str = "write the store";

/// The number of segments to plan guides from; segments are alike.
const SAMPLE: u32 = 4;

/// The fraction of the rate to plan for, since other segments differ slightly from the sample.
const KEPT_BACK: f64 = 0.98;

/// A group takes about one part in `MEMORY_A_GROUP` of the memory, per thread: its records, their
/// pages, and the pages of another group that wait to be written.
const MEMORY_A_GROUP: usize = 8;

/// The segments of one group, ready to be written.
struct Ready {
    segments: Vec<Encoded>,
    replaced: u64,
}

impl Builder {
    /// Writes the whole store.
    pub(crate) fn write(
        mut self,
        out: &mut impl Out,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report, Error> {
        self.partitions.complete(&self.options)?;
        let values_bytes = self.values.bytes();
        let values = std::mem::replace(&mut self.values, super::Values::new()).complete(&self.options)?;
        let segments = self.segments()?;
        let total = self.totals.records;

        // The header is written last, when it is known.
        out.write_all(&[0; PAGE]).map_err(Error::io(WRITING))?;
        let mut writer = SealedWriter::new(out, values);

        let sample = SAMPLE.min(segments);
        let group = self.group(0, sample, segments)?;
        let (shape, mut placed) = self.shape(&group)?;
        let form = self.form(&placed, sample == segments);
        let mut solver = Solver::default();
        for segment in &mut placed {
            writer.write(segment.encode(&group, form, &mut solver, Pages::default()))?;
        }
        let mut replaced = group.replaced;
        let done = |items: u64, replaced: u64| Progress { done: items + replaced, total };
        progress(done(writer.totals.items, replaced));
        drop((group, placed));

        let groups = self.groups(sample, segments);
        let threads = self.options.threads.min(groups.len());
        // Reuses the memory of written pages, so that the system need not map new memory for each
        // group.
        let spare = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let (builder, spare) = (&self, &spare);
            let place = |mine: Vec<(u32, u32)>, sender: &SyncSender<Result<Ready, Error>>| {
                let mut solver = Solver::default();
                for (first, end) in mine {
                    let ready = builder.ready((first, end, segments), shape, form, &mut solver, spare);
                    // Nobody receives any more once something has failed.
                    if sender.send(ready).is_err() {
                        return;
                    }
                }
            };
            // Thread t places groups t, t + threads, …. Receiving from the threads in turn keeps
            // the groups in order.
            let receivers: Vec<Receiver<_>> = (0..threads)
                .map(|number| {
                    let mine = groups.iter().copied().skip(number).step_by(threads).collect();
                    let (sender, receiver) = sync_channel(0);
                    scope.spawn(move || place(mine, &sender));
                    receiver
                })
                .collect();
            for number in 0..groups.len() {
                let received = receivers[number % threads].recv();
                let lost = || Error::io("place records")(std::io::Error::other("a thread was lost"));
                let ready: Ready = received.map_err(|_| lost())??;
                for segment in ready.segments {
                    let memory = writer.write(segment)?;
                    lock(spare).push(memory);
                }
                replaced += ready.replaced;
                progress(done(writer.totals.items, replaced));
            }
            Ok::<(), Error>(())
        })?;

        let (header, guides) = writer.finish(self.options.seed, shape, form)?;
        let spilled_bytes = self.partitions.spilled_bytes() + values_bytes;
        Ok(report(&header, guides, replaced, spilled_bytes))
    }

    /// The form of guides, planned from some segments or from all.
    fn form(&self, placed: &[Placed], are_all: bool) -> Form {
        let keys_a_home = placed.iter().map(Placed::keys_a_home).sum::<f64>() / placed.len().max(1) as f64;
        Form::for_rate(keys_a_home, self.options.miss_rate * KEPT_BACK, |homes_log2| {
            let mut loads = Loads::new();
            let form = Form { bytes: 1, homes_log2 };
            placed.iter().for_each(|segment| segment.guided(form).count(segment.levels(), &mut loads));
            if are_all {
                return loads;
            }
            // Other segments differ from these, but all of them together follow the Poisson
            // distribution.
            Loads::random(loads.keys() as f64 / loads.guides().max(1) as f64, loads.most_levels())
        })
    }

    /// The number of segments for the records.
    fn segments(&self) -> Result<u32, Error> {
        let pages = self.totals.weight as f64 / (ROOM as f64 * self.options.load);
        // At least one, and few enough that a page's guide can be found.
        if pages > f64::from(u32::MAX) / 2.0 {
            return Err(Error::TooLarge { pages: pages as u64 });
        }
        Ok(((pages / f64::from(self.options.segment_pages)).round() as u32).max(1))
    }

    /// Splits the segments from `first` on into groups that fit in their share of the memory.
    fn groups(&self, first: u32, segments: u32) -> Vec<(u32, u32)> {
        let segment_bytes = (self.totals.weight / u64::from(segments)).max(1);
        let memory = self.options.memory_bytes / MEMORY_A_GROUP / self.options.threads.max(1);
        let step = (memory as u64 / segment_bytes).clamp(1, 1 << 16) as usize;
        (first..segments)
            .step_by(step)
            .map(|start| (start, start.saturating_add(step as u32).min(segments)))
            .collect()
    }

    fn group(&self, first: u32, end: u32, segments: u32) -> Result<Group, Error> {
        Group::read(&self.partitions, (first, end, segments), self.digester, self.options.duplicates)
    }

    /// Finds the shape in which the segments of a group take the fewest pages, and their placement.
    fn shape(&self, group: &Group) -> Result<(Shape, Vec<Placed>), Error> {
        let mut best: Option<(u64, Shape, Vec<Placed>)> = None;
        for shape in std::iter::once(Shape::TWO).chain(Shape::THREE) {
            let placed = self.place(group, shape)?;
            let pages = placed.iter().map(Placed::pages).sum();
            let is_tight = placed.iter().all(|segment| segment.is_tight);
            if best.as_ref().is_none_or(|&(least, ..)| pages < least) {
                best = Some((pages, shape, placed));
            }
            // No other shape has fewer pages.
            if is_tight {
                break;
            }
        }
        let (_, shape, placed) = best.expect("at least one shape was tried");
        Ok((shape, placed))
    }

    fn place(&self, group: &Group, shape: Shape) -> Result<Vec<Placed>, Error> {
        let mut rest = group.entries.as_slice();
        (group.first..group.end)
            .map(|segment| {
                let (entries, others) = rest.split_at(rest.partition_point(|entry| entry.segment == segment));
                rest = others;
                Placed::new(segment, entries, self.options.load, shape)
            })
            .collect()
    }

    fn ready(
        &self,
        (first, end, segments): (u32, u32, u32),
        shape: Shape,
        form: Form,
        solver: &mut Solver,
        spare: &Mutex<Vec<Pages>>,
    ) -> Result<Ready, Error> {
        let group = self.group(first, end, segments)?;
        let mut placed = self.place(&group, shape)?;
        let encoded = |segment: &mut Placed| {
            let memory = lock(spare).pop().unwrap_or_default();
            segment.encode(&group, form, solver, memory)
        };
        let segments = placed.iter_mut().map(encoded).collect();
        Ok(Ready { segments, replaced: group.replaced })
    }
}

/// Locks the spare pages, which stay usable after a panic in another thread.
fn lock(spare: &Mutex<Vec<Pages>>) -> MutexGuard<'_, Vec<Pages>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Appends segments to the file, and collects the header and the summary.
struct SealedWriter<'a, W> {
    out: &'a mut W,
    values: Ordered,
    /// The number of pages of each segment, four bytes each.
    directory: Vec<u8>,
    guides: Vec<u8>,
    loads: Loads,
    /// Totals of each level, and of overflow last.
    levels: [Level; LEVELS + 1],
    /// The summary's bytes about overflow.
    overflow: Vec<u8>,
    /// An upper bound on the page reads for looking up every overflow key once.
    overflow_reads: u64,
    pages: u64,
    totals: Totals,
}

impl<'a, W: Out> SealedWriter<'a, W> {
    fn new(out: &'a mut W, values: Ordered) -> Self {
        Self {
            out,
            values,
            directory: Vec::new(),
            guides: Vec::new(),
            loads: Loads::new(),
            levels: [Level::default(); LEVELS + 1],
            overflow: Vec::new(),
            overflow_reads: 0,
            pages: 0,
            totals: Totals::default(),
        }
    }

    /// Writes a segment, and returns its memory.
    fn write(&mut self, mut segment: Encoded) -> Result<Pages, Error> {
        for runs in segment.runs.chunk_by(|a, b| a.page == b.page) {
            let page = &mut segment.pages[runs[0].page * PAGE..][..PAGE];
            for run in runs {
                let offset = self.values.push(run.from, run.length)?;
                page[run.at..run.at + 8].copy_from_slice(&offset.to_le_bytes());
            }
            page::seal(page);
        }
        self.out.write_pages(&segment.pages).map_err(Error::io(WRITING))?;
        let pages = (segment.pages.len() / PAGE) as u32;
        self.pages += u64::from(pages);
        if self.pages > u64::from(u32::MAX) {
            return Err(Error::TooLarge { pages: self.pages });
        }
        if pages > SEGMENT_PAGES {
            return Err(Error::TooLarge { pages: pages.into() });
        }
        self.directory.extend_from_slice(&pages.to_le_bytes());
        if segment.overflow.pages > 0 {
            segment.overflow.encode(&mut self.overflow);
            let keys = segment.overflow.words.keys();
            self.overflow_reads += keys * u64::from(overflow::most_reads(segment.overflow.pages));
        }
        self.guides.extend_from_slice(&segment.guides);
        self.loads.add_all(&segment.loads);
        for (all, new) in self.levels.iter_mut().zip(&segment.levels) {
            all.items += new.items;
            all.used_bytes += new.used_bytes;
        }
        self.totals.add(segment.totals);
        Ok(segment.pages)
    }

    /// Writes runs, summary and header. Returns the header and the number of guides.
    fn finish(self, seed: u64, shape: Shape, guides: Form) -> Result<(Header, u64), Error> {
        let items = self.totals.items;
        let [first, second, third, overflow] = self.levels;
        let levels = [first, second, third];
        let in_levels = items - overflow.items;
        let above = (0..).zip(&levels).map(|(level, of): (u64, _)| level * of.items).sum::<u64>();
        let plan = StorePlan::new(&self.loads, above as f64 / in_levels.max(1) as f64, guides.bytes)
            .map_err(|_| Error::Option { what: "miss_rate", expected: "a number from 1e-8 to 3" })?;
        let mut reads_per_hit = plan.reads_per_hit();
        if overflow.items > 0 {
            reads_per_hit = (in_levels as f64 * reads_per_hit + self.overflow_reads as f64) / items as f64;
        }
        let segments = self.directory.len() / 4;
        let mut content = self.directory;
        content.extend_from_slice(&self.overflow);
        content.extend_from_slice(&self.guides);
        drop(self.guides);
        let header = Header {
            seed,
            segments: segments as u32,
            items,
            pages: self.pages,
            runs_bytes: self.values.bytes(),
            summary_bytes: summary::section_bytes(content.len() as u64),
            key_bytes: self.totals.key_bytes,
            value_bytes: self.totals.value_bytes,
            reads_per_hit,
            reads_per_miss: plan.reads_per_miss(),
            levels,
            shape,
            guides,
            overflow_bytes: self.overflow.len() as u64,
            overflow,
        };
        let runs_bytes = header.runs_bytes;
        self.values.copy(self.out)?;
        let gap = runs_bytes.next_multiple_of(PAGE as u64) - runs_bytes;
        self.out.write_all(&[0; PAGE][..gap as usize]).map_err(Error::io(WRITING))?;
        summary::encode(&content, |bytes| self.out.write_all(bytes)).map_err(Error::io(WRITING))?;
        self.out.seek(SeekFrom::Start(0)).map_err(Error::io(WRITING))?;
        self.out.write_all(&header.encode()).map_err(Error::io(WRITING))?;
        self.out.flush().map_err(Error::io(WRITING))?;
        Ok((header, self.loads.guides()))
    }
}

fn report(header: &Header, guides: u64, replaced: u64, spilled_bytes: u64) -> Report {
    let ram = summary::memory_bytes(header.segments, guides * u64::from(header.guides.bytes));
    Report {
        items: header.items,
        replaced,
        segments: header.segments,
        pages: header.pages,
        disk_bytes: header.store_bytes().unwrap_or(u64::MAX),
        raw_bytes: header.key_bytes + header.value_bytes,
        utilisation: header.utilisation(),
        ram_bytes_per_key: ram as f64 / header.items.max(1) as f64,
        reads_per_hit: header.reads_per_hit,
        reads_per_miss: header.reads_per_miss,
        spilled_bytes,
    }
}
