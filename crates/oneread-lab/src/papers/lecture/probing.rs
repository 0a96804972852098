//! Section 6.3: linear probing.

use oneread_study::hash::family::{MultiplyShift, Polynomial, Reduced, Tabulation, TotalHashFunction};
use oneread_study::hash::{Ideal, family};
use oneread_study::plan::probing;
use oneread_study::table::{Deletion, Digested, LinearProbingTable, StudyTable};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use super::four_independent::FourIndependent;
use super::new;
use crate::digits::with_error;
use crate::experiment::Error;
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        base_of_critical_blocks(),
        critical_blocks(),
        expected_probes(),
        by_load(RANDOM, "a completely random function", 2.0, |seed, _| Digested(Ideal::with_seed(seed))),
        by_load(
            "five-independent",
            "a 5-independent function (P_5 on an interval of keys)",
            13.0 / 6.0,
            |seed, cells| polynomial(5, seed, cells),
        ),
        by_load("tabulation", "tabulation hashing (on an interval of keys)", 2.0, |seed, _| {
            Tabulation::<u64>::draw(8, 64, &mut Pcg64Mcg::seed_from_u64(seed)).expect("eight characters")
        }),
        four_independent(),
        multiply_shift(),
    ]
}

fn base_of_critical_blocks() -> Experiment {
    new("6.3/critical-base", "q = (e/4)^(1/3) is about 0.879 (6.3)", Printed::number("0.879"), |_| {
        Ok(Finding::calculated(probing::CRITICAL_BASE).confirmed_by((std::f64::consts::E / 4.0).cbrt()))
    })
}

/// Tables of the theorem: 2^h cells, a third of them in use.
const HEIGHTS: std::ops::RangeInclusive<u32> = 4..=30;

fn critical_blocks() -> Experiment {
    new(
        "6.3/critical-blocks",
        "A block of 2^t cells is critical with probability at most q^(2^t) (6.3, lemma): the largest ratio of the two, in tables \
         of up to 2^30 cells",
        Printed::at_most("1.0"),
        |_| {
            let mut largest = f64::NEG_INFINITY;
            for table in HEIGHTS {
                let cells = 1u64 << table;
                for block in 0..table.min(probing::MAX_HEIGHT) {
                    let ln_exact = probing::ln_critical_block_probability(cells, cells / 3, block)?;
                    largest = largest.max(ln_exact - probing::ln_critical_block_bound(block));
                }
            }
            Ok(Finding::calculated(largest.exp()))
        },
    )
}

fn expected_probes() -> Experiment {
    const MEASURED_HEIGHT: u32 = 12;
    new(
        "6.3/expected-probes",
        "With n ≤ m/3 the expected number of probes is at most a constant (6.3, theorem), that of the proof being 3 + 96·Σ i·q^i: \
         the most in tables of up to 2^30 cells, measured with 2^12",
        Printed::statement("at most a constant", 1.0..=probing::run_bound()),
        |context| {
            let probes = |height: u32| probing::miss_probes(1 << height, (1 << height) / 3);
            let mut most: f64 = 0.0;
            for height in HEIGHTS {
                most = most.max(probes(height)?);
            }
            let planned = probes(MEASURED_HEIGHT)?;
            let cells = 1 << MEASURED_HEIGHT;
            let measured = context.trials(context.effort(400, 10_000), |seed| {
                misses(cells, cells / 3, Digested(Ideal::with_seed(seed)))
            });
            let note =
                format!("{planned:.4} with 2^12 cells; the proof's constant is {:.0}", probing::run_bound());
            Ok(Finding::calculated(planned).and_measured(measured).note(format!("{note}; at most {most:.4}")))
        },
    )
}

/// The mean number of cells that a search for an absent key reads, in a table of an interval of
/// keys. The absent keys follow this interval.
fn misses<F: TotalHashFunction<u64>>(cells: u64, items: u64, function: F) -> f64 {
    let mut function = Some(function);
    let draw = |_| function.take().expect("linear probing draws one function");
    let mut table = LinearProbingTable::new(cells, Deletion::BackwardShift, draw).expect("a small table");
    for key in 0..items {
        _ = table.insert(key, ()).expect("there are more cells than items");
    }
    let before = table.probes();
    (items..2 * items).for_each(|key| _ = table.get(&key));
    (table.probes() - before) as f64 / items as f64
}

/// `P_k` modulo the number of cells.
fn polynomial(k: usize, seed: u64, cells: u64) -> Reduced<family::Modulo<Polynomial>> {
    let function = Polynomial::draw(k, &mut Pcg64Mcg::seed_from_u64(seed)).expect("coefficients");
    Reduced::new(function.modulo(cells).expect("the field is larger"))
}

/// The default number of cells of the tables below.
const CELLS: u64 = 1 << 14;

/// Loads: m = (1 + ε)n with ε = 1/4 and half of that.
const EPSILON: f64 = 0.25;

/// The name of the experiment with random functions.
const RANDOM: &str = "random";

/// If the probes are O(1/ε^x), half the ε costs at most 2^x times as many, as long as the constants
/// of the larger ε hold.
fn by_load<F: TotalHashFunction<u64> + 'static>(
    name: &'static str,
    function: &str,
    exponent: f64,
    draw: fn(u64, u64) -> F,
) -> Experiment {
    new(
        format!("6.3/probes-{name}"),
        format!(
            "With m ≥ (1 + ε)n, a search takes O(1/ε^{exponent:.3}) probes for {function} (6.3): how many times as many for ε = 1/8 \
             as for 1/4, at most 2^{exponent:.3}"
        ),
        Printed::statement("bounded", 1.0..=exponent.exp2()),
        move |context| {
            let items = |epsilon: f64| (CELLS as f64 / (1.0 + epsilon)) as u64;
            let (few, many) = (items(EPSILON), items(EPSILON / 2.0));
            let trials = context.effort(150, 3000);
            let measure = |items| context.trials(trials, |seed| misses(CELLS, items, draw(seed, CELLS)));
            let (fewer, more) = (measure(few), measure(many));
            let random = (probing::miss_probes(CELLS, few)?, probing::miss_probes(CELLS, many)?);
            let note = format!(
                "{:.2} and {:.2} probes; {:.2} and {:.2} expected of a random function",
                fewer.value, more.value, random.0, random.1
            );
            let finding = Finding::measured(ratio(more, fewer));
            // Only random functions have a calculation.
            let finding = if name == RANDOM {
                Finding { calculated: Some(random.1 / random.0), ..finding }
            } else {
                finding
            };
            Ok(finding.note(note))
        },
    )
}

/// The ratio of two means and its error. The error is smaller if both come from the same trials.
fn ratio(of: Measured, to: Measured) -> Measured {
    let relative = (of.standard_error / of.value).hypot(to.standard_error / to.value);
    let value = of.value / to.value;
    Measured { value, standard_error: value * relative }
}

/// Growth is measured from 2^6 to 2^12 cells.
const SMALL: u32 = 6;
const LARGE: u32 = 12;

/// The expected probes of a search for one absent key, counting only functions of
/// [`FourIndependent`] whose first very uneven split is at `level`; others count 0.
fn probes_of_uneven(height: u32, level: u32, seed: u64) -> Result<f64, Error> {
    let items = items_of(1 << height);
    let Some((function, probability)) = FourIndependent::draw_uneven(items, height, level, seed) else {
        return Ok(0.0);
    };
    let mut function = Some(function);
    let draw = |_| function.take().expect("linear probing draws one function");
    let mut table = LinearProbingTable::new(1 << height, Deletion::BackwardShift, draw)?;
    for key in 0..items {
        _ = table.insert(key, ())?;
    }
    let before = table.probes();
    _ = table.get(&items);
    Ok(probability * (table.probes() - before) as f64)
}

/// Such a family exists, but it is not `P_4`. The functions with a very uneven split, summed over
/// levels, contribute a part of the expected probes, and so a lower bound. Each level is measured
/// separately, because its functions are as rare as they are slow.
fn four_independent() -> Experiment {
    new(
        "6.3/probes-four-independent",
        "A search takes Ω(log n) probes for at least one 4-independent family (6.3): in one made for it, the probes of functions that are \
         slow on purpose, a lower bound, and by how many they grow for each doubling of n, from 2^6 to 2^12 cells; at least .05",
        Printed::statement("for at least one", LEAST_GROWTH..=f64::INFINITY),
        |context| {
            // The slow functions of a level cost some tenths of a probe on average, and vary by
            // about that, so a hundred of them suffice.
            let trials = context.effort(120, 10_000);
            let slow = |height: u32| -> Result<Measured, Error> {
                let mut sum = Measured::exhaustive(0.0);
                for level in 0..height {
                    let trial = |seed| probes_of_uneven(height, level, seed);
                    let probes: Result<Vec<f64>, Error> = context.each(trials, trial).into_iter().collect();
                    let probes = probes?;
                    if probes.iter().any(|&probes| probes > 0.0) {
                        let Measured { value, standard_error } = Measured::mean(&probes);
                        sum.value += value;
                        sum.standard_error = sum.standard_error.hypot(standard_error);
                    }
                }
                Ok(sum)
            };
            let (small, large) = (slow(SMALL)?, slow(LARGE)?);
            let doublings = f64::from(LARGE - SMALL);
            let growth = Measured {
                value: (large.value - small.value) / doublings,
                standard_error: large.standard_error.hypot(small.standard_error) / doublings,
            };
            let cells = 1 << LARGE;
            let of_polynomials = context.trials(context.effort(400, 8000), |seed| {
                misses(cells, items_of(cells), polynomial(4, seed, cells))
            });
            let note = format!(
                "{:.3} and {:.3} probes of slow functions; P_4 on an interval of keys takes {} probes in all with 2^12 cells, a random \
                 function {:.2}",
                small.value,
                large.value,
                with_error(of_polynomials.value, of_polynomials.standard_error),
                probing::miss_probes(cells, items_of(cells))?
            );
            Ok(Finding::measured(growth).note(note))
        },
    )
}

/// The smallest ratio that counts as growth.
const LEAST_GROWTH: f64 = 0.05;

/// Two thirds of the cells are in use.
const fn items_of(cells: u64) -> u64 {
    cells / 3 * 2
}

/// All 16-bit multipliers, so no chance is involved.
fn multiply_shift() -> Experiment {
    /// Tables of these powers of two; each is three doublings larger than the one before.
    const POWERS: [u32; 3] = [5, 8, 11];
    new(
        "6.3/probes-multiply-shift",
        "A search takes Ω(log n) probes for multiply-shift hashing (6.3): more by how many for each doubling of n, for all multipliers \
         of 16 bits on an interval of keys, from 2^8 to 2^11 cells, over the same from 2^5 to 2^8",
        Printed::statement("grows with log n", 0.5..=f64::INFINITY),
        |_| {
            let mut probes = Vec::new();
            for power in POWERS {
                probes.push(multiply_shift_probes(power)?);
            }
            let growths: Vec<f64> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let random = probing::miss_probes(1 << POWERS[2], items_of(1 << POWERS[2]))?;
            let note = format!(
                "{:.2}, {:.2} and {:.2} probes in 2^5, 2^8 and 2^11 cells, two thirds in use; {random:.2} for a random function",
                probes[0], probes[1], probes[2]
            );
            Ok(Finding::measured(Measured::exhaustive(growths[1] / growths[0])).note(note))
        },
    )
}

fn multiply_shift_probes(power: u32) -> Result<f64, Error> {
    let cells = 1u64 << power;
    let items = items_of(cells) as u16;
    let (mut sum, mut functions) = (0.0, 0.0);
    for multiplier in (1..=u16::MAX).step_by(2) {
        let function = MultiplyShift::new(multiplier, power)?;
        let mut table = LinearProbingTable::new(cells, Deletion::BackwardShift, |_| function)?;
        for key in 0..items {
            _ = table.insert(key, ())?;
        }
        let before = table.probes();
        (items..2 * items).for_each(|key| _ = table.get(&key));
        sum += (table.probes() - before) as f64 / f64::from(items);
        functions += 1.0;
    }
    Ok(sum / functions)
}
