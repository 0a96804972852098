//! Differential equations for fractions of a table, accurate even for the smallest fractions.
//!
//! The method is that of Gragg, Bulirsch and Stoer. A step uses the modified midpoint rule with 2,
//! 4, … , 16 substeps, whose errors have expansions in even powers of the substep, and extrapolates
//! to substep 0. The result is of order 16. The difference of the last two extrapolations estimates
//! the error of the one before the last, which exceeds that of the result.
//!
//! The error of every variable is at most [`RELATIVE`] of its own size, however small it is, down
//! to [`ABSOLUTE`]. Tails grow like high powers of time from 0. They leave the sizes where only the
//! absolute bound holds long before they reach their final size; the error from there is negligible
//! afterwards.

use alloc::vec;
use alloc::vec::Vec;

use super::float::{exp, ln};

/// The error per step in a variable, relative to its size.
const RELATIVE: f64 = 1e-12;

/// Variables below this times 1/[`RELATIVE`] are followed less accurately.
const ABSOLUTE: f64 = 1e-60;

/// Extrapolations: the j-th of them (from 0) has 2j + 2 substeps.
const COLUMNS: usize = 8;

/// The smallest step as a fraction of the whole, which bounds the time. The equations here take
/// some hundred steps.
const SMALLEST: f64 = 1e-6;

/// Advances the variables by `time`, given `rates`: (variables, their derivatives to fill in).
pub fn evolve(state: &mut [f64], time: f64, mut rates: impl FnMut(&[f64], &mut [f64])) {
    let mut work = StepBudget::new(state.len());
    let (mut done, mut step) = (0.0, time * SMALLEST);
    while done < time {
        let last = step >= time - done;
        let tried = if last { time - done } else { step };
        let error = work.try_step(state, tried, &mut rates);
        // The usual controller for an error of order 2·COLUMNS − 1, with the usual caution.
        let exponent = 1.0 / (2 * COLUMNS - 1) as f64;
        let factor = 0.9 * exp(-exponent * ln(error.max(1e-30)));
        step = tried * factor.clamp(0.1, 4.0);
        if error <= 1.0 || tried <= time * SMALLEST {
            state.copy_from_slice(&work.table[COLUMNS - 1]);
            done += tried;
            if last {
                return;
            }
        }
        step = step.max(time * SMALLEST);
    }
}

/// Buffers for one step.
struct StepBudget {
    /// The extrapolations of the current row; the last is the result.
    table: Vec<Vec<f64>>,
    start: Vec<f64>,
    before: Vec<f64>,
    middle: Vec<f64>,
    rates: Vec<f64>,
}

impl StepBudget {
    fn new(variables: usize) -> Self {
        let row = || vec![0.0; variables];
        Self { table: vec![row(); COLUMNS], start: row(), before: row(), middle: row(), rates: row() }
    }

    /// Makes a step; the result is the last entry of the table. Returns the largest error of a
    /// variable, relative to the allowed one.
    fn try_step(&mut self, state: &[f64], step: f64, rates: &mut impl FnMut(&[f64], &mut [f64])) -> f64 {
        rates(state, &mut self.start);
        let mut error = 0.0f64;
        for row in 0..COLUMNS {
            let substeps = 2 * row + 2;
            self.midpoint(state, step, substeps, rates);
            // The midpoint result in `middle` becomes entry 0, and entry c of this row follows from
            // entry c − 1 of this row and of the row before.
            for (variable, &middle) in self.middle.iter().enumerate() {
                let mut entry = middle;
                for column in 0..row {
                    let coarser = (2 * (row - column - 1) + 2) as f64;
                    let ratio = substeps as f64 / coarser;
                    let above = core::mem::replace(&mut self.table[column][variable], entry);
                    entry += (entry - above) / (ratio * ratio - 1.0);
                }
                if row == COLUMNS - 1 {
                    let before = self.table[row - 1][variable];
                    let size = entry.abs().max(state[variable].abs());
                    let relative = (entry - before).abs() / (RELATIVE * size + ABSOLUTE);
                    // NaN counts as the largest error.
                    error = if relative.is_nan() { f64::INFINITY } else { error.max(relative) };
                }
                self.table[row][variable] = entry;
            }
        }
        error
    }

    /// The modified midpoint rule; the result is in `middle`.
    fn midpoint(
        &mut self,
        state: &[f64],
        step: f64,
        substeps: usize,
        rates: &mut impl FnMut(&[f64], &mut [f64]),
    ) {
        let substep = step / substeps as f64;
        self.before.copy_from_slice(state);
        for ((middle, &state), &rate) in self.middle.iter_mut().zip(state).zip(&self.start) {
            *middle = state + substep * rate;
        }
        for _ in 1..substeps {
            rates(&self.middle, &mut self.rates);
            for ((before, middle), &rate) in self.before.iter_mut().zip(&mut self.middle).zip(&self.rates) {
                let after = *before + 2.0 * substep * rate;
                *before = *middle;
                *middle = after;
            }
        }
        rates(&self.middle, &mut self.rates);
        for ((middle, &before), &rate) in self.middle.iter_mut().zip(&self.before).zip(&self.rates) {
            *middle = 0.5 * (*middle + before + substep * rate);
        }
    }
}
