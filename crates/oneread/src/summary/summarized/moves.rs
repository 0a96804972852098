//! The moves of a table, in an order that a summary can follow.

use alloc::vec::Vec;

use crate::table::placement::Move;

/// One move of an item, and the item's final place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: usize,
}

/// Returns the moves in order, each with the final place of its item, which may move several times.
pub(super) fn steps(moves: &[Move]) -> Vec<Step> {
    // Goes backwards: for each place, where an item that is there before the moves seen so far ends
    // up.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    for &Move { from, to } in moves.iter().rev() {
        let end = match ends.iter().position(|&(place, _)| place == to) {
            Some(at) => ends.swap_remove(at).1,
            None => to,
        };
        ends.push((from, end));
        steps.push(Step { from, to, end });
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_moves_twice_is_where_it_came_to_last() {
        let moves = [(1, 2), (3, 1), (2, 5), (1, 2)].map(|(from, to)| Move { from, to });
        // The first item goes from 1 by 2 to 5, the second from 3 by 1 to 2.
        let expected = [(1, 2, 5), (3, 1, 2), (2, 5, 5), (1, 2, 2)];
        assert_eq!(steps(&moves), expected.map(|(from, to, end)| Step { from, to, end }));
    }
}
