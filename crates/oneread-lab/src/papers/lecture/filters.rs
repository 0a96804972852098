//! Section 6.4: Bloom filters.

use std::f64::consts::LN_2;

use oneread::filter::{BloomFilter, CountingBloomFilter};
use oneread::layout::{BloomLayout, CountingLayout};
use oneread::plan::{bloom, counting};
use oneread_study::hash::Ideal;
use oneread_study::plan::bloom as lecture_bloom;

use super::new;
use crate::{Experiment, Finding, Printed};

/// The section's example.
const ITEMS: u64 = 1_000_000;
const MEGABIT: f64 = 1e6;

/// The first of the keys that are never inserted.
const ABSENT: u64 = 1 << 60;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        memory(
            "trivial-memory",
            "A trivial filter for 10^6 items with ε = 0.01 requires 100 Mb",
            "100 Mb",
            || Ok(lecture_bloom::trivial_for_rate(ITEMS, 0.01)?),
        ),
        bands("bands", "The multi-band filter for n = 10^6 and ε = 0.01 has k = 7", "7", 0.01),
        memory(
            "multi-band-memory",
            "The multi-band filter for n = 10^6 and ε = 0.01 requires 14 Mb",
            "14 Mb",
            || Ok(lecture_bloom::bands_for_rate(ITEMS, 0.01)?),
        ),
        bands("bands-lower-rate", "For ε = 0.001, k has to be increased only to 10", "10", 0.001),
        memory(
            "multi-band-memory-lower-rate",
            "For ε = 0.001 the memory reaches only 20 Mb",
            "20 Mb",
            || Ok(lecture_bloom::bands_for_rate(ITEMS, 0.001)?),
        ),
        error_of_bands(),
        best_fill(),
        fill_of_a_filter(),
        constant_of_memory(),
        error_of_best_filter(),
        stuck_counter(),
        any_stuck_counter(),
        stuck_counters(2),
        stuck_counters(3),
    ]
}

fn memory(
    name: &str,
    claim: &str,
    printed: &str,
    layout: fn() -> Result<BloomLayout, crate::experiment::Error>,
) -> Experiment {
    new(format!("6.4/{name}"), format!("{claim} (6.4)"), Printed::number(printed), move |_| {
        Ok(Finding::calculated(layout()?.bits() as f64 / MEGABIT))
    })
}

fn bands(name: &str, claim: &str, printed: &str, rate: f64) -> Experiment {
    new(format!("6.4/{name}"), format!("{claim} (6.4)"), Printed::number(printed), move |_| {
        Ok(Finding::calculated(lecture_bloom::bands_for_rate(ITEMS, rate)?.hashes().into()))
    })
}

fn error_of_bands() -> Experiment {
    const RATE: f64 = 0.01;
    const FEWER_ITEMS: u64 = 1000;
    const QUERIES: u64 = 10_000;
    new(
        "6.4/multi-band-error",
        "The k-band filter with m = 2n and k = ⌈log(1/ε)⌉ gives false positives with probability at most ε (6.4): 1000 items, \
         ε = 0.01",
        Printed::at_most("0.010"),
        |context| {
            let layout = lecture_bloom::bands_for_rate(FEWER_ITEMS, RATE)?;
            let measured = context.trials(context.effort(200, 5000), |seed| {
                let mut filter =
                    BloomFilter::with_digester(layout, Ideal::with_seed(seed)).expect("a small filter");
                (0..FEWER_ITEMS).for_each(|key| _ = filter.insert(&key));
                (ABSENT..ABSENT + QUERIES).filter(|key| filter.contains(key)).count() as f64 / QUERIES as f64
            });
            let planned = bloom::false_positive_probability(layout, FEWER_ITEMS);
            Ok(Finding::calculated(planned)
                .and_measured(measured)
                .note("a band errs at .39 rather than at 1/2"))
        },
    )
}

fn best_fill() -> Experiment {
    new(
        "6.4/best-fill",
        "False positives are fewest if half of the bits are set (6.4, optimizing parameters): p = 1/2",
        Printed::number("0.5"),
        |_| {
            // The number of hashes is real, as in the text: ln p · ln(1 − p) is largest.
            const STEPS: u32 = 1_000_000;
            let fills = (1..STEPS).map(|step| f64::from(step) / f64::from(STEPS));
            let worth = |p: f64| p.ln() * (-p).ln_1p();
            let best = fills.max_by(|a, b| worth(*a).total_cmp(&worth(*b))).unwrap_or(f64::NAN);
            Ok(Finding::calculated(best))
        },
    )
}

fn constant_of_memory() -> Experiment {
    new(
        "6.4/bits-per-item",
        "M = n · log(1/ε) · 1.44 (6.4, optimizing parameters), with 1/ln 2 beside what the planner needs at ε = 2^−20",
        Printed::number("1.44"),
        |_| {
            const BITS: i32 = 20;
            let layout = bloom::for_rate(ITEMS, 0.5f64.powi(BITS))?;
            let planned = layout.bits() as f64 / ITEMS as f64 / f64::from(BITS);
            Ok(Finding::calculated(planned).note(format!("1/ln 2 = {:.5}", LN_2.recip())))
        },
    )
}

/// The optimal number of counters per item, n / ln 2.
fn counters(counters: u64) -> Result<(CountingLayout, u64), crate::experiment::Error> {
    const COUNTER_BITS: u32 = 4;
    Ok((CountingLayout::new(counters, 1, COUNTER_BITS)?, (counters as f64 * LN_2).round() as u64))
}

fn stuck_counter() -> Experiment {
    new(
        "6.4/stuck-counter",
        "A 4-bit counter is stuck with probability at most 3.06·10^−14 (6.4, counting filters): (e ln 2/15)^15",
        Printed::number("3.06e-14"),
        |_| {
            let (layout, items) = counters(1_000_000_000)?;
            let exact = counting::stuck_probability(layout, items);
            let finding = Finding::calculated(counting::stuck_bound(layout, items));
            Ok(finding.note(format!("a bound; exactly {exact:.3e}")))
        },
    )
}

fn any_stuck_counter() -> Experiment {
    new(
        "6.4/any-stuck-counter",
        "Of 10^9 4-bit counters any is stuck with probability at most 3.06·10^−5 (6.4, counting filters)",
        Printed::number("3.06e-5"),
        |_| {
            let (layout, items) = counters(1_000_000_000)?;
            let exact = counting::any_stuck_bound(layout, items);
            let bound = counting::stuck_bound(layout, items) * layout.counters() as f64;
            Ok(Finding::calculated(bound).note(format!("a bound; by the exact tail {exact:.3e}")))
        },
    )
}

/// The fill of a filter of the planned size.
fn fill_of_a_filter() -> Experiment {
    const RATE: f64 = 1.0 / 1024.0;
    const FEWER_ITEMS: u64 = 10_000;
    new(
        "6.4/half-of-the-bits",
        "In the best filter half of the bits are set (6.4, optimizing parameters): of a real one for 10^4 items and ε = 2^−10, within a hundredth",
        Printed::statement("p = 1/2", 0.49..=0.51),
        |context| {
            let layout = bloom::for_rate(FEWER_ITEMS, RATE)?;
            let measured = context.trials(context.effort(40, 1000), |seed| {
                let mut filter =
                    BloomFilter::with_digester(layout, Ideal::with_seed(seed)).expect("a small filter");
                (0..FEWER_ITEMS).for_each(|key| _ = filter.insert(&key));
                filter.ones() as f64 / layout.bits() as f64
            });
            let expected = bloom::expected_fill(layout, FEWER_ITEMS);
            // For independent locations; those of the default scheme are nearly so.
            Ok(Finding::calculated(expected).off_by(1e-3).and_measured(measured))
        },
    )
}

/// The rate of a filter with n·log(1/ε)·1.44 bits.
fn error_of_best_filter() -> Experiment {
    const RATE: f64 = 1.0 / 256.0;
    const FEWER_ITEMS: u64 = 10_000;
    const QUERIES: u64 = 100_000;
    new(
        "6.4/error-of-best-filter",
        "A filter of n·log(1/ε)·1.44 bits has false positives with probability ε (6.4, optimizing parameters): of a real one for 10^4 items and ε = 2^−8 with \
         1.4427 bits for each, over ε, within 5%",
        Printed::statement("ε", 0.95..=1.05),
        |context| {
            let bits = (FEWER_ITEMS as f64 * 8.0 / LN_2).round() as u64;
            let layout = bloom::for_bits(bits, FEWER_ITEMS)?;
            let measured = context.trials(context.effort(60, 2000), |seed| {
                let mut filter =
                    BloomFilter::with_digester(layout, Ideal::with_seed(seed)).expect("a small filter");
                (0..FEWER_ITEMS).for_each(|key| _ = filter.insert(&key));
                let found = (ABSENT..ABSENT + QUERIES).filter(|key| filter.contains(key)).count();
                found as f64 / QUERIES as f64 / RATE
            });
            Ok(Finding::measured(measured).note(format!("{} hash functions", layout.hashes())))
        },
    )
}

/// Counters so narrow that some saturate in every filter.
fn stuck_counters(bits: u32) -> Experiment {
    const COUNTERS: u64 = 100_000;
    let items = (COUNTERS as f64 * LN_2).round() as u64;
    let most = f64::from((1u32 << bits) - 1);
    let bound = (std::f64::consts::E * LN_2 / most).powf(most);
    new(
        format!("6.4/stuck-counters-{bits}-bits"),
        format!(
            "A counter is stuck at b with probability at most (e ln 2/b)^b (6.4, counting filters): b = {most}, so narrow that stuck ones can be \
             counted in real filters"
        ),
        Printed::statement("(e ln 2/b)^b", 0.0..=bound),
        move |context| {
            let layout = CountingLayout::new(COUNTERS, 1, bits)?;
            let measured = context.trials(context.effort(50, 1000), |seed| {
                let mut filter = CountingBloomFilter::with_digester(layout, Ideal::with_seed(seed))
                    .expect("a small filter");
                (0..items).for_each(|key| _ = filter.insert(&key));
                filter.stuck() as f64 / COUNTERS as f64
            });
            let exact = counting::stuck_probability(layout, items);
            Ok(Finding::calculated(exact).and_measured(measured).note(format!("the bound is {bound:.4}")))
        },
    )
}
