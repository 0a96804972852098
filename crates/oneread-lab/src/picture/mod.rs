//! Pictures: numbers with axes, kept as data, drawn as [SVG](svg) and written as CSV.
//!
//! A picture is made of claims that have been judged, or by the experiment that answers a question.
//! It holds what is printed, calculated and measured apart, so that a reader sees the paper's
//! points beside ours. The charts of `oneread plan --plot` and of the benches are pictures, too.

mod scale;
pub mod svg;

use serde::{Deserialize, Serialize};

use crate::digits::{number, with_error};
use crate::finding::Measured;

/// Numbers with axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The name of its files.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The axis to the right.
    pub across: Axis,
    /// The axis upwards; rows from the top down if it has names.
    pub up: Axis,
    /// The numbers.
    pub series: Vec<Series>,
    /// What to see, in a sentence or two.
    pub caption: String,
}

/// An axis: its words have the unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What is along it, and in which unit.
    pub label: String,
    /// How.
    pub scale: Scale,
    /// What 0, 1, 2, … stand for, if they are no numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl Axis {
    /// Equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, names: Vec::new() }
    }

    /// Equal factors.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, names: Vec::new() }
    }

    /// A row for each name.
    pub fn rows(label: impl Into<String>, names: Vec<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, names }
    }
}

/// How an axis runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps are equal distances.
    Linear,
    /// Equal factors are equal distances.
    Log,
    /// Like `Log`, with numbers given as their natural logarithms: none is too small to be drawn.
    Ln,
}

/// Where numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The paper prints them.
    Printed,
    /// A calculation.
    Calculated,
    /// A measurement.
    Measured,
}

impl Source {
    /// Its name in legends and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Calculated => "calculated",
            Self::Measured => "measured",
        }
    }
}

/// How the numbers of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// By their source: what is calculated is a dashed line, all else are marks.
    #[default]
    BySource,
    /// A line.
    Line,
    /// A mark for each.
    Dots,
    /// A bar for each, of less than one unit.
    Bars,
}

/// Numbers of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Of what; nothing if the picture has only one thing.
    pub name: String,
    /// Where they come from.
    pub source: Source,
    /// How they are drawn.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shape: Shape,
    /// Whether it stands out among the others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_ours: bool,
    /// The numbers.
    pub points: Vec<Point>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Series {
    /// Numbers with these coordinates and standard errors.
    pub fn new(name: impl Into<String>, source: Source, points: Vec<Point>) -> Self {
        Self { name: name.into(), source, shape: Shape::BySource, is_ours: false, points }
    }

    /// Calculated numbers in a shape of their own.
    pub fn shaped(name: impl Into<String>, shape: Shape, points: Vec<(f64, f64)>) -> Self {
        Self { shape, ..Self::calculated(name, points) }
    }

    /// Measurements by their first coordinate.
    pub fn measured(name: impl Into<String>, points: impl IntoIterator<Item = (f64, Measured)>) -> Self {
        let point = |(x, of): (f64, Measured)| Point { x, y: of.value, error: of.standard_error };
        Self::new(name, Source::Measured, points.into_iter().map(point).collect())
    }

    /// Calculations by their first coordinate.
    pub fn calculated(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let point = |(x, y)| Point { x, y, error: 0.0 };
        Self::new(name, Source::Calculated, points.into_iter().map(point).collect())
    }
}

/// A number in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// To the right; the row if there are rows.
    pub x: f64,
    /// Upwards; to the right if there are rows.
    pub y: f64,
    /// The standard error of what is measured, 0 for all else.
    pub error: f64,
}

impl Picture {
    /// Whether its points are in rows.
    #[must_use]
    pub const fn has_rows(&self) -> bool {
        !self.up.names.is_empty()
    }

    /// The numbers as a table: series, source, x, y and its standard error.
    #[must_use]
    pub fn csv(&self) -> String {
        let x = if self.has_rows() { &self.up.label } else { &self.across.label };
        let y = if self.has_rows() { &self.across.label } else { &self.up.label };
        let mut text = format!("series,source,{},{},standard error\n", csv_cell(x), csv_cell(y));
        for series in &self.series {
            for Point { x, y, error } in &series.points {
                let name = self.up.names.get(*x as usize).filter(|_| self.has_rows());
                let x = name.map_or_else(|| x.to_string(), |name| csv_cell(name));
                let cells = [csv_cell(&series.name), series.source.name().to_owned(), x, y.to_string()];
                text += &format!("{},{error}\n", cells.join(","));
            }
        }
        text
    }

    /// The rows of the same table for people: the place, then a cell for each series. If series
    /// have hardly a place in common, a row for each point.
    #[must_use]
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let place = if self.has_rows() { &self.up.label } else { &self.across.label };
        if !self.has_rows() && self.is_scattered() {
            let headings = vec!["series".to_owned(), place.clone(), self.up.label.clone()];
            let row =
                |series: &Series, point: &Point| vec![series.name.clone(), number(point.x), shown(point)];
            let rows = self
                .series
                .iter()
                .flat_map(|series| series.points.iter().map(move |point| row(series, point)));
            return (headings, rows.collect());
        }
        let titled = |series: &Series| match series.name.as_str() {
            "" => series.source.name().to_owned(),
            name if self.series.iter().all(|other| other.source == series.source) => name.to_owned(),
            name => format!("{name}, {}", series.source.name()),
        };
        let headings = std::iter::once(place.clone()).chain(self.series.iter().map(titled)).collect();
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let row = |&place: &f64| {
            let name = self.up.names.get(place as usize).filter(|_| self.has_rows());
            let cells = self.series.iter().map(|series| {
                let point = series.points.iter().find(|point| point.x == place);
                point.map_or_else(String::new, shown)
            });
            std::iter::once(name.cloned().unwrap_or_else(|| number(place))).chain(cells).collect()
        };
        (headings, places.iter().map(row).collect())
    }

    /// Whether half of a table with a column a series would be empty.
    fn is_scattered(&self) -> bool {
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
        let points = places.len();
        places.sort_by(f64::total_cmp);
        places.dedup();
        2 * points < places.len() * self.series.len()
    }
}

/// A point's number, with its error.
fn shown(point: &Point) -> String {
    if point.error > 0.0 { with_error(point.y, point.error) } else { number(point.y) }
}

/// A cell of a CSV file: in quotes if it has to be.
#[must_use]
pub fn csv_cell(text: &str) -> String {
    if text.contains(['"', ',', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn example() -> Picture {
        Picture {
            id: "rates".to_owned(),
            title: "Rates <by> load".to_owned(),
            across: Axis::linear("load, items per bucket"),
            up: Axis::log("false positives"),
            series: vec![
                Series::new("d, e", Source::Printed, vec![Point { x: 1.0, y: 1e-3, error: 0.0 }]),
                Series::measured("d, e", [(1.0, Measured { value: 1.5e-3, standard_error: 1e-4 })]),
                Series::calculated("d, e", [(1.0, 1e-3), (2.0, 1e-2)]),
            ],
            caption: String::new(),
        }
    }

    #[test]
    fn a_csv_file_has_a_line_a_point() {
        let expected = "series,source,\"load, items per bucket\",false positives,standard error\n\
                        \"d, e\",printed,1,0.001,0\n\"d, e\",measured,1,0.0015,0.0001\n\
                        \"d, e\",calculated,1,0.001,0\n\"d, e\",calculated,2,0.01,0\n";
        assert_eq!(example().csv(), expected);
    }

    #[test]
    fn a_table_has_a_row_a_place() {
        let (headings, rows) = example().table();
        assert_eq!(
            headings,
            ["load, items per bucket", "d, e, printed", "d, e, measured", "d, e, calculated"]
        );
        assert_eq!(rows[0], ["1", "0.00100000", "0.00150 ± 1.0e-4", "0.00100000"]);
        assert_eq!(rows[1], ["2", "", "", "0.0100000"]);
    }
}
