//! Which targets of a table to relax, where they exclude each other.

use alloc::vec::Vec;

use oneread::layout::{MAX_PLACES, Moves, MultilevelLayout};
use oneread::plan::solve::{Relax, Target};
use oneread::workspace::{Close, StepBudget, exp, rounded_up};

use super::{Kind, Odds, PlannedTable, Search, TableTargets};

/// Finds the targets to relax, given the smallest table without a limit on its buckets, if any.
pub(super) fn relaxed(
    targets: &TableTargets,
    smallest: Option<&PlannedTable>,
    work: &StepBudget,
) -> Vec<Relax> {
    let mut relax = Vec::new();
    let items = targets.items as f64;
    let most = targets.buckets.unwrap_or(MAX_PLACES);
    if let (Some(asked), Some(planned)) = (targets.buckets, smallest) {
        let possible = rounded_up(planned.buckets_per_item());
        relax.push(Relax { target: Target::BucketsPerItem, asked: asked as f64 / items, possible });
    }
    if let Some(levels) = more_levels(targets, most, work) {
        let (asked, possible) = (targets.levels.into(), levels.into());
        relax.push(Relax { target: Target::Levels, asked, possible });
    }
    // The odds with the most buckets allowed, divided alike.
    if let (Some(most), Some(planned)) = (targets.buckets, smallest) {
        let shape: Vec<f64> = planned.layout.levels().iter().map(|&size| size as f64).collect();
        let factor = most as f64 / planned.layout.buckets() as f64;
        let sizes: Vec<u64> = shape.iter().map(|size| ((size * factor) as u64).max(1)).collect();
        let search = Search { close: Close::Fine, ..Search::new(Kind::Plain, targets, work) };
        let odds = exp(search.ln_odds(&sizes));
        let is_possible = match targets.odds {
            Odds::Crisis(_) => odds < 1.0,
            _ => odds < items,
        };
        if is_possible && planned.layout.moves() == Moves::None {
            let (target, asked) = (targets.odds.target(), targets.odds.value());
            relax.push(Relax { target, asked, possible: rounded_up(odds) });
        }
    }
    relax
}

/// Finds how many levels suffice with these buckets, if a few more do: first by a table of fewer
/// items, then by this one.
fn more_levels(targets: &TableTargets, most: u64, work: &StepBudget) -> Option<u32> {
    /// With several slots, each level takes longer to search, and saves less.
    const MORE_LEVELS: u32 = 8;
    const MORE_OF_SLOTS: u32 = 2;
    // With any number of levels, an item takes a slot.
    if most.saturating_mul(targets.slots.into()) < targets.items {
        return None;
    }
    let more = if targets.slots == 1 { MORE_LEVELS } else { MORE_OF_SLOTS };
    let most_levels = (targets.levels + more).min(MultilevelLayout::MAX_LEVELS as u32);
    let serves = |levels: u32, items: u64, most: u64| {
        let targets = TableTargets { levels, items, ..*targets };
        let sizes = Search::new(Kind::Plain, &targets, work).smallest();
        sizes.is_some_and(|sizes| sizes.iter().sum::<u64>() <= most)
    };
    let few = Search::new(Kind::Plain, targets, work).few().min(targets.items);
    let most_of_few = (most as f64 * few as f64 / targets.items as f64) as u64;
    let enough = (targets.levels + 1..=most_levels).find(|&levels| serves(levels, few, most_of_few))?;
    if few == targets.items {
        return Some(enough);
    }
    (enough..=most_levels.min(enough + 2)).find(|&levels| serves(levels, targets.items, most))
}
