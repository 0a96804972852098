//! Results around the theorems: pairwise independence and Count-Min sketches (section 1), sizes
//! that are not prime (4.1), and the rate of one filter (section 5).

use oneread::filter::{BloomFilter, CountMinSketch};
use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, CountMinLayout, Rows};
use oneread::plan::{bloom, probes};
use oneread_study::hash::Ideal;

use super::{ABSENT, SCHEMES, hashes, new};
use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = vec![pairwise_independence(), count_min()];
    experiments.extend([sizes("prime", [31, 127, 509]), sizes("power-of-two", [32, 128, 512])]);
    experiments.extend(SCHEMES[..3].iter().map(|&(scheme, name, title)| concentration(scheme, name, title)));
    experiments
}

/// With pairwise independent functions only, the union bound limits the probability of a set bit in
/// a band of m/k bits to nk/m. A filter then errs with probability at most (nk/m)^k. The best k
/// makes that e^(−m/(en)), while random functions reach e^(−(ln 2)²·m/n).
fn pairwise_independence() -> Experiment {
    new(
        "1/pairwise-independence",
        "With pairwise independent functions, the space for the same bound on the false positives increases by a constant factor (section 1): the factor, by \
         the usual analysis with the union bound",
        Printed::statement("a constant factor", 1.0 + f64::EPSILON..=f64::INFINITY),
        |_| {
            /// A rate so low that rounding the number of hash functions does not matter.
            const LN_RATE: f64 = -1e6;
            // The fewest bits per key over k: (k/b)^k = rate.
            let bits = |hashes: f64| hashes / (LN_RATE / hashes).exp();
            let (mut low, mut high) = (1.0, -2.0 * LN_RATE);
            while high - low > 1e-3 {
                let thirds = [low + (high - low) / 3.0, high - (high - low) / 3.0];
                if bits(thirds[0]) < bits(thirds[1]) { high = thirds[1] } else { low = thirds[0] }
            }
            let random = -LN_RATE / std::f64::consts::LN_2.powi(2);
            let closed = std::f64::consts::E * std::f64::consts::LN_2.powi(2);
            let note = "e·(ln 2)²: 31% more bits are promised to be enough; whether they are needed depends on the family";
            Ok(Finding::calculated(bits(low) / random).confirmed_by(closed).note(note))
        },
    )
}

/// The mean estimate over all keys that were never counted, with rows from two words and with
/// independent rows. The sketches have one row each.
fn count_min() -> Experiment {
    const WIDTH: u64 = 512;
    const DEPTH: u32 = 5;
    const KEYS: u64 = 2000;
    new(
        "1/count-min",
        "The technique reduces the hash functions of Count-Min sketches (sections 1 and 7): how much too high estimates with two are, over those \
         with five independent ones, at most 1.05; 5 rows of 512, 2000 keys",
        Printed::statement("reduce the number of hash functions required", 0.0..=1.05),
        |context| {
            let trial = |seed: u64| -> Result<(f64, f64), Error> {
                let mut two = CountMinSketch::with_digester(
                    CountMinLayout::new(WIDTH, DEPTH)?.with_rows(Rows::TwoWords),
                    Ideal::with_seed(seed),
                )?;
                let mut rows = Vec::new();
                for row in 1..=u64::from(DEPTH) {
                    let layout = CountMinLayout::new(WIDTH, 1)?;
                    rows.push(CountMinSketch::with_digester(
                        layout,
                        Ideal::with_seed(seed.wrapping_add(row)),
                    )?);
                }
                for key in 0..KEYS {
                    two.add(&key, 1);
                    rows.iter_mut().for_each(|row| row.add(&key, 1));
                }
                let absent = ABSENT..ABSENT + KEYS;
                let of_two: u64 = absent.clone().map(|key| two.estimate(&key)).sum();
                let of_rows: u64 =
                    absent.map(|key| rows.iter().map(|row| row.estimate(&key)).min().unwrap_or(0)).sum();
                Ok((of_two as f64 / KEYS as f64, of_rows as f64 / KEYS as f64))
            };
            let trials: Result<Vec<(f64, f64)>, Error> =
                context.each(context.effort(200, 5000), trial).into_iter().collect();
            let trials = trials?;
            let two = Measured::mean(&trials.iter().map(|of| of.0).collect::<Vec<_>>());
            let rows = Measured::mean(&trials.iter().map(|of| of.1).collect::<Vec<_>>());
            let note = format!("{:.4} and {:.4} too high on average", two.value, rows.value);
            Ok(Finding::measured(ratio(two, rows)).note(note))
        },
    )
}

fn ratio(of: Measured, to: Measured) -> Measured {
    let relative = (of.standard_error / of.value).hypot(to.standard_error / to.value);
    let value = of.value / to.value;
    Measured { value, standard_error: value * relative }
}

/// Theorem 2 holds for every m′. This measures how fast the excess over the limit falls, for sizes
/// of one kind.
fn sizes(kind: &'static str, bands: [u64; 3]) -> Experiment {
    const BITS_PER_KEY: u64 = 8;
    new(
        format!("4.1/{kind}"),
        format!(
            "The partition scheme's false positives converge to p whether or not m′ is prime (4.1, theorem 2): m′ = {}, {} and {}, 8 bits per key; a band \
             four times as large leaves at most half of the excess",
            bands[0], bands[1], bands[2]
        ),
        Printed::statement("lim Pr(F) = (1 − e^(−k/c))^k", 0.0..=0.5),
        move |context| {
            let hashes = hashes(BITS_PER_KEY);
            let items = |band: u64| band * u64::from(hashes) / BITS_PER_KEY;
            let excess = |band: u64, rate: f64| {
                let per_key = (band * u64::from(hashes)) as f64 / items(band) as f64;
                rate / bloom::asymptotic(per_key, hashes) - 1.0
            };
            let exact = |band: u64| probes::partitioned(band, hashes, items(band));
            let exact = [exact(bands[0])?, exact(bands[1])?, exact(bands[2])?];
            let exact = [0, 1, 2].map(|at| excess(bands[at], exact[at]));
            let left = exact.windows(2).map(|pair| pair[1] / pair[0]).fold(0.0, f64::max);
            // Real filters for the middle size.
            let (band, queries) = (bands[1], 2000);
            let layout =
                BloomLayout::new(band * u64::from(hashes), hashes)?.with_scheme(SchemeName::Partitioned)?;
            let rates = context.trials(context.effort(400, 10_000), |seed| {
                rate_of(layout, items(band), ABSENT, queries, seed)
            });
            let note = format!(
                "excess over p: {}; {:.1}% ± {:.1}% on real filters of the middle size",
                exact.map(|excess| format!("{:.2}%", 100.0 * excess)).join(", "),
                100.0 * excess(band, rates.value),
                100.0 * rates.standard_error / rates.value
            );
            Ok(Finding::calculated(left).note(note))
        },
    )
}

/// The share of `queries` absent keys that a filter reports present.
fn rate_of(layout: BloomLayout, items: u64, from: u64, queries: u64, seed: u64) -> f64 {
    let mut filter = BloomFilter::with_digester(layout, Ideal::with_seed(seed)).expect("a small filter");
    (0..items).for_each(|key| _ = filter.insert(&key));
    (from..from + queries).filter(|key| filter.contains(key)).count() as f64 / queries as f64
}

/// The rate R of one filter is a random variable. Two halves of its queries have only R in common,
/// so their covariance over filters is the variance of R. The result is relative to the mean, and
/// compares filters of 64 and 1024 items.
fn concentration(scheme: SchemeName, name: &str, title: &'static str) -> Experiment {
    const BITS_PER_KEY: u64 = 8;
    const QUERIES: u64 = 8000;
    new(
        format!("5/concentration-{name}"),
        format!(
            "The false positive rate of one filter is concentrated around its mean (section 5), {title}: its relative standard deviation with 1024 items over \
             that with 64, at most 1/2; a martingale that each item moves by O(1/n) has 1/4"
        ),
        Printed::statement("concentrated", 0.0..=0.5),
        move |context| {
            let [few, many] = [64, 1024].map(|items| spread(context, scheme, items));
            let (few, many) = (few?, many?);
            let note = format!(
                "{}% and {}% of the mean",
                number((1e4 * few.value).round() / 100.0),
                number((1e4 * many.value).round() / 100.0)
            );
            return Ok(Finding::measured(ratio(many, few)).note(note));

            fn spread(context: &Context, scheme: SchemeName, items: u64) -> Result<Measured, Error> {
                let layout =
                    BloomLayout::new(BITS_PER_KEY * items, hashes(BITS_PER_KEY))?.with_scheme(scheme)?;
                let halves = context.each(context.effort(2000, 40_000), |seed| {
                    let mut filter =
                        BloomFilter::with_digester(layout, Ideal::with_seed(seed)).expect("a small filter");
                    (0..items).for_each(|key| _ = filter.insert(&key));
                    let half = |from: u64| {
                        (from..from + QUERIES).filter(|key| filter.contains(key)).count() as f64
                            / QUERIES as f64
                    };
                    (half(ABSENT), half(ABSENT + QUERIES))
                });
                let mean = halves.iter().map(|(a, b)| (a + b) / 2.0).sum::<f64>() / halves.len() as f64;
                let products: Vec<f64> = halves.iter().map(|(a, b)| (a - mean) * (b - mean)).collect();
                let variance = Measured::mean(&products);
                let deviation = variance.value.max(0.0).sqrt() / mean;
                // d√v = dv/(2√v).
                let standard_error =
                    variance.standard_error / (2.0 * variance.value.max(f64::MIN_POSITIVE).sqrt()) / mean;
                Ok(Measured { value: deviation, standard_error })
            }
        },
    )
}
