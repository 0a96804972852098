//! `--sweep`: the same plan for each of many values of a flag.

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use serde_json::Value as Json;

use super::Subject;
use crate::args::plan::Output;
use crate::output::{Document, cell, csv, print, print_json};

/// The values that a flag takes one after the other.
#[derive(Clone)]
pub(crate) struct Sweep {
    /// As in the output, with underscores.
    field: String,
    first: f64,
    last: f64,
    step: Option<Step>,
}

/// From one value to the next.
#[derive(Clone, Copy)]
enum Step {
    Plus(f64),
    Times(f64),
}

/// A number that a sweep may set.
pub(super) enum Number<'a> {
    Whole(&'a mut Option<u64>),
    Real(&'a mut Option<f64>),
}

/// The most values: a mistake in a step should not take all day.
const MOST_VALUES: u64 = 10_000;

/// Up to so many whole numbers are all taken: in a hundred rows nothing is missed.
const MOST_WHOLE_VALUES: f64 = 100.0;

/// The values of a sweep that does not say how many: twenty equal steps.
const DEFAULT_VALUES: u64 = 21;

impl Sweep {
    /// FIELD=A..B, FIELD=A..B..STEP or FIELD=A..B..xFACTOR; both ends are included.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let syntax = || "expected FIELD=A..B, FIELD=A..B..STEP or FIELD=A..B..xFACTOR".to_owned();
        let (field, range) = text.split_once('=').ok_or_else(syntax)?;
        let number = |text: &str| match text.replace('_', "").parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(syntax()),
        };
        let parts: Vec<&str> = range.split("..").collect();
        let (first, last, step) = match parts[..] {
            [first, last] => (first, last, None),
            [first, last, step] => (first, last, Some(step)),
            _ => return Err(syntax()),
        };
        let step = match step.map(|step| (step, step.strip_prefix('x'))) {
            None => None,
            Some((_, Some(factor))) => Some(Step::Times(number(factor)?)),
            Some((step, None)) => Some(Step::Plus(number(step)?)),
        };
        let (first, last) = (number(first)?, number(last)?);
        match step {
            _ if first > last => Err("expected A..B with A no larger than B".to_owned()),
            Some(Step::Plus(step)) if step <= 0.0 => Err("expected A..B..STEP with steps above 0".to_owned()),
            Some(Step::Times(factor)) if first <= 0.0 || factor <= 1.0 => {
                Err("expected A..B..xFACTOR with A above 0 and FACTOR above 1".to_owned())
            }
            _ => Ok(Self { field: field.trim().replace('-', "_"), first, last, step }),
        }
    }

    /// Plans for each value, and prints a row for each.
    pub(super) fn run(&self, mut subject: impl Subject) -> Result<()> {
        let values = self.values(self.is_whole(&mut subject)?, subject.output())?;
        let progress = progress(values.len())?;
        let mut rows = Vec::new();
        let mut last = None;
        for value in values {
            let value = self.set(&mut subject, value)?;
            // Whole numbers that round to the same one are one row.
            if last.replace(value.clone()).is_none_or(|last| last != value) {
                rows.push(self.row(value, &subject)?);
            }
            progress.inc(1);
        }
        drop(progress);
        if subject.output().json { print_json(&rows) } else { print(&csv(&rows)) }
    }

    /// What is planned for a value; the field that changes comes first.
    fn row(&self, value: Json, subject: &impl Subject) -> Result<Document> {
        let report = subject.report().with_context(|| format!("at {} = {}", self.field, cell(&value)))?;
        let others = report.document().0.into_iter().filter(|(name, _)| *name != self.field);
        Ok(Document([(self.field.clone(), value)].into_iter().chain(others).collect()))
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
        let all_whole = whole && !output.log && last - first < MOST_WHOLE_VALUES;
        // Values may be reached but for rounding.
        let complete = |steps: f64| (steps + 1e-9).floor() + 1.0;
        let count = match (self.step, output.steps) {
            (Some(Step::Plus(step)), _) => complete((last - first) / step),
            (Some(Step::Times(factor)), _) => complete((last / first).ln() / factor.ln()),
            (None, Some(steps)) => steps as f64,
            (None, None) if all_whole => complete(last - first),
            (None, None) => DEFAULT_VALUES as f64,
        };
        if count > MOST_VALUES as f64 {
            bail!("expected at most {MOST_VALUES} values of a sweep, found {count}: take larger steps");
        }
        let count = count as u32;
        let part = |at: u32| f64::from(at) / f64::from(count - 1);
        let value = |at: u32| match self.step {
            Some(Step::Plus(step)) => first + f64::from(at) * step,
            Some(Step::Times(factor)) => first * factor.powf(f64::from(at)),
            None if all_whole && output.steps.is_none() => first + f64::from(at),
            // The last value without the rounding of a product.
            None if at == count - 1 => last,
            None if output.log => first * (last / first).powf(part(at)),
            None => first + (last - first) * part(at),
        };
        Ok((0..count).map(value).map(without_rounding).collect())
    }

    fn is_whole(&self, subject: &mut impl Subject) -> Result<bool> {
        Ok(matches!(self.find(&mut subject.numbers())?, Number::Whole(_)))
    }

    /// Sets the flag, and tells to what: a whole number is rounded first.
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

/// 0.4 for what should be 0.4 and became 0.39999999999999997.
fn without_rounding(value: f64) -> f64 {
    /// Fewer than a float has, more than anybody writes.
    const DIGITS: usize = 13;
    format!("{value:.DIGITS$e}").parse().unwrap_or(value)
}

/// How far a sweep is: on a terminal only, and on stderr; gone when it is dropped.
fn progress(rows: usize) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} plans in {elapsed}")?;
    Ok(ProgressBar::new(rows as u64).with_style(style).with_finish(ProgressFinish::AndClear))
}
