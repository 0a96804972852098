//! Section 6.2: cuckoo hashing.

use oneread::hash::{Digester, Domain};
use oneread_study::hash::Ideal;
use oneread_study::hash::family::{Polynomial, Reduced, Tabulation, TotalHashFunction};
use oneread_study::plan::cuckoo;
use oneread_study::table::{CuckooLayout, CuckooTable, Digested, StudyTable};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use super::new;
use crate::{Experiment, Finding, Printed};

/// m = (2 + ε)n.
const EPSILON: f64 = 0.2;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        load(),
        insertions(
            "independent",
            "⌈6 log n⌉-independent functions (P_k)",
            10,
            |seed, buckets, timeout| {
                let mut rng = Pcg64Mcg::seed_from_u64(seed);
                let function = Polynomial::draw(timeout as usize, &mut rng).expect("coefficients");
                Reduced::new(function.modulo(buckets).expect("the field is larger"))
            },
        ),
        insertions("tabulation", "tabulation hashing", 14, |seed, _, _| {
            Tabulation::<u64>::draw(8, 64, &mut Pcg64Mcg::seed_from_u64(seed)).expect("eight characters")
        }),
        timeouts(),
        above_the_threshold(),
    ]
}

fn load() -> Experiment {
    new(
        "6.2/cuckoo-cells",
        "Cuckoo hashing needs m ≥ (2 + ε)n buckets (6.2): m/n at the threshold of two choices",
        Printed::number("2"),
        |_| Ok(Finding::calculated(cuckoo::threshold(2, 1)?.recip())),
    )
}

/// The words that seed functions.
const SEEDS: Domain = Domain::new(4);

/// A source of functions, each with its own seed.
fn drawn<F>(seed: u64, buckets: u64, timeout: u32, draw: fn(u64, u64, u32) -> F) -> impl FnMut(u64) -> F {
    let random = Ideal::with_seed(seed);
    let mut number = 0u64;
    move |_| {
        number += 1;
        draw(random.digest(&number).word(SEEDS, 0), buckets, timeout)
    }
}

/// The lecture's table of 2^`height` items, with as many rehashes as needed.
fn filled<F: TotalHashFunction<u64>>(
    height: u32,
    seed: u64,
    draw: fn(u64, u64, u32) -> F,
) -> CuckooTable<u64, (), impl FnMut(u64) -> F> {
    let items = 1u64 << height;
    let buckets = cuckoo::least_cells(items, EPSILON).expect("a positive ε");
    let draw = drawn(seed, buckets, cuckoo::insertion_timeout(items), draw);
    let mut table = CuckooTable::for_items(items, EPSILON, draw).expect("a small table");
    for key in 0..items {
        table.insert(key, ()).expect("half of the buckets are enough");
    }
    table
}

fn insertions<F: TotalHashFunction<u64> + 'static>(
    name: &str,
    functions: &str,
    height: u32,
    draw: fn(u64, u64, u32) -> F,
) -> Experiment {
    new(
        format!("6.2/cuckoo-insertions-{name}"),
        format!(
            "With m ≥ (2 + ε)n, a timeout of ⌈6 log n⌉ and {functions}, an insertion takes constant time (6.2): moves an insertion of \
             2^{height} items, over those of 2^{}, ε = .2",
            height - 4
        ),
        Printed::statement("constant", 0.0..=GROWS),
        move |context| {
            let moves = |height: u32, trials| {
                context.trials(trials, |seed| {
                    let table = filled(height, seed, draw);
                    // A rehash inserts all items again.
                    let rehashed = table.rehashes() as f64;
                    table.moves() as f64 / table.len() as f64 + rehashed
                })
            };
            // Smaller tables rehash more often per insertion, which makes them vary more.
            let trials = context.effort(1 << 20, 1 << 24) >> height;
            let (small, large) = (moves(height - 4, 16 * trials), moves(height, trials));
            let value = large.value / small.value;
            let relative = (large.standard_error / large.value).hypot(small.standard_error / small.value);
            let note = format!(
                "{:.3} and {:.3}, an insertion being one more for each rehash",
                small.value, large.value
            );
            let measured = crate::finding::Measured { value, standard_error: value * relative };
            Ok(Finding::measured(measured).note(note))
        },
    )
}

/// The table has 16 times as many items. A time proportional to log n would grow by a factor of
/// 14/10.
const GROWS: f64 = 1.4;

fn timeouts() -> Experiment {
    const HEIGHT: u32 = 12;
    new(
        "6.2/cuckoo-timeouts",
        "With m ≥ (2 + ε)n and a timeout of ⌈6 log n⌉ rehashing is rare (6.2): rehashes of a table of 2^12 items, ε = .2, for each of \
         its insertions at most one in n",
        Printed::statement("rare", f64::NEG_INFINITY..=1.0),
        |context| {
            let rehashes = context.trials(context.effort(300, 5000), |seed| {
                filled(HEIGHT, seed, |seed, _, _| Digested(Ideal::with_seed(seed))).rehashes() as f64
            });
            Ok(Finding::measured(rehashes))
        },
    )
}

/// Below the threshold all items fit. Above it, with fewer than two buckets per item, they do not.
fn above_the_threshold() -> Experiment {
    const BUCKETS: u64 = 1 << 12;
    new(
        "6.2/cuckoo-success",
        "Two choices of one slot fill half of the buckets, hardly more (6.2): the items that found places before the first timeout of \
         ⌈6 log m⌉ moves, of 2^12 buckets",
        Printed::statement("m ≥ (2 + ε)n", 0.4..=0.6),
        |context| {
            let success = context.trials(context.effort(300, 5000), |seed| {
                let layout = CuckooLayout::new(BUCKETS).expect("a small table");
                let draw = drawn(seed, BUCKETS, 0, |seed, _, _| Digested(Ideal::with_seed(seed)));
                let mut table = CuckooTable::new(layout, draw).expect("a small table");
                let fit =
                    (0..BUCKETS).take_while(|&key| table.insert(key, ()).is_ok() && table.rehashes() == 0);
                fit.count() as f64 / BUCKETS as f64
            });
            Ok(Finding::measured(success))
        },
    )
}
