//! A table under long churn: what moves are worth when items come and go.
//!
//! Run it with `cargo run --release -p oneread --example churn`. It keeps two tables of the same
//! size half full, replaces each item sixteen times, and counts the items without room. One table
//! never moves items; the other moves at most one per insertion and one per deletion.

use oneread::layout::{HintRule, Hints, Moves, MultilevelLayout};
use oneread::table::MultilevelTable;

const ITEMS: u64 = 1 << 14;
const LEVELS: u32 = 6;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let halving = MultilevelLayout::geometric(ITEMS, 0.5, LEVELS)?.with_stash(1 << 14)?;
    let moving = Moves::Both(Hints { rule: HintRule::Deepest, ..Hints::default() });
    println!("{ITEMS} items in {} slots, each replaced sixteen times; in the stash are", halving.capacity());
    for (name, moves) in [("without moves", Moves::None), ("with one move", moving)] {
        let mut table = MultilevelTable::with_seed(halving.clone().with_moves(moves)?, 1)?;
        for key in 0..ITEMS {
            table.insert(key, ())?;
        }
        // An odd multiplier visits all of them, in an order unrelated to the keys.
        let (mut oldest, mut moved) = (vec![0; ITEMS as usize], 0);
        oldest.iter_mut().zip(0..).for_each(|(key, number)| *key = number);
        for key in ITEMS..17 * ITEMS {
            let at = (key.wrapping_mul(0x9e37_79b9) % ITEMS) as usize;
            assert!(table.remove(&oldest[at]).is_some());
            moved += table.last_moves().len();
            table.insert(key, ())?;
            moved += table.last_moves().len();
            oldest[at] = key;
        }
        let share = moved as f64 / (32 * ITEMS) as f64;
        println!("  {:5} {name}; {share:.2} moves an operation", table.stash_len());
        println!("        by level: {:?}", table.level_loads());
    }
    Ok(())
}
