//! Lazy deletion: reads, the times of rebuilds, and the paper's numbers of moves (section XI-A).

use std::cell::Cell;
use std::time::Duration;

use oneread::hash::{Digester, Portable};
use oneread::layout::{
    Hints, LayoutError, Moves, MultilevelLayout, MultipleFiltersLayout, Quantity, Restriction,
};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{JoinError, MultiFilterSummary, Summarized, Summary};
use oneread::table::MultilevelTable;
use oneread_study::plan::deletion;
use oneread_study::summary::{LazilyDeleting, Rebuild};

use super::{Random, halving, paper_filters, paper_table};
use crate::fixtures::SIX_SIGMA;

type Map = LazilyDeleting<u64, u64, MultiFilterSummary>;

fn map(layout: MultilevelLayout, filters: MultipleFiltersLayout, seed: u64, when: Rebuild) -> Map {
    let table = MultilevelTable::with_seed(layout, seed).unwrap();
    LazilyDeleting::new(table, MultiFilterSummary::with_seed(filters, seed).unwrap(), when).unwrap()
}

fn small_map(when: Rebuild) -> Map {
    let filters = MultipleFiltersLayout::new([(640, 7), (320, 7), (160, 7)]).unwrap();
    map(halving(64, 3, Moves::None).with_stash(2).unwrap(), filters, 1, when)
}

#[test]
fn an_item_deleted_and_inserted_again_is_where_it_was() {
    let mut map = map(paper_table(), paper_filters(), 1, Rebuild::when_asked());
    map.insert(7, 1).unwrap();
    let place = map.location(&7);
    let digest = map.summary().digester().digest(&7u64);
    assert_eq!(
        (map.remove(&7), map.remove(&7), map.get(&7), map.len(), map.deleted()),
        (Some(1), None, None, 0, 1)
    );
    assert!(!map.summary().lookup(digest).is_empty(), "it is still in the summary");
    assert_eq!(map.insert(7, 2).unwrap(), None);
    assert_eq!((map.location(&7), map.get(&7), map.deleted()), (place, Some(&2), 0));
    map.remove(&7);
    assert_eq!((map.rebuild(), map.location(&7), map.len()), (0, None, 0));
    assert!(map.summary().lookup(digest).is_empty());
}

#[test]
fn deleted_items_are_passed_over_without_a_read_and_their_bits_are_counted() {
    let mut map = map(paper_table().with_stash(0).unwrap(), paper_filters(), 1, Rebuild::when_asked());
    (0..1000).for_each(|key| _ = map.insert(key, key).unwrap());
    (0..500).for_each(|key| _ = map.remove(&key).unwrap());
    assert!((0..500).all(|key| map.get(&key).is_none()));
    let stats = map.stats();
    assert_eq!((stats.measured.misses, stats.measured.reads_of_misses), (500, 0));
    assert_eq!((stats.items, stats.deleted, stats.rebuilds), (500, 500, 0));
    // A bit per bucket and a bit per slot, for 60,000 buckets of one slot.
    assert_eq!((stats.summary_bytes, stats.occupancy_bytes, stats.deletion_bytes), (24_950, 7500, 7500));
    map.begin_rebuild();
    assert_eq!((map.stats().summary_bytes, map.is_rebuilding()), (49_900, true));
    assert!(map.step(60_000) && !map.is_rebuilding());
    let stats = map.stats();
    assert_eq!((stats.summary_bytes, stats.items, stats.deleted, stats.rebuilds), (24_950, 500, 0, 1));
}

thread_local!(static NOW: Cell<u64> = const { Cell::new(0) });

fn clock() -> Duration {
    Duration::from_secs(NOW.get())
}

#[test]
fn room_is_made_by_count_by_fill_by_time_and_when_asked() {
    let when = [
        Rebuild::when_asked(),
        Rebuild::when_asked().at_deleted(5),
        Rebuild::when_asked().at_items(20),
        Rebuild::when_asked().every_by(Duration::from_secs(60), clock),
    ];
    // Twenty items, then one deletion per second. The change that finds a rebuild due begins with
    // it.
    for (when, expected) in when.into_iter().zip([None, Some(5), Some(1), Some(60)]) {
        NOW.set(1000);
        let mut map = small_map(when);
        (0..20).for_each(|key| _ = map.insert(key, key).unwrap());
        let mut deletions = 0;
        while map.stats().rebuilds == 0 && deletions < 100 {
            NOW.set(NOW.get() + 1);
            // Inserts a deleted item again, so that there is always one to delete.
            if deletions % 20 == 19 {
                (0..19).for_each(|key| _ = map.insert(key, key).unwrap());
            }
            map.remove(&(deletions % 20));
            deletions += 1;
        }
        match expected {
            None => {
                assert_eq!(map.stats().rebuilds, 0);
                map.rebuild();
                assert_eq!((map.stats().rebuilds, map.deleted()), (1, 0));
            }
            Some(60) => assert_eq!(deletions, 60),
            Some(deleted) => assert_eq!(deletions, deleted + 1, "{when:?}"),
        }
    }
    #[cfg(feature = "std")]
    {
        let mut map = small_map(Rebuild::when_asked().every(Duration::ZERO));
        map.insert(1, 1).unwrap();
        map.remove(&1);
        map.insert(2, 2).unwrap();
        assert_eq!((map.stats().rebuilds, map.deleted()), (1, 0));
    }
}

/// Fills a map with `live` items, then deletes one and inserts a new one in each step. Returns the
/// number of rebuilds.
fn rebuilds_under_churn(when: Rebuild, live: u64, steps: u64) -> u64 {
    let mut map = map(paper_table(), paper_filters(), 1, when);
    (0..live).for_each(|key| _ = map.insert(key, key).unwrap());
    for step in 0..steps {
        assert_eq!(map.remove(&step), Some(step));
        map.insert(live + step, live + step).unwrap();
    }
    map.stats().rebuilds
}

/// Conditions were once joined by *or* alone: the paper's two thresholds rebuilt a table of 10,000
/// items with every step.
#[test]
#[cfg_attr(miri, ignore = "long, and no unsafe code")]
fn the_papers_rule_rebuilds_once_in_an_deletions() {
    // Section XI-A, n = 9090, α = 0.1. The change after the 909th deletion begins the rebuild: ten
    // in 9091 steps.
    let papers = Rebuild::when_asked().at_deleted(909).and_items(9999);
    assert_eq!(rebuilds_under_churn(papers, 9090, 9090), 9);
    assert_eq!(rebuilds_under_churn(papers, 9090, 9091), 10);
    // With 10,000 live items there are always 9999: the insertion after the 909th deletion begins
    // it.
    assert_eq!(rebuilds_under_churn(papers, 10_000, 908), 0);
    assert_eq!(rebuilds_under_churn(papers, 10_000, 909), 1);
    // With 5000 live items, there are 9999 items once 4999 are deleted.
    assert_eq!(rebuilds_under_churn(papers, 5000, 4999), 0);
    assert_eq!(rebuilds_under_churn(papers, 5000, 5000), 1);
    // The conditions in the other order, and joined by *or*.
    let turned = Rebuild::when_asked().at_items(9999).and_deleted(909);
    assert_eq!(rebuilds_under_churn(turned, 10_000, 909), 1);
    assert_eq!(rebuilds_under_churn(Rebuild::when_asked().at_items(9999), 10_000, 500), 500);
}

#[test]
fn parts_of_a_condition_hold_together_and_conditions_apart() {
    let minute = Rebuild::when_asked().every_by(Duration::from_secs(60), clock);
    // Conditions, items at the start, and the number of seconds, with a deletion each, until a
    // change finds a rebuild due.
    for (when, items, expected) in [
        (minute.and_deleted(5), 20, Some(60)),
        (minute.and_deleted(70), 90, Some(71)),
        (minute.and_items(100), 90, None),
        (minute.and_items(100).at_deleted(7), 90, Some(8)),
        (minute.and_items(100).at_deleted(7).and_items(91), 90, None),
        (Rebuild::when_asked().and_deleted(3), 90, Some(4)),
        (Rebuild::when_asked().and_items(90), 90, Some(2)),
        (Rebuild::when_asked().at_deleted(9).and_items(80).and_items(90), 90, Some(10)),
    ] {
        NOW.set(1000);
        let mut map = map(paper_table(), paper_filters(), 1, when);
        (0..items).for_each(|key| _ = map.insert(key, key).unwrap());
        let due = (1..=items.max(61)).find(|second| {
            NOW.set(1000 + second);
            map.remove(&(second - 1));
            map.stats().rebuilds > 0
        });
        assert_eq!(due, expected, "{when:?}");
    }
}

#[test]
fn what_cannot_be_kept_right_is_refused() {
    let table = |moves| MultilevelTable::<u64, u64>::with_seed(halving(64, 3, moves), 1).unwrap();
    let filters = MultipleFiltersLayout::new([(150, 2), (40, 3), (20, 3)]).unwrap();
    let summary = |seed| MultiFilterSummary::with_seed(filters.clone(), seed).unwrap();
    let hints = Hints::default();
    let restricted = Moves::Restricted(Restriction::default());
    for moves in [Moves::None, Moves::SecondChance, Moves::Hints(hints), Moves::Both(hints), restricted] {
        let error = LazilyDeleting::new(table(moves), summary(1), Rebuild::when_asked()).err();
        assert_eq!(error, (moves != Moves::None).then_some(JoinError::Moves), "{moves:?}");
    }
    let no_step = LazilyDeleting::new(table(Moves::None), summary(1), Rebuild::when_asked().in_steps(0));
    let expected = JoinError::Build(LayoutError::Zero { what: Quantity::StepPlaces }.into());
    assert_eq!(no_step.err(), Some(expected));
    let other = LazilyDeleting::new(table(Moves::None), summary(2), Rebuild::when_asked());
    assert_eq!(other.err(), Some(JoinError::Digesters));
}

/// The paper's example: 9999 items, 909 of them deleted. 97.00 moves on average (96.98 in the
/// paper), and 114.25 if the deleted ones are of level 0. In steps of 1000 places the same items
/// move to the same places.
#[test]
#[cfg_attr(miri, ignore = "tables of ten thousand")]
fn rebuilding_moves_as_few_items_as_the_paper_says() {
    const TABLES: u64 = 40;
    const DELETED: usize = 909;
    for (first_level, expected) in [(false, 97.0), (true, 114.25)] {
        let mut moves = 0;
        for seed in 0..TABLES {
            let filled = || {
                let mut map = map(paper_table(), paper_filters(), seed, Rebuild::when_asked());
                (0..9999).for_each(|key| _ = map.insert(key, key).unwrap());
                // Earlier keys are less deep; their places are random otherwise. So the deleted
                // keys are drawn at random.
                let mut random = Random::new(seed);
                while map.deleted() < DELETED {
                    let key = random.below(9999);
                    if !first_level || map.location(&key).is_some_and(|at| at.level == 0) {
                        map.remove(&key);
                    }
                }
                map
            };
            let (mut map, mut in_steps) = (filled(), filled());
            let moved = map.rebuild();
            moves += moved;
            in_steps.begin_rebuild();
            while !in_steps.step(1000) {}
            assert_eq!(in_steps.stats().moved, moved);
            assert!((0..9999).all(|key| in_steps.location(&key) == map.location(&key)));
            for map in [&map, &in_steps] {
                assert_eq!((map.len(), map.deleted()), (9090, 0));
                assert!((0..9999).filter(|key| map.get(key).is_some()).count() == 9090);
                assert_eq!(map.stats().measured.wrong_levels, 0, "the summary follows");
            }
        }
        let mean = moves as f64 / TABLES as f64;
        // The extremes of the paper's 100,000 rebuilds are 70 and 166 around 114: a deviation of
        // about 11, divided by √40 for the mean.
        assert!((mean - expected).abs() < SIX_SIGMA * 11.0 / (TABLES as f64).sqrt(), "{mean}");
    }
    let bound = deletion::expected_moves_uniform(&paper_table(), 9090, 909).unwrap();
    assert!((bound - 100.0169).abs() < 5e-5);
}

/// Counts the digests it makes.
#[derive(Clone, Copy, Debug)]
struct Counted<'a>(&'a Cell<u64>);

impl PartialEq for Counted<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Digester<u64> for Counted<'_> {
    fn digest(&self, key: &u64) -> oneread::hash::Digest {
        self.0.set(self.0.get() + 1);
        Portable::with_seed(1).digest(key)
    }
}

/// In steps of 50 places no change makes more than 51 digests: its own and one for each item of a
/// step. A rebuild at once makes one for each item.
#[test]
#[cfg_attr(miri, ignore = "long, and no unsafe code")]
fn no_change_does_more_than_its_step() {
    const STEP: usize = 50;
    let mut most = [0; 2];
    for (most, step) in most.iter_mut().zip([Some(STEP), None]) {
        let digests = Cell::new(0);
        let when = Rebuild::when_asked().at_deleted(90);
        let when = step.map_or(when, |step| when.in_steps(step));
        let layout = MultilevelLayout::new([4000, 1000, 500, 250, 250]).unwrap();
        let table = MultilevelTable::with_digester(layout, Counted(&digests)).unwrap();
        let filters = [(10_600, 7), (8750, 49), (550, 49), (50, 49), (50, 49)];
        let filters = MultipleFiltersLayout::new(filters).unwrap();
        let summary = MultiFilterSummary::with_digester(filters, Counted(&digests)).unwrap();
        let mut map = LazilyDeleting::new(table, summary, when).unwrap();
        let mut random = Random::new(1);
        let mut keys = Vec::new();
        for key in 0..20_000 {
            keys.push(key);
            let before = digests.get();
            map.insert(key, key).unwrap();
            *most = (digests.get() - before).max(*most);
            if keys.len() > 900 {
                let gone = keys.swap_remove(random.below(900) as usize);
                let before = digests.get();
                assert_eq!(map.remove(&gone), Some(gone));
                *most = (digests.get() - before).max(*most);
            }
        }
        assert!(map.stats().rebuilds > 50, "{}", map.stats().rebuilds);
        assert_eq!(map.stats().overwritten, 0, "there was room all the time");
    }
    assert!(most[0] <= STEP as u64 + 1 && most[1] > 900, "{most:?}");
}

/// The resident bytes of this process.
#[cfg(all(target_os = "linux", not(miri)))]
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// A copy of the summary would take 256 MiB at once. An insertion into both touches 14 pages of at
/// most 2 MiB, and concurrent tests take a few MiB.
#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn beginning_a_rebuild_takes_memory_and_does_not_write_to_it() {
    const BYTES: u64 = 1 << 28;
    let layout = MultilevelLayout::new([400, 100]).unwrap();
    let filters = MultipleFiltersLayout::new([(8 * BYTES, 7), (1000, 20)]).unwrap();
    let mut map = map(layout, filters, 1, Rebuild::when_asked().at_deleted(1).in_steps(1));
    for key in 0..100u64 {
        map.insert(key, key).unwrap();
    }
    assert_eq!(map.remove(&0), Some(0));
    let before = resident_bytes();
    map.insert(100, 100).unwrap();
    assert!(map.is_rebuilding() && map.stats().summary_bytes >= 2 * BYTES);
    let more = resident_bytes().saturating_sub(before);
    assert!(more < BYTES / 2, "{more} bytes");
    while !map.step(100) {}
    assert!((1..=100).all(|key| map.get(&key) == Some(&key)) && map.get(&0).is_none());
    assert_eq!(map.stats().measured.reads_per_hit(), 1.0);
}

#[test]
fn in_steps_an_insertion_without_room_takes_a_deleted_place_of_its_own() {
    // One bucket per level: each key has the same two places and the stash.
    let layout = || MultilevelLayout::new([1, 1]).unwrap().with_stash(1).unwrap();
    let filters = || MultipleFiltersLayout::new([(64, 3), (64, 3)]).unwrap();
    let mut map = map(layout(), filters(), 1, Rebuild::when_asked().in_steps(1));
    (0..3).for_each(|key| _ = map.insert(key, key).unwrap());
    let full = map.insert(3, 3).unwrap_err();
    assert_eq!((full.key, full.value, map.len()), (3, 3, 3));
    assert!(!map.is_rebuilding(), "nothing is deleted, so that a rebuild would make no room");
    for gone in 0..3 {
        map.remove(&gone);
        assert_eq!(map.insert(gone + 3, gone), Ok(None));
        assert_eq!((map.get(&gone), map.get(&(gone + 3)), map.deleted()), (None, Some(&gone), 0));
    }
    // The filters still have those of the levels; they never had that of the stash.
    assert_eq!((map.stats().overwritten, map.stats().stale), (3, 2));
    map.rebuild();
    assert_eq!((map.stats().stale, map.len()), (0, 3));
}

/// A key overwritten behind a rebuild in steps is in the new summary too, and stays there.
#[test]
fn a_key_overwritten_behind_the_rebuild_is_stale_after_it() {
    let layout = MultilevelLayout::new([1, 1]).unwrap().with_stash(1).unwrap();
    let filters = MultipleFiltersLayout::new([(64, 3), (64, 3)]).unwrap();
    let mut map = map(layout, filters, 1, Rebuild::when_asked().overwriting());
    (0..2).for_each(|key| _ = map.insert(key, key).unwrap());
    let overwrite = |map: &mut Map, gone, new| {
        map.remove(&gone).unwrap();
        map.insert(new, new).unwrap();
    };
    map.begin_rebuild();
    assert!(!map.step(1));
    // One behind the rebuild, at level 0, and one ahead of it.
    overwrite(&mut map, 0, 2);
    overwrite(&mut map, 1, 3);
    assert_eq!((map.stats().overwritten, map.stats().stale), (2, 2));
    assert!(map.step(10));
    assert_eq!((map.stats().stale, map.get(&2), map.get(&3)), (1, Some(&2), Some(&3)));
}

#[test]
fn plans_become_lazily_deleting_maps() {
    let table = MultilevelLayout::new([400, 100, 50, 25, 25]).unwrap();
    let plan = SummaryPlan::new(&table, 100, &paper_filters().into()).unwrap();
    let when = Rebuild::when_asked().at_deleted(10).in_steps(8);
    let mut map = LazilyDeleting::from_plan_with_seed(&plan, 1, when).unwrap();
    (0..100u64).for_each(|key| _ = map.insert(key, ()).unwrap());
    (0..50).for_each(|key| map.remove(&key).unwrap());
    assert!((0..100).all(|key| map.contains_key(&key) == (key >= 50)));
    assert_eq!(map.stats().planned.unwrap().items, 100);
    #[cfg(feature = "std")]
    assert!(LazilyDeleting::<u64, (), _>::from_plan(&plan, when).unwrap().is_empty());
}

#[test]
fn what_was_parted_is_joined_again_without_a_rebuild() {
    let mut map = small_map(Rebuild::when_asked());
    (0..40).for_each(|key| _ = map.insert(key, key).unwrap());
    (0..10).for_each(|key| _ = map.remove(&key).unwrap());
    let (table, summary) = map.into_parts().unwrap();
    assert_eq!(table.len(), 30);
    let map = LazilyDeleting::rejoin(table, summary, Rebuild::when_asked()).unwrap();
    assert!((0..40).all(|key| map.get(&key).is_some() == (key >= 10)));
    assert_eq!(map.stats().rebuilds, 0);
    let (table, mut summary) = map.into_parts().unwrap();
    summary.reset();
    let error = LazilyDeleting::rejoin(table.clone(), summary.clone(), Rebuild::when_asked()).err();
    assert_eq!(error, Some(JoinError::Items { level: 0 }));
    assert!(Summarized::rejoin(table, summary).is_err());
}
