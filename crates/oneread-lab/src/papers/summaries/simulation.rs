//! Multilevel tables that are filled, and what lazy deletions leave of them.

use oneread::layout::MultilevelLayout;
use oneread::table::simulate::{Simulation, Simulator};

use crate::papers::random::Random;

/// The items of each level of a table that was filled with ideal digests.
pub(super) fn items_by_level(layout: &MultilevelLayout, items: u32, seed: u64) -> Vec<u64> {
    let simulation = Simulation::new(layout.clone(), items.into()).expect("the paper's table");
    let trial = Simulator::new(&simulation).and_then(|mut simulator| simulator.trial(seed, 0));
    trial.expect("a table of the paper fits").level_occupancy
}

/// No item.
const EMPTY: u32 = u32::MAX;

/// A table for lazy deletions, which the library does not have: an item or none for each bucket of each level.
pub(super) struct Table<'a> {
    layout: &'a MultilevelLayout,
    random: Random,
    buckets: Vec<Vec<u32>>,
}

impl<'a> Table<'a> {
    /// A table of the items 0, 1, …; those without room are left out.
    pub(super) fn filled(layout: &'a MultilevelLayout, items: u32, random: Random) -> Self {
        let buckets = layout.levels().iter().map(|&buckets| vec![EMPTY; buckets as usize]).collect();
        let mut table = Self { layout, random, buckets };
        for item in 0..items {
            if let Some((level, bucket)) = table.first_free(item, layout.level_count()) {
                table.buckets[level][bucket] = item;
            }
        }
        table
    }

    /// The first of the levels, up to `levels`, where the item's bucket is free.
    fn first_free(&self, item: u32, levels: usize) -> Option<(usize, usize)> {
        let choices = self.random.item(item.into());
        let mut places = (0..levels).map(|level| (level, choices.below(level, self.layout.levels()[level])));
        places.find(|&(level, bucket)| self.buckets[level][bucket] == EMPTY)
    }

    /// Deletes so many random items of the first `levels` levels.
    pub(super) fn delete(&mut self, count: u32, levels: usize) {
        let full = |(level, buckets): (usize, &Vec<u32>)| {
            let is_full = move |(bucket, &item): (usize, &u32)| (item != EMPTY).then_some((level, bucket));
            buckets.iter().enumerate().filter_map(is_full).collect::<Vec<_>>()
        };
        let mut places: Vec<_> = self.buckets[..levels].iter().enumerate().flat_map(full).collect();
        for step in 0..count {
            // The choices of items that do not exist.
            let chosen = self.random.item(u64::from(EMPTY) + u64::from(step)).below(0, places.len() as u64);
            let (level, bucket) = places.swap_remove(chosen);
            self.buckets[level][bucket] = EMPTY;
        }
    }

    /// The items that have a free bucket above them.
    pub(super) fn could_move(&self) -> u32 {
        let can_move = |level: usize, item: u32| item != EMPTY && self.first_free(item, level).is_some();
        let of_level = |(level, buckets): (usize, &Vec<u32>)| {
            buckets.iter().filter(|&&item| can_move(level, item)).count() as u32
        };
        self.buckets.iter().enumerate().map(of_level).sum()
    }

    /// Moves every item up to the first level that has room for it, level by level, and counts the moves.
    pub(super) fn rebuild(&mut self) -> u32 {
        let mut moves = 0;
        for level in 1..self.buckets.len() {
            for bucket in 0..self.buckets[level].len() {
                let item = self.buckets[level][bucket];
                if item == EMPTY {
                    continue;
                }
                if let Some((higher, free)) = self.first_free(item, level) {
                    self.buckets[higher][free] = item;
                    self.buckets[level][bucket] = EMPTY;
                    moves += 1;
                }
            }
        }
        moves
    }
}
