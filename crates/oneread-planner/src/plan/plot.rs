//! Charts of plans, in the style of all other pictures.

pub(super) use oneread_lab::picture::Shape;
use oneread_lab::picture::{self, Picture};

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

impl Chart {
    pub(super) fn picture(self) -> Picture {
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
