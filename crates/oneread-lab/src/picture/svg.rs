//! Pictures as SVG: colours by name, marks by source.
//!
//! Colours and fonts are a style sheet with a light and a dark mode, so that a picture looks right
//! in a page and alone. Everything is 460 units wide, so that letters on a phone are still ten
//! pixels high.

use super::scale::Along;
use super::{Picture, Point, Scale, Source};
use crate::verdict::STANDARD_ERRORS;

const WIDTH: f64 = 460.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
/// The height of the plot area, without rows.
const HEIGHT: f64 = 250.0;
const ROW: f64 = 36.0;
/// The height of the numbers and the label of the lower axis.
const BELOW: f64 = 44.0;
const LEGEND_LINE: f64 = 20.0;
/// The distance between measurements at the same place.
const BESIDE: f64 = 4.0;
/// The assumed width of a letter.
const LETTER: f64 = 6.7;
/// The colours of most pictures.
const COLOURS: usize = 6;
/// The colours of pictures with more names; beyond these, colours repeat.
const MANY_COLOURS: usize = 12;

/// The style sheet, for a page or a file.
pub const STYLE: &str = "\
:root { --paper: #fff; --ink: #1c2430; --soft: #5b6675; --line: #d5dae1; --c0: #0b62a8; --c1: #c4510a; --c2: #1d7a4c; --c3: #8a3fa0; --c4: #94760a; --c5: #5b6675 }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6eaf0; --soft: #a3adba; --line: #333b47; --c0: #6fb3f2; --c1: #f0965a; --c2: #5fc793; --c3: #cf94e0; --c4: #dcc04f; --c5: #a3adba }
}
svg.picture { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; color: var(--ink) }
svg.picture text { fill: var(--ink) }
svg.picture .soft { fill: var(--soft) }
svg.picture .grid { stroke: var(--line); fill: none }
svg.picture .c0 { color: var(--c0) } svg.picture .c1 { color: var(--c1) } svg.picture .c2 { color: var(--c2) }
svg.picture .c3 { color: var(--c3) } svg.picture .c4 { color: var(--c4) } svg.picture .c5 { color: var(--c5) }
svg.picture .printed { fill: none; stroke: currentColor; stroke-width: 1.8 }
svg.picture .measured { fill: currentColor }
svg.picture .error { stroke: currentColor; stroke-width: 1.4; fill: none }
svg.picture .calculated { stroke: currentColor; stroke-width: 1.6; fill: none; stroke-dasharray: 5 3 }
svg.picture .between { stroke: currentColor; stroke-width: 1; fill: none; opacity: .55 }
";

/// Additional colours, which pictures with many names include themselves.
const MORE_STYLE: &str = "\
:root { --c6: #b3123f; --c7: #2b8f9e; --c8: #6b4c2a; --c9: #5a6b00; --c10: #d14d9a; --c11: #3c3f9e }
@media (prefers-color-scheme: dark) {
  :root { --c6: #ff7b9c; --c7: #6ad3e0; --c8: #d0a97c; --c9: #b7cc4e; --c10: #ff9ad1; --c11: #9da1ff }
}
svg.picture .c6 { color: var(--c6) } svg.picture .c7 { color: var(--c7) } svg.picture .c8 { color: var(--c8) }
svg.picture .c9 { color: var(--c9) } svg.picture .c10 { color: var(--c10) } svg.picture .c11 { color: var(--c11) }
";

/// The colour of a name, by its index among all names.
fn colour(number: usize, names: &[&str]) -> usize {
    number % if names.len() > COLOURS { MANY_COLOURS } else { COLOURS }
}

/// The picture as a separate file.
#[must_use]
pub fn file(picture: &Picture) -> String {
    let style = format!("{STYLE}svg.picture {{ background: var(--paper) }}\n");
    drawn(picture, &format!("<style>{style}</style>"))
}

/// The picture as a part of a page that includes the [`STYLE`].
#[must_use]
pub fn part(picture: &Picture) -> String {
    drawn(picture, "")
}

/// Escapes text for markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn drawn(picture: &Picture, style: &str) -> String {
    let names = names(picture);
    let (legend, legend_height) = legend(picture, &names);
    let rows = picture.up.names.len();
    let height = if picture.has_rows() { ROW * rows as f64 } else { HEIGHT };
    let width = WIDTH - LEFT - RIGHT;
    // Rows have their names above them, and no numbers at the left.
    let (left, width) = if picture.has_rows() { (RIGHT, width + LEFT - RIGHT) } else { (LEFT, width) };
    let top = legend_height + 10.0;
    let total = top + height + BELOW;
    let title = escaped(&picture.title);
    let more = if names.len() > COLOURS { format!("<style>{MORE_STYLE}</style>") } else { String::new() };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" viewBox=\"0 0 {WIDTH} {total:.0}\" role=\"img\">\
         <title>{title}</title>{style}{more}{legend}<g transform=\"translate({left} {top:.1})\">"
    );
    svg += &if picture.has_rows() {
        in_rows(picture, &names, width, height)
    } else {
        in_plane(picture, &names, width, height)
    };
    svg + "</g></svg>"
}

/// The names of series without duplicates; each gets a colour.
fn names(picture: &Picture) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in &picture.series {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

/// The legend: names with their colours and sources with their marks, as many per line as fit; and
/// its height.
fn legend(picture: &Picture, names: &[&str]) -> (String, f64) {
    let mut entries: Vec<(String, String)> = Vec::new();
    let sources: Vec<Source> = [Source::Printed, Source::Calculated, Source::Measured]
        .into_iter()
        .filter(|source| picture.series.iter().any(|series| series.source == *source))
        .collect();
    if names.len() > 1 {
        for (colour, name) in names.iter().enumerate() {
            let mark = format!(
                "<rect class=\"c{} measured\" x=\"1\" y=\"-9\" width=\"10\" height=\"10\" rx=\"2\"/>",
                self::colour(colour, names)
            );
            entries.push((mark, escaped(name)));
        }
    }
    for source in sources {
        let colour = if names.len() > 1 { "" } else { "c0 " };
        let at = (6.0, -4.0);
        let words = match source {
            Source::Measured if has_errors(picture) => {
                format!("measured ± {STANDARD_ERRORS} standard errors")
            }
            source => source.name().to_owned(),
        };
        let mark = match source {
            Source::Calculated if picture.has_rows() => {
                format!("<path class=\"{colour}error\" d=\"M6 -11v14\"/>")
            }
            Source::Calculated => format!("<path class=\"{colour}calculated\" d=\"M-4 -4H14\"/>"),
            source => mark(source, colour, at),
        };
        entries.push((mark, words));
    }
    let (mut x, mut lines, mut svg) = (RIGHT, 0.0, String::new());
    for (mark, words) in entries {
        let wide = 20.0 + LETTER * words.chars().count() as f64 + 14.0;
        if x > RIGHT && x + wide > WIDTH {
            (x, lines) = (RIGHT, lines + 1.0);
        }
        let y = 16.0 + LEGEND_LINE * lines;
        svg += &format!("<g transform=\"translate({x:.1} {y:.1})\">{mark}<text x=\"18\">{words}</text></g>");
        x += wide;
    }
    (svg, LEGEND_LINE * (lines + 1.0))
}

fn has_errors(picture: &Picture) -> bool {
    picture.series.iter().flat_map(|series| &series.points).any(|point| point.error > 0.0)
}

fn mark(source: Source, colour: &str, (x, y): (f64, f64)) -> String {
    match source {
        Source::Printed => {
            format!("<path class=\"{colour}printed\" d=\"M{:.1} {:.1}l6 6l-6 6l-6 -6z\"/>", x, y - 6.0)
        }
        Source::Measured => {
            format!("<circle class=\"{colour}measured\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"/>")
        }
        Source::Calculated => String::new(),
    }
}

/// The ends of a point's error bar.
fn ends(point: &Point) -> [f64; 2] {
    [point.y - STANDARD_ERRORS * point.error, point.y + STANDARD_ERRORS * point.error]
}

/// All numbers that the value axis must cover. An error bar that reaches zero takes at most a
/// decade of a logarithmic axis.
fn values(picture: &Picture, scale: Scale) -> impl Iterator<Item = f64> + '_ {
    let points = picture.series.iter().flat_map(|series| &series.points);
    points.flat_map(move |point| {
        let [low, high] = ends(point);
        let low = if scale == Scale::Log { low.max(point.y / 10.0) } else { low };
        [low, point.y, high]
    })
}

fn words_below(label: &str, width: f64, height: f64) -> String {
    format!(
        "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        width / 2.0,
        height + 38.0,
        escaped(label)
    )
}

fn numbers_below(axis: &Along, height: f64) -> String {
    let number = |(x, text): (f64, String)| {
        format!(
            "<path class=\"grid\" d=\"M{x:.1} 0V{height:.1}\"/>\
             <text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            height + 18.0
        )
    };
    axis.marks().into_iter().map(number).collect()
}

fn in_plane(picture: &Picture, names: &[&str], width: f64, height: f64) -> String {
    let points = || picture.series.iter().flat_map(|series| &series.points);
    let across = Along::new(picture.across.scale, points().map(|point| point.x), width);
    let up = Along::new(picture.up.scale, values(picture, picture.up.scale), height);
    let mut svg = numbers_below(&across, height);
    for (y, text) in up.marks() {
        let y = height - y;
        svg += &format!(
            "<path class=\"grid\" d=\"M0 {y:.1}H{width:.1}\"/>\
             <text class=\"soft\" x=\"-7\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            y + 4.0
        );
    }
    svg += &words_below(&picture.across.label, width, height);
    svg += &format!(
        "<text class=\"soft\" transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        12.0 - LEFT,
        height / 2.0,
        escaped(&picture.up.label)
    );
    let measured: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| picture.series.iter().any(|s| s.name == *name && s.source == Source::Measured))
        .collect();
    for series in &picture.series {
        // Measurements at the same places stand side by side, so that their error bars do not
        // overlap.
        let beside = measured.iter().position(|name| *name == series.name);
        let is_beside = measured.len() > 2 && series.source == Source::Measured && !picture.is_scattered();
        let aside = match beside.filter(|_| is_beside) {
            Some(place) => BESIDE * (place as f64 - (measured.len() - 1) as f64 / 2.0),
            None => 0.0,
        };
        let at = |point: &Point| Some((across.place(point.x)? + aside, height - up.place(point.y)?));
        let colour =
            format!("c{} ", colour(names.iter().position(|name| *name == series.name).unwrap_or(0), names));
        let path: Vec<String> =
            series.points.iter().filter_map(at).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let class = if series.source == Source::Calculated { "calculated" } else { "between" };
        if series.source != Source::Printed && path.len() > 1 {
            svg += &format!("<path class=\"{colour}{class}\" d=\"M{}\"/>", path.join("L"));
        }
        for point in &series.points {
            let Some((x, y)) = at(point) else { continue };
            if point.error > 0.0 {
                let [low, high] = ends(point).map(|end| height - up.place(end).unwrap_or(0.0));
                svg += &format!(
                    "<path class=\"{colour}error\" d=\"M{x:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h6M{0:.1} {high:.1}h6\"/>",
                    x - 3.0
                );
            }
            svg += &mark(series.source, &colour, (x, y));
        }
    }
    svg
}

fn in_rows(picture: &Picture, names: &[&str], width: f64, height: f64) -> String {
    let across = Along::new(picture.across.scale, values(picture, picture.across.scale), width);
    let mut svg = numbers_below(&across, height) + &words_below(&picture.across.label, width, height);
    for (row, name) in picture.up.names.iter().enumerate() {
        let y = ROW * (row as f64 + 1.0);
        svg += &format!("<path class=\"grid\" d=\"M0 {y:.1}H{width:.1}\"/>");
        svg += &format!("<text x=\"2\" y=\"{:.1}\">{}</text>", y - 21.0, escaped(name));
    }
    // Measurements are drawn last, on top.
    for source in [Source::Calculated, Source::Printed, Source::Measured] {
        for series in picture.series.iter().filter(|series| series.source == source) {
            let colour = format!(
                "c{} ",
                colour(names.iter().position(|name| *name == series.name).unwrap_or(0), names)
            );
            for point in &series.points {
                let Some(x) = across.place(point.y) else { continue };
                let y = ROW * (point.x + 1.0) - 8.0;
                if point.error > 0.0 {
                    let [low, high] = ends(point).map(|end| across.place(end).unwrap_or(0.0));
                    svg += &format!(
                        "<path class=\"{colour}error\" d=\"M{low:.1} {y:.1}H{high:.1}M{low:.1} {0:.1}v6M{high:.1} {0:.1}v6\"/>",
                        y - 3.0
                    );
                }
                svg += &if source == Source::Calculated {
                    format!("<path class=\"{colour}error\" d=\"M{x:.1} {:.1}v14\"/>", y - 7.0)
                } else {
                    mark(source, &colour, (x, y))
                };
            }
        }
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::picture::Axis;

    #[test]
    fn what_is_printed_measured_and_calculated_is_drawn_apart() {
        let svg = part(&example());
        for (mark, count) in [("c0 printed", 2), ("c0 measured", 2), ("c0 error", 1), ("c0 calculated", 2)] {
            assert_eq!(svg.matches(&format!("class=\"{mark}\"")).count(), count, "{mark}: {svg}");
        }
        assert!(svg.contains("<title>Rates &lt;by&gt; load</title>") && svg.contains("load, items a bucket"));
        assert!(!svg.contains("<style>") && file(&example()).contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn rows_have_their_names() {
        let mut picture = example();
        (picture.across, picture.up) =
            (Axis::log("rate"), Axis::rows("filter", ["a", "b", "c"].map(str::to_owned).into()));
        let svg = part(&picture);
        assert!(svg.contains(">a</text>") && svg.contains(">rate</text>") && !svg.contains("NaN"), "{svg}");
    }
}
