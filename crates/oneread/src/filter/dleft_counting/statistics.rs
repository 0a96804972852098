//! Statistics of a d-left counting filter.

use alloc::vec;
use alloc::vec::Vec;

use super::DLeftCounting;
use crate::bits::Words;
use crate::layout::DLeftCountingLayout;

/// The loads of a filter's buckets and the lengths of its remainders.
///
/// From [`statistics`](crate::filter::Filter::statistics).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DLeftCountingStatistics {
    by_subtable: Vec<Vec<u64>>,
    lengths: Vec<u64>,
    stuck: u64,
}

impl DLeftCountingStatistics {
    pub(super) fn new<S: Words>(filter: &DLeftCounting<S>) -> Self {
        let layout = filter.layout;
        let loads = vec![0; layout.capacity() as usize + 1];
        let longest = DLeftCountingLayout::CELL_SPACE / 4 + 1;
        let mut statistics = Self {
            by_subtable: vec![loads; layout.subtables() as usize],
            lengths: vec![0; longest as usize + 1],
            stuck: 0,
        };
        for at in 0..layout.total_buckets() {
            let bucket = filter.bucket(at as usize);
            let subtable = (at / layout.buckets_each()) as usize;
            let mut load = 0;
            for (length, _) in filter.format.cells(bucket) {
                statistics.lengths[length as usize] += 1;
                load += 1;
            }
            statistics.by_subtable[subtable][load] += 1;
            statistics.stuck += filter.format.stuck_cells(bucket);
        }
        statistics
    }

    /// The number of buckets that hold 0, 1, … remainders, up to the capacity.
    #[must_use]
    pub fn loads(&self) -> Vec<u64> {
        let capacity = self.by_subtable.first().map_or(0, Vec::len);
        (0..capacity).map(|load| self.by_subtable.iter().map(|loads| loads[load]).sum()).collect()
    }

    /// Like [`loads`](Self::loads), but by sub-table.
    #[must_use]
    pub fn loads_by_subtable(&self) -> &[Vec<u64>] {
        &self.by_subtable
    }

    /// The number of remainders that have 0, 1, … bits.
    #[must_use]
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// The number of remainders.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.lengths.iter().sum()
    }

    /// The number of stuck remainders, which no removal takes away.
    #[must_use]
    pub const fn stuck(&self) -> u64 {
        self.stuck
    }
}
