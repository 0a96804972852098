//! Figure 1: the distribution of the stash beside the Poisson distribution.

use oneread::layout::{HintChain, HintRule, Hints, Moves};
use oneread_study::simulate::Simulation;

use super::table_i::simulate;
use super::{STEPS, halving, new};
use crate::finding::Measured;
use crate::picture::{Axis, Picture, Series};
use crate::{Experiment, Finding, Printed};

/// Sizes with fewer expected trials are merged: the usual condition of the χ² test.
const LEAST_EXPECTED: f64 = 5.0;

/// One seed in 10,000 raises a false alarm.
const FALSE_ALARM: f64 = 1e-4;

pub(super) fn figure() -> Experiment {
    const FIGURE: u64 = 32_768;
    const QUICK: u64 = 8192;
    new(
        "figure-1/poisson",
        "The stash with hints, one move a deletion and Second Chance is roughly Poisson (III-A, figure 1): the probability of so \
         large a χ², of 8192 items, or with --full of the figure's 32768",
        Printed::statement("approximately Poisson", FALSE_ALARM..=1.0),
        |context| {
            let items = context.effort(QUICK, FIGURE);
            let moves = Moves::Both(Hints { rule: HintRule::Replace, chain: HintChain::One });
            let steps = STEPS * items / FIGURE;
            let simulation = Simulation::new(halving(items, 4, moves)?, items)?.with_steps(steps);
            let report = simulate(context, &simulation, context.effort(400, 4000))?;
            let end = report.end_stash();
            let (chi_square, degrees) = chi_square(report.end_stash_counts(), end.mean);
            let variance = end.standard_error.powi(2) * report.trials() as f64;
            let note = format!(
                "{items} items, {} trials: mean {:.3}, variance {variance:.3}, χ² = {chi_square:.2} with {degrees} degrees of freedom",
                report.trials(),
                end.mean
            );
            let picture = distribution(report.end_stash_counts(), end.mean, items);
            let finding = Finding::measured(Measured::exhaustive(upper_tail(chi_square, degrees)));
            Ok(finding.note(note).picture(picture))
        },
    )
}

/// The figure: how many trials ended with each stash size, beside the Poisson distribution of the
/// same mean.
fn distribution(counts: &[u64], mean: f64, items: u64) -> Picture {
    let trials = counts.iter().sum::<u64>() as f64;
    let share = |(size, &count): (usize, &u64)| {
        let value = count as f64 / trials;
        (size as f64, Measured { value, standard_error: (value * (1.0 - value) / trials).sqrt() })
    };
    let poisson = (0..counts.len() as u32).map(|size| (size.into(), ln_probability(mean, size).exp()));
    Picture {
        id: "moves-figure-1".to_owned(),
        title: format!("Stashes at the end of {trials} trials of {items} items (figure 1)"),
        across: Axis::linear("items in the stash"),
        up: Axis::linear("share of trials"),
        series: vec![
            Series::calculated("Poisson of the same mean", poisson),
            Series::measured("stash", counts.iter().enumerate().map(share)),
        ],
        caption:
            "The dots follow the dashed line: a stash that is Poisson can be planned for from its mean alone."
                .to_owned(),
    }
}

/// ln Pr(k) of a Poisson variable.
pub(super) fn ln_probability(mean: f64, k: u32) -> f64 {
    let ln_factorial: f64 = (1..=k).map(|i| f64::from(i).ln()).sum();
    f64::from(k) * mean.ln() - mean - ln_factorial
}

/// χ² of counts of 0, 1, 2, … beside a Poisson distribution of the same mean, and its degrees of
/// freedom: the classes minus one, and minus one more for the mean.
fn chi_square(counts: &[u64], mean: f64) -> (f64, u32) {
    let trials = counts.iter().sum::<u64>() as f64;
    let mut classes: Vec<(f64, f64)> = Vec::new();
    let (mut seen, mut expected, mut left) = (0.0, 0.0, trials);
    for k in 0.. {
        seen += counts.get(k).map_or(0.0, |&count| count as f64);
        let more = trials * ln_probability(mean, k as u32).exp();
        expected += more;
        left -= more;
        if left < LEAST_EXPECTED {
            // The last class includes all larger sizes.
            seen += counts.iter().skip(k + 1).sum::<u64>() as f64;
            classes.push((seen, expected + left));
            break;
        }
        if expected >= LEAST_EXPECTED {
            classes.push((seen, expected));
            (seen, expected) = (0.0, 0.0);
        }
    }
    let distance = classes.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    (distance, (classes.len() as u32).saturating_sub(2).max(1))
}

/// Pr(χ² ≥ x) with `degrees` degrees of freedom. If they are even, it is e^(−x/2)·Σ (x/2)^i/i! over
/// i < degrees/2. If they are odd, the sum runs over half-integers and begins with the two tails of
/// a normal variable.
fn upper_tail(x: f64, degrees: u32) -> f64 {
    let half = x / 2.0;
    let (mut tail, mut term, first) = if degrees.is_multiple_of(2) {
        (0.0, (-half).exp(), 0.0)
    } else {
        (two_normal_tails(x.sqrt()), (-half).exp() * (half / std::f64::consts::PI).sqrt() * 2.0, 0.5)
    };
    for i in 0..degrees / 2 {
        tail += term;
        term *= half / (f64::from(i) + 1.0 + first);
    }
    tail
}

/// The probability that a normal variable is farther than z from its mean: by Simpson's rule, from
/// z to where the density is negligible.
fn two_normal_tails(z: f64) -> f64 {
    const STEPS: u32 = 2000;
    let width = 12.0 / f64::from(STEPS);
    let density = |step: u32| (-(z + width * f64::from(step)).powi(2) / 2.0).exp();
    let inner: f64 = (1..STEPS).map(|step| density(step) * if step % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (density(0) + inner + density(STEPS)) * width / 3.0 * (2.0 / std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        // The 5% and 0.1% points of printed tables.
        for (degrees, five_percent, one_in_a_thousand) in
            [(1, 3.8415, 10.8276), (2, 5.9915, 13.8155), (5, 11.0705, 20.515), (10, 18.307, 29.5883)]
        {
            assert!((upper_tail(five_percent, degrees) / 0.05 - 1.0).abs() < 1e-3, "{degrees}");
            assert!((upper_tail(one_in_a_thousand, degrees) / 0.001 - 1.0).abs() < 1e-3, "{degrees}");
        }
    }

    #[test]
    fn a_distribution_is_told_from_another() {
        // 1000·e^−1/k!: 368, 368, 184, 61, 15, and 4 larger ones.
        let (fits, degrees) = chi_square(&[368, 368, 184, 61, 15, 3, 1], 1.0);
        assert!(degrees == 3 && upper_tail(fits, degrees) > 0.9, "{fits} {degrees}");
        // The same mean, geometric: 500, 250, 125, …
        let (apart, degrees) = chi_square(&[500, 250, 125, 62, 31, 16, 8, 8], 1.0);
        assert!(upper_tail(apart, degrees) < FALSE_ALARM, "{apart}");
    }
}
