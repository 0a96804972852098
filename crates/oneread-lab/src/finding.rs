//! What an experiment found: calculated and measured numbers, before any verdict.

use crate::picture::Picture;

/// The mean of independent trials, or the result of counting all cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The mean.
    pub value: f64,
    /// The standard deviation of the mean; 0 if all cases were counted.
    pub standard_error: f64,
}

impl Measured {
    /// The result of counting every case, with no chance involved.
    #[must_use]
    pub const fn exhaustive(value: f64) -> Self {
        Self { value, standard_error: 0.0 }
    }

    /// The mean of at least two trials, with a standard error from their spread. If all are 0, as
    /// for a rare event, the error is computed as if one trial were 1.
    ///
    /// # Panics
    /// If there are fewer than two trials.
    #[must_use]
    pub fn mean(trials: &[f64]) -> Self {
        assert!(trials.len() >= 2, "{} trials have no spread", trials.len());
        let count = trials.len() as f64;
        let value = trials.iter().sum::<f64>() / count;
        let squares: f64 = trials.iter().map(|trial| (trial - value).powi(2)).sum();
        let squares = if trials.iter().all(|&trial| trial == 0.0) { 1.0 } else { squares };
        Self { value, standard_error: (squares / (count - 1.0) / count).sqrt() }
    }
}

/// What an experiment found.
///
/// ```
/// use oneread_lab::Finding;
/// use oneread_lab::finding::Measured;
///
/// let finding = Finding::calculated(0.5)
///     .and_measured(Measured { value: 0.49, standard_error: 0.01 })
///     .note("heads of a fair coin");
/// assert_eq!(finding.measured.unwrap().value, 0.49);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The result of a calculation.
    pub calculated: Option<f64>,
    /// The calculation's own error bounds, below and above; 0 if it is exact.
    pub off_by: (f64, f64),
    /// The result of another method of calculation.
    pub confirmed: Option<f64>,
    /// The result of a measurement.
    pub measured: Option<Measured>,
    /// A note for the reader.
    pub note: String,
    /// Several numbers, where the paper has a figure.
    pub picture: Option<Picture>,
}

impl Finding {
    /// A calculation that is exact up to the rounding of floats.
    #[must_use]
    pub fn calculated(value: f64) -> Self {
        Self { calculated: Some(value), ..Self::default() }
    }

    /// A measurement without a calculation.
    #[must_use]
    pub fn measured(measured: Measured) -> Self {
        Self { measured: Some(measured), ..Self::default() }
    }

    /// Marks the calculation as an approximation that may be too low by `off_by`.
    #[must_use]
    pub const fn at_most_higher_by(mut self, off_by: f64) -> Self {
        self.off_by.1 = off_by;
        self
    }

    /// Marks the calculation as an upper bound that may be too high by `off_by`.
    #[must_use]
    pub const fn at_most_lower_by(mut self, off_by: f64) -> Self {
        self.off_by.0 = off_by;
        self
    }

    /// Marks the calculation as an approximation that may be off by `off_by` in either direction.
    #[must_use]
    pub const fn off_by(mut self, off_by: f64) -> Self {
        self.off_by = (off_by, off_by);
        self
    }

    /// Adds a measurement.
    #[must_use]
    pub const fn and_measured(mut self, measured: Measured) -> Self {
        self.measured = Some(measured);
        self
    }

    /// Adds the same quantity by another method, which shares no code with the first.
    #[must_use]
    pub const fn confirmed_by(mut self, value: f64) -> Self {
        self.confirmed = Some(value);
        self
    }

    /// Adds a note for the reader.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a picture.
    #[must_use]
    pub fn picture(mut self, picture: Picture) -> Self {
        self.picture = Some(picture);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_trials_tells_the_error_of_their_mean() {
        // Mean 2, variance (1 + 1 + 0)/2 = 1, of the mean 1/3.
        let measured = Measured::mean(&[1.0, 3.0, 2.0]);
        assert_eq!(measured.value, 2.0);
        assert!((measured.standard_error - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn an_event_not_seen_is_not_ruled_out() {
        let measured = Measured::mean(&[0.0; 101]);
        // As if one of 101 trials were off by one: √(1/100/101).
        assert!((measured.standard_error - 0.00995).abs() < 1e-5);
    }
}
