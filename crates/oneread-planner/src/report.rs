//! The output of a plan: tables for people, a document for programs, a row of a sweep.

use serde_json::Value as Json;

use crate::document::{Align, Document, table};

/// The named numbers of a plan, in order.
#[derive(Clone, Debug)]
pub struct Report {
    /// What indexes the entries of lists: "level", "load".
    index: &'static str,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    name: &'static str,
    /// The unit, or a few words about what is counted.
    unit: &'static str,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Text(String),
    Texts(Vec<&'static str>),
    Rows(Vec<Report>),
    Whole(u64),
    Wholes(Vec<u64>),
    Real(f64),
    Reals(Vec<f64>),
    Odds(Odds),
    OddsList(Vec<Odds>),
}

/// A number that may be too small for a float.
#[derive(Clone, Copy, Debug)]
struct Odds {
    number: f64,
    /// The logarithm, if known.
    ln: Option<f64>,
    /// The smallest value that is known exactly; `None` if 0 means 0.
    least: Option<f64>,
}

impl Report {
    pub(crate) const fn new(index: &'static str) -> Self {
        Self { index, fields: Vec::new() }
    }

    fn with(mut self, name: &'static str, unit: &'static str, value: Value) -> Self {
        self.fields.push(Field { name, unit, value });
        self
    }

    pub(crate) fn text(self, name: &'static str, unit: &'static str, value: impl Into<String>) -> Self {
        self.with(name, unit, Value::Text(value.into()))
    }

    pub(crate) fn texts(self, name: &'static str, unit: &'static str, values: Vec<&'static str>) -> Self {
        self.with(name, unit, Value::Texts(values))
    }

    /// Adds reports of the same fields, each a row of a table or an object of a list.
    pub(crate) fn rows(self, name: &'static str, rows: Vec<Self>) -> Self {
        self.with(name, "", Value::Rows(rows))
    }

    pub(crate) fn whole(self, name: &'static str, unit: &'static str, value: impl Into<u64>) -> Self {
        self.with(name, unit, Value::Whole(value.into()))
    }

    pub(crate) fn wholes(self, name: &'static str, unit: &'static str, values: &[u64]) -> Self {
        self.with(name, unit, Value::Wholes(values.to_vec()))
    }

    pub(crate) fn real(self, name: &'static str, unit: &'static str, value: f64) -> Self {
        self.with(name, unit, Value::Real(value))
    }

    pub(crate) fn reals(self, name: &'static str, unit: &'static str, values: &[f64]) -> Self {
        self.with(name, unit, Value::Reals(values.to_vec()))
    }

    /// Adds a probability that may be too small for a float, and its logarithm.
    pub(crate) fn odds(self, name: &'static str, unit: &'static str, probability: f64, ln: f64) -> Self {
        let ln = Some(ln);
        self.with(
            name,
            unit,
            Value::Odds(Odds { ln, ..Odds::new(probability, ln != Some(f64::NEG_INFINITY)) }),
        )
    }

    /// Adds a number that may be too small for a float, and whether it is above 0.
    pub(crate) fn rare(self, name: &'static str, unit: &'static str, number: f64, possible: bool) -> Self {
        self.with(name, unit, Value::Odds(Odds::new(number, possible)))
    }

    /// Adds numbers that may be too small for a float, and whether they are above 0.
    pub(crate) fn rare_list(self, name: &'static str, unit: &'static str, numbers: &[(f64, bool)]) -> Self {
        let odds = numbers.iter().map(|&(number, possible)| Odds::new(number, possible));
        self.with(name, unit, Value::OddsList(odds.collect()))
    }

    /// Adds a number above 0 that is known if it is at least `least`.
    pub(crate) fn at_least(self, name: &'static str, unit: &'static str, number: f64, least: f64) -> Self {
        self.with(name, unit, Value::Odds(Odds { number, ln: None, least: Some(least) }))
    }

    /// Names and values for programs.
    #[must_use]
    pub fn document(&self) -> Document {
        let entries = self.fields.iter().flat_map(|Field { name, value, .. }| {
            let logarithm = match value {
                Value::Odds(odds) => odds.ln.map(Json::from),
                _ => None,
            };
            let value = match value {
                Value::Text(text) => Json::from(text.as_str()),
                Value::Texts(texts) => Json::from(texts.as_slice()),
                Value::Rows(rows) => rows.iter().map(|row| row.document().into_json()).collect(),
                Value::Whole(number) => Json::from(*number),
                Value::Wholes(numbers) => Json::from(numbers.as_slice()),
                Value::Real(number) => Json::from(*number),
                Value::Reals(numbers) => Json::from(numbers.as_slice()),
                Value::Odds(odds) => Json::from(odds.float()),
                Value::OddsList(odds) => odds.iter().map(|odds| odds.float()).collect(),
            };
            let logarithm = logarithm.map(|logarithm| (format!("ln_{name}"), logarithm));
            [((*name).to_owned(), value)].into_iter().chain(logarithm)
        });
        Document(entries.collect())
    }

    /// The fields for people, without those that are tables themselves.
    pub fn shown(&self) -> impl Iterator<Item = Shown> + '_ {
        let fields = self.fields.iter().filter(|field| !matches!(field.value, Value::Rows(_)));
        fields.map(|Field { name, unit, value }| Shown {
            name,
            unit,
            cells: value.cells(),
            is_list: value.is_list(),
        })
    }

    /// The reports of a field that is a table of them.
    pub fn rows_of(&self, name: &str) -> impl Iterator<Item = &Self> + '_ {
        let field = self.fields.iter().find(|field| field.name == name);
        let rows = field.map_or(&[][..], |field| match &field.value {
            Value::Rows(rows) => rows,
            _ => &[],
        });
        rows.iter()
    }

    /// A table of the lists, and a table of the single values.
    #[must_use]
    pub fn tables(&self) -> String {
        let (lists, single): (Vec<_>, Vec<_>) = self
            .fields
            .iter()
            .filter(|field| !matches!(field.value, Value::Rows(_)))
            .map(|field| (field, field.value.cells()))
            .partition(|(field, _)| field.value.is_list());
        let mut tables = Vec::new();
        if !lists.is_empty() {
            let heading = |field: &Field| match field.unit {
                "" => field.name.to_owned(),
                unit => format!("{} [{unit}]", field.name),
            };
            let mut rows = vec![vec![self.index.to_owned()]];
            rows[0].extend(lists.iter().map(|(field, _)| heading(field)));
            let length = lists.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
            for at in 0..length {
                let cell = |cells: &Vec<String>| cells.get(at).cloned().unwrap_or_default();
                let mut row = vec![at.to_string()];
                row.extend(lists.iter().map(|(_, cells)| cell(cells)));
                rows.push(row);
            }
            tables.push(table(vec![Align::Right; rows[0].len()], &rows));
        }
        let rows: Vec<_> = single
            .into_iter()
            .map(|(field, mut cells)| [field.name.to_owned(), cells.swap_remove(0), field.unit.to_owned()])
            .collect();
        tables.push(table([Align::Left, Align::Right, Align::Left], &rows));
        tables.extend(self.fields.iter().filter_map(|field| match &field.value {
            Value::Rows(rows) => rows_of(field.name, rows),
            _ => None,
        }));
        tables.join("\n\n")
    }
}

/// A number or a list of numbers, formatted for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Its field.
    pub name: &'static str,
    /// The unit, or a few words about what is counted.
    pub unit: &'static str,
    /// One cell, or one for each entry of a list.
    pub cells: Vec<String>,
    /// Whether it is a list.
    pub is_list: bool,
}

/// A table of reports, below their common name, if there are any.
fn rows_of(name: &str, reports: &[Report]) -> Option<String> {
    let names = |report: &Report| report.fields.iter().map(|field| field.name.to_owned()).collect();
    let cells = |report: &Report| report.fields.iter().map(|field| field.value.cells().join(",")).collect();
    let mut rows: Vec<Vec<String>> = vec![names(reports.first()?)];
    rows.extend(reports.iter().map(cells));
    Some(format!("{name}:\n{}", table(vec![Align::Right; rows[0].len()], &rows)))
}

impl Value {
    const fn is_list(&self) -> bool {
        matches!(self, Self::Wholes(_) | Self::Reals(_) | Self::OddsList(_))
    }

    /// The value or values, formatted for people.
    fn cells(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::Texts(texts) => vec![texts.join(", ")],
            Self::Rows(rows) => vec![rows.len().to_string()],
            Self::Whole(number) => vec![number.to_string()],
            Self::Wholes(numbers) => numbers.iter().map(u64::to_string).collect(),
            Self::Real(number) => vec![readable(*number)],
            Self::Reals(numbers) => numbers.iter().copied().map(readable).collect(),
            Self::Odds(odds) => vec![odds.readable()],
            Self::OddsList(odds) => odds.iter().map(Odds::readable).collect(),
        }
    }
}

impl Odds {
    fn new(number: f64, possible: bool) -> Self {
        Self { number, ln: None, least: possible.then_some(f64::MIN_POSITIVE) }
    }

    /// The number, if known: only an exact 0 is shown as 0.
    fn float(&self) -> Option<f64> {
        self.least.is_none_or(|least| self.number >= least).then_some(self.number)
    }

    fn readable(&self) -> String {
        match (self.float(), self.ln) {
            (Some(number), _) => readable(number),
            (None, Some(ln)) => {
                let power = ln / std::f64::consts::LN_10;
                format!("{:.5}e{}", 10f64.powf(power - power.floor()), power.floor())
            }
            (None, None) => format!("< {:.0e}", self.least.unwrap_or(0.0)),
        }
    }
}

/// Formats at most six digits.
fn readable(number: f64) -> String {
    const DIGITS: i32 = 6;
    /// Numbers outside this range have an exponent.
    const WITHOUT_EXPONENT: std::ops::Range<f64> = 1e-4..1e9;
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let magnitude = number.abs().log10().floor();
    if WITHOUT_EXPONENT.contains(&number.abs()) {
        let decimals = (DIGITS - 1 - magnitude as i32).max(0) as usize;
        return without_zeros(&format!("{number:.decimals$}")).to_owned();
    }
    let text = format!("{number:.*e}", DIGITS as usize - 1);
    let (digits, exponent) = text.split_once('e').expect("an exponent");
    format!("{}e{exponent}", without_zeros(digits))
}

/// Removes the zeros at the end of a fraction.
pub(crate) fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}
