//! A store's size, plan and reads.

use crate::ReadAt;
use crate::format::PAGE;
use crate::format::geometry::LEVELS;
use crate::read::counters::Reads;

use super::Sealed;

/// Statistics of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LevelStats {
    /// The pages of the level in all segments.
    pub pages: u64,
    /// The keys on them.
    pub items: u64,
    /// The fraction of page bytes used by records, with their tags and lengths.
    pub utilisation: f64,
}

/// A store's size, its plan, and its reads since it was opened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Keys.
    pub items: u64,
    /// Segments.
    pub segments: u32,
    /// Pages of all segments.
    pub pages: u64,
    /// The bytes of the file.
    pub disk_bytes: u64,
    /// The bytes of all keys.
    pub key_bytes: u64,
    /// The bytes of all values.
    pub value_bytes: u64,
    /// The bytes of large values, including gaps between them.
    pub run_bytes: u64,
    /// The bytes of the summary in memory.
    pub ram_bytes: u64,
    /// `ram_bytes` per key.
    pub ram_bytes_per_key: f64,
    /// The fraction of page bytes used by records, with their tags and lengths.
    pub utilisation: f64,
    /// The bytes of a guide in memory.
    pub guide_bytes: u32,
    /// The pages of the first level that share a guide.
    pub guide_homes: u32,
    /// The levels; the first has most keys.
    pub levels: Vec<LevelStats>,
    /// Pages for records that found no room in their levels. There are none unless keys were chosen
    /// to collide.
    pub overflow_pages: u64,
    /// The keys on overflow pages. Looking one up is a binary search among the overflow pages of
    /// its segment.
    pub overflow_items: u64,
    /// The average number of pages that a lookup of a stored key reads, as planned.
    pub planned_reads_per_hit: f64,
    /// The average number of pages that a lookup of an absent key reads, as planned.
    pub planned_reads_per_miss: f64,
    /// The reads since the store was opened.
    pub reads: Reads,
}

impl<R: ReadAt> Sealed<R> {
    /// Returns the store's size, its plan, and its reads since it was opened, from memory.
    pub fn stats(&self) -> Stats {
        let header = &self.header;
        let mut pages = [0u64; LEVELS];
        for segment in 0..header.segments {
            for (all, of_segment) in pages.iter_mut().zip(self.summary.segment(segment).levels) {
                *all += u64::from(of_segment);
            }
        }
        let levels = header.levels.iter().zip(pages).map(|(level, pages)| LevelStats {
            pages,
            items: level.items,
            utilisation: level.used_bytes as f64 / (pages.max(1) as f64 * PAGE as f64),
        });
        Stats {
            items: header.items,
            segments: header.segments,
            pages: header.pages,
            disk_bytes: header.store_bytes().unwrap_or(u64::MAX),
            key_bytes: header.key_bytes,
            value_bytes: header.value_bytes,
            run_bytes: header.runs_bytes,
            ram_bytes: self.summary.byte_len(),
            ram_bytes_per_key: self.summary.byte_len() as f64 / header.items.max(1) as f64,
            utilisation: header.utilisation(),
            guide_bytes: header.guides.bytes,
            guide_homes: 1 << header.guides.homes_log2,
            levels: levels.collect(),
            overflow_pages: self.summary.overflow().iter().map(|overflow| u64::from(overflow.pages)).sum(),
            overflow_items: header.overflow.items,
            planned_reads_per_hit: header.reads_per_hit,
            planned_reads_per_miss: header.reads_per_miss,
            reads: self.reads(),
        }
    }

    /// Returns the reads of lookups since the store was opened.
    pub fn reads(&self) -> Reads {
        self.counters.reads()
    }
}
