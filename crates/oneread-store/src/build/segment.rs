//! One segment: the fewest pages that its records find room on, and their bytes.

use oneread::hash::Digest;
use oneread::layout::MultilevelLayout;
use oneread::plan::store::Loads;
use oneread::table::placement::{Crisis, Weighted};

use crate::Error;
use crate::format::geometry::{LEVELS, SEGMENT_PAGES, Shape, tag};
use crate::format::guide::{Form, Located, Solver};
use crate::format::page::{self, Place, RECORD_OVERHEAD, ROOM};
use crate::format::record::{self, Stored};
use crate::format::{PAGE, header};

use super::displace::{NOWHERE, displace};
use super::group::{Entry, Group};
use super::guided::Guided;
use super::out::Pages;

/// Which record goes to which page.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) segment: u32,
    pub(crate) pages: u32,
    /// Whether there are as few as the load asks for.
    pub(crate) is_tight: bool,
    shape: Shape,
    /// The records, by pages.
    entries: Vec<Entry>,
    /// By page, the end of its records in `entries`.
    ends: Vec<u32>,
}

impl Placed {
    /// Places the records of a segment. Tries with as many pages as the load asks for, and with more until all find room.
    pub(crate) fn new(segment: u32, entries: &[Entry], load: f64, shape: Shape) -> Result<Self, Error> {
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        // The largest first: small ones fill what is left. They come by digests, so that the result depends on nothing else.
        if entries.windows(2).any(|pair| pair[0].length != pair[1].length) {
            order.sort_by_key(|&entry| std::cmp::Reverse(entries[entry as usize].length));
        }
        let total: u64 = entries.iter().map(weight).map(u64::from).sum();
        let least = ((total as f64 / (f64::from(usable(entries)) * load)).ceil() as u64).max(1);
        // Records that are a third of a page need up to half as many pages again, and small segments are uneven.
        let most = (64 + 8 * least).min(u64::from(SEGMENT_PAGES));
        let mut pages = least;
        let mut tries = 0;
        let mut of_record = vec![0; entries.len()];
        while pages <= most {
            if place(shape.levels(pages as u32), entries, &order, &mut of_record)?.is_ok() {
                let sorted = Self::sorted(segment, (pages as u32, shape), entries, &order, &of_record);
                return Ok(Self { is_tight: pages == least, ..sorted });
            }
            tries += 1;
            pages += (pages / FIRST_STEP).max(1) * (1 + tries / TRIES_A_STEP);
        }
        Err(Error::Crowded { records: entries.len() })
    }

    fn sorted(
        segment: u32,
        (pages, shape): (u32, Shape),
        entries: &[Entry],
        order: &[u32],
        of_record: &[u32],
    ) -> Self {
        let mut ends = vec![0u32; pages as usize];
        for &page in of_record {
            ends[page as usize] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            // For now where a page's records begin; filling moves it to where they end.
            end += std::mem::replace(count, end);
        }
        let filler = Entry { digest: Digest::from_halves(0, 0), segment, start: 0, length: 0 };
        let mut sorted = vec![filler; entries.len()];
        for &entry in order {
            let at = &mut ends[of_record[entry as usize] as usize];
            sorted[*at as usize] = entries[entry as usize];
            *at += 1;
        }
        Self { segment, pages, is_tight: false, shape, entries: sorted, ends }
    }

    /// The keys that each page of level 0 is the home of, on average.
    pub(crate) fn keys_a_home(&self) -> f64 {
        self.entries.len() as f64 / f64::from(self.levels()[0].max(1))
    }

    /// The records of a page.
    fn page(&self, page: usize) -> &[Entry] {
        let start = if page == 0 { 0 } else { self.ends[page - 1] };
        &self.entries[start as usize..self.ends[page] as usize]
    }

    /// The pages of each level.
    pub(crate) fn levels(&self) -> [u32; LEVELS] {
        self.shape.levels(self.pages)
    }

    /// The keys with their levels, by guides.
    pub(crate) fn guided(&self, form: Form) -> Guided {
        let levels = self.levels();
        let of_level = levels.iter().enumerate().flat_map(|(level, &pages)| (0..pages).map(move |_| level));
        let located = |(page, level): (usize, usize)| {
            self.page(page).iter().map(move |entry| -> Located { (entry.digest, level as u8) })
        };
        Guided::new(levels[0], form, of_level.enumerate().flat_map(located))
    }

    /// The bytes of the segment's pages and guides. The memory is that of pages that are no longer needed.
    pub(crate) fn encode(&self, group: &Group, form: Form, solver: &mut Solver, memory: Pages) -> Encoded {
        let guided = self.guided(form);
        let mut encoded = Encoded {
            pages: memory.zeroed(self.pages as usize),
            guides: guided.solve(form.bytes, solver),
            loads: Loads::new(),
            runs: Vec::new(),
            levels: [header::Level::default(); LEVELS],
            key_bytes: 0,
            value_bytes: 0,
        };
        guided.count(self.levels(), &mut encoded.loads);
        let mut pages = encoded.pages.chunks_exact_mut(PAGE).enumerate();
        for (level, size) in self.levels().into_iter().enumerate() {
            for (index, (number, page)) in (0..size).zip(&mut pages) {
                let entries = self.page(number);
                let records = entries.iter().map(|entry| (tag(entry.digest), group.record(entry)));
                let first = page::encode(Place { segment: self.segment, level, index }, records, page);
                let first_run = encoded.runs.len();
                let mut at = first;
                for entry in entries {
                    let bytes = group.record(entry);
                    let Some((record, _)) = record::decode(bytes) else { continue };
                    at += record::split(bytes).1.len();
                    encoded.key_bytes += record.key.len() as u64;
                    encoded.levels[level].used_bytes += u64::from(weight(entry));
                    match record.value {
                        Stored::Inline(value) => encoded.value_bytes += value.len() as u64,
                        Stored::Run(run) => {
                            encoded.value_bytes += run.length;
                            let at = at - record::REFERENCE;
                            encoded.runs.push(RunAt {
                                page: number,
                                at,
                                from: run.offset,
                                length: run.length,
                            });
                        }
                    }
                }
                encoded.levels[level].items += entries.len() as u64;
                if encoded.runs.len() == first_run {
                    page::seal(page);
                }
            }
        }
        encoded
    }
}

/// A segment gets 1/256 more pages at a time …
const FIRST_STEP: u64 = 256;
/// … and after so many tries twice that, then three times: records that leave gaps are still placed soon.
const TRIES_A_STEP: u64 = 16;

/// The bytes of a page that records of these sizes can fill: if all have one size, a multiple of it.
fn usable(entries: &[Entry]) -> u32 {
    match entries {
        [first, rest @ ..] if rest.iter().all(|entry| entry.length == first.length) => {
            ROOM as u32 - ROOM as u32 % weight(first)
        }
        _ => ROOM as u32,
    }
}

/// So many records without room, or an eighth of all, are worth moving others for.
const MOST_CRISES: usize = 16;

/// The bytes of a page that a record takes.
pub(crate) fn weight(entry: &Entry) -> u32 {
    u32::from(entry.length) + RECORD_OVERHEAD as u32
}

/// Tries levels of so many pages: the page of each record.
fn place(
    sizes: [u32; LEVELS],
    entries: &[Entry],
    order: &[u32],
    of_record: &mut [u32],
) -> Result<Result<(), Crisis>, Error> {
    let pages: u32 = sizes.iter().sum();
    let some: Vec<u64> = sizes.iter().copied().filter(|&size| size > 0).map(u64::from).collect();
    let out_of_memory = |_| Error::OutOfMemory { bytes: 8 * u64::from(pages) };
    let layout = MultilevelLayout::new(some).map_err(|_| Error::TooLarge { pages: pages.into() })?;
    let mut room = Weighted::new(&layout, ROOM as u32).map_err(out_of_memory)?;
    let starts = [0, sizes[0], sizes[0] + sizes[1]];
    let mut crises = 0;
    for &number in order {
        let entry = &entries[number as usize];
        of_record[number as usize] = match room.insert(entry.digest, weight(entry)) {
            Ok(at) => starts[at.level] + at.bucket as u32,
            Err(Crisis) => {
                crises += 1;
                NOWHERE
            }
        };
    }
    // Where so many find no room, moving would not help.
    if crises > MOST_CRISES.max(entries.len() / 8) {
        return Ok(Err(Crisis));
    }
    let levels = layout.level_count();
    Ok(if crises == 0 { Ok(()) } else { displace(&mut room, &starts[..levels], entries, of_record, pages) })
}

/// A large value of a segment, and where its reference is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunAt {
    pub(crate) page: usize,
    /// Where in the page the offset of the run is to be written.
    pub(crate) at: usize,
    /// Where the value is now.
    pub(crate) from: u64,
    pub(crate) length: u64,
}

/// A segment as it is written. Pages with references to runs are not sealed yet.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) pages: Pages,
    pub(crate) guides: Vec<u8>,
    pub(crate) loads: Loads,
    /// By pages.
    pub(crate) runs: Vec<RunAt>,
    pub(crate) levels: [header::Level; LEVELS],
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
}
