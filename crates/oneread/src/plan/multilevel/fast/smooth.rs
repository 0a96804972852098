//! A smooth function of a number of items, by polynomials through a few of its values.
//!
//! It is a polynomial in the logarithm of the number, through values at Chebyshev's points rounded
//! to whole numbers, in Lagrange's barycentric form. Its error is measured: each time the points
//! are doubled, the old polynomial is evaluated at the new points. For a smooth function, the new
//! polynomial's error is about the square of that.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::f64::consts::PI;

use crate::plan::float::{cos, exp, ln};

/// The function from `low` on.
pub(crate) struct Smooth {
    first: u64,
    last: u64,
    /// Its values at the first numbers.
    few: Vec<f64>,
    /// The pieces after them, in ascending order.
    pieces: Vec<Piece>,
}

impl Smooth {
    /// Covers `low` to `high`; numbers below `rough` are computed one by one. `None` if a value
    /// cannot be computed.
    ///
    /// A polynomial may be off by `most_doubt` at the points of the next, which is far more
    /// accurate. `weight`, at most 1, lowers the importance of a number and its value.
    pub(crate) fn new(
        low: u64,
        rough: u64,
        high: u64,
        most_doubt: f64,
        value: impl Fn(u64) -> Option<f64>,
        weight: impl Fn(u64, f64) -> f64,
    ) -> Option<Self> {
        let few = (low..rough.min(high + 1)).map(&value).collect::<Option<Vec<f64>>>()?;
        let mut pieces = Vec::new();
        let mut values = Values { value, known: BTreeMap::new() };
        // The first on top: a range that one piece does not cover becomes two.
        let mut open = Vec::from([(rough.max(low), high)]);
        while let Some((first, last)) = open.pop() {
            if first > last {
                continue;
            }
            match Piece::new(first, last, most_doubt, &mut values, &weight)? {
                Some(piece) => pieces.push(piece),
                None => {
                    let middle = first + (last - first) / 2;
                    open.extend([(middle + 1, last), (first, middle)]);
                }
            }
        }
        Some(Self { first: low, last: high, few, pieces })
    }

    /// The value at a number; before the first and after the last, the value there.
    pub(crate) fn at(&self, number: u64) -> f64 {
        let number = number.min(self.last);
        let index = number.saturating_sub(self.first) as usize;
        if let Some(value) = self.few.get(index) {
            return *value;
        }
        let number = number.max(self.first);
        let piece = self.pieces.iter().find(|piece| number <= piece.last);
        piece.map_or(f64::NEG_INFINITY, |piece| piece.at(number))
    }
}

/// A point of a polynomial.
struct Node {
    number: u64,
    ln_number: f64,
    value: f64,
    /// One over the product of its distances to the others.
    weight: f64,
}

/// A polynomial that replaces the function up to some number.
struct Piece {
    last: u64,
    nodes: Vec<Node>,
}

/// The values of the function, each computed once.
struct Values<F> {
    value: F,
    known: BTreeMap<u64, f64>,
}

impl<F: Fn(u64) -> Option<f64>> Values<F> {
    fn at(&mut self, numbers: impl IntoIterator<Item = u64>) -> Option<Vec<(u64, f64)>> {
        let mut values = Vec::new();
        for number in numbers {
            let value = match self.known.get(&number) {
                Some(value) => *value,
                None => (self.value)(number)?,
            };
            self.known.insert(number, value);
            values.push((number, value));
        }
        Some(values)
    }
}

impl Piece {
    /// Covers `first` to `last` if one polynomial suffices; the outer `None` is for missing values.
    fn new<F: Fn(u64) -> Option<f64>>(
        first: u64,
        last: u64,
        most_doubt: f64,
        values: &mut Values<F>,
        weight: &impl Fn(u64, f64) -> f64,
    ) -> Option<Option<Self>> {
        /// Numbers of points; each set contains the one before.
        const COUNTS: [u64; 3] = [5, 9, 17];
        /// The largest error anywhere.
        const MAX_OFF: f64 = 0.2;
        if last - first < COUNTS[1] {
            // All of them.
            return Some(Some(Self::through(&values.at(first..=last)?)));
        }
        let mut piece: Option<Self> = None;
        for count in COUNTS {
            let numbers = chebyshev(first, last, count);
            if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
                break;
            }
            let values = values.at(numbers)?;
            let is_close = |piece: &Self| {
                values.iter().all(|&(number, value)| {
                    (piece.at(number) - value).abs() < (most_doubt / weight(number, value)).min(MAX_OFF)
                })
            };
            let is_close = piece.as_ref().is_some_and(is_close);
            let next = Self::through(&values);
            if is_close {
                return Some(Some(next));
            }
            piece = Some(next);
        }
        Some(None)
    }

    fn through(values: &[(u64, f64)]) -> Self {
        let ln_numbers: Vec<f64> = values.iter().map(|&(number, _)| ln(number as f64)).collect();
        let (low, high) = (ln_numbers[0], ln_numbers[ln_numbers.len() - 1]);
        // In quarters of the width, products of distances are near 1.
        let unit = 4.0 / (high - low).max(f64::MIN_POSITIVE);
        let weight = |i: usize| {
            let others = ln_numbers.iter().enumerate().filter(|(j, _)| *j != i);
            1.0 / others.map(|(_, other)| (ln_numbers[i] - other) * unit).product::<f64>()
        };
        let nodes = values.iter().enumerate().map(|(i, &(number, value))| Node {
            number,
            ln_number: ln_numbers[i],
            value,
            weight: weight(i),
        });
        Self { last: values[values.len() - 1].0, nodes: nodes.collect() }
    }

    fn at(&self, number: u64) -> f64 {
        if let Some(node) = self.nodes.iter().find(|node| node.number == number) {
            return node.value;
        }
        let ln_number = ln(number as f64);
        let (mut sum, mut all) = (0.0, 0.0);
        for node in &self.nodes {
            let share = node.weight / (ln_number - node.ln_number);
            sum += share * node.value;
            all += share;
        }
        sum / all
    }
}

/// Chooses `count` numbers from `first` to `last`, spaced by their logarithms and denser at the
/// ends.
fn chebyshev(first: u64, last: u64, count: u64) -> Vec<u64> {
    let (low, high) = (ln(first as f64), ln(last as f64));
    let number = |i: u64| {
        let share = 0.5 - 0.5 * cos(PI * i as f64 / (count - 1) as f64);
        // Keeps the ends exact, whatever the rounding.
        ((exp(low + (high - low) * share) + 0.5) as u64).clamp(first, last)
    };
    let inner = (1..count - 1).map(number);
    [first].into_iter().chain(inner).chain([last]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln C(a, 5), and a curve that bends where odds come near 1: levels produce functions like
    /// these.
    #[test]
    fn a_few_values_give_all_others() {
        let binomial = |a: u64| (0..5).map(|i| ln((a - i) as f64 / (i + 1) as f64)).sum::<f64>();
        let saturating = |a: u64| -ln(1.0 + exp(-(a as f64 - 30_000.0) / 900.0));
        for (low, rough, high, function) in [
            (10, 40, 5_000, &binomial as &dyn Fn(u64) -> f64),
            (400, 40, 401, &binomial),
            (25_000, 40, 40_000, &saturating),
        ] {
            let asked = core::cell::Cell::new(0u64);
            let smooth = Smooth::new(
                low,
                rough,
                high,
                2e-6,
                |a| {
                    asked.set(asked.get() + 1);
                    Some(function(a))
                },
                |_, _| 1.0,
            );
            let smooth = smooth.expect("all values");
            for a in (low..=high).step_by(7) {
                assert!((smooth.at(a) - function(a)).abs() < 1e-9, "{a}: {} {}", smooth.at(a), function(a));
            }
            // The bend of the last takes over a hundred, the others far fewer.
            assert!(asked.get() * 20 < high - low || high - low < 100, "asked {}", asked.get());
        }
        assert!(Smooth::new(100, 40, 1000, 2e-6, |a| (a < 500).then_some(0.0), |_, _| 1.0).is_none());
    }
}
