//! A smooth function at many whole numbers, computed at few.
//!
//! Logarithms of probabilities, and quotients of two formulas for the same probability, are
//! analytic, and change slowly beside what they cost. A polynomial through Chebyshev nodes replaces
//! the function where both agree at numbers between the nodes. Otherwise the range is halved; a
//! short range is computed number by number.

use alloc::vec::Vec;
use core::f64::consts::PI;

use super::float::{cos, floor};

/// Nodes of a polynomial.
const NODES: u32 = 20;

/// Ranges up to this length are computed number by number.
const SHORT: u64 = 2 * NODES as u64;

/// Where a polynomial is compared with the function, as fractions of the range: errors are largest
/// near the ends.
const CHECKS: [f64; 5] = [0.003, 0.04, 0.37, 0.77, 0.993];

/// A function on a range of whole numbers.
#[derive(Clone, Debug)]
pub(super) struct Interpolated {
    first: u64,
    last: u64,
    /// In ascending order, without gaps.
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    last: u64,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    /// The value of each number from `first` on.
    Listed {
        first: u64,
        values: Vec<f64>,
    },
    Polynomial(Barycentric),
}

impl Interpolated {
    /// Interpolates the function on the numbers from `first` to `last`, to an absolute error that
    /// is itself a function of the value.
    pub(super) fn new(
        first: u64,
        last: u64,
        tolerance: impl Fn(f64) -> f64,
        mut function: impl FnMut(u64) -> f64,
    ) -> Self {
        let mut pieces = Vec::new();
        let mut ranges = Vec::from([(first, last)]);
        while let Some((first, last)) = ranges.pop() {
            if last - first < SHORT {
                let values = (first..=last).map(&mut function).collect();
                pieces.push(Piece { last, values: Values::Listed { first, values } });
                continue;
            }
            let polynomial = Barycentric::new(first, last, &mut function);
            let agrees = CHECKS.iter().all(|check| {
                let number = first + (check * (last - first) as f64) as u64;
                let exact = function(number);
                (polynomial.at(number) - exact).abs() <= tolerance(exact)
            });
            if agrees {
                pieces.push(Piece { last, values: Values::Polynomial(polynomial) });
            } else {
                let middle = first + (last - first) / 2;
                ranges.extend([(middle + 1, last), (first, middle)]);
            }
        }
        Self { first, last, pieces }
    }

    /// The value at a number, or at the nearest one in the range.
    pub(super) fn at(&self, number: u64) -> f64 {
        let number = number.clamp(self.first, self.last);
        let piece = self.pieces.partition_point(|piece| piece.last < number);
        match &self.pieces[piece].values {
            Values::Listed { first, values } => values[(number - first) as usize],
            Values::Polynomial(polynomial) => polynomial.at(number),
        }
    }
}

/// A polynomial by its values at nodes, in the barycentric form, which is stable at Chebyshev
/// nodes.
#[derive(Clone, Debug)]
struct Barycentric {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    number: u64,
    value: f64,
    weight: f64,
}

impl Barycentric {
    fn new(first: u64, last: u64, function: &mut impl FnMut(u64) -> f64) -> Self {
        let length = (last - first) as f64;
        let node = |i: u32| {
            first + floor(length * (0.5 - 0.5 * cos(PI * f64::from(i) / f64::from(NODES - 1))) + 0.5) as u64
        };
        let mut numbers: Vec<u64> = (0..NODES).map(node).collect();
        numbers.dedup();
        // In units of a quarter of the range, the capacity of an interval, products of differences
        // stay near 1.
        let unit = length / 4.0;
        let weight = |number: u64| {
            let others = numbers.iter().filter(|&&other| other != number);
            1.0 / others.fold(1.0, |product, &other| product * (number as f64 - other as f64) / unit)
        };
        let nodes =
            numbers.iter().map(|&number| Node { number, value: function(number), weight: weight(number) });
        Self { nodes: nodes.collect() }
    }

    fn at(&self, number: u64) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for node in &self.nodes {
            if node.number == number {
                return node.value;
            }
            let share = node.weight / (number as f64 - node.number as f64);
            above += share * node.value;
            below += share;
        }
        above / below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::float::ln;

    #[test]
    fn agrees_with_a_smooth_function_and_one_with_a_kink() {
        let smooth = |number: u64| ln(1.0 + number as f64);
        let kinked = |number: u64| (number as f64 - 700.0).abs() * 1e-5;
        for function in [&smooth as &dyn Fn(u64) -> f64, &kinked] {
            for (first, last) in [(0, 0), (0, 39), (3, 43), (10, 2000), (0, 100_000)] {
                let mut calls = 0;
                let interpolated = Interpolated::new(
                    first,
                    last,
                    |_| 1e-11,
                    |number| {
                        calls += 1;
                        function(number)
                    },
                );
                for number in first..=last {
                    assert!(
                        (interpolated.at(number) - function(number)).abs() < 1e-10,
                        "{number} of {first}..={last}"
                    );
                }
                assert!(calls <= 2000, "{calls} calls for {first}..={last}");
            }
        }
    }
}
