//! The probability that the next item finds no room, from the state of a table.
//!
//! A stash of one item in a thousand tables is too rare to count in seconds, but its causes are
//! not. An item's cells are independent, so the probability that none is free is a product over the
//! levels, of fractions of thousands of cells each. An item stays in the stash until it is deleted,
//! n steps on average. So the mean stash is n times the mean of this probability.

use oneread::hash::{Digest, Digester, Domain, reduce};
use oneread::layout::Moves;
use oneread::table::placement::{Items, Placement};
use oneread_study::hash::Ideal;
use oneread_study::simulate::WARM_UP_STEPS_AN_ITEM;

use super::halving;
use crate::experiment::Error;

/// The words that choose deletions. The table uses other words.
const VICTIM: Domain = Domain::new(3);

/// Room for many times the few items that ever reach the stash.
const STASH: u32 = 64;

/// Digests by place.
struct Digests(Vec<Digest>);

impl Items for Digests {
    fn digest(&self, place: usize) -> Digest {
        self.0[place]
    }

    fn relocate(&mut self, from: usize, to: usize) {
        self.0[to] = self.0[from];
    }
}

/// The mean stash of a table under Second Chance, which never takes an item out of the stash: n
/// times the probability that an item reaches it, sampled `rounds` times, once per n steps.
pub(super) fn mean_stash(items: u64, levels: u32, rounds: u64, seed: u64) -> Result<f64, Error> {
    let layout = halving(items, levels, Moves::SecondChance)?.with_stash(STASH)?;
    let mut placement = Placement::new(&layout)?;
    let mut digests = Digests(vec![Digest::from_halves(0, 0); placement.places()]);
    let random = Ideal::with_seed(seed);
    for item in 0..items {
        insert(&mut placement, &mut digests, random.digest(&item))?;
    }
    let mut sum = 0.0;
    let mut drawn = items;
    for round in 0..WARM_UP_STEPS_AN_ITEM + rounds {
        for _ in 0..items {
            // Every occupied place is equally likely.
            let victim = loop {
                drawn += 1;
                let place = reduce(random.digest(&drawn).word(VICTIM, 0), placement.places() as u64) as usize;
                if placement.in_use(place) {
                    break place;
                }
            };
            placement.remove(victim, digests.0[victim], &mut digests);
            drawn += 1;
            insert(&mut placement, &mut digests, random.digest(&drawn))?;
        }
        if round >= WARM_UP_STEPS_AN_ITEM {
            sum += no_room(&placement, &digests, layout.levels());
        }
    }
    Ok(items as f64 * sum / rounds as f64)
}

fn insert(placement: &mut Placement, digests: &mut Digests, digest: Digest) -> Result<(), Error> {
    let place = placement.insert(digest, digests)?;
    digests.0[place] = digest;
    Ok(())
}

/// The probability that an item finds each of its cells taken, by an item whose cell of the next
/// level is taken too.
fn no_room(placement: &Placement, digests: &Digests, levels: &[u64]) -> f64 {
    let mut stuck = vec![0u64; levels.len()];
    let cells: u64 = levels.iter().sum();
    for place in (0..cells as usize).filter(|&place| placement.in_use(place)) {
        let level = placement.level_of(place);
        // An item of the last level cannot move.
        let next_is_free = || placement.candidates_in(digests.0[place], level + 1).next().is_none();
        let can_move = level + 1 < levels.len() && next_is_free();
        stuck[level] += u64::from(!can_move);
    }
    stuck.iter().zip(levels).map(|(&stuck, &cells)| stuck as f64 / cells as f64).product()
}
