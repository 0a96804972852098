//! Charts as SVG.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::report::without_zeros;
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
    /// Whole numbers, with room for a bar around each.
    Whole,
    Linear,
    /// By decades. Points are given by the natural logarithm, so that nothing is too small to be drawn.
    Log,
}

pub(super) struct Series {
    name: String,
    shape: Shape,
    points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy)]
pub(super) enum Shape {
    Bars,
    Line,
    Dots,
}

impl Series {
    pub(super) fn new(name: impl Into<String>, shape: Shape, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), shape, points }
    }
}

/// The pixels of a chart.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 460;
const TITLE_HEIGHT: u32 = 48;
const LEGEND_HEIGHT: u32 = 28;

/// The units of the drawing in a pixel. Points are drawn at whole units, and curves of whole pixels would have steps.
const UNITS: u32 = 8;

const FONT: &str = "sans-serif";

/// Blue, vermilion, black: told apart by everyone, and in grey (Okabe, Ito).
const COLOURS: [RGBColor; 3] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 0, 0)];

/// The radius of a dot.
const DOT: u32 = units(5);

/// Half the width of a bar, of the distance between two.
const HALF_BAR: f64 = 0.35;

/// Writes charts side by side, if a file is named.
pub(super) fn write(path: Option<&Path>, charts: impl FnOnce() -> Result<Vec<Chart>>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    write_text(path, &draw(&charts()?)?)
}

fn draw(charts: &[Chart]) -> Result<String> {
    let mut image = String::new();
    let width = WIDTH * charts.len() as u32;
    {
        let area = SVGBackend::with_string(&mut image, (UNITS * width, UNITS * HEIGHT)).into_drawing_area();
        area.fill(&WHITE)?;
        for (chart, area) in charts.iter().zip(area.split_evenly((1, charts.len()))) {
            chart.draw(&area).map_err(|error| anyhow!("cannot draw {:?}: {error}", chart.title))?;
        }
        area.present()?;
    }
    // The backend makes a unit a pixel; the view box that follows is in units.
    let in_units = format!(r#"<svg width="{}" height="{}""#, UNITS * width, UNITS * HEIGHT);
    let in_pixels = format!(r#"<svg width="{width}" height="{HEIGHT}""#);
    Ok(image.replacen(&in_units, &in_pixels, 1))
}

fn of_bars(colour: RGBColor) -> ShapeStyle {
    colour.mix(0.7).filled()
}

fn of_lines(colour: RGBColor) -> ShapeStyle {
    colour.stroke_width(units(2))
}

/// Pixels in units.
const fn units(pixels: u32) -> u32 {
    UNITS * pixels
}

impl Chart {
    fn draw<'a, B: DrawingBackend + 'a>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
    where
        B::ErrorType: 'static,
    {
        let series: Vec<(&Series, Vec<(f64, f64)>)> =
            self.series.iter().map(|series| (series, self.placed(&series.points))).collect();
        let points = || series.iter().flat_map(|(_, points)| points);
        let x = Ticks::new(self.x.scale, points().map(|point| point.0));
        let y = Ticks::new(self.y.scale, points().map(|point| point.1));
        let bottom = y.range.start;

        let (title, area) = area.split_vertically(units(TITLE_HEIGHT));
        let centred = TextStyle::from((FONT, units(18))).pos(Pos::new(HPos::Center, VPos::Center));
        let (width, height) = title.dim_in_pixel();
        title.draw_text(&self.title, &centred, (width as i32 / 2, height as i32 / 2))?;

        let (legend, area) = area.split_vertically(units(LEGEND_HEIGHT));
        if self.series.len() > 1 {
            self.draw_legend(&legend)?;
        }

        let mut context = ChartBuilder::on(&area)
            .margin(units(16))
            .margin_top(0)
            .x_label_area_size(units(48))
            .y_label_area_size(units(72))
            .build_cartesian_2d(x, y)?;
        context
            .configure_mesh()
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .axis_desc_style((FONT, units(15)))
            .label_style((FONT, units(13)))
            .axis_style(BLACK.mix(0.6).stroke_width(units(1)))
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12).stroke_width(units(1)))
            .set_all_tick_mark_size(units(5))
            .draw()?;
        for ((series, points), colour) in series.into_iter().zip(COLOURS) {
            match series.shape {
                Shape::Bars => context.draw_series(points.into_iter().map(|(x, y)| {
                    Rectangle::new([(x - HALF_BAR, bottom), (x + HALF_BAR, y)], of_bars(colour))
                }))?,
                Shape::Line => context.draw_series(LineSeries::new(points, of_lines(colour)))?,
                Shape::Dots => {
                    context.draw_series(points.into_iter().map(|at| Circle::new(at, DOT, colour.filled())))?
                }
            };
        }
        Ok(())
    }

    /// The names of the series side by side, each behind a sample of its shape.
    fn draw_legend<'a, B: DrawingBackend + 'a>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
    where
        B::ErrorType: 'static,
    {
        let (sample, gap, between) = (units(20) as i32, units(6) as i32, units(24) as i32);
        let text = TextStyle::from((FONT, units(13))).pos(Pos::new(HPos::Left, VPos::Center));
        let mut widths = Vec::new();
        for series in &self.series {
            widths.push(sample + gap + area.estimate_text_size(&series.name, &text)?.0 as i32);
        }
        let (width, height) = area.dim_in_pixel();
        let all = widths.iter().sum::<i32>() + between * (widths.len() as i32 - 1);
        let (mut x, y) = ((width as i32 - all) / 2, height as i32 / 3);
        for ((series, width), colour) in self.series.iter().zip(widths).zip(COLOURS) {
            let (middle, half) = (x + sample / 2, units(5) as i32);
            match series.shape {
                Shape::Bars => {
                    area.draw(&Rectangle::new([(x, y - half), (x + sample, y + half)], of_bars(colour)))?;
                }
                Shape::Line => area.draw(&PathElement::new([(x, y), (x + sample, y)], of_lines(colour)))?,
                Shape::Dots => area.draw(&Circle::new((middle, y), DOT, colour.filled()))?,
            }
            area.draw_text(&series.name, &text, (x + sample + gap, y))?;
            x += width + between;
        }
        Ok(())
    }

    /// Points in the coordinates of the axes: decades on a logarithmic one. What cannot be drawn is left out.
    fn placed(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let place = |axis: &Axis, value: f64| match axis.scale {
            Scale::Log => value / std::f64::consts::LN_10,
            _ => value,
        };
        let placed = points.iter().map(|&(x, y)| (place(&self.x, x), place(&self.y, y)));
        placed.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
    }
}

/// An axis, with a label at each tick.
struct Ticks {
    scale: Scale,
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Ticks {
    /// About as many ticks as there is room for.
    const MOST: f64 = 10.0;

    fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        // Nothing to draw: an empty chart.
        let (least, most) = if least <= most { (least, most) } else { (0.0, 1.0) };
        let range = match scale {
            Scale::Whole => least - 0.5..most + 0.5,
            Scale::Log => least.floor()..most.ceil().max(least.floor() + 1.0),
            Scale::Linear if least < most => least..most,
            Scale::Linear => least - 1.0..most + 1.0,
        };
        // 1, 2 or 5 times a power of ten; no fractions between decades or whole numbers.
        let rough = (range.end - range.start) / Self::MOST;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|nice| nice * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough).max(if scale == Scale::Linear { 0.0 } else { 1.0 });
        let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
        let ticks = (first..=last).map(|at| at as f64 * step).collect();
        Self { scale, range, ticks }
    }
}

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format_ext(&self, value: &f64) -> String {
        match self.scale {
            // Up to a thousand without an exponent.
            Scale::Log if (0.0..=3.0).contains(value) => format!("{}", 10f64.powf(*value)),
            Scale::Log => format!("1e{value}"),
            Scale::Whole => format!("{value}"),
            Scale::Linear => {
                // A multiple of a step is a short number but for rounding.
                without_zeros(&format!("{value:.6}")).to_owned()
            }
        }
    }
}
