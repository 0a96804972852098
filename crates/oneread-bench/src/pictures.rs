//! The pictures of the `frontier` subject, from what it measured and nothing else.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use oneread_lab::picture::{Axis, Picture, Point, Series, Source, svg};
use serde::Deserialize;

/// What is read of a subject's file.
#[derive(Deserialize)]
struct Measured {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    workload: String,
    name: String,
    million_per_second: f64,
    #[serde(rename = "bits per key")]
    bits: Option<f64>,
    #[serde(rename = "ε")]
    rate: Option<f64>,
}

/// Draws the two pictures of `frontier.json` in `from` into `to`.
pub(crate) fn draw(from: &Path, to: &Path) -> Result<()> {
    let file = from.join("frontier.json");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}: measure `frontier` first", file.display()))?;
    let measured: Measured = serde_json::from_str(&text)?;
    let rows: Vec<_> = measured.rows.iter().filter(|row| row.workload.ends_with(": miss")).collect();
    ensure!(!rows.is_empty(), "{} has no lookups of absent keys", file.display());
    for picture in [frontier(&rows), speed(&rows)] {
        let path = to.join(&picture.id).with_extension("svg");
        std::fs::write(&path, svg::file(&picture))
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Bits per key by rate, beside log2 1/ε.
fn frontier(rows: &[&Row]) -> Picture {
    let mut series = designs(rows, |row| Some((row.rate.filter(|&rate| rate > 0.0)?, row.bits?)));
    let limit = (0..=20).map(|step| 10f64.powf(-5.5 + 0.2 * f64::from(step)));
    series.push(Series::calculated("the limit, log2 1/ε", limit.map(|rate| (rate, -rate.log2()))));
    Picture {
        id: "filters-frontier".to_owned(),
        title: "Bits per key by false-positive rate, a million keys".to_owned(),
        across: Axis::log("false-positive rate"),
        up: Axis::linear("bits per key"),
        series,
        caption: String::new(),
    }
}

/// The rate of lookups of absent keys by bits per key.
fn speed(rows: &[&Row]) -> Picture {
    Picture {
        id: "filters-speed".to_owned(),
        title: "Lookups of absent keys per microsecond by bits per key, a million keys".to_owned(),
        across: Axis::linear("bits per key"),
        up: Axis::linear("absent keys looked up per microsecond"),
        series: designs(rows, |row| Some((row.bits?, row.million_per_second))),
        caption: String::new(),
    }
}

/// A series for each design, which is what a name begins with.
fn designs(rows: &[&Row], point: impl Fn(&Row) -> Option<(f64, f64)>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let Some((x, y)) = point(row) else { continue };
        let design = row.name.split_once(',').map_or(row.name.as_str(), |(design, _)| design);
        let point = Point { x, y, error: 0.0 };
        match series.iter_mut().find(|series| series.name == design) {
            Some(series) => series.points.push(point),
            None => {
                let is_ours = design.starts_with("oneread");
                series.push(Series { is_ours, ..Series::new(design, Source::Measured, vec![point]) });
            }
        }
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_is_a_colour_and_its_settings_are_its_points() {
        let row = |name: &str, bits, rate| Row {
            workload: "all filters: miss".to_owned(),
            name: name.to_owned(),
            million_per_second: 50.0,
            bits: Some(bits),
            rate: Some(rate),
        };
        let rows = [row("one, 8", 8.0, 0.02), row("one, 12", 12.0, 0.003), row("two", 10.0, 0.0)];
        let rows: Vec<_> = rows.iter().collect();
        let picture = frontier(&rows);
        // What never erred has no place on an axis of factors.
        let names: Vec<_> = picture.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["one", "the limit, log2 1/ε"]);
        assert_eq!(picture.series[0].points.len(), 2);
        assert_eq!(speed(&rows).series.len(), 2);
        assert!(svg::file(&picture).contains("bits per key"));
    }
}
