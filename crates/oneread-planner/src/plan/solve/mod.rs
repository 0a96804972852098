//! `oneread plan solve`: the smallest layout that meets the targets.

mod filter;
mod map;
mod store;
mod summary;
mod table;

use oneread::plan::solve::Solution;

use super::plot::{Axis, Chart, Scale, Series, Shape};
use crate::report::Report;

/// Adds the targets that keep a solution from being smaller, and the runners-up as rows.
fn with_others<P>(report: Report, solution: &Solution<P>, row: fn(&P) -> Report) -> Report {
    let binds = solution.binds.iter().map(|target| target.name()).collect();
    report
        .texts("binds", "a smaller one would miss", binds)
        .rows("runners_up", solution.runners_up.iter().map(row).collect())
}

/// Values around one, at equal factors, for drawing a frontier.
fn around(value: f64, decades: f64, steps: i32) -> Vec<f64> {
    (-steps..=steps).map(|at| value * 10f64.powf(decades * f64::from(at) / f64::from(steps))).collect()
}

/// A frontier: the achievable odds, as logarithms, against their cost; and this solution.
fn frontier(
    title: String,
    (x, y): (&'static str, &'static str),
    series: Vec<(String, Vec<(f64, f64)>)>,
    here: (f64, f64),
) -> Chart {
    let mut series: Vec<Series> =
        series.into_iter().map(|(name, points)| Series::new(name, Shape::Line, points)).collect();
    series.push(Series::new("this solution", Shape::Dots, vec![here]));
    Chart {
        title,
        x: Axis { label: x, scale: Scale::Linear },
        y: Axis { label: y, scale: Scale::Log },
        series,
    }
}
