//! Charts of plans, in the style of all other pictures.

use std::path::Path;

use anyhow::Result;
pub(super) use oneread_lab::picture::Shape;
use oneread_lab::picture::{self, Picture, svg};

use crate::replace::write_text;

/// One chart of a file.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

pub(super) struct Axis {
    pub(super) label: &'static str,
    pub(super) scale: Scale,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scale {
    Linear,
    /// Points are natural logarithms, so that nothing is too small to draw.
    Log,
}

pub(super) struct Series {
    name: String,
    shape: Shape,
    points: Vec<(f64, f64)>,
}

impl Series {
    pub(super) fn new(name: impl Into<String>, shape: Shape, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), shape, points }
    }
}

/// Writes charts side by side, if a file is named.
pub(super) fn write(path: Option<&Path>, charts: impl FnOnce() -> Result<Vec<Chart>>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let pictures: Vec<Picture> = charts()?.into_iter().map(Chart::picture).collect();
    write_text(path, &svg::row(&pictures))
}

impl Chart {
    fn picture(self) -> Picture {
        let series = self.series.into_iter();
        Picture {
            id: String::new(),
            title: self.title,
            across: self.x.drawn(),
            up: self.y.drawn(),
            series: series.map(|of| picture::Series::shaped(of.name, of.shape, of.points)).collect(),
            caption: String::new(),
        }
    }
}

impl Axis {
    fn drawn(self) -> picture::Axis {
        let scale = match self.scale {
            Scale::Linear => picture::Scale::Linear,
            Scale::Log => picture::Scale::Ln,
        };
        picture::Axis { scale, ..picture::Axis::linear(self.label) }
    }
}
