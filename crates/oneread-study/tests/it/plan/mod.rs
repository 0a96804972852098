mod churn;
mod cuckoo;
mod deletion;
mod moves;
mod probing;

/// Checks that two numbers agree to a relative error.
#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(
        found == expected || error <= tolerance,
        "found {found:e}, expected {expected:e}: off by {error:e}"
    );
}

fn choose(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product, j| product * (n - j) / (j + 1))
}

/// A random number below `bound`.
pub(crate) fn below(rng: &mut impl rand_core::Rng, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}
