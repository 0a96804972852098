//! `oneread plan solve`: the smallest layout that meets the targets.

mod filter;
mod map;
mod store;
mod summary;
mod table;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use oneread::plan::solve::{Solution, Unsolved};

use super::plot::{Axis, Chart, Scale, Series, Shape};
use super::report::Report;
use crate::args::solve::Solve;

pub(super) fn run(command: Solve) -> Result<()> {
    match command {
        Solve::Table(args) => super::plan(*args),
        Solve::Summary(args) => super::plan(*args),
        Solve::Filter(args) => super::plan(*args),
        Solve::Store(args) => super::plan(*args),
        Solve::Map(args) => super::plan(*args),
    }
}

/// Solves. If that takes longer than a second, shows on a terminal, on stderr, what it computes.
fn patiently<T>(what: &'static str, solve: impl FnOnce() -> Result<T, Unsolved>) -> Result<T> {
    const PATIENCE: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(100);
    let (solving, end) = channel::<()>();
    let solved = thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let style = ProgressStyle::with_template("{spinner} searching for {msg}: {elapsed}");
            let bar = ProgressBar::new_spinner().with_message(what).with_elapsed(PATIENCE);
            let bar = style.map(|style| bar.clone().with_style(style)).unwrap_or(bar);
            while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let solved = solve();
        drop(solving);
        solved
    });
    solved.map_err(|unsolved| anyhow!("{unsolved}"))
}

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
