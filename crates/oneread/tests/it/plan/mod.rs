mod blocked;
mod bloom;
mod bounded;
mod count_min;
mod counting;
mod dleft;
mod dleft_counting;
mod error;
#[cfg(not(miri))]
mod extremes;
mod growing;
mod line;
mod multilevel;
mod solve;
mod summary;

/// Rates that no solver accepts.
const BAD_FRACTIONS: [f64; 8] = [0.0, -0.0, 1.0, -0.5, 1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Asserts that two numbers agree to a relative error.
#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(
        found == expected || error <= tolerance,
        "found {found:e}, expected {expected:e}: off by {error:e}"
    );
}

/// Two whole numbers as a fraction, each rounded once to 53 bits.
fn fraction(numerator: u128, denominator: u128) -> f64 {
    numerator as f64 / denominator as f64
}

fn choose(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product, j| product * (n - j) / (j + 1))
}

/// A number below the bound, by the upper half of a product: uniform to 2^-64 times the bound.
fn below(rng: &mut impl rand_core::Rng, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}
