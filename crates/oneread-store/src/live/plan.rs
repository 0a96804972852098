//! The size of filters for a segment that is built anew.

use oneread::plan::store::{LevelPages, StorePlan};

use crate::Error;
use crate::format::geometry::LEVELS;

/// The part of the rate that is planned for: pages change until the segment is built again.
const KEPT_BACK: f64 = 0.95;

/// Segments whose full pages have so nearly the same number of records, as a part, get the same filters.
const ALIKE: f64 = 0.02;

/// Plans of filters, and the last one, for segments are alike.
#[derive(Debug)]
pub(super) struct Plans {
    rate: f64,
    last: Option<(Facts, [u32; LEVELS])>,
}

/// What a plan depends on: the mean records of a page in level 0, the most of any page, and the part of pages below level 0.
type Facts = [f64; 3];

impl Plans {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, last: None }
    }

    /// The bytes of a filter in each level, for pages with so many records. Deeper levels fill up before a segment is built again, so they
    /// are planned to be full.
    pub(super) fn filter_bytes(&mut self, levels: &[LevelPages; LEVELS]) -> Result<[u32; LEVELS], Error> {
        let most =
            levels.iter().flat_map(LevelPages::iter).map(|(records, _)| records).max().unwrap_or(0).max(1);
        let pages: u64 = levels.iter().map(LevelPages::pages).sum();
        let [first, deeper @ ..] = levels;
        let below: u64 = deeper.iter().map(LevelPages::pages).sum();
        let mean = first.records() as f64 / first.pages().max(1) as f64;
        let facts = [mean, f64::from(most), below as f64 / pages.max(1) as f64];
        if let Some((last, bytes)) = &self.last
            && last.iter().zip(facts).all(|(a, b)| (a - b).abs() <= ALIKE * b)
        {
            return Ok(*bytes);
        }
        let mut planned = [const { LevelPages::new() }; LEVELS];
        first.iter().for_each(|(records, pages)| planned[0].add(records.max(1), pages));
        for (planned, level) in planned[1..].iter_mut().zip(deeper) {
            planned.add(most, level.pages());
        }
        let plan = StorePlan::for_rate(&planned, self.rate * KEPT_BACK)
            .map_err(|_| Error::Option { what: "miss_rate", expected: "a number from 1e-8 to 3" })?;
        let mut bytes: [u32; LEVELS] = std::array::from_fn(|level| plan.filter_bytes()[level]);
        for level in 1..LEVELS {
            if levels[level].pages() == 0 {
                bytes[level] = bytes[level - 1];
            }
        }
        self.last = Some((facts, bytes));
        Ok(bytes)
    }
}
