//! The paper's statements in words, read as numbers; each claim says how.

use oneread::filter::DLeftFilter;
use oneread::hash::Digester;
use oneread::layout::{BucketBits, DLeftLayout, Semisort};
use oneread::plan::{counting, dleft};
use oneread_study::hash::Ideal;

use super::{BUCKETS, LOAD_64, LOAD_128, SUBTABLES, layout, new};
use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// Section II-A, on fingerprints of one size.
pub(super) fn of_fixed_sizes() -> Vec<Experiment> {
    vec![
        new(
            "fixed-size-crossover",
            "Fingerprints of a fixed size f beat a Bloom filter only for unreasonably large f, say 50 or more (II-A): the f with 12·2^−f = 2^(−3f ln 2/2)",
            Printed::statement("unreasonably large", 50.0..=f64::INFINITY),
            |_| {
                let factor = f64::from(SUBTABLES) * LOAD_64;
                Ok(Finding::calculated(factor.log2() / (1.5 * std::f64::consts::LN_2 - 1.0)))
            },
        ),
        new(
            "64-bit-plain-against-bloom",
            "The initial construction is about a factor of two worse than a Bloom filter (II-A)",
            Printed::number("2"),
            |_| {
                let plan = dleft::plan(layout(BucketBits::Bits64, Semisort::None, 1)?, LOAD_64)?;
                Ok(Finding::calculated(plan.false_positive / plan.bloom_false_positive))
            },
        ),
    ]
}

/// Section II-B, on semi-sorting.
pub(super) fn of_semisorting() -> Vec<Experiment> {
    vec![
        new(
            "64-bit-states",
            "The 16 values of the counter track the load up to 6, and the 0-count of loads 4 and 5 (II-B): the states there are",
            Printed::at_most("16"),
            |_| {
                let states =
                    (0..=6u32).map(|load| if matches!(load, 4 | 5) { load + 1 } else { 1 }).sum::<u32>();
                Ok(Finding::calculated(states.into()))
            },
        ),
        new(
            "64-bit-semisorted-against-bloom",
            "Semi-sorted 64-bit buckets are slightly better than a Bloom filter (II-B): the ratio of their false positives, from .9 to 1",
            Printed::statement("slightly better", 0.9..=1.0),
            |_| {
                let plan = dleft::plan(layout(BucketBits::Bits64, Semisort::Paper, 1)?, LOAD_64)?;
                Ok(Finding::calculated(plan.false_positive / plan.bloom_false_positive))
            },
        ),
        states_of_128_bits(),
        new(
            "128-bit-space",
            "A rate almost three times lower corresponds to roughly a 10% saving in space (II-B): bits that a Bloom filter of the same rate takes more",
            Printed::number("10 %"),
            |_| {
                let plan = dleft::plan(layout(BucketBits::Bits128, Semisort::Paper, 1)?, LOAD_128)?;
                // The best Bloom filter with any number of hash functions, not necessarily an
                // integer.
                let bloom = -plan.false_positive.ln() / std::f64::consts::LN_2.powi(2);
                let note = format!("{} bits per key against 20", number(bloom));
                Ok(Finding::calculated(100.0 * (1.0 - plan.bits_per_item / bloom)).note(note))
            },
        ),
        subtables(2, "three subtables is best", 1.0..=f64::INFINITY, "two have more false positives"),
        subtables(
            4,
            "three subtables is best (although four is not too much worse)",
            1.0..=1.25,
            "four have more false positives, by at most a quarter",
        ),
    ]
}

/// The paper says that the eight bits of the counter suffice for the 0-counts of all loads up to
/// 11, which the lengths f(a) = ⌊120/a⌋ + 1 for a in [1, 11] need, and for four-way counts at loads
/// 6 and 7.
fn states_of_128_bits() -> Experiment {
    const HIGHEST: u32 = 11;
    new(
        "128-bit-states",
        "Eight bits are sufficient to track the 0-count for all loads in [1, 11], and how many fingerprints begin with 00, 01, 10 and 11 at \
         loads 6 and 7 (II-B): the states there are, at most 256",
        Printed::at_most("256"),
        |_| {
            // The number of ways to write a load as a sum of four counts, or of two.
            let four = |load: u32| (load + 1) * (load + 2) * (load + 3) / 6;
            let of_load = |load: u32| if matches!(load, 6 | 7) { four(load) } else { load + 1 };
            let states: u32 = (0..=HIGHEST).map(of_load).sum();
            // The same by enumeration.
            let mut counted = 0u32;
            for load in 0..=HIGHEST {
                for zeros in 0..=load {
                    let within = |count: u32| if matches!(load, 6 | 7) { count + 1 } else { 1 };
                    // Fingerprints that begin with 0 and with 1 are divided again.
                    counted += within(zeros) * within(load - zeros);
                }
            }
            let note = format!("{} with no 0-count at load 11", states - HIGHEST);
            Ok(Finding::calculated(states.into()).confirmed_by(counted.into()).note(note))
        },
    )
}

/// The mean rate of real filters, and the number of items without room.
fn rates(context: &Context, layout: DLeftLayout) -> Result<(Measured, u64), Error> {
    let items = LOAD_64 as u64 * layout.total_buckets();
    let filters: Result<Vec<(f64, u64)>, Error> = context
        .each(context.effort(12, 200), |seed| {
            let digester = Ideal::with_seed(seed);
            let mut filter = DLeftFilter::with_digester(layout, digester)?;
            let refused =
                (0..items).filter(|item| filter.insert_again(digester.digest(item)).is_err()).count();
            Ok((filter.false_positive_rate(), refused as u64))
        })
        .into_iter()
        .collect();
    let filters = filters?;
    let rates: Vec<f64> = filters.iter().map(|(rate, _)| *rate).collect();
    Ok((Measured::mean(&rates), filters.iter().map(|(_, refused)| refused).sum()))
}

/// The same total number of buckets in two or four sub-tables.
fn subtables(count: u32, words: &str, agreeing: std::ops::RangeInclusive<f64>, reading: &str) -> Experiment {
    new(
        format!("subtables/{count}"),
        format!(
            "Of two, three and four sub-tables, {words} (II-B): {reading}; their false positives over those of three, 64-bit buckets, load 4"
        ),
        Printed::statement(words, agreeing),
        move |context| {
            let of = |count: u32| {
                DLeftLayout::new(count, u64::from(SUBTABLES) * BUCKETS / u64::from(count), BucketBits::Bits64)
            };
            let (three, other) = (of(SUBTABLES)?, of(count)?);
            let planned = [other, three].map(|layout| dleft::plan(layout, LOAD_64));
            let [planned, of_three] = planned.map(|plan| plan.map(|plan| plan.false_positive_exact));
            let ((measured, refused), (measured_three, _)) = (rates(context, other)?, rates(context, three)?);
            let value = measured.value / measured_three.value;
            let relative = (measured.standard_error / measured.value)
                .hypot(measured_three.standard_error / measured_three.value);
            let ratio = planned? / of_three?;
            let note = if refused == 0 {
                String::new()
            } else {
                format!("{refused} items found no room in 12 filters")
            };
            // In filters of this size, the limit for many buckets is off by some thousandths.
            Ok(Finding::calculated(ratio)
                .off_by(0.005 * ratio)
                .and_measured(Measured { value, standard_error: value * relative })
                .note(note))
        },
    )
}

/// The examples of section II-C: all fingerprints of four buckets share their bits.
pub(super) fn of_groups() -> Vec<Experiment> {
    vec![
        new(
            "grouped/loads-5-4-4-3",
            "Four 64-bit buckets with loads 5, 4, 4 and 3 can have 15-bit fingerprints (II-C)",
            Printed::number("15"),
            |_| {
                let layout = layout(BucketBits::Bits64, Semisort::None, 4)?;
                let loads = [5, 4, 4, 3];
                let shortest = loads.map(|load| layout.fingerprint_bits(load, loads.iter().sum()));
                Ok(Finding::calculated(shortest.into_iter().min().unwrap_or(0).into()))
            },
        ),
        new(
            "grouped/loads-5-5-4-4",
            "Loads 5, 5, 4 and 4 leave room for thirteen 13-bit and five 14-bit fingerprints (II-C): bits, of 240",
            Printed::at_most("240"),
            |_| Ok(Finding::calculated(f64::from(13 * 13 + 5 * 14))),
        ),
    ]
}

/// The introduction and III-C, on space.
pub(super) fn counting_space() -> Experiment {
    const RATE: f64 = 0.01;
    const ITEMS: u64 = 1_000_000;
    /// As in the experiment that the paper recreates: four sub-tables, six items in eight cells,
    /// 2-bit counters.
    const CHOICES: f64 = 4.0;
    const LOAD: f64 = 6.0;
    const CELLS: f64 = 8.0;
    const COUNTER: f64 = 2.0;
    new(
        "counting-space",
        "For false positive rates of 1% or less, a d-left counting filter takes a factor of 2 or more less space than a counting Bloom filter (I): \
         the factor at 1%, four choices, six items in eight cells, counters of two bits against four",
        Printed::statement("a factor of 2 or more", 2.0..=f64::INFINITY),
        |_| {
            let bloom = counting::for_rate(ITEMS, RATE, 4)?.bits() as f64 / ITEMS as f64;
            let remainder = (1..64)
                .find(|&bits| {
                    dleft::fixed_remainders(CHOICES as u32, LOAD, bits).is_ok_and(|rate| rate <= RATE)
                })
                .ok_or("no remainder is long enough")?;
            let dleft = (f64::from(remainder) + COUNTER) * CELLS / LOAD;
            let note = format!("{} bits per key against {}", number(dleft), number(bloom));
            Ok(Finding::calculated(bloom / dleft).note(note))
        },
    )
}
