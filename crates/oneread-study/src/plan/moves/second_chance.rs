//! Second Chance: an insertion may move one item down by a level.
//!
//! An item x that finds its cell of level i in use tries its cell of level i + 1. If that is in use
//! too, consider the item y in the cell of level i. If *its* cell of level i + 1 is free, y moves
//! there, and x takes its place. Otherwise x goes on: its cell of level i + 1 is in use, and it
//! tries level i + 2. From the last level it goes to the stash.
//!
//! # The equations
//! The paper only cites the equations; this derivation is ours. Nothing is ever deleted, so a cell
//! in use stays in use. An item of level i is *stuck* once its cell of level i + 1 was found in
//! use, and *fresh* before. A fresh item's cell in level i + 1 has never been looked at, so that it
//! is uniform and independent of the past. An item placed in a free cell is fresh there, whether
//! new or moved down, since its next cell was not looked at. A new item that takes another's place
//! is stuck, since its next cell was. Let `e_i`, `f_i` and `s_i` be the fractions of level i's
//! cells that are empty, fresh and stuck, `o_i` = `f_i` + `s_i`, and `a_i` the probability that x
//! looks at level i after failing above. Then `a_1` = 1 and
//!
//! ```text
//!   x finds its cell of level i in use, and that of level i + 1 empty:   a_i o_i e_{i+1}
//!   … both in use, the first by a fresh item, which can be moved:        a_i f_i o_{i+1} e_{i+1}
//!   … which cannot, and is stuck from now on:                            a_i f_i o_{i+1} o_{i+1}
//!   … both in use, the first by a stuck item:                            a_i s_i o_{i+1}
//! ```
//!
//! The last two make x go on, with its cell of level i + 1 in use: this is `a_{i+1}` `o_{i+1}`, so
//! that `a_{i+1}` = `a_i` (`s_i` + `f_i` `o_{i+1}`). Per insertion, `a_1` `e_1` cells of the first
//! level are filled, and `a_{i−1}` (`o_{i−1}` + `f_{i−1}` `o_i`) `e_i` of level i. `a_i` `f_i`
//! `o_{i+1}` turn from fresh to stuck, moved or not, and `a_d` `o_d` items go to the stash. All
//! terms are positive, and in the limit of many cells the fractions follow the resulting
//! differential equations.

use alloc::vec;
use alloc::vec::Vec;

use libm::expm1;
use oneread::plan::OutOfRange;
use oneread::workspace::{check, evolve};

use super::check_table;

/// The most items per cell that may reach a level of a [`second_chance`] table, if none were moved.
pub const MAX_PER_CELL: f64 = 64.0;

/// A table that was filled with a second chance.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SecondChance {
    /// The expected items of each level.
    pub expected: Vec<f64>,
    /// The expected items in the stash.
    pub expected_stash: f64,
    /// The expected number of moves.
    pub expected_moves: f64,
}

/// Computes a table of `levels` after `items` insertions with a second chance, and no deletions.
///
/// Section II of the paper has the scheme, and cites equations for it from Kirsch, Mitzenmacher,
/// "The Power of One Move: Hashing Schemes for Hardware", 2008, which we have not seen. Ours are
/// derived in this module's source.
///
/// # What is exact
/// The limit for many cells in each level, to a relative error below 1e-9 in every number above
/// 1e-45 of the items. For three levels, each half as large as the one before, and as many items as
/// the first has cells, simulation finds a stash of 0.616 (0.004) against 0.603 with 512 items, and
/// 4.833 (0.023) against 4.825 with 4096.
///
/// # Errors
/// If there are no levels or more than [`MAX_LEVELS`](super::MAX_LEVELS), or a level has no cells;
/// if cells or items are more than 2^46; or if more than [`MAX_PER_CELL`] items per cell would
/// reach a level.
///
/// # Example
/// ```
/// use oneread_study::plan::moves;
///
/// // Each next level has half the cells; as many items as the first has cells.
/// let levels: Vec<u64> = (0..4).map(|level| 16384 >> level).collect();
/// let planned = moves::second_chance(&levels, 16384)?;
/// assert!(planned.expected_stash < 0.2 && planned.expected_moves > 1000.0);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn second_chance(levels: &[u64], items: u64) -> Result<SecondChance, OutOfRange> {
    check_table(levels, items)?;
    // Without moves, a level of m cells that c items reach passes on c − m (1 − e^(−c/m)).
    let (mut coming, mut largest) = (items as f64, 0.0f64);
    for &cells in levels {
        let cells = cells as f64;
        check("items for each cell of a level", coming / cells, 0.0, MAX_PER_CELL)?;
        coming += cells * expm1(-coming / cells);
        largest = largest.max(cells);
    }

    // Fractions of each level: empty, fresh, stuck. Then the stash and the moves, per cell of the
    // largest level.
    let depth = levels.len();
    let mut state = vec![0.0; 3 * depth + 2];
    state[..3 * depth].iter_mut().step_by(3).for_each(|empty| *empty = 1.0);
    evolve(&mut state, items as f64 / largest, |state, rates| {
        let mut looking = 1.0;
        let mut filling = state[0];
        rates[3 * depth + 1] = 0.0;
        for (i, &cells) in levels.iter().enumerate() {
            let [_, fresh, stuck] = [0, 1, 2].map(|class| state[3 * i + class]);
            // Below the last level, no cell is free or tried.
            let last = i + 1 == depth;
            let next = &state[3 * (i + 1)..];
            let (next_empty, next_used) = if last { (0.0, 1.0) } else { (next[0], next[1] + next[2]) };
            let sticking = if last { 0.0 } else { looking * fresh * next_used };
            let scale = largest / cells as f64;
            rates[3 * i] = -scale * filling;
            rates[3 * i + 1] = scale * (filling - sticking);
            rates[3 * i + 2] = scale * sticking;
            rates[3 * depth + 1] += sticking * next_empty;
            filling = looking * (fresh + stuck + fresh * next_used) * next_empty;
            looking *= if last { fresh + stuck } else { stuck + fresh * next_used };
        }
        rates[3 * depth] = looking;
    });
    let expected = levels
        .iter()
        .zip(state.chunks_exact(3))
        .map(|(&cells, fractions)| cells as f64 * (fractions[1] + fractions[2]).clamp(0.0, 1.0))
        .collect();
    let [stash, moves] = [0, 1].map(|extra| largest * state[3 * depth + extra].max(0.0));
    Ok(SecondChance { expected, expected_stash: stash, expected_moves: moves })
}
