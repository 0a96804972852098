//! Places one segment on the fewest pages that suffice, and encodes them.

use std::collections::HashSet;

use crate::plan::Loads;
use oneread::hash::Digest;

use crate::Error;
use crate::format::geometry::{self, LEVELS, SEGMENT_PAGES, Shape, tag};
use crate::format::guide::{Form, Located, Solver};
use crate::format::overflow::{self, Counts, OVERFLOW};
use crate::format::page::{self, Place, ROOM};
use crate::format::record::{self, Run, Stored};
use crate::format::summary::OverflowOf;
use crate::format::{PAGE, header};
use crate::totals::Totals;

use super::crowd;
use super::displace::displace;
use super::group::{Entry, Group};
use super::guided::Guided;
use super::out::Pages;
use super::room::{NOWHERE, Room, Tried, least_pages, most_pages, order, place, weight};

/// The assignment of a segment's records to pages.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) segment: u32,
    /// The number of pages of all levels.
    pages: u32,
    /// Whether the load allows no fewer pages.
    pub(crate) is_tight: bool,
    shape: Shape,
    /// The records, sorted by page.
    entries: Vec<Entry>,
    /// For each page, the end of its records in `entries`.
    ends: Vec<u32>,
    /// Records without a page, in any order.
    overflow: Vec<Entry>,
}

/// The most page counts to try when moving records does not help. Random digests need far fewer.
const MAX_DISPLACED: u32 = 128;

/// How often crowded records are taken out before the rest is placed.
const ROUNDS: u32 = 8;

impl Placed {
    /// Places the records of a segment, sorted by digest.
    ///
    /// Starts with as many pages as the load requires, and adds pages until all records find room.
    /// Where that is hopeless, some records go to overflow, by cases (see [`overflow`]):
    ///
    /// 1. Records that share their digest never lie in the levels.
    /// 2. Records that share all their pages with more others than chance explains go too, if there
    ///    is no room.
    /// 3. The records that still find no room after moving others go last.
    pub(crate) fn new(segment: u32, entries: &[Entry], load: f64, shape: Shape) -> Result<Self, Error> {
        let (mut rest, mut overflow) = crowd::alone(entries);
        for _ in 0..ROUNDS {
            let crowded = match Self::without_overflow(segment, &rest, load, shape)? {
                Ok(placed) => return Ok(Self { overflow, ..placed }),
                Err(crowded) => crowded,
            };
            if crowded.is_empty() {
                break;
            }
            overflow.extend(crowded.iter().map(|&number| rest[number]));
            let mut next = crowded.into_iter().peekable();
            let mut number = 0..;
            rest.to_mut().retain(|_| next.next_if_eq(&number.next().unwrap_or(usize::MAX)).is_none());
        }
        let order = order(&rest);
        let pages = (least_pages(&rest, load) * 5 / 4 + 1).min(u64::from(SEGMENT_PAGES)) as u32;
        let mut of_record = vec![0; rest.len()];
        let mut room = Room::new(shape.levels(pages))?;
        room.place(&rest, &order, &mut of_record);
        displace(&mut room, &rest, &mut of_record);
        let mut placed = Self::sorted(segment, (pages, shape), &rest, &order, &of_record);
        placed.overflow.append(&mut overflow);
        Ok(placed)
    }

    /// Places records on level pages only. If that is hopeless, returns the indices of the records
    /// in the way, if they are known.
    fn without_overflow(
        segment: u32,
        entries: &[Entry],
        load: f64,
        shape: Shape,
    ) -> Result<Result<Self, Vec<usize>>, Error> {
        let order = order(entries);
        let least = least_pages(entries, load);
        let most = most_pages(least);
        let mut pages = least;
        let (mut tries, mut displaced, mut looked) = (0, 0, false);
        let mut of_record = vec![0; entries.len()];
        while pages <= most && displaced < MAX_DISPLACED {
            // By this point random digests almost always find room.
            if !looked && (tries == TRIES_A_STEP || pages > least + least / 2 + 8) {
                looked = true;
                let crowded = crowd::crowded(entries, shape, least, most);
                if !crowded.is_empty() {
                    return Ok(Err(crowded));
                }
            }
            match place(shape.levels(pages as u32), entries, &order, &mut of_record)? {
                Tried::Placed => {
                    let sorted = Self::sorted(segment, (pages as u32, shape), entries, &order, &of_record);
                    return Ok(Ok(Self { is_tight: pages == least, ..sorted }));
                }
                Tried::Displaced => displaced += 1,
                Tried::Many => {}
            }
            tries += 1;
            pages += (pages / FIRST_STEP).max(1) * (1 + tries / TRIES_A_STEP);
        }
        Ok(Err(Vec::new()))
    }

    fn sorted(
        segment: u32,
        (pages, shape): (u32, Shape),
        entries: &[Entry],
        order: &[u32],
        of_record: &[u32],
    ) -> Self {
        let mut ends = vec![0u32; pages as usize];
        for &page in of_record.iter().filter(|&&page| page != NOWHERE) {
            ends[page as usize] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            // Holds the start of a page's records for now; filling moves it to the end.
            end += std::mem::replace(count, end);
        }
        let filler = Entry { digest: Digest::from_halves(0, 0), segment, start: 0, length: 0 };
        let mut sorted = vec![filler; end as usize];
        let mut overflow = Vec::new();
        for &entry in order {
            let (page, entry) = (of_record[entry as usize], entries[entry as usize]);
            let Some(at) = ends.get_mut(page as usize) else {
                overflow.push(entry);
                continue;
            };
            sorted[*at as usize] = entry;
            *at += 1;
        }
        Self { segment, pages, is_tight: false, shape, entries: sorted, ends, overflow }
    }

    /// The pages of all levels, and an estimate of the overflow pages.
    pub(crate) fn pages(&self) -> u64 {
        let overflow: u64 = self.overflow.iter().map(|entry| u64::from(weight(entry))).sum();
        u64::from(self.pages) + overflow.div_ceil(ROOM as u64)
    }

    /// The number of keys in the levels.
    pub(crate) fn keys(&self) -> usize {
        self.entries.len()
    }

    /// Moves keys to overflow where a guide of this form has more keys than it can tell apart.
    pub(crate) fn trim(&mut self, form: Form) {
        let homes = self.levels()[0];
        let mut counts = vec![0u32; form.guides(homes) as usize];
        let most = crowd::most_keys(form, self.entries.len() as f64 / counts.len().max(1) as f64);
        let guide = |entry: &Entry| form.guide(geometry::page(entry.digest, 0, homes)) as usize;
        self.entries.iter().for_each(|entry| counts[guide(entry)] += 1);
        if counts.iter().all(|&count| count <= most) {
            return;
        }
        let fine = self.shape.levels(most_pages(self.pages.into()) as u32);
        let mut others = HashSet::new();
        for crowded in (0..counts.len()).filter(|&guide| counts[guide] > most) {
            let entries = self.entries.iter().copied().filter(|entry| guide(entry) == crowded).collect();
            others.extend(crowd::divide(entries, most as usize, fine).1.iter().map(|entry| entry.digest));
        }
        let mut kept = Vec::with_capacity(self.entries.len());
        let mut start = 0;
        for end in &mut self.ends {
            for entry in &self.entries[start as usize..*end as usize] {
                let goes = others.contains(&entry.digest);
                if goes { &mut self.overflow } else { &mut kept }.push(*entry);
            }
            start = std::mem::replace(end, kept.len() as u32);
        }
        self.entries = kept;
    }

    /// Takes the overflow records out; the caller stores them elsewhere.
    pub(crate) fn take_overflow(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.overflow)
    }

    /// The average number of keys per home.
    pub(crate) fn keys_a_home(&self) -> f64 {
        self.entries.len() as f64 / f64::from(self.levels()[0].max(1))
    }

    /// The records of one page.
    fn page(&self, page: usize) -> &[Entry] {
        let start = if page == 0 { 0 } else { self.ends[page - 1] };
        &self.entries[start as usize..self.ends[page] as usize]
    }

    /// The number of pages of each level.
    pub(crate) fn levels(&self) -> [u32; LEVELS] {
        self.shape.levels(self.pages)
    }

    /// The keys with their levels, grouped by guide.
    pub(crate) fn guided(&self, form: Form) -> Guided {
        let levels = self.levels();
        let of_level = levels.iter().enumerate().flat_map(|(level, &pages)| (0..pages).map(move |_| level));
        let located = |(page, level): (usize, usize)| {
            self.page(page).iter().map(move |entry| -> Located { (entry.digest, level as u8) })
        };
        Guided::new(levels[0], form, of_level.enumerate().flat_map(located))
    }

    /// Encodes the segment's pages and guides, reusing the memory of `pages`.
    pub(crate) fn encode(
        &mut self,
        group: &Group,
        form: Form,
        solver: &mut Solver,
        memory: Pages,
    ) -> Encoded {
        self.trim(form);
        let mut words = Counts::default();
        self.overflow.iter().for_each(|entry| words.add(geometry::word(entry.digest)));
        self.overflow.sort_unstable_by_key(|entry| group.key(entry));
        let ends = overflow::cut(self.overflow.iter().map(|entry| usize::from(entry.length)), ROOM);
        let guided = self.guided(form);
        let mut encoded = Encoded {
            pages: memory.zeroed(self.pages as usize + ends.len()),
            guides: guided.solve(form.bytes, solver),
            loads: Loads::new(),
            runs: Vec::new(),
            levels: [header::Level::default(); LEVELS + 1],
            totals: Totals::default(),
            overflow: OverflowOf { segment: self.segment, pages: ends.len() as u32, words: words.to_words() },
        };
        guided.count(self.levels(), &mut encoded.loads);
        let mut pages = encoded.pages.chunks_exact_mut(PAGE).enumerate();
        let [first, second, third] = self.levels();
        for (level, size) in [first, second, third, ends.len() as u32].into_iter().enumerate() {
            for (index, (number, page)) in (0..size).zip(&mut pages) {
                let (index, entries) = if level == OVERFLOW {
                    let start = (index as usize).checked_sub(1).map_or(0, |before| ends[before]);
                    (0, &self.overflow[start..ends[index as usize]])
                } else {
                    (index, self.page(number))
                };
                let records = entries.iter().map(|entry| (tag(entry.digest), group.record(entry)));
                let first = page::encode(Place { segment: self.segment, level, index }, records, page);
                let first_run = encoded.runs.len();
                let mut at = first;
                for entry in entries {
                    let bytes = group.record(entry);
                    let Some((record, _)) = record::decode(bytes) else { continue };
                    at += record::split(bytes).1.len();
                    encoded.totals.add(Totals::of_record(&record));
                    encoded.levels[level].used_bytes += u64::from(weight(entry));
                    if let Stored::Run(Run { offset: from, length, .. }) = record.value {
                        encoded.runs.push(RunAt { page: number, at: at - record::REFERENCE, from, length });
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

/// A segment grows by 1/256 of its pages at a time …
const FIRST_STEP: u64 = 256;
/// … and after this many attempts by twice that, then three times: records that leave gaps are
/// still placed soon.
const TRIES_A_STEP: u64 = 16;

/// A large value of a segment, and the place of its reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunAt {
    pub(crate) page: usize,
    /// The offset in the page where the value's offset is written.
    pub(crate) at: usize,
    /// The value's current position.
    pub(crate) from: u64,
    pub(crate) length: u64,
}

/// An encoded segment. Pages with references to runs are not sealed yet.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) pages: Pages,
    pub(crate) guides: Vec<u8>,
    pub(crate) loads: Loads,
    /// Sorted by page.
    pub(crate) runs: Vec<RunAt>,
    /// Totals of each level, and of overflow last.
    pub(crate) levels: [header::Level; LEVELS + 1],
    pub(crate) totals: Totals,
    pub(crate) overflow: OverflowOf,
}
