//! A bound on what a calculation takes, counted in steps and not by a clock: the same on every
//! machine.

use core::cell::Cell;

use crate::layout::LayoutError;

/// The steps that a calculation has left. A step is a term of a sum, or a few operations: one to
/// ten nanoseconds.
///
/// Whoever finds that none are left stops at once and returns anything of the right type; whoever
/// began the calculation [checks](StepBudget::check) before the result is used.
pub(super) struct StepBudget {
    what: &'static str,
    most: f64,
    left: Cell<f64>,
}

impl StepBudget {
    /// At most so many steps for "a plan of a table", "a search for a table", ….
    pub(super) const fn new(what: &'static str, most: f64) -> Self {
        Self { what, most, left: Cell::new(most) }
    }

    /// Takes steps, and says whether there were as many.
    pub(super) fn take(&self, steps: f64) -> bool {
        self.left.set(self.left.get() - steps);
        !self.is_spent()
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() < 0.0
    }

    /// An error if more steps were taken than there were.
    pub(super) fn check(&self) -> Result<(), LayoutError> {
        if self.is_spent() {
            return Err(LayoutError::TooMuchWork { what: self.what, expected: self.most as u64 });
        }
        Ok(())
    }
}
