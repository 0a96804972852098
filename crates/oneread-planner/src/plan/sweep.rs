//! `--sweep`: repeats a plan for each of many values of a flag.

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::Subject;
use crate::args::plan::Output;
use crate::args::sweep::{Step, Sweep};
use crate::document::{Document, cell};

/// A number that a sweep may set.
pub(super) enum Number<'a> {
    Whole(&'a mut Option<u64>),
    Real(&'a mut Option<f64>),
}

/// The numbers of a subject, by their names in the output.
pub(super) type Numbers<'a> = Vec<(&'static str, Number<'a>)>;

/// Makes [`Numbers`] of fields: `numbers![Whole { items: self.items }, Real { rate: self.rate }]`.
macro_rules! numbers {
    ($($kind:ident { $($name:ident: $slot:expr),+ }),*) => {
        vec![$($((stringify!($name), $crate::plan::sweep::Number::$kind(&mut $slot))),+),*]
    };
}
pub(super) use numbers;

/// The most values, so that a mistake in a step does not take all day.
const MAX_VALUES: u64 = 10_000;

/// Ranges of up to this many whole numbers are taken completely.
const MAX_WHOLE_VALUES: f64 = 100.0;

/// The default number of values: twenty equal steps.
const DEFAULT_VALUES: u64 = 21;

impl Sweep {
    /// Plans for each value: a row for each. `progress` is told after each how many are done, of
    /// how many.
    pub(super) fn run<S: Subject>(
        &self,
        mut subject: S,
        output: &Output,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Document>> {
        let is_whole = matches!(self.find(&mut subject.numbers())?, Number::Whole(_));
        let values = self.values(is_whole, output)?;
        let count = values.len();
        let mut rows = Vec::new();
        let mut last: Option<(Json, S::Planned)> = None;
        for (done, value) in (1..).zip(values) {
            let value = self.set(&mut subject, value)?;
            // Values that round to the same whole number are one row.
            if last.as_ref().is_none_or(|(last, _)| *last != value) {
                let planned = subject.plan(last.as_ref().map(|(_, planned)| planned));
                let report = planned.and_then(|planned| Ok((subject.report(&planned)?, planned)));
                let (report, planned) =
                    report.with_context(|| format!("at {} = {}", self.field, cell(&value)))?;
                // The field that changes comes first.
                let others = report.document().0.into_iter().filter(|(name, _)| *name != self.field);
                rows.push(Document(
                    [(self.field.clone(), value.clone())].into_iter().chain(others).collect(),
                ));
                last = Some((value, planned));
            }
            progress(done, count);
        }
        Ok(rows)
    }

    fn values(&self, whole: bool, output: &Output) -> Result<Vec<f64>> {
        let (first, last) = (self.first, self.last);
        if self.step.is_some() && (output.steps.is_some() || output.log) {
            bail!("a sweep of A..B..STEP says its steps already: leave out --steps and --log, or the STEP");
        }
        if output.log && first <= 0.0 {
            bail!(
                "expected a sweep from A above 0 with --log, found {first}: start above 0, or leave out --log"
            );
        }
        if let Some(steps @ (0 | 1)) = output.steps {
            bail!("expected --steps of 2 or more, found {steps}: both ends of a sweep are included");
        }
        let all_whole = whole && !output.log && last - first < MAX_WHOLE_VALUES;
        // Tolerates rounding when it counts steps.
        let complete = |steps: f64| (steps + 1e-9).floor() + 1.0;
        let count = match (self.step, output.steps) {
            (Some(Step::Plus(step)), _) => complete((last - first) / step),
            (Some(Step::Times(factor)), _) => complete((last / first).ln() / factor.ln()),
            (None, Some(steps)) => steps as f64,
            (None, None) if all_whole => complete(last - first),
            (None, None) => DEFAULT_VALUES as f64,
        };
        if count > MAX_VALUES as f64 {
            bail!("expected at most {MAX_VALUES} values of a sweep, found {count}: take larger steps");
        }
        let count = count as u32;
        let part = |at: u32| f64::from(at) / f64::from(count - 1);
        let value = |at: u32| match self.step {
            Some(Step::Plus(step)) => first + f64::from(at) * step,
            Some(Step::Times(factor)) => first * factor.powf(f64::from(at)),
            None if all_whole && output.steps.is_none() => first + f64::from(at),
            // The last value, without the rounding of a product.
            None if at == count - 1 => last,
            None if output.log => first * (last / first).powf(part(at)),
            None => first + (last - first) * part(at),
        };
        Ok((0..count).map(value).map(without_rounding).collect())
    }

    /// Sets the flag and returns its value; a whole number is rounded first.
    fn set(&self, subject: &mut impl Subject, value: f64) -> Result<Json> {
        match self.find(&mut subject.numbers())? {
            Number::Real(slot) => {
                **slot = Some(value);
                Ok(Json::from(value))
            }
            Number::Whole(_) if value < 0.0 => bail!("{} cannot be {value}: start at 1 or above", self.field),
            Number::Whole(slot) => {
                let value = value.round() as u64;
                **slot = Some(value);
                Ok(Json::from(value))
            }
        }
    }

    fn find<'a, 'b>(&self, numbers: &'a mut [(&'static str, Number<'b>)]) -> Result<&'a mut Number<'b>> {
        let names: Vec<&str> = numbers.iter().map(|(name, _)| *name).collect();
        match numbers.iter_mut().find(|(name, _)| *name == self.field) {
            Some((_, number)) => Ok(number),
            None => {
                bail!("there is no number {:?} to sweep over: name one of {}", self.field, names.join(", "))
            }
        }
    }
}

/// Returns 0.4 for 0.39999999999999997.
fn without_rounding(value: f64) -> f64 {
    /// Fewer digits than a float has, more than anybody writes.
    const DIGITS: usize = 13;
    format!("{value:.DIGITS$e}").parse().unwrap_or(value)
}
