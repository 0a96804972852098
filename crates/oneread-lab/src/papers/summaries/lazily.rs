//! A table from which items are deleted lazily: the real one, with its summary.

use std::collections::HashSet;

use oneread::hash::{Digester, Ideal};
use oneread::layout::{MultilevelLayout, SingleFilterLayout};
use oneread::summary::{LazilyDeleting, Rebuild, SingleFilterSummary, Summarized};
use oneread::table::MultilevelTable;
use oneread::table::placement::Placement;

use crate::experiment::Error;
use crate::papers::random::Random;

/// Which items are deleted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Deleted {
    Any,
    OfFirstLevel,
}

/// A table after deletions.
pub(super) struct Table {
    map: LazilyDeleting<u64, (), SingleFilterSummary<Ideal>, Ideal>,
    items: u64,
}

impl Table {
    /// Fills a table with the items 0, 1, … and deletes some of them at random.
    ///
    /// # Errors
    /// If there is no memory for it, or if an item finds no room.
    pub(super) fn new(
        layout: &MultilevelLayout,
        items: u64,
        count: u64,
        deleted: Deleted,
        seed: u64,
    ) -> Result<Self, Error> {
        // The summary has no part in the moves; a small one is made anew sooner.
        const CELLS: u64 = 1000;
        let digester = Ideal::with_seed(seed);
        let table = MultilevelTable::with_digester(layout.clone(), digester)?;
        let filter = SingleFilterLayout::new(CELLS, 1)?;
        let summary = SingleFilterSummary::with_digester(filter, layout.level_count(), digester)?;
        let mut map = LazilyDeleting::new(Summarized::new(table, summary)?, Rebuild::WhenAsked)?;
        for item in 0..items {
            map.insert(item, ()).map_err(|full| format!("a crisis: no room for item {}", full.key))?;
        }
        // Choices of items that were not inserted, until so many different ones are deleted.
        let random = Random::with_seed(seed);
        for step in items.. {
            if map.deleted() as u64 == count {
                break;
            }
            let chosen = random.item(step).below(0, items) as u64;
            let level = map.map().table().locate(&chosen).location.map(|location| location.level);
            if deleted == Deleted::Any || level == Some(0) {
                map.remove(&chosen);
            }
        }
        Ok(Self { map, items })
    }

    /// The items that stay and have a bucket above their own with a deleted one (M′ in the paper).
    ///
    /// # Errors
    /// If there is no memory.
    pub(super) fn could_move(&self) -> Result<u64, Error> {
        let table = self.map.map().table();
        let placement = Placement::new(table.layout())?;
        let is_deleted = |item: &u64| table.get(item) == Some(&None);
        let place_of = |item| table.locate(&item).location.map(|at| (at.level, at.bucket));
        let deleted: HashSet<_> = (0..self.items).filter(is_deleted).filter_map(place_of).collect();
        let can_move = |&item: &u64| {
            let digest = table.digester().digest(&item);
            let own = place_of(item).map_or(0, |(level, _)| level);
            (0..own).any(|level| deleted.contains(&(level, placement.bucket(digest, level))))
        };
        Ok((0..self.items).filter(|item| !is_deleted(item)).filter(can_move).count() as u64)
    }

    /// Makes room, and counts the items that move (M in the paper).
    pub(super) fn rebuild(&mut self) -> u64 {
        self.map.rebuild()
    }
}
