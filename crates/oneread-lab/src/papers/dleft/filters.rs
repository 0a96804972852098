//! The paper's figures, measured on real filters.
//!
//! With ideal digests, the buckets of a filter determine its rate, so queries add no chance. A few
//! filters therefore measure a rate to 1%, and their spread gives the error. A key that matches
//! twice counts once here, but twice in the paper's formula (1), which is what is calculated.

use oneread::filter::DLeftFilter;
use oneread::hash::Digester;
use oneread::layout::{BucketBits, DLeftLayout, Semisort, Ties};
use oneread::plan::{bloom, dleft};
use oneread_study::filter::insert_balanced;
use oneread_study::hash::Ideal;

use super::groups::never_growing;
use super::simulation::Table;
use super::{BUCKETS, LOAD_64, SUBTABLES, layout, load_of, new};
use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::papers::random::Random;
use crate::{Experiment, Finding, Printed};

/// A filter of `items` items.
fn filled(layout: DLeftLayout, items: u64, seed: u64) -> Result<DLeftFilter<Ideal>, Error> {
    let digester = Ideal::with_seed(seed);
    let mut filter = DLeftFilter::with_digester(layout, digester)?;
    for item in 0..items {
        // Inserts like balls into bins: items that seem present are inserted too.
        filter.insert_again(digester.digest(&item))?;
    }
    Ok(filter)
}

/// Measures a quantity of filters.
fn measure(
    context: &Context,
    filters: u64,
    quantity: impl Fn(u64) -> Result<f64, Error> + Send + Sync,
) -> Result<Measured, Error> {
    let values: Result<Vec<f64>, Error> = context.each(filters, quantity).into_iter().collect();
    Ok(Measured::mean(&values?))
}

pub(super) fn rate(
    name: &'static str,
    claim: &str,
    printed: Printed,
    (bucket_bits, semisort, group): (BucketBits, Semisort, u32),
) -> Experiment {
    let load = load_of(bucket_bits);
    new(format!("rate/{name}"), format!("False positives at load {load}: {claim}"), printed, move |context| {
        let layout = layout(bucket_bits, semisort, group)?;
        let plan = dleft::plan(layout, load)?;
        let items = (load * layout.total_buckets() as f64).round() as u64;
        let filters = if group == 1 { context.effort(20, 400) } else { context.effort(8, 100) };
        let measured =
            measure(context, filters, |seed| Ok(filled(layout, items, seed)?.false_positive_rate()))?;
        let once = plan.false_positive_exact;
        let finding = Finding::calculated(plan.false_positive)
            .at_most_lower_by(plan.false_positive - once)
            .and_measured(measured);
        let note = format!("{} if a key that matches twice counts once", number(once));
        if group == 1 {
            return Ok(finding.note(note));
        }
        // The paper's lengths would sometimes grow, but the fingerprints of a filter cannot.
        let higher = never_growing(layout, load)?;
        let note =
            format!("{note}; {} as fingerprints cannot grow, which division would ask for", number(higher));
        Ok(finding.at_most_higher_by(higher - plan.false_positive).note(note))
    })
}

/// Queries per trial in the paper.
const QUERIES: u64 = 100_000;

/// The paper's 1000 trials of 100,000 queries found 45 false positives per trial.
pub(super) fn simulated_rate() -> Experiment {
    new(
        "simulation/rate",
        "49152 balls, 1000 trials of 100,000 queries: the false positive rate of 64-bit semi-sorted buckets (II-B)",
        Printed::counted("0.00044988"),
        |context| {
            let layout = layout(BucketBits::Bits64, Semisort::Paper, 1)?;
            let items = LOAD_64 as u64 * layout.total_buckets();
            let trial = |seed| -> Result<u64, Error> {
                let filter = filled(layout, items, seed)?;
                let absent = (items..items + QUERIES).map(|item| filter.digester().digest(&item));
                Ok(absent.filter(|&digest| filter.contains_digest(digest)).count() as u64)
            };
            let found: Result<Vec<u64>, Error> =
                context.each(context.effort(250, 1000), trial).into_iter().collect();
            let found = found?;
            let rates: Vec<f64> = found.iter().map(|&found| found as f64 / QUERIES as f64).collect();
            let plan = dleft::plan(layout, LOAD_64)?;
            let (fewest, most) = (found.iter().min().unwrap_or(&0), found.iter().max().unwrap_or(&0));
            Ok(Finding::calculated(plan.false_positive)
                .at_most_lower_by(plan.false_positive - plan.false_positive_exact)
                .and_measured(Measured::mean(&rates))
                .note(format!("{} trials found from {fewest} to {most}", found.len())))
        },
    )
}

/// An event of at least this probability is believed.
const BELIEVABLE: f64 = 1e-3;

/// The fewest and the most false positives in a trial. This measures how likely filters produce the
/// extreme: given a filter's rate, the number of its false positives is nearly Poisson.
pub(super) fn simulated_extreme(name: &'static str, printed: u32) -> Experiment {
    const TRIALS: f64 = 1000.0;
    let is_least = name == "fewest";
    new(
        format!("simulation/{name}"),
        format!(
            "Over the 1000 trials the false positives ranged from 23 to 75 in 100,000 (II-B): how likely it is that {printed} are the {name}"
        ),
        Printed::statement(&printed.to_string(), BELIEVABLE..=1.0),
        move |context| {
            let layout = layout(BucketBits::Bits64, Semisort::Paper, 1)?;
            // The expected number of trials that reach the extreme, and that exceed it.
            let expected = |rate: f64| {
                let mean = rate * QUERIES as f64;
                let (reaching, beyond) = match is_least {
                    true => (poisson_up_to(mean, printed), poisson_up_to(mean, printed - 1)),
                    false => (1.0 - poisson_up_to(mean, printed - 1), 1.0 - poisson_up_to(mean, printed)),
                };
                (TRIALS * reaching, TRIALS * beyond)
            };
            // The probability that some trials reach it and none exceeds it.
            let likely = |(reaching, beyond): (f64, f64)| (-beyond).exp() - (-reaching).exp();
            let rate = dleft::plan(layout, LOAD_64)?.false_positive_exact;
            let planned = likely(expected(rate));
            let items = LOAD_64 as u64 * layout.total_buckets();
            let filters: Result<Vec<(f64, f64)>, Error> = context
                .each(context.effort(200, 2000), |seed| {
                    Ok(expected(filled(layout, items, seed)?.false_positive_rate()))
                })
                .into_iter()
                .collect();
            let filters = filters?;
            let mean =
                |part: fn(&(f64, f64)) -> f64| filters.iter().map(part).sum::<f64>() / filters.len() as f64;
            let (reaching, beyond) = (mean(|of| of.0), mean(|of| of.1));
            // To first order around the means, so that the spread gives the error.
            let around = |of: &(f64, f64)| {
                likely((reaching, beyond)) + (-reaching).exp() * (of.0 - reaching)
                    - (-beyond).exp() * (of.1 - beyond)
            };
            let measured = Measured::mean(&filters.iter().map(around).collect::<Vec<_>>());
            let note = format!("{reaching:.3} trials are expected to reach it, {beyond:.3} to go beyond");
            // Each filter's rate is off by a standard deviation of 0.87/√N, which makes extremes
            // more likely. The factor is half the square of this, times the power of the rate that
            // a tail follows, which is its distance from the mean.
            let power = f64::from(printed) - rate * QUERIES as f64;
            let spread = 0.5 * (0.87 * power).powi(2) / layout.total_buckets() as f64;
            let finding = Finding::calculated(planned).off_by(spread * planned);
            Ok(finding.and_measured(measured).note(note))
        },
    )
}

/// The probability that a Poisson variable is at most `value`.
fn poisson_up_to(mean: f64, value: u32) -> f64 {
    let mut probability = (-mean).exp();
    let mut up_to = 0.0;
    for count in 1..=value + 1 {
        up_to += probability;
        probability *= mean / f64::from(count);
    }
    up_to
}

/// Section II-E prints no figures. This measures loads of 1/4, 1/2 and 3/4 of the full load, and
/// 10% above it. A filter is compared with the Bloom filter of the same size, whose hash functions
/// are optimal at full load. The section says that semi-sorting gains nothing at low loads; this
/// holds at half load, where most buckets have two or three items.
pub(super) fn other_load(percent: u32) -> Experiment {
    /// Buckets per sub-table, so that each filter has some 30 buckets of three items at the lowest
    /// load.
    const MANY_BUCKETS: u64 = 1 << 16;
    let load = LOAD_64 * f64::from(percent) / 100.0;
    let bits = f64::from(BucketBits::Bits64.bits());
    let hashes = 11;
    let of_bloom = bloom::asymptotic(bits / load, hashes);
    let (name, words, printed) = match percent {
        ..100 => (
            "underloaded",
            "performs quite well when underloaded (II-E; read as: errs no more often than a Bloom filter of the same bits)",
            Printed::statement("quite well", 0.0..=of_bloom),
        ),
        _ => (
            "overloaded",
            "has increased false positives when overloaded (II-E)",
            Printed::statement("increased", bloom::asymptotic(bits / LOAD_64, hashes)..=1.0),
        ),
    };
    new(
        format!("{name}/{percent}-percent"),
        format!("The filter {words}: false positives at {percent}% of four items a 64-bit bucket"),
        printed,
        move |context| {
            let layout = DLeftLayout::new(SUBTABLES, MANY_BUCKETS, BucketBits::Bits64)?;
            let items = (load * layout.total_buckets() as f64).round() as u64;
            let plan = dleft::plan(layout, load)?;
            let measured = measure(context, context.effort(16, 100), |seed| {
                Ok(filled(layout, items, seed)?.false_positive_rate())
            })?;
            Ok(Finding::calculated(plan.false_positive)
                .at_most_lower_by(plan.false_positive - plan.false_positive_exact)
                .and_measured(measured)
                .note(format!(
                    "{} for a Bloom filter of the same bits and {hashes} hash functions",
                    number(of_bloom)
                )))
        },
    )
}

/// Inserts all items, then removes and reinserts each, ten times.
pub(super) fn offline(
    name: &'static str,
    claim: &str,
    printed: &'static str,
    items: u64,
    bucket_bits: BucketBits,
) -> Experiment {
    const OFFLINE_SUBTABLES: u32 = 2;
    const ROUNDS: usize = 10;
    new(
        format!("rate/{name}"),
        format!("False positives after ten rounds of re-insertion into 2 × 4096 buckets (II-D): {claim}"),
        Printed::counted(printed),
        move |context| {
            let layout = DLeftLayout::new(OFFLINE_SUBTABLES, BUCKETS, bucket_bits)?;
            let filters = context.effort(10, 200);
            let measured = measure(context, filters, |seed| {
                let digester = Ideal::with_seed(seed);
                let mut filter = DLeftFilter::with_digester(layout, digester)?;
                let digests = (0..items).map(|item| digester.digest(&item));
                let balance = insert_balanced(&mut filter, digests)?;
                Ok(balance.rate)
            })?;
            // Filters break ties to the left. Balls and bins measure the gain of random ties.
            let at_random = context.trials(filters, |seed| {
                let random = Random::with_seed(seed);
                let (mut table, mut places) = Table::filled(layout.with_ties(Ties::Random), items, random);
                for round in 1..=ROUNDS {
                    for (item, place) in (0..).zip(&mut places) {
                        table.remove(*place);
                        *place = table.insert(random.item(item), round);
                    }
                }
                table.false_positive()
            });
            let note = format!(
                "ties to the left; {} with random ties: the rule is not printed",
                number(at_random.value)
            );
            Ok(Finding::measured(measured).note(note))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::poisson_up_to;

    #[test]
    fn the_lower_tail_of_a_poisson_variable() {
        // e^−1 · (1 + 1 + 1/2).
        assert!((poisson_up_to(1.0, 2) - 0.919_698_603).abs() < 1e-9);
        assert!((poisson_up_to(1.0, 0) - 0.367_879_441).abs() < 1e-9);
    }
}
