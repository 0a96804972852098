//! Compares the loads of filled tables with those that plans compute.

use oneread::layout::{Moves, MultilevelLayout};
use oneread::plan::multilevel::MultilevelPlan;
use oneread_study::simulate::{Report, Simulation, Simulator};

use crate::fixtures::halving;

#[test]
fn filled_levels_have_as_many_items_as_planned() {
    let layout = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).unwrap();
    let plan = MultilevelPlan::new(&layout, 10_000).unwrap();
    let simulation = Simulation::new(layout, 10_000).unwrap();
    let report = simulation.run(100, 1, || ()).unwrap();
    for (level, (estimate, expected)) in
        report.level_occupancy().iter().zip(plan.expected()).enumerate().take(4)
    {
        // Table II of the summaries paper. Four tests at 4.5 standard errors: a false alarm once in
        // 37,000 seeds.
        let z = (estimate.mean - expected) / estimate.standard_error;
        assert!(z.abs() < 4.5, "level {level}: {estimate:?} for {expected}");
    }
    assert_eq!(report.max_stash(), 0);
}

#[test]
fn second_chance_fills_levels_as_the_equations_say() {
    let levels: Vec<u64> = (0..3).map(|level| 16384 >> level).collect();
    let planned = oneread_study::plan::moves::second_chance(&levels, 16384).unwrap();
    let simulation = Simulation::new(halving(16384, 3, Moves::SecondChance), 16384).unwrap();
    let mut simulator = Simulator::new(&simulation).unwrap();
    let mut report = Report::new(&simulation);
    (0..60).for_each(|trial| report.add(&simulator.trial(1, trial).unwrap()));
    // The limit for many cells is off by less than 0.002 in the stash (4096 items: 4.833 for
    // 4.825), and by less than 0.1 items in the levels.
    for (estimate, expected) in report.level_occupancy().iter().zip(&planned.expected) {
        assert!(
            (estimate.mean - expected).abs() < 4.5 * estimate.standard_error + 0.1,
            "{estimate:?} {expected}"
        );
    }
    let stash = report.end_stash();
    assert!(
        (stash.mean - planned.expected_stash).abs() < 4.5 * stash.standard_error + 0.002 * stash.mean,
        "{stash:?} {}",
        planned.expected_stash
    );
}
