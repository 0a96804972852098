//! Every calculator and solver ends soon for any parameters, with an answer or an error that names
//! the limit.
//!
//! Time limits are many times the usual, so that even on a busy machine only an unbounded
//! calculation exceeds them.

use std::fmt::Debug;
use std::hint::black_box;
use std::time::{Duration, Instant};

use oneread::hash::probes::SchemeName;
use oneread::layout::{
    BlockedLayout, BloomLayout, BoundedLayout, BucketBits, CountMinLayout, CountingLayout,
    DLeftCountingLayout, DLeftLayout, GrowingLayout, Keep, LayoutError, LineLayout, MultilevelLayout, Ties,
};
use oneread::plan::multilevel::{self, MultilevelPlan};
use oneread::plan::solve::{self, FilterTargets, Needs, Unsolved};
use oneread::plan::{
    blocked, bloom, bounded, count_min, counting, dleft, dleft_counting, growing, line, placed, summary,
};
use oneread_study::plan as study;
use oneread_study::plan::moves;
use oneread_study::solve::{self as tables, MapTargets, Odds, SummaryTargets, TableTargets};

const COUNTS: [u64; 8] = [0, 1, 2, 1000, 627_776, 1 << 32, 1 << 46, u64::MAX];

const NUMBERS: [f64; 12] = [
    f64::NAN,
    f64::NEG_INFINITY,
    -1.0,
    0.0,
    f64::MIN_POSITIVE,
    2.2e-244,
    1e-18,
    0.001,
    0.5,
    1.0,
    1e18,
    f64::INFINITY,
];

const SMALL: [u32; 7] = [0, 1, 2, 8, 64, 1024, u32::MAX];

/// A few counts for every test run.
const FEW_COUNTS: [u64; 3] = [1, 627_776, u64::MAX];
const FEW_NUMBERS: [f64; 4] = [f64::NAN, 2.2e-244, 0.5, f64::INFINITY];

/// A filter's calculation takes milliseconds, a second at most; a busy machine takes longer.
const FILTER: Duration = Duration::from_secs(60);

/// A plan or a search of a table has a limit of steps, which take about 3 s on an idle machine.
const TABLE: Duration = Duration::from_secs(180);

/// Returns the result of a calculation, which must end within a time limit.
#[track_caller]
fn within<T>(limit: Duration, what: impl Debug, calculate: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answer = black_box(calculate());
    let taken = start.elapsed();
    assert!(taken < limit, "{what:?} took {taken:?}");
    answer
}

#[test]
fn calculators_of_filters_end_at_once() {
    calculate_filters(&FEW_COUNTS, &FEW_NUMBERS);
}

#[test]
#[ignore = "long: about 30 s"]
fn calculators_of_filters_end_at_once_for_all_extremes() {
    calculate_filters(&COUNTS, &NUMBERS);
}

fn calculate_filters(counts: &[u64], numbers: &[f64]) {
    for &items in counts {
        for &number in numbers {
            let asked = (items, number);
            within(FILTER, ("bloom", asked), || bloom::for_rate(items, number)).ok();
            within(FILTER, ("bands", asked), || study::bloom::bands_for_rate(items, number)).ok();
            within(FILTER, ("trivial", asked), || study::bloom::trivial_for_rate(items, number)).ok();
            within(FILTER, ("blocked", asked), || blocked::for_rate(items, number)).ok();
            within(FILTER, ("blocked bits", asked), || blocked::for_bits_per_key(items, number)).ok();
            within(FILTER, ("line", asked), || line::for_rate(items, number)).ok();
            within(FILTER, ("line bits", asked), || line::for_bits_per_key(items, number)).ok();
            within(FILTER, ("d-left", asked), || dleft::for_rate(items, number)).ok();
            within(FILTER, ("d-left items", asked), || dleft::for_items(items, number)).ok();
            within(FILTER, ("counting", asked), || counting::for_rate(items, number, 4)).ok();
            within(FILTER, ("count-min", asked), || count_min::for_error(number, number)).ok();
            within(FILTER, ("bounded", asked), || bounded::for_churn(items, number)).ok();
            for &turnovers in numbers {
                let asked = (items, number, turnovers);
                within(FILTER, ("d-left counting", asked), || {
                    dleft_counting::for_rate(items, number, turnovers)
                })
                .ok();
            }
            for small in SMALL {
                let asked = (items, number, small);
                within(FILTER, ("d-left counting bits", asked), || {
                    dleft_counting::for_bits_per_key(small, items, number)
                })
                .ok();
                within(FILTER, ("d-left bits", asked), || {
                    dleft::for_bits_per_key(small, items, number, BucketBits::Bits128)
                })
                .ok();
                within(FILTER, ("counting", asked), || counting::for_rate(items, number, small)).ok();
            }
            let Ok(layout) = GrowingLayout::new(items, number) else { continue };
            for small in SMALL {
                within(FILTER, ("layer", asked, small), || growing::layer(layout, small)).ok();
                within(FILTER, ("d-left layer", asked, small), || dleft_counting::layer(layout, small)).ok();
                within(FILTER, ("line layer", asked, small), || line::layer(layout, small)).ok();
                let Ok(layout) = layout.with_growth(small) else { continue };
                for &items in counts {
                    let asked = (asked, small, items);
                    within(FILTER, ("layers", asked), || growing::layers(layout, items)).ok();
                    within(FILTER, ("growing", asked), || growing::false_positive_probability(layout, items))
                        .ok();
                    within(FILTER, ("growing bits", asked), || growing::bits(layout, items)).ok();
                }
            }
        }
    }
}

#[test]
#[ignore = "long: about 5 s"]
fn odds_of_filters_are_calculated_at_once() {
    for places in COUNTS {
        for items in COUNTS {
            let asked = (places, items);
            within(FILTER, ("hashes", asked), || bloom::optimal_hashes(places, items));
            within(FILTER, ("for bits", asked), || bloom::for_bits(places, items)).ok();
            within(FILTER, ("hashes", asked), || summary::hashes_for_false_positives(places, items)).ok();
            if let Ok(layout) = BlockedLayout::new(places) {
                within(FILTER, ("blocked", asked), || blocked::false_positive_probability(layout, items));
                within(FILTER, ("blocked", asked), || blocked::estimated_items(layout, items));
            }
            if let Ok(layout) = BoundedLayout::for_capacity(items) {
                within(FILTER, ("bounded", asked), || bounded::churned(&layout)).ok();
            }
            for small in SMALL {
                let asked = (places, items, small);
                within(FILTER, ("placed", asked), || {
                    placed::false_positive_probability(places, items, small)
                });
                within(FILTER, ("exponent", asked), || study::summary::single_for_exponent(items, small))
                    .ok();
                if let Ok(layout) = LineLayout::new(small, places) {
                    within(FILTER, ("line", asked), || line::false_positive_probability(layout, items));
                    within(FILTER, ("lines", asked), || line::lines_read(layout, items));
                }
                if let Ok(layout) = CountMinLayout::new(places, small) {
                    for epsilon in NUMBERS {
                        within(FILTER, ("count-min", asked, epsilon), || {
                            count_min::failure_bound(layout, epsilon)
                        });
                        within(FILTER, ("count-min", asked, epsilon), || {
                            count_min::two_word_failure_bound(layout, epsilon, items)
                        });
                    }
                }
                let Ok(layout) = BloomLayout::new(places, small) else { continue };
                for scheme in [SchemeName::Independent, SchemeName::Double, SchemeName::IndependentBands] {
                    let Ok(layout) = layout.with_scheme(scheme) else { continue };
                    within(FILTER, ("bloom", asked, scheme), || {
                        bloom::false_positive_probability(layout, items)
                    });
                    within(FILTER, ("fill", asked, scheme), || bloom::expected_fill(layout, items));
                    within(FILTER, ("fill", asked, scheme), || bloom::rate_at_fill(layout, items));
                    within(FILTER, ("items", asked, scheme), || bloom::estimated_items(layout, items));
                }
                let Ok(layout) = CountingLayout::new(places, small, 8) else { continue };
                within(FILTER, ("counting", asked), || counting::false_positive_probability(layout, items));
                within(FILTER, ("stuck", asked), || counting::stuck_probability(layout, items));
                within(FILTER, ("reaching", asked), || counting::expected_reaching(layout, items, small));
                within(FILTER, ("reaching", asked), || counting::expected_reaching(layout, items, u32::MAX));
            }
        }
    }
    for number in NUMBERS {
        for small in SMALL {
            let asked = (number, small);
            within(FILTER, ("asymptotic", asked), || bloom::asymptotic(number, small));
            within(FILTER, ("remainders", asked), || dleft::fixed_remainders(small, number, 14)).ok();
            for other in SMALL {
                let asked = (number, small, other);
                within(FILTER, ("loads", asked), || dleft::loads(&[1 << 20; 4], Ties::Left, number, small))
                    .ok();
                for turnovers in NUMBERS {
                    within(FILTER, ("churned", asked, turnovers), || {
                        study::dleft::churned(small, Ties::Left, number, turnovers, other)
                    })
                    .ok();
                }
            }
            if let Ok(layout) = DLeftLayout::new(small, 1 << 20, BucketBits::Bits64) {
                within(FILTER, ("d-left", asked), || dleft::plan(layout, number)).ok();
            }
            if let Ok(layout) = DLeftCountingLayout::new(small, 1 << 20) {
                for turnovers in NUMBERS {
                    within(FILTER, ("aged", asked, turnovers), || {
                        dleft_counting::false_positive(layout, number, turnovers)
                    })
                    .ok();
                    within(FILTER, ("full", asked, turnovers), || {
                        dleft_counting::overflow(layout, number, turnovers)
                    })
                    .ok();
                }
            }
        }
    }
}

#[test]
#[ignore = "long: about 6 s"]
fn solvers_of_filters_end_at_once() {
    solve_filters(&FEW_COUNTS, &FEW_NUMBERS);
}

#[test]
#[ignore = "long: about 30 s"]
fn solvers_of_filters_end_at_once_for_all_extremes() {
    solve_filters(&COUNTS, &NUMBERS);
}

fn solve_filters(counts: &[u64], numbers: &[f64]) {
    for &items in counts {
        for &number in numbers {
            for needs in [Needs::default(), Needs { delete: true, growth: true, ..Default::default() }] {
                let targets = FilterTargets { items, rate: number, needs, bytes: None };
                within(FILTER, targets, || solve::filter(&targets)).ok();
                let targets = FilterTargets { bytes: Some(items / 2), ..targets };
                within(FILTER, targets, || solve::filter(&targets)).ok();
            }
        }
    }
}

const fn table(items: u64, levels: u32, slots: u32, odds: Odds) -> TableTargets {
    TableTargets { items, levels, slots, buckets: None, odds }
}

/// This search once ran for many minutes: each of its plans took seconds, and nothing limited them.
#[test]
fn a_search_for_a_table_says_that_it_takes_too_much() {
    let targets = table(100_000, 64, 1, Odds::Filled(1e-300));
    let error = within(TABLE, targets, || tables::table(&targets).map(drop)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a search for a table takes more than 3000000000 steps of calculation, the most there may be: use fewer items, \
         levels or slots, or for odds that are less extreme"
    );
    let work = LayoutError::TooMuchWork { what: "a search for a table", expected: 3_000_000_000 };
    assert_eq!(error, Unsolved::Layout(work));
}

#[test]
#[ignore = "long: about 30 s"]
fn searches_for_tables_end_with_an_answer_or_say_what_is_too_much() {
    let mut exceeded = 0;
    for targets in [
        table(4_294_967_296, 3, 1, Odds::Filled(1.0)),
        table(100_000, 64, 1, Odds::Filled(1e-300)),
        table(1000, 8, 4, Odds::Filled(1.0)),
        table(10_000_000_000, 64, 1, Odds::Crisis(1e-300)),
        table(10_000_000_000, 64, 1024, Odds::Crisis(0.5)),
        table(627_776, 6, 1, Odds::Churn(2.2e-244)),
        table(10_000_000_000, 64, 1, Odds::Churn(f64::MIN_POSITIVE)),
        TableTargets { buckets: Some(700_000), ..table(627_776, 6, 1, Odds::Crisis(1e-200)) },
    ] {
        match within(TABLE, targets, || tables::table(&targets)) {
            Err(Unsolved::Layout(error @ LayoutError::TooMuchWork { expected, .. })) => {
                assert!(error.to_string().contains(&expected.to_string()));
                exceeded += 1;
            }
            Err(Unsolved::Range(error)) => panic!("{targets:?}: {error}"),
            Ok(_) | Err(_) => {}
        }
    }
    assert!(exceeded > 0, "the bound is never reached, and so not tested");
    for (entries, stash, levels, bytes) in [
        (627_776, 2.2e-244, 6, None),
        (627_776, 2.2e-244, 6, Some(1)),
        (1 << 40, 1.0, 8, None),
        (1 << 33, 1.0, 8, Some(1 << 30)),
        (10_000_000_000, 1e-300, 64, Some(1)),
        (10_000, 0.001, 64, Some(1)),
    ] {
        let targets = MapTargets { stash, levels, bytes, ..MapTargets::new(entries, 65_536) };
        within(TABLE, targets, || tables::map(&targets)).ok();
    }
}

#[test]
#[ignore = "long: about 60 s"]
fn searches_for_summaries_end() {
    use oneread_study::solve::Goal;
    for (items, first, levels, slots) in [
        (10_000_000_000, 30_000_000_000, 12, 1),
        (10_000, 20_000, 64, 1),
        (1, 1, 1, 1),
        (1_000_000, 300_000, 8, 4),
    ] {
        let layout =
            MultilevelLayout::geometric(first, 0.6, levels).and_then(|layout| layout.with_slots(slots));
        let Ok(plan) = within(TABLE, (items, levels), || MultilevelPlan::new(&layout.unwrap(), items)) else {
            continue;
        };
        for number in [f64::NAN, f64::MIN_POSITIVE, 1e-18, 0.001, 1.0] {
            for goal in [Goal::Guarantee { failure: number }, Goal::Average { extra_reads: number }] {
                let targets = SummaryTargets { false_positive: 0.001, goal, bytes: None };
                within(TABLE, (items, targets), || tables::summary(&plan, &targets, None)).ok();
            }
        }
    }
}

#[test]
#[ignore = "long: about 30 s"]
fn plans_of_tables_end_with_an_answer_or_say_what_is_too_much() {
    for (items, first, ratio, levels, slots) in [
        (10_000_000_000, 10_000_000_000, 0.99, 64, 1),
        (10_000_000_000, 1_000_000_000, 0.9, 64, 1),
        (10_000_000_000, 10_000_000_000, 0.5, 3, 1),
        (4_294_967_296, 73_961_414_085, 0.5, 3, 1),
        (1_000_000, 4, 0.9, 64, 1024),
        (10_000_000_000, 10_000_000, 0.999, 64, 1024),
        (10_000_000_000, 1, 0.5, 1, 1),
        (100_000, 3, 0.999, 64, 500),
        (u64::MAX, 10, 0.5, 3, 1),
        (0, 10, 0.5, 3, 1),
    ] {
        let layout = MultilevelLayout::geometric(first, ratio, levels)
            .and_then(|layout| layout.with_slots(slots))
            .unwrap();
        let asked = (items, first, ratio, levels, slots);
        within(TABLE, ("plan", asked), || MultilevelPlan::new(&layout, items).map(drop)).ok();
        within(TABLE, ("moves", asked), || {
            study::deletion::expected_moves_uniform(&layout, items / 2, items / 2)
        })
        .ok();
        within(FILTER, ("expected", asked), || multilevel::expected_approximate(&layout, items));
        within(FILTER, ("expected", asked), || multilevel::expected_exponential(&layout, items));
        within(FILTER, ("bound", asked), || study::multilevel::crisis_bound(&layout, items));
        within(FILTER, ("skew", asked), || study::multilevel::skew_estimate(&layout, items));
        within(FILTER, ("steady", asked), || moves::steady_state(layout.levels(), items)).ok();
        within(FILTER, ("second chance", asked), || moves::second_chance(layout.levels(), items)).ok();
        for fanout in SMALL {
            for policy in [Keep::Random, Keep::Greedy(Ties::Left), Keep::Greedy(Ties::Random)] {
                within(FILTER, ("restricted", asked, fanout, policy), || {
                    moves::restricted(items, levels, fanout, policy)
                })
                .ok();
            }
        }
    }
}
