//! A bound on the work of a calculation, counted in steps, so that it is the same on every machine.

use core::cell::Cell;

use crate::layout::LayoutError;

/// The steps that a calculation has left. A step is a term of a sum, or a few operations.
///
/// A function that finds none left stops at once and returns any value of the right type. The
/// calculation's entry point [checks](StepBudget::check) the budget before it uses the result.
pub struct StepBudget {
    what: &'static str,
    most: f64,
    left: Cell<f64>,
}

impl StepBudget {
    /// Allows `most` steps for "a plan of a table", "a search for a table", ….
    pub const fn new(what: &'static str, most: f64) -> Self {
        Self { what, most, left: Cell::new(most) }
    }

    /// Takes `steps` steps, and reports whether as many were left.
    pub fn take(&self, steps: f64) -> bool {
        self.left.set(self.left.get() - steps);
        !self.is_spent()
    }

    /// Whether more steps were taken than allowed.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.left.get() < 0.0
    }

    /// Fails if more steps were taken than allowed.
    pub fn check(&self) -> Result<(), LayoutError> {
        if self.is_spent() {
            return Err(LayoutError::TooMuchWork { what: self.what, expected: self.most as u64 });
        }
        Ok(())
    }
}
