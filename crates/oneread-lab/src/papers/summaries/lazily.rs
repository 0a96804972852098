//! A real table with its summary, and items deleted lazily.

use std::collections::HashSet;

use oneread::hash::Digester;
use oneread::layout::{MultilevelLayout, SingleFilterLayout};
use oneread::summary::SingleFilterSummary;
use oneread::table::MultilevelTable;
use oneread::table::placement::Placement;
use oneread_study::hash::Ideal;
use oneread_study::summary::{LazilyDeleting, Rebuild};

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
    /// Gives an item's bucket in a level.
    placement: Placement,
    digester: Ideal,
    /// The level and bucket of each deleted item.
    vacated: HashSet<(usize, u64)>,
}

impl Table {
    /// Fills a table with the items 0, 1, … and deletes random ones.
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
        // The summary does not affect the moves; a small one is rebuilt faster.
        const CELLS: u64 = 1000;
        let digester = Ideal::with_seed(seed);
        let table = MultilevelTable::with_digester(layout.clone(), digester)?;
        let filter = SingleFilterLayout::new(CELLS, 1)?;
        let summary = SingleFilterSummary::with_digester(filter, layout.level_count(), digester)?;
        let mut map = LazilyDeleting::new(table, summary, Rebuild::when_asked())?;
        for item in 0..items {
            map.insert(item, ()).map_err(|full| format!("a crisis: no room for item {}", full.key))?;
        }
        // Draws until enough different items are deleted.
        let random = Random::with_seed(seed);
        let mut vacated = HashSet::new();
        for step in items.. {
            if map.deleted() as u64 == count {
                break;
            }
            let chosen = random.item(step).below(0, items) as u64;
            let Some(at) = map.location(&chosen) else { continue };
            if deleted == Deleted::Any || at.level == 0 {
                map.remove(&chosen);
                vacated.insert((at.level, at.bucket));
            }
        }
        let placement = Placement::new(layout)?;
        Ok(Self { map, placement, digester, vacated })
    }

    /// The remaining items with the bucket of a deleted one above their own (M′ in the paper).
    pub(super) fn could_move(&self) -> u64 {
        let can_move = |item: &u64| {
            let digest = self.digester.digest(item);
            let own = self.map.location(item).map_or(0, |at| at.level);
            (0..own).any(|level| self.vacated.contains(&(level, self.placement.bucket(digest, level))))
        };
        self.map.iter().filter(|(item, ())| can_move(item)).count() as u64
    }

    /// Rebuilds and counts the items that move (M in the paper).
    pub(super) fn rebuild(&mut self) -> u64 {
        self.map.rebuild()
    }
}
