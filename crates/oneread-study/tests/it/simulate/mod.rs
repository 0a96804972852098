//! Compares the simulator with the figures of the paper on moves, as recomputed by an independent
//! program.

mod loads;

use oneread::layout::{
    HintChain, HintRule, Hints, Keep, LayoutError, Maps, Moves, MultilevelLayout, Quantity, Restriction, Ties,
};
use oneread_study::plan::moves;
use oneread_study::simulate::{Estimate, Lifetimes, Report, Simulation};

use crate::fixtures::halving;

/// Steps per item before and after the warm-up, so that averages over time cover the replacement of
/// all items.
const ROUNDS: u64 = 16;

/// Half-full tables with as many items as cells in the first level, and 32 steps per item: 2^18 for
/// the smallest.
fn churned(items: u64, levels: u32, moves: Moves, trials: u64) -> Report {
    let steps = 2 * ROUNDS * items;
    let simulation = Simulation::new(halving(items, levels, moves), items).unwrap().with_steps(steps);
    simulation.run(trials, 7, || ()).unwrap()
}

const fn hints(rule: HintRule, chain: HintChain) -> Hints {
    Hints { rule, chain }
}

const ONE: Hints = hints(HintRule::Replace, HintChain::One);
const RECURSIVE: Hints = hints(HintRule::Replace, HintChain::Recursive);

/// Rows of Table I: levels, moves, and the expected stash for 8192, 16384 and 32768 items (least
/// and most, from two readings of it).
type Row = (u32, Moves, [(f64, f64); 3]);

const TABLE_I: [Row; 6] = [
    (11, Moves::None, [(4.26, 4.26), (4.3, 4.6), (4.1, 4.5)]),
    (6, Moves::SecondChance, [(0.0009, 0.0009), (0.0016, 0.0016), (0.004, 0.004)]),
    (7, Moves::Hints(ONE), [(0.0027, 0.0027), (0.006, 0.006), (0.012, 0.012)]),
    (6, Moves::Hints(RECURSIVE), [(0.064, 0.064), (0.127, 0.127), (0.257, 0.257)]),
    (4, Moves::Both(ONE), [(1.2, 1.2), (2.381, 2.381), (4.7, 4.78)]),
    (4, Moves::Both(RECURSIVE), [(0.237, 0.237), (0.47, 0.47), (0.921, 0.921)]),
];

/// The mean stash is between `least` and `most`, which are known to a relative `recomputed_error`,
/// after `rounds` steps per item in all trials together.
///
/// Items come to the stash at random and stay for n steps on average, unless a hint calls them back
/// earlier. So the sum of their stays, in units of n steps, is a Poisson number of exponential
/// variables, with λ = mean·rounds expected. Chernoff's bound then has a closed form: Pr(sum ≥ s)
/// and Pr(sum ≤ s) are at most e^−(√s − √λ)². It holds even for very few stays, where standard
/// errors are useless; shorter stays make the sum vary less. With 3.5 for √s − √λ, one side of one
/// test is a false alarm less than once in 200,000 seeds.
#[track_caller]
fn assert_agrees(report: &Report, least: f64, most: f64, recomputed_error: f64, rounds: u64) {
    const OFF_BY: f64 = 3.5;
    let stash = report.mean_stash().unwrap().mean;
    let root = |mean: f64| (mean * rounds as f64).sqrt();
    let (low, high) = (root(least * (1.0 - recomputed_error)), root(most * (1.0 + recomputed_error)));
    assert!(
        root(stash) > low - OFF_BY && root(stash) < high + OFF_BY,
        "a stash of {stash} for {least} to {most} in {rounds} rounds"
    );
}

/// The same check without moves, where stays are not independent: the probability to find no room
/// is a product over levels, of which the last have a few cells, and it varies slowly. So the error
/// comes from the trials. 5 standard errors of 24 trials or more (Student's t) are a false alarm
/// once in 20,000 seeds.
#[track_caller]
fn assert_agrees_without_moves(report: &Report, least: f64, most: f64, recomputed_error: f64) {
    let Estimate { mean, standard_error } = report.mean_stash().unwrap();
    let (low, high) = (least * (1.0 - recomputed_error), most * (1.0 + recomputed_error));
    let error = 5.0 * standard_error;
    assert!(mean > low - error && mean < high + error, "{mean} ± {standard_error} for {least} to {most}");
}

/// A row of Table I.
#[track_caller]
fn assert_row(report: &Report, moves: Moves, (least, most): (f64, f64), recomputed_error: f64) {
    if moves == Moves::None {
        assert_agrees_without_moves(report, least, most, recomputed_error);
    } else {
        assert_agrees(report, least, most, recomputed_error, ROUNDS * report.trials());
    }
}

#[test]
#[ignore = "long: about 5 s"]
fn stashes_of_8192_items_are_those_of_table_i() {
    for (levels, moves, expected) in TABLE_I {
        // The recomputed figures are accurate to 1%. Six tests: a false alarm once in 10,000 seeds.
        // Stashes of Second Chance alone are so rare that these trials can only show that there are
        // few.
        let report = churned(8192, levels, moves, 24);
        assert_row(&report, moves, expected[0], 0.01);
        let moves_made = report.moves_an_insertion().unwrap().mean;
        assert_eq!(moves_made > 0.0, moves.second_chance());
        assert_eq!(report.moves_a_deletion().unwrap().mean > 0.0, moves.hints().is_some());
    }
}

#[test]
#[ignore = "two minutes on two cores: all eighteen rows of Table I"]
fn all_rows_of_table_i_are_reproduced() {
    for (levels, moves, expected) in TABLE_I {
        for (at, (least, most)) in expected.into_iter().enumerate() {
            // One more level without moves for twice the items, as in the paper.
            let levels = if moves == Moves::None { levels + at as u32 } else { levels };
            // Rare stashes were recomputed to their last digit: half a unit of it in 0.0009 is 6%,
            // and they were also counted.
            let recomputed = if most < 0.01 { 0.1 } else { 0.015 };
            // λ is 16·mean·trials. Above 3.5² = 12.25, the bound can distinguish a stash from none;
            // from 143 on, half of it or twice as much. Eighteen tests: a false alarm once in 4000
            // seeds.
            let trials = match moves {
                Moves::SecondChance => 1200 >> at,
                _ if most < 0.02 => 500 >> at,
                _ => 50,
            };
            assert!(moves == Moves::None || most * (ROUNDS * trials) as f64 > 12.25);
            let report = churned(8192 << at, levels, moves, trials);
            eprintln!("{moves:?}, {} items: {:?} for {least} to {most}", 8192 << at, report.mean_stash());
            assert_row(&report, moves, (least, most), recomputed);
        }
    }
}

/// Checks the mean stash of 8192 items, over 24 trials of `rounds` steps per item. The expected
/// mean has a known standard error. 4.5 standard errors of the difference (Student's t, 24 trials)
/// are a false alarm once in 6000 seeds.
#[track_caller]
fn assert_stash(levels: u32, moves: Moves, rounds: u64, expected: f64, expected_error: f64) {
    const ITEMS: u64 = 8192;
    let simulation = Simulation::new(halving(ITEMS, levels, moves), ITEMS).unwrap();
    let steps = simulation.warm_up() + rounds * ITEMS;
    let report = simulation.with_steps(steps).run(24, 7, || ()).unwrap();
    let Estimate { mean, standard_error } = report.mean_stash().unwrap();
    let error = 4.5 * standard_error.hypot(expected_error);
    assert!((mean - expected).abs() < error, "{mean} ± {standard_error} for {expected} ± {expected_error}");
}

/// The rule once ignored the item that Second Chance moved, which replaced every hint: a stash of
/// 0.808 ± 0.009.
#[test]
#[ignore = "long: about 15 s"]
fn the_deepest_hint_has_its_stash_with_second_chance() {
    // 0.754 ± 0.007 by an independent program; `Replace` has 1.20. Standard errors of 0.006 here
    // accept 0.71 to 0.80.
    assert_stash(4, Moves::Both(hints(HintRule::Deepest, HintChain::One)), 500, 0.754, 0.007);
}

#[test]
#[ignore = "long: about 12 s"]
fn unchecked_deepest_hints_have_the_stashes_of_another_program() {
    // That program has 0.065, 0.240, 1.17 and 14.4 for `Replace`, at most 2.5% from the figures of
    // Table I above (1.17 for 1.20): so 2.5% is its standard error. Only in the third case does
    // `Replace` also pass.
    let unchecked = |chain| hints(HintRule::DeepestUnchecked, chain);
    for (levels, moves, expected) in [
        (6, Moves::Hints(unchecked(HintChain::Recursive)), 0.088),
        (4, Moves::Both(unchecked(HintChain::Recursive)), 0.337),
        (4, Moves::Both(unchecked(HintChain::One)), 1.22),
        (5, Moves::Hints(unchecked(HintChain::One)), 12.1),
    ] {
        assert_stash(levels, moves, 100, expected, 0.025 * expected);
    }
}

#[test]
fn a_table_without_moves_has_the_planned_stash() {
    let levels: Vec<u64> = (0..6).map(|level| 1024 >> level).collect();
    let planned = moves::steady_state(&levels, 1024).unwrap();
    let simulation = Simulation::new(halving(1024, 6, Moves::None), 1024).unwrap().with_steps(1 << 18);
    let report = simulation.run(24, 1, || ()).unwrap();
    // The plan's expansion drops terms of a few parts in a thousand.
    assert_agrees_without_moves(&report, planned.expected_stash, planned.expected_stash, 0.003);
}

#[test]
fn restricted_hashing_has_the_planned_stash() {
    for keep in [Keep::Random, Keep::Greedy(Ties::Random), Keep::Greedy(Ties::Left)] {
        let restriction = Restriction { fanout: 2, maps: Maps::Shifts, keep };
        let layout = halving(4096, 4, Moves::Restricted(restriction));
        let planned = moves::restricted(4096, 4, 2, keep).unwrap();
        // Filled only: churn does not change this stash, as the next test checks.
        let report = Simulation::new(layout, 4096).unwrap().run(200, 1, || ()).unwrap();
        let stash = report.end_stash();
        // The plan treats buckets as independent; 1% covers the error at this size.
        let error = 4.5 * stash.standard_error + 0.01 * planned.expected_stash;
        assert!((stash.mean - planned.expected_stash).abs() < error, "{keep:?}: {stash:?} {planned:?}");
    }
}

#[test]
#[ignore = "long: about 3 s"]
fn restricted_hashing_has_the_same_stash_after_churn() {
    for keep in [Keep::Random, Keep::Greedy(Ties::Random), Keep::Greedy(Ties::Left)] {
        let layout = halving(512, 3, Moves::Restricted(Restriction { keep, ..Restriction::default() }));
        let stash = |steps| {
            let simulation = Simulation::new(layout.clone(), 512).unwrap().with_steps(steps);
            simulation.run(if steps == 0 { 2000 } else { 20 }, 1, || ()).unwrap()
        };
        let (filled, churned) = (stash(0).end_stash(), stash(30_000).mean_stash().unwrap());
        let error = (filled.standard_error.powi(2) + churned.standard_error.powi(2)).sqrt();
        assert!((filled.mean - churned.mean).abs() < 4.5 * error, "{keep:?}: {filled:?} {churned:?}");
    }
}

#[test]
fn shifts_spread_more_evenly_than_random_maps_and_both_more_than_one_child() {
    let stash = |fanout, maps| {
        let restriction = Restriction { fanout, maps, keep: Keep::Random };
        let layout = halving(4096, 5, Moves::Restricted(restriction));
        Simulation::new(layout, 4096).unwrap().run(50, 1, || ()).unwrap().end_stash().mean
    };
    let (shifts, random) = (stash(2, Maps::Shifts), stash(2, Maps::Random));
    let (chain, nested) = (stash(1, Maps::Random), stash(1, Maps::Nested));
    assert!(shifts < random && random < chain && random < nested, "{shifts} {random} {chain} {nested}");
}

#[test]
fn other_lifetimes_give_other_stashes() {
    let stash = |lifetimes| {
        let layout = halving(1024, 3, Moves::Both(ONE));
        let simulation = Simulation::new(layout, 1024).unwrap().with_steps(60_000).with_lifetimes(lifetimes);
        let report = simulation.run(8, 1, || ()).unwrap();
        assert_eq!(report.level_occupancy().len(), 3);
        report.mean_stash().unwrap()
    };
    let memoryless = stash(Lifetimes::Memoryless);
    for lifetimes in [Lifetimes::Fifo, Lifetimes::Fixed, Lifetimes::HeavyTailed { shape: 1.5 }] {
        let other = stash(lifetimes);
        assert!(other.mean >= 0.0 && other != memoryless, "{lifetimes:?}");
    }
    // From the second round on, `Fifo` and `Fixed` are the same process.
    let (fifo, fixed) = (stash(Lifetimes::Fifo), stash(Lifetimes::Fixed));
    let error = (fifo.standard_error.powi(2) + fixed.standard_error.powi(2)).sqrt();
    assert!((fifo.mean - fixed.mean).abs() < 5.0 * error, "{fifo:?} {fixed:?}");
}

#[test]
fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
    let simulation = Simulation::new(halving(256, 4, Moves::Both(ONE)), 256).unwrap().with_steps(5000);
    let run = |seed| simulation.run(5, seed, || ()).unwrap();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let mut simulator = oneread_study::simulate::Simulator::new(&simulation).unwrap();
    let mut one_by_one = Report::new(&simulation);
    (0..5).for_each(|trial| one_by_one.add(&simulator.trial(1, trial).unwrap()));
    assert_eq!(one_by_one, run(1));
}

#[test]
fn a_trial_is_pinned() {
    // Value stability: a seed gives the same numbers in every release.
    let simulation = Simulation::new(halving(256, 3, Moves::None), 256).unwrap().with_steps(5000);
    let trial = oneread_study::simulate::Simulator::new(&simulation).unwrap().trial(1, 0).unwrap();
    assert_eq!((trial.end_stash, trial.max_stash, trial.stash_over_time.1), PINNED);
    assert_eq!(trial.level_occupancy.iter().sum::<u64>() + trial.end_stash, 256);
}

const PINNED: (u64, u64, u64) = (27, 48, 904);

#[test]
fn simulations_of_nothing_are_refused() {
    let layout = halving(16, 3, Moves::None);
    assert!(matches!(Simulation::new(layout.clone(), 0), Err(LayoutError::Zero { what: Quantity::Items })));
    assert!(Simulation::new(layout.clone(), u64::MAX).is_err());
    assert!(Simulation::new(MultilevelLayout::new([1 << 46]).unwrap(), 1).is_err());
    // More items than slots: the rest is in the stash.
    let report = Simulation::new(layout, 100).unwrap().with_steps(10).run(2, 1, || ()).unwrap();
    assert!(report.end_stash().mean >= 100.0 - 28.0 && report.mean_stash().is_none());
}
