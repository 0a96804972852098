//! Solutions against the paper's designs, exhaustive search of small cases, and the calculators:
//! random targets are met, and none of them by a layout one step smaller.

mod map;
mod summary;
mod table;

use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;
use rand_pcg::Pcg64Mcg;

use crate::plan::below;

/// Fractions that no solver accepts.
const BAD_FRACTIONS: [f64; 8] = [0.0, -0.0, 1.0, -0.5, 1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

fn planned_table(levels: &[u64], items: u64) -> MultilevelPlan {
    MultilevelPlan::new(&MultilevelLayout::new(levels).unwrap(), items).unwrap()
}

/// A random number between two, uniform in its logarithm.
fn between(rng: &mut Pcg64Mcg, low: f64, high: f64) -> f64 {
    let part = below(rng, 1 << 20) as f64 / f64::from(1u32 << 20);
    low * (high / low).powf(part)
}
