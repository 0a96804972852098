//! The smallest map of fixed size.

use alloc::vec::Vec;
use core::convert::Infallible;

use oneread::layout::{BoundedLayout, LayoutError, MultilevelLayout};
use oneread::plan::solve::{Relax, Solution, Target, Unsolved};
use oneread::workspace::{StepBudget, check, exp, first_within, least_possible};

use super::table::{self, Odds, PlannedTable, TableTargets};

/// The targets of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapTargets {
    /// The entries in the map at a time, under churn.
    pub entries: u64,
    /// The bytes of a slot: those of `Option<(K, V)>`.
    pub entry_bytes: u64,
    /// The most memory, in bytes; `None` for no limit.
    pub bytes: Option<u64>,
    /// The most expected entries in the stash.
    pub stash: f64,
    /// The most levels, and so the most buckets read per lookup.
    pub levels: u32,
}

impl MapTargets {
    /// Allows one expected entry in the stash, and eight levels.
    #[must_use]
    pub const fn new(entries: u64, entry_bytes: u64) -> Self {
        Self { entries, entry_bytes, bytes: None, stash: 1.0, levels: 8 }
    }
}

/// The layout of a map of any kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MapLayout {
    /// Of a [`MultilevelTable`](oneread::table::MultilevelTable).
    Multilevel(MultilevelLayout),
    /// Of a [`BoundedMap`](oneread::table::BoundedMap).
    Bounded(BoundedLayout),
}

/// A map, planned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedMap {
    /// Its layout, with a stash that is full at one in 10^12 moments.
    pub layout: MapLayout,
    /// The library's type for this layout.
    pub structure: &'static str,
    /// The entries it was planned for.
    pub entries: u64,
    /// The bytes of slots, bits and stash.
    pub bytes: u64,
    /// The entries per slot.
    pub load: f64,
    /// The expected entries in the stash.
    pub expected_stash: f64,
}

impl PlannedMap {
    /// The bytes per entry.
    #[must_use]
    pub fn bytes_per_entry(&self) -> f64 {
        self.bytes as f64 / self.entries as f64
    }
}

/// Plans a kind of map: the smallest for the targets, and others of its kind, without a limit on
/// bytes.
type Candidate = fn(&MapTargets, &StepBudget) -> Result<Vec<PlannedMap>, Unsolved>;

/// All kinds of maps. A new kind is a [`MapLayout`], one more entry here, and its function below.
const CANDIDATES: [Candidate; 2] = [multilevel, bounded];

/// Finds the smallest map of fixed size under churn.
///
/// # What is smallest
/// Multilevel tables are planned like [`table`](super::table()) under churn; a bounded map has one
/// size. A multilevel table reads at most one bucket per level, a bounded map usually a line of
/// tags and an entry. The stash is sized by a Poisson distribution, which agrees with simulated
/// stashes.
///
/// # Errors
/// If there are no entries, bytes or levels, or too many; if the targets exclude each other.
///
/// # Example
/// ```
/// use oneread_study::solve::{self, MapTargets};
///
/// // 100,000 entries of 24 bytes.
/// let best = solve::map(&MapTargets::new(100_000, 24))?.best;
/// assert!(best.load > 0.5 && best.expected_stash <= 1.0);
/// // They take at least 2.4 million bytes.
/// let targets = MapTargets { bytes: Some(2_400_000), ..MapTargets::new(100_000, 24) };
/// assert!(solve::map(&targets).is_err());
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn map(targets: &MapTargets) -> Result<Solution<PlannedMap>, Unsolved> {
    /// No entry is as large as the address space.
    const MAX_ENTRY_BYTES: f64 = (1u64 << 40) as f64;
    check("bytes of an entry", targets.entry_bytes as f64, 1.0, MAX_ENTRY_BYTES)?;
    let work = StepBudget::new("a search for a map", table::MAX_STEPS);
    let mut found: Vec<PlannedMap> = Vec::new();
    for candidate in CANDIDATES {
        found.extend(candidate(targets, &work)?);
    }
    found.sort_by_key(|planned| planned.bytes);
    let most = targets.bytes.unwrap_or(u64::MAX);
    let (best, runners_up) = first_within(found, |planned| planned.bytes <= most)
        .map_err(|smallest| Unsolved::Infeasible(relaxed(targets, smallest.as_ref(), &work)))?;
    let mut binds = Vec::from([Target::Stash]);
    match &best.layout {
        MapLayout::Multilevel(layout) if layout.level_count() == targets.levels as usize => {
            binds.push(Target::Levels);
        }
        MapLayout::Multilevel(_) => {}
        // Churn alone limits the load of its lines, not the stash.
        MapLayout::Bounded(_) => binds.clear(),
    }
    Ok(Solution { best, binds, runners_up })
}

/// Multilevel tables, the smallest first, without a limit on bytes.
fn multilevel(targets: &MapTargets, work: &StepBudget) -> Result<Vec<PlannedMap>, Unsolved> {
    let solution = match table::table_within(&table(targets), work) {
        Ok(solution) => solution,
        Err(Unsolved::Infeasible(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let planned = |table: &PlannedTable| -> Result<PlannedMap, LayoutError> {
        let layout = table.layout.clone().with_stash(stash_room(table.expected_stash))?;
        let places = u128::from(layout.capacity() + u64::from(layout.stash()));
        let beside = u128::from(layout.occupancy_bytes() + layout.hint_bytes());
        let bytes = places * u128::from(targets.entry_bytes) + beside;
        Ok(PlannedMap {
            structure: "MultilevelTable",
            entries: targets.entries,
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            load: table.load(),
            expected_stash: table.expected_stash,
            layout: MapLayout::Multilevel(layout),
        })
    };
    let all = [&solution.best].into_iter().chain(&solution.runners_up);
    Ok(all.map(planned).collect::<Result<_, _>>()?)
}

/// The bounded map, which has one layout for its entries: a load of 90%.
fn bounded(targets: &MapTargets, _: &StepBudget) -> Result<Vec<PlannedMap>, Unsolved> {
    let layout = BoundedLayout::for_capacity(targets.entries)?;
    let Ok(churned) = oneread::plan::bounded::churned(&layout) else { return Ok(Vec::new()) };
    // The stash holds at most what came to it in one turnover.
    let expected_stash = exp(churned.ln_stash_probability()) * targets.entries as f64;
    if expected_stash > targets.stash {
        return Ok(Vec::new());
    }
    // A line of tags per 32 slots; a slot is no larger than the option of an entry.
    let bytes = u128::from(layout.slots()) * u128::from(targets.entry_bytes)
        + u128::from(layout.lines()) * LINE_BYTES;
    Ok(Vec::from([PlannedMap {
        structure: "BoundedMap",
        entries: targets.entries,
        bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        load: targets.entries as f64 / layout.slots() as f64,
        expected_stash,
        layout: MapLayout::Bounded(layout),
    }]))
}

/// The tags of a line.
const LINE_BYTES: u128 = 64;

const fn table(targets: &MapTargets) -> TableTargets {
    TableTargets {
        items: targets.entries,
        levels: targets.levels,
        slots: 1,
        buckets: None,
        odds: Odds::Churn(targets.stash),
    }
}

/// A stash size that a Poisson number with this mean exceeds once in 10^12, plus one.
fn stash_room(mean: f64) -> u32 {
    const FULL: f64 = 1e-12;
    /// Above this, the first term underflows a float; a stash should have far fewer entries.
    const MAX_MEAN: f64 = 600.0;
    if mean > MAX_MEAN {
        return MultilevelLayout::MAX_STASH;
    }
    let (mut probability, mut items) = (exp(-mean), 0u32);
    // Beyond the mean, terms fall, and their sum is below a geometric series.
    loop {
        let ratio = mean / f64::from(items + 1);
        if ratio < 0.5 && 2.0 * probability * ratio < FULL {
            return items.max(1);
        }
        items += 1;
        probability *= ratio;
    }
}

/// Finds the targets to relax, given the smallest map without a limit on its bytes, if any.
fn relaxed(targets: &MapTargets, smallest: Option<&PlannedMap>, work: &StepBudget) -> Vec<Relax> {
    let mut relax = Vec::new();
    let most = targets.bytes.unwrap_or(u64::MAX);
    if let (Some(asked), Some(planned)) = (targets.bytes, smallest) {
        let (asked, possible) = (asked as f64, planned.bytes as f64);
        relax.push(Relax { target: Target::Bytes, asked, possible });
    }
    let bytes = |targets: &MapTargets| {
        let found = multilevel(targets, work).ok()?;
        found.iter().map(|planned| planned.bytes).min()
    };
    let most_levels = MultilevelLayout::MAX_LEVELS as u32;
    let levels = (targets.levels + 1..=most_levels.min(targets.levels + 16))
        .find(|&levels| bytes(&MapTargets { levels, ..*targets }).is_some_and(|bytes| bytes <= most));
    if let Some(levels) = levels {
        let (asked, possible) = (targets.levels.into(), levels.into());
        relax.push(Relax { target: Target::Levels, asked, possible });
    }
    // Allow a larger stash, while it is a small part of the map.
    const MAX_PART: f64 = 0.01;
    let serves = |stash: f64| bytes(&MapTargets { stash, ..*targets }).is_some_and(|bytes| bytes <= most);
    let most_stash = MAX_PART * targets.entries as f64;
    let Ok(possible) = least_possible(targets.stash, most_stash, |stash| Ok::<_, Infallible>(serves(stash)));
    relax.extend(possible.map(|possible| Relax { target: Target::Stash, asked: targets.stash, possible }));
    relax
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stash_has_room_for_all_but_one_look_in_a_trillion() {
        // Pr(Poisson(1) > 14) = 3.0e-13, and > 13 is 4.6e-12; Pr(Poisson(10) > 36) is 4.4e-11, far
        // above.
        assert_eq!(stash_room(1.0), 14);
        assert!(stash_room(10.0) > 36);
        assert_eq!(stash_room(0.0), 1);
    }
}
