//! Multilevel tables that move items, or lose them to deletions: how many end up in the stash.
//!
//! | function | table | computed |
//! | --- | --- | --- |
//! | [`steady_state`] | plain, under deletions and insertions | the limit for many cells, and its first correction |
//! | [`second_chance`] | one move per insertion, no deletions | the limit for many cells |
//! | [`restricted`] | items go on to few cells of the next level | the paper's recursion, for either policy |
//!
//! Levels are given by their numbers of cells, which hold an item each. An item has one cell in
//! each level, and goes to the stash if all are full.
//!
//! # Source
//! Kirsch, Mitzenmacher, "On the Performance of Multiple Choice Hash Tables with Moves on Deletes
//! and Inserts", 2008.

mod restricted;
mod second_chance;
mod steady_state;

pub use restricted::{MAX_FANOUT, Restricted, restricted};
pub use second_chance::{MAX_PER_CELL, SecondChance, second_chance};
pub use steady_state::{SteadyState, steady_state};

use oneread::layout::MAX_PLACES;
use oneread::plan::OutOfRange;
use oneread::workspace::check;

/// The most levels of a table.
pub const MAX_LEVELS: usize = 64;

/// Checks the levels and the items of a table.
fn check_table(levels: &[u64], items: u64) -> Result<(), OutOfRange> {
    check("levels", levels.len() as f64, 1.0, MAX_LEVELS as f64)?;
    for &cells in levels {
        check("cells of a level", cells as f64, 1.0, MAX_PLACES as f64)?;
    }
    check("items", items as f64, 0.0, MAX_PLACES as f64)
}
