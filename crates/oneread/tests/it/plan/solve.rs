//! The smallest filter for random targets, against the calculators.

use oneread::plan::solve::{self, FilterLayout, FilterTargets, Needs, Target, Unsolved};
use oneread::plan::{blocked, bloom};
use rand_pcg::Pcg64Mcg;

use super::{BAD_FRACTIONS, below};

/// A random number between two, uniform in its logarithm.
fn between(rng: &mut Pcg64Mcg, low: f64, high: f64) -> f64 {
    let part = below(rng, 1 << 20) as f64 / f64::from(1u32 << 20);
    low * (high / low).powf(part)
}

#[test]
fn random_filters_meet_their_targets() {
    random_filters(12, 5);
}

#[test]
#[ignore = "long: about 15 s"]
fn many_random_filters_meet_their_targets() {
    random_filters(13, 40);
}

/// Each case plans d-left filters with removal, which takes half a second.
fn random_filters(seed: u128, cases: u64) {
    let mut rng = Pcg64Mcg::new(seed);
    for _ in 0..cases {
        let items = between(&mut rng, 10.0, 2000.0) as u64;
        let rate = between(&mut rng, 1e-6, 0.3);
        let mut flag = || below(&mut rng, 6) == 0;
        let needs =
            Needs { delete: flag(), growth: flag(), threads: flag(), one_line: flag(), one_page: flag() };
        let targets = FilterTargets { items, rate, needs, bytes: None };
        let solution = match solve::filter(&targets) {
            Ok(solution) => solution,
            Err(Unsolved::Infeasible(relax)) => {
                for relax in relax {
                    let mut needs = needs;
                    match relax.target {
                        Target::Deletion => needs.delete = false,
                        Target::Growth => needs.growth = false,
                        Target::Threads => needs.threads = false,
                        Target::OneLine => needs.one_line = false,
                        Target::OnePage => needs.one_page = false,
                        Target::FalsePositive => {
                            assert!(
                                solve::filter(&FilterTargets { rate: relax.possible, ..targets }).is_ok()
                            );
                        }
                        other => panic!("{other}"),
                    }
                    if needs != targets.needs {
                        assert!(solve::filter(&FilterTargets { needs, ..targets }).is_ok(), "{relax}");
                    }
                }
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let best = solution.best;
        assert!(best.false_positive <= rate && (!needs.delete || best.can.delete));
        // No filter is below the optimum.
        assert!(best.bits_over_optimum() > 0.0 && best.lines_per_miss <= best.lines_per_hit);
        assert!(solution.runners_up.iter().all(|other| other.bits >= best.bits));
        match best.layout {
            FilterLayout::Bloom(layout) => {
                assert!(bloom::false_positive_probability(layout, items) <= rate);
                let smaller = bloom::for_bits(layout.bits() - layout.bits().div_ceil(100), items);
                let misses = |layout| bloom::false_positive_probability(layout, items) > rate;
                assert!(smaller.is_err() || smaller.is_ok_and(misses));
            }
            FilterLayout::Blocked(layout) => {
                assert!(blocked::false_positive_probability(layout, items) <= rate);
            }
            _ => {}
        }
    }
}

#[test]
fn hostile_targets_are_errors() {
    for rate in BAD_FRACTIONS {
        let needs = Needs::default();
        assert!(solve::filter(&FilterTargets { items: 10, rate, needs, bytes: None }).is_err());
    }
}
