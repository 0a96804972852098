//! Hints as `HintRule` documents them: a second, naive program must put every item in the same
//! place.

use std::collections::HashMap;

use oneread::hash::Digest;
use oneread::layout::{HintChain, HintRule, Hints, Moves};
use oneread::table::placement::{Location, Placement};

use super::placement::Simple;
use super::{Random, halving};

/// A cell: its level and its number. The stash is the level after the last.
type Cell = (usize, u64);

/// A table of one slot per bucket that keeps the item and the hint of each cell in a map, without
/// bits or places.
struct Model {
    levels: usize,
    hints: Hints,
    second_chance: bool,
    items: HashMap<Cell, Digest>,
    hint_of: HashMap<Cell, Cell>,
}

impl Model {
    fn cell(&self, placement: &Placement, digest: Digest, level: usize) -> Cell {
        assert!(level < self.levels);
        (level, placement.bucket(digest, level))
    }

    /// Whether the item that a cell's hint names may move to the cell.
    fn is_good(&self, placement: &Placement, cell: Cell) -> bool {
        let item = self.hint_of.get(&cell).and_then(|hint| self.items.get(hint));
        item.is_some_and(|&item| self.cell(placement, item, cell.0) == cell)
    }

    /// Writes a hint at `at` into `cell`, which the item there found full or left.
    fn hint(&mut self, placement: &Placement, cell: Cell, at: Cell) {
        let is_deeper = self.hint_of.get(&cell).is_some_and(|hint| hint.0 > at.0);
        let is_kept = match self.hints.rule {
            HintRule::Replace => false,
            HintRule::Next => at.0 != cell.0 + 1,
            HintRule::Deepest => is_deeper && self.is_good(placement, cell),
            HintRule::DeepestUnchecked => is_deeper,
        };
        if !is_kept {
            self.hint_of.insert(cell, at);
        }
    }

    fn insert(&mut self, placement: &Placement, digest: Digest) {
        let own: Vec<Cell> = (0..self.levels).map(|level| self.cell(placement, digest, level)).collect();
        let mut at = None;
        for (level, &cell) in own.iter().enumerate() {
            if !self.items.contains_key(&cell) {
                at = Some(cell);
                break;
            }
            // This cell and the next are full: the item here may have room one level down.
            if self.second_chance && level + 1 < self.levels && self.items.contains_key(&own[level + 1]) {
                let other = self.items[&cell];
                let below = self.cell(placement, other, level + 1);
                if !self.items.contains_key(&below) {
                    self.hint(placement, cell, below);
                    self.items.remove(&cell);
                    self.items.insert(below, other);
                    at = Some(cell);
                    break;
                }
            }
        }
        let stash = || (0..).map(|slot| (self.levels, slot)).find(|cell| !self.items.contains_key(cell));
        let at = at.or_else(stash).unwrap();
        for &cell in own.iter().take_while(|cell| cell.0 < at.0) {
            self.hint(placement, cell, at);
        }
        self.items.insert(at, digest);
    }

    fn remove(&mut self, placement: &Placement, digest: Digest) {
        let mut empty = *self.items.iter().find(|(_, item)| **item == digest).unwrap().0;
        self.items.remove(&empty);
        let mut moves = 0;
        while empty.0 < self.levels
            && (moves == 0 || self.hints.chain == HintChain::Recursive)
            && self.is_good(placement, empty)
        {
            let from = self.hint_of[&empty];
            let item = self.items.remove(&from).unwrap();
            self.items.insert(empty, item);
            empty = from;
            moves += 1;
        }
        self.hint_of.remove(&empty);
    }
}

#[test]
#[cfg_attr(miri, ignore = "long, and no unsafe code")]
fn every_item_is_where_the_documented_hints_put_it() {
    const ITEMS: usize = 150;
    let rules = [HintRule::Replace, HintRule::Deepest, HintRule::Next, HintRule::DeepestUnchecked];
    for (at, rule) in rules.into_iter().enumerate() {
        for chain in [HintChain::One, HintChain::Recursive] {
            for second_chance in [false, true] {
                let hints = Hints { rule, chain };
                let moves = if second_chance { Moves::Both(hints) } else { Moves::Hints(hints) };
                let layout = halving(128, 4, moves).with_stash(ITEMS as u32).unwrap();
                let mut table = Simple::new(&layout);
                let (items, hint_of) = (HashMap::new(), HashMap::new());
                let mut model = Model { levels: 4, hints, second_chance, items, hint_of };
                let mut random = Random::new(at as u64);
                let mut alive = Vec::new();
                for step in 0..3000 {
                    if alive.len() == ITEMS {
                        let gone = alive.swap_remove(random.below(ITEMS as u64) as usize);
                        table.remove(gone);
                        model.remove(&table.placement, gone);
                    }
                    let new = random.digest();
                    table.insert(new).unwrap();
                    model.insert(&table.placement, new);
                    alive.push(new);
                    for digest in &alive {
                        let place = table.find(*digest).unwrap();
                        let Location { level, bucket, slot } = table.placement.location(place);
                        let cell = (level, if level == 4 { u64::from(slot) } else { bucket });
                        assert_eq!(model.items.get(&cell), Some(digest), "{moves:?}, step {step}");
                    }
                }
            }
        }
    }
}
