//! The smallest tables.

use oneread::layout::{Moves, MultilevelLayout};
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::{Target, Unsolved};
use oneread_study::plan::moves;
use oneread_study::solve::{self, Odds, TableTargets};
use rand_pcg::Pcg64Mcg;

use super::{BAD_FRACTIONS, between, planned_table};
use crate::plan::below;

#[test]
fn random_tables_meet_their_targets_and_have_no_smaller_neighbours() {
    let mut rng = Pcg64Mcg::new(11);
    for round in 0..40 {
        let items = between(&mut rng, 10.0, 3000.0) as u64;
        let levels = 2 + below(&mut rng, 6) as u32;
        let odds = match round % 3 {
            0 => Odds::Crisis(between(&mut rng, 1e-14, 0.1)),
            1 => Odds::Filled(between(&mut rng, 1e-6, 5.0)),
            _ => Odds::Churn(between(&mut rng, 0.01, 5.0)),
        };
        let targets = TableTargets { items, levels, slots: 1, buckets: None, odds };
        let solution = solve::table(&targets).unwrap();
        let fits = |levels: &[u64]| match odds {
            Odds::Crisis(most) => planned_table(levels, items).crisis_probability() <= most,
            Odds::Filled(most) => planned_table(levels, items).expected_stash() <= most,
            Odds::Churn(most) => moves::steady_state(levels, items).unwrap().expected_stash <= most,
            _ => unreachable!(),
        };
        for planned in [&solution.best].into_iter().chain(&solution.runners_up) {
            assert!(planned.layout.level_count() <= levels as usize);
            if planned.layout.moves() != Moves::None {
                assert!(!matches!(odds, Odds::Crisis(_)) && planned.expected_stash <= odds_value(odds));
                continue;
            }
            let sizes = planned.layout.levels();
            assert!(fits(sizes), "{targets:?}: {sizes:?}");
            for level in 0..sizes.len() {
                let mut smaller = sizes.to_vec();
                smaller[level] -= sizes[level].div_ceil(100);
                // Under churn, a plan with few buckets may lack its correction, and then
                // understates the stash.
                let known = !matches!(odds, Odds::Churn(_)) || {
                    let state =
                        smaller.iter().all(|&size| size > 0).then(|| moves::steady_state(&smaller, items));
                    state.is_some_and(|state| {
                        let state = state.unwrap();
                        state.expected_stash != state.limit_of_stash
                    })
                };
                assert!(
                    smaller[level] == 0 || !known || !fits(&smaller),
                    "{targets:?}: {sizes:?} at {level}"
                );
            }
        }
    }
}

fn odds_value(odds: Odds) -> f64 {
    match odds {
        Odds::Crisis(value) | Odds::Filled(value) | Odds::Churn(value) => value,
        _ => unreachable!(),
    }
}

#[test]
fn a_larger_table_has_a_crisis_less_often_and_fewer_levels_take_more() {
    let targets =
        TableTargets { items: 10_000, levels: 5, slots: 1, buckets: None, odds: Odds::Crisis(1.01e-12) };
    let five = solve::table(&targets).unwrap().best;
    // The paper's has 60,000 buckets.
    assert!(five.layout.buckets() < 56_000, "{:?}", five.layout);
    let four = solve::table(&TableTargets { levels: 4, ..targets }).unwrap().best;
    assert!(four.layout.buckets() > five.layout.buckets());
    let Err(Unsolved::Infeasible(relax)) = solve::table(&TableTargets { buckets: Some(40_000), ..targets })
    else {
        panic!("55 000 are needed")
    };
    for relax in relax {
        let relaxed = match relax.target {
            Target::BucketsPerItem => {
                TableTargets { buckets: Some((relax.possible * 10_000.0) as u64), ..targets }
            }
            Target::Levels => {
                TableTargets { levels: relax.possible as u32, buckets: Some(40_000), ..targets }
            }
            // The division among the levels is that of another number of buckets.
            Target::Crisis => {
                TableTargets { odds: Odds::Crisis(relax.possible * 1.05), buckets: Some(40_000), ..targets }
            }
            other => panic!("{other}"),
        };
        assert!(solve::table(&relaxed).is_ok(), "{relax}");
    }
}

/// The search computes odds of its own for these: the plan must agree that targets are met, and not
/// by one step less.
#[test]
#[ignore = "long: about 5 s"]
fn tables_with_several_slots_meet_their_targets_and_have_no_smaller_neighbours() {
    let cases = [
        (300, 2, 2, Odds::Crisis(1e-4)),
        (1_000, 4, 3, Odds::Filled(0.5)),
        (10_000, 2, 3, Odds::Crisis(1e-9)),
        (100_000, 4, 3, Odds::Crisis(1e-12)),
    ];
    for (items, slots, levels, odds) in cases {
        let best = solve::table(&TableTargets { items, levels, slots, buckets: None, odds }).unwrap().best;
        let fits = |sizes: &[u64]| {
            let layout = MultilevelLayout::new(sizes).unwrap().with_slots(slots).unwrap();
            let plan = MultilevelPlan::new(&layout, items).unwrap();
            match odds {
                Odds::Crisis(most) => plan.crisis_probability() <= most,
                Odds::Filled(most) => plan.expected_stash() <= most,
                _ => unreachable!(),
            }
        };
        let sizes = best.layout.levels().to_vec();
        assert!(fits(&sizes) && sizes.len() == levels as usize, "{sizes:?}");
        for level in 0..sizes.len() {
            let mut less = sizes.clone();
            less[level] -= (less[level] / 100).max(1);
            assert!(less[level] == 0 || !fits(&less), "{less:?} for {sizes:?}");
        }
        let relax = solve::table(&TableTargets { items, levels, slots, buckets: Some(1), odds }).unwrap_err();
        assert!(matches!(relax, Unsolved::Infeasible(relax) if relax[0].target == Target::BucketsPerItem));
    }
}

/// `plan solve table --items 1e6` gave up after too much work, but solved one item more.
#[test]
fn a_million_items_have_a_table() {
    let odds = Odds::Crisis(1e-9);
    let targets = TableTargets { items: 1_000_000, levels: 5, slots: 1, buckets: None, odds };
    let best = solve::table(&targets).unwrap().best;
    let plan = MultilevelPlan::new(&best.layout, 1_000_000).unwrap();
    assert!(plan.crisis_probability() <= 1e-9, "{best:?}");
}

#[test]
fn hostile_targets_are_errors() {
    for bad in BAD_FRACTIONS {
        let odds = Odds::Crisis(bad);
        assert!(solve::table(&TableTargets { items: 10, levels: 2, slots: 1, buckets: None, odds }).is_err());
    }
    let targets = TableTargets { items: 10, levels: 2, slots: 1, buckets: None, odds: Odds::Churn(f64::NAN) };
    assert!(solve::table(&targets).is_err());
    let targets = TableTargets { odds: Odds::Churn(1.0), ..targets };
    for bad in [
        TableTargets { items: 0, ..targets },
        TableTargets { items: u64::MAX, ..targets },
        TableTargets { levels: 0, ..targets },
        TableTargets { levels: 65, ..targets },
        TableTargets { slots: 0, ..targets },
        TableTargets { slots: 2, ..targets },
        TableTargets { buckets: Some(0), ..targets },
    ] {
        assert!(solve::table(&bad).is_err(), "{bad:?}");
    }
}
