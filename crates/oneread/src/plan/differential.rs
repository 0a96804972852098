//! Differential equations for fractions of a table, of which the smallest matter as much as the
//! largest.
//!
//! The method is Gragg's, Bulirsch's and Stoer's: a step is made by the modified midpoint rule with
//! 2, 4, … , 16 substeps, whose errors have expansions in even powers of the substep, and
//! extrapolated to substep 0. The result is of order 16. The difference of the last two
//! extrapolations is the error estimate of the one before the last, and so larger than that of the
//! result.
//!
//! The error of every variable is held to [`RELATIVE`] of its own size, however small it is, down
//! to [`ABSOLUTE`]. Tails grow like high powers of time from 0, and pass through the sizes in which
//! only the absolute bound holds long before they reach their own; what they gather there is below
//! their error afterwards.

use alloc::vec;
use alloc::vec::Vec;

use super::float::{exp, ln};

/// The error of a step in a variable, relative to its size.
const RELATIVE: f64 = 1e-12;

/// Variables below this times 1/[`RELATIVE`] are not followed to full accuracy.
const ABSOLUTE: f64 = 1e-60;

/// Extrapolations: the j-th of them (from 0) has 2j + 2 substeps.
const COLUMNS: usize = 8;

/// Steps are never smaller than this fraction of the whole, so that any equation is done in bounded
/// time. Those here take some hundred steps.
const SMALLEST: f64 = 1e-6;

/// What the variables are after `time`, given `rates`: (variables, their derivatives to fill in).
pub(super) fn evolve(state: &mut [f64], time: f64, mut rates: impl FnMut(&[f64], &mut [f64])) {
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

/// Room for one step.
struct StepBudget {
    /// The extrapolations of the present row; the last is the result.
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
    /// variable, 1 being what it may be.
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
                    // What is not a number is the worst.
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
