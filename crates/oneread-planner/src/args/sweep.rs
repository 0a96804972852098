//! The values of `--sweep`.

use super::parse::bytes;

/// The successive values of a flag.
#[derive(Clone)]
pub(crate) struct Sweep {
    /// The name in the output, with underscores.
    pub(crate) field: String,
    pub(crate) first: f64,
    pub(crate) last: f64,
    pub(crate) step: Option<Step>,
}

/// The step from one value to the next.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Plus(f64),
    Times(f64),
}

impl Sweep {
    /// Parses FIELD=A..B, FIELD=A..B..STEP or FIELD=A..B..xFACTOR; both ends are included.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let syntax = || "expected FIELD=A..B, FIELD=A..B..STEP or FIELD=A..B..xFACTOR".to_owned();
        let (field, range) = text.split_once('=').ok_or_else(syntax)?;
        let number = |text: &str| match text.replace('_', "").parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(syntax()),
            Err(_) => bytes(text).map(|bytes| bytes as f64).map_err(|_| syntax()),
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
}
