//! Float functions, all from `libm`, so that results do not depend on the standard library.

pub(super) use libm::{atan2, ceil, cos, expm1, floor, log1p as ln_1p, sin, sqrt};
pub use libm::{exp, log as ln};

/// ln(1 − e^x) for x ≤ 0, without cancellation at either end.
#[must_use]
pub fn ln_one_minus_exp(x: f64) -> f64 {
    // Below ln(1/2), e^x is the smaller of the two terms; above it, 1 − e^x is.
    if x < -core::f64::consts::LN_2 { ln_1p(-exp(x)) } else { ln(-expm1(x)) }
}

/// ln(e^a + e^b).
pub(super) fn ln_sum(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + ln_1p(exp(small - large)) }
}
