//! Plans the size of guides for a segment that is rebuilt.

use crate::plan::Loads;

use super::rebuild::LOAD;
use crate::format::geometry::LEVELS;
use crate::format::guide::Form;
use crate::format::page::{RECORD_OVERHEAD, ROOM};

/// About how full a segment is when it is rebuilt.
const FULL: f64 = 0.96;

/// The bytes of a small key and its value.
const SMALL_RECORD: usize = 4;

/// Segments whose keys per home differ by less than this fraction get the same guides.
const ALIKE: f64 = 0.02;

/// Plans guides, and keeps the last plan, since segments are alike.
#[derive(Debug)]
pub(super) struct Plans {
    rate: f64,
    last: Option<Plan>,
}

#[derive(Debug)]
struct Plan {
    keys_a_home: f64,
    levels: u32,
    form: Form,
}

impl Plans {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, last: None }
    }

    /// The guides of a segment of these levels with `keys` keys, planned for the number of keys
    /// that it has when it is full.
    pub(super) fn form(&mut self, levels: [u32; LEVELS], keys: usize) -> Form {
        // An empty segment says nothing about the keys to come. So its guides can tell apart as
        // many keys as its pages can hold, however small: otherwise a store of 100 small records
        // would read a page per miss.
        let keys_a_home = match keys {
            0 => (ROOM / (RECORD_OVERHEAD + SMALL_RECORD)) as f64,
            _ => keys as f64 / f64::from(levels[0].max(1)) * FULL / LOAD,
        };
        let levels = levels.iter().filter(|&&pages| pages > 0).count() as u32;
        if let Some(last) = &self.last
            && last.levels == levels
            && (last.keys_a_home - keys_a_home).abs() <= ALIKE * keys_a_home
        {
            return last.form;
        }
        let form = Form::for_rate(keys_a_home, self.rate, |homes_log2| {
            Loads::random(keys_a_home * f64::from(1u32 << homes_log2), levels)
        });
        self.last = Some(Plan { keys_a_home, levels, form });
        form
    }
}
