//! Numbers with a float's precision and an unlimited range, for probabilities that underflow
//! floats.

use core::ops::{Add, Mul};

use crate::plan::float::{exp, floor, ln};

/// The numbers that the recursions of small levels use: floats, or wide numbers where those
/// underflow.
pub(crate) trait Weight: Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> {
    fn from_ln(ln_value: f64) -> Self;
    fn ln(self) -> f64;
    /// Reports whether products with it might be subnormal floats, which are very slow.
    fn underflows(self) -> bool;
}

impl Weight for f64 {
    fn from_ln(ln_value: f64) -> Self {
        exp(ln_value)
    }

    fn ln(self) -> f64 {
        ln(self)
    }

    fn underflows(self) -> bool {
        const LEAST: f64 = 1e-250;
        self < LEAST
    }
}

/// mantissa · 2^(512·exponent), not negative. The fields are in order of significance.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Wide {
    exponent: i32,
    /// 0, or from 2^−256 up to 2^256.
    mantissa: f64,
}

/// 2^512.
const STEP: f64 = 1.3407807929942597e154;

/// 2^256, the square root of the step.
const MOST: f64 = 1.157920892373162e77;

/// ln 2^512.
const LN_STEP: f64 = 512.0 * core::f64::consts::LN_2;

impl Wide {
    fn normal(mantissa: f64, exponent: i32) -> Self {
        if mantissa >= MOST {
            Self { mantissa: mantissa / STEP, exponent: exponent + 1 }
        } else if mantissa < 1.0 / MOST {
            Self { mantissa: mantissa * STEP, exponent: exponent - 1 }
        } else {
            Self { mantissa, exponent }
        }
    }
}

impl Weight for Wide {
    fn from_ln(ln_value: f64) -> Self {
        if ln_value == f64::NEG_INFINITY {
            return Self { mantissa: 0.0, exponent: i32::MIN / 2 };
        }
        let exponent = floor(ln_value / LN_STEP + 0.5);
        Self { mantissa: exp(ln_value - exponent * LN_STEP), exponent: exponent as i32 }
    }

    fn ln(self) -> f64 {
        ln(self.mantissa) + f64::from(self.exponent) * LN_STEP
    }

    fn underflows(self) -> bool {
        self.mantissa == 0.0
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (large, small) = if self.exponent < other.exponent { (other, self) } else { (self, other) };
        match large.exponent - small.exponent {
            0 => Self::normal(large.mantissa + small.mantissa, large.exponent),
            1 => Self::normal(large.mantissa + small.mantissa / STEP, large.exponent),
            // Too small to matter.
            _ => large,
        }
    }
}

impl Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return Self::from_ln(f64::NEG_INFINITY);
        }
        Self::normal(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_where_floats_underflow() {
        for (a, b) in [(-5000.0, -5001.0), (-3.0, -2.0), (-700.0, -353.0), (-1e6, -10.0), (0.0, -355.0)] {
            let (wide_a, wide_b) = (Wide::from_ln(a), Wide::from_ln(b));
            assert!(((wide_a * wide_b).ln() - (a + b)).abs() < 1e-9 * (1.0 + (a + b).abs()));
            let larger = f64::max(a, b);
            let ln_sum = larger + libm::log1p(exp(-(a - b).abs()));
            assert!(((wide_a + wide_b).ln() - ln_sum).abs() < 1e-9 * (1.0 + larger.abs()), "{a} + {b}");
        }
        let none = Wide::from_ln(f64::NEG_INFINITY);
        assert_eq!((none + Wide::from_ln(-2000.0)).ln(), Wide::from_ln(-2000.0).ln());
        assert!(none < Wide::from_ln(-1e6) && Wide::from_ln(-1e6) < Wide::from_ln(-999_999.0));
        assert_eq!((none * Wide::from_ln(-2000.0)).ln(), f64::NEG_INFINITY);
    }
}
