//! Cuckoo hashing with four ordered choices, and hints for moves on deletions. It uses balls and
//! bins, because the library's tables lack such moves.

use crate::papers::random::Random;

const CHOICES: usize = 4;

/// Items are slots; the next item reuses the slot of a deleted one.
pub(super) struct Table {
    random: Random,
    moves_on_deletions: bool,
    /// The slot in each cell.
    cells: Vec<Option<usize>>,
    /// The slot that last found the cell taken, and its item.
    hints: Vec<Option<(usize, u64)>>,
    /// By slot: the item, and the number of the choice that it occupies.
    items: Vec<(u64, usize)>,
    next: u64,
    draws: u64,
    moves: u64,
}

impl Table {
    pub(super) fn new(cells: u64, items: u64, moves_on_deletions: bool, seed: u64) -> Self {
        let mut table = Self {
            random: Random::with_seed(seed),
            moves_on_deletions,
            cells: vec![None; cells as usize],
            hints: vec![None; cells as usize],
            items: vec![(0, 0); items as usize],
            next: 0,
            draws: 0,
            moves: 0,
        };
        (0..items as usize).for_each(|slot| table.insert_new(slot));
        table
    }

    /// Makes `rounds` times as many deletions and insertions as there are items, once to warm up
    /// and once to count. Returns the moves per insertion, and the cells read per search.
    pub(super) fn churned(mut self, rounds: u64) -> [f64; 2] {
        let count = self.items.len() as u64;
        let steps = rounds * count;
        self.churn(steps);
        self.moves = 0;
        let mut probes = 0.0;
        for _ in 0..rounds {
            self.churn(count);
            probes += self.items.iter().map(|(_, choice)| *choice as f64 + 1.0).sum::<f64>() / count as f64;
        }
        [self.moves as f64 / steps as f64, probes / rounds as f64]
    }

    fn churn(&mut self, steps: u64) {
        for _ in 0..steps {
            let slot = self.draw(self.items.len() as u64);
            self.remove(slot);
            self.insert_new(slot);
        }
    }

    fn draw(&mut self, below: u64) -> usize {
        self.draws += 1;
        // Choices of items that are never inserted.
        self.random.item((1 << 50) + self.draws).below(0, below)
    }

    fn cell(&self, item: u64, choice: usize) -> usize {
        self.random.item(item).below(choice, self.cells.len() as u64)
    }

    fn insert_new(&mut self, slot: usize) {
        let item = self.next;
        self.next += 1;
        self.items[slot].0 = item;
        let mut slot = slot;
        let mut left = None;
        loop {
            let item = self.items[slot].0;
            let free = (0..CHOICES).find(|&choice| self.cells[self.cell(item, choice)].is_none());
            if let Some(choice) = free {
                self.place(slot, choice);
                return;
            }
            // Any choice but the cell that it just left.
            let choice = loop {
                let choice = self.draw(CHOICES as u64);
                if Some(self.cell(item, choice)) != left {
                    break choice;
                }
            };
            let cell = self.cell(item, choice);
            let moved = self.cells[cell].expect("all are taken");
            self.place(slot, choice);
            self.moves += 1;
            (slot, left) = (moved, Some(cell));
        }
    }

    fn place(&mut self, slot: usize, choice: usize) {
        let item = self.items[slot].0;
        for earlier in 0..choice {
            let cell = self.cell(item, earlier);
            self.hints[cell] = Some((slot, item));
        }
        let cell = self.cell(item, choice);
        self.cells[cell] = Some(slot);
        self.items[slot].1 = choice;
    }

    fn remove(&mut self, slot: usize) {
        let (item, choice) = self.items[slot];
        let cell = self.cell(item, choice);
        self.cells[cell] = None;
        // The slot of a deleted item is unused until the next insertion.
        self.items[slot].0 = u64::MAX;
        let Some((hinted, item)) = self.hints[cell].take().filter(|_| self.moves_on_deletions) else {
            return;
        };
        let (present, choice) = self.items[hinted];
        let earlier = (0..choice).find(|&earlier| self.cell(item, earlier) == cell);
        if let (true, Some(earlier)) = (present == item, earlier) {
            let vacated = self.cell(item, choice);
            self.cells[vacated] = None;
            self.place(hinted, earlier);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_where_it_says_under_churn() {
        for moves_on_deletions in [false, true] {
            let mut table = Table::new(64, 54, moves_on_deletions, 1);
            for _ in 0..200 {
                table.churn(1);
                for (slot, &(item, choice)) in table.items.iter().enumerate() {
                    assert_eq!(table.cells[table.cell(item, choice)], Some(slot));
                }
                assert_eq!(table.cells.iter().flatten().count(), 54);
            }
        }
    }
}
