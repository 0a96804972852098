//! Complex numbers, with the operations of integrals over circles.

use core::ops::{Add, Mul};

use crate::plan::float::{atan2, cos, exp, ln_1p, sin};

#[derive(Clone, Copy, Default)]
pub(crate) struct Complex {
    pub(crate) re: f64,
    pub(crate) im: f64,
}

impl Complex {
    pub(crate) fn polar(size: f64, angle: f64) -> Self {
        Self { re: size * cos(angle), im: size * sin(angle) }
    }

    /// e^(i·angle) − 1, which keeps its digits for small angles.
    pub(crate) fn polar_less_one(angle: f64) -> Self {
        let half = sin(angle / 2.0);
        Self { re: -2.0 * half * half, im: sin(angle) }
    }

    /// Multiplies by e^(i·angle).
    pub(crate) fn turn(&mut self, angle: f64) {
        *self = *self * Self::polar(1.0, angle);
    }

    /// The square of its absolute value.
    pub(crate) const fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    pub(crate) fn inverse(self) -> Self {
        let square = self.square();
        Self { re: self.re / square, im: -self.im / square }
    }

    /// (1 + self)^exponent, where self may vanish beside 1.
    pub(crate) fn power_of_one_more(self, exponent: f64) -> Self {
        let ln_size = 0.5 * ln_1p(2.0 * self.re + self.re * self.re + self.im * self.im);
        Self::polar(exp(exponent * ln_size), exponent * atan2(self.im, 1.0 + self.re))
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl Mul<f64> for Complex {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }
}
