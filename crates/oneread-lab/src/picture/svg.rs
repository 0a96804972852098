//! Pictures as SVG: colours by name, marks by source.
//!
//! Colours and fonts are a style sheet with light and dark, so that a picture looks right in a page
//! and by itself. Everything is 460 units wide: on a phone letters are still ten pixels high.

use super::scale::Along;
use super::{Picture, Point, Scale, Series, Shape, Source};
use crate::verdict::STANDARD_ERRORS;

const WIDTH: f64 = 460.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
/// The height of what is drawn in, without rows.
const HEIGHT: f64 = 250.0;
const ROW: f64 = 36.0;
/// For the numbers and the words under the lower axis.
const BELOW: f64 = 44.0;
const LEGEND_LINE: f64 = 20.0;
const TITLE_LINE: f64 = 18.0;
/// How wide a letter of the title is taken to be.
const BOLD_LETTER: f64 = 7.0;
/// Pixels per unit of a file.
const SHOWN: f64 = 1.4;
/// Half the width of a bar, in units of its axis.
const HALF_BAR: f64 = 0.35;
/// Between measurements of the same place.
const BESIDE: f64 = 4.0;
/// How wide a letter is taken to be.
const LETTER: f64 = 6.7;
/// The colours of most pictures.
const COLOURS: usize = 6;
/// The colours of pictures with more names; yet more begin again.
const MANY_COLOURS: usize = 12;

/// The style sheet of pictures, for a page or for a file. Without variables, which programs that
/// are no browsers paint black.
pub const STYLE: &str = "\
svg.picture { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif }
svg.picture .paper { fill: #fff } svg.picture text { fill: #1c2430 }
svg.picture .soft { fill: #5b6675 } svg.picture .grid { stroke: #d5dae1; fill: none }
svg.picture .c0 { color: #0b62a8 } svg.picture .c1 { color: #c4510a } svg.picture .c2 { color: #1d7a4c } svg.picture .c3 { color: #8a3fa0 }
svg.picture .c4 { color: #94760a } svg.picture .c5 { color: #5b6675 } svg.picture .c6 { color: #b3123f } svg.picture .c7 { color: #2b8f9e }
svg.picture .c8 { color: #6b4c2a } svg.picture .c9 { color: #5a6b00 } svg.picture .c10 { color: #d14d9a } svg.picture .c11 { color: #3c3f9e }
svg.picture .printed { fill: none; stroke: currentColor; stroke-width: 1.8 }
svg.picture .measured { fill: currentColor }
svg.picture .bar { fill: currentColor; opacity: .7 }
svg.picture .error { stroke: currentColor; stroke-width: 1.4; fill: none }
svg.picture .calculated { stroke: currentColor; stroke-width: 1.6; fill: none; stroke-dasharray: 5 3 }
svg.picture .line { stroke: currentColor; stroke-width: 2; fill: none }
svg.picture .between { stroke: currentColor; stroke-width: 1; fill: none; opacity: .55 }
svg.picture .ours { stroke: currentColor; stroke-width: 2.6; fill: none }
svg.picture .bold { font-weight: 700 }
@media (prefers-color-scheme: dark) {
svg.picture .paper { fill: #14181f } svg.picture text { fill: #e6eaf0 }
svg.picture .soft { fill: #a3adba } svg.picture .grid { stroke: #333b47 }
svg.picture .c0 { color: #6fb3f2 } svg.picture .c1 { color: #f0965a } svg.picture .c2 { color: #5fc793 } svg.picture .c3 { color: #cf94e0 }
svg.picture .c4 { color: #dcc04f } svg.picture .c5 { color: #a3adba } svg.picture .c6 { color: #ff7b9c } svg.picture .c7 { color: #6ad3e0 }
svg.picture .c8 { color: #d0a97c } svg.picture .c9 { color: #b7cc4e } svg.picture .c10 { color: #ff9ad1 } svg.picture .c11 { color: #9da1ff }
}
";

/// The colour of a name, by its number among all names.
fn colour(number: usize, names: &[&str]) -> usize {
    number % if names.len() > COLOURS { MANY_COLOURS } else { COLOURS }
}

/// The picture as a file of its own.
#[must_use]
pub fn file(picture: &Picture) -> String {
    row(std::slice::from_ref(picture))
}

/// Pictures side by side, as a file.
#[must_use]
pub fn row(pictures: &[Picture]) -> String {
    let (mut parts, mut x, mut height) = (String::new(), 0.0, 0.0_f64);
    for picture in pictures {
        let (part, its_height) = drawn(picture, Some(x));
        parts += &part;
        (x, height) = (x + WIDTH, height.max(its_height));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" viewBox=\"0 0 {x} {height:.0}\" \
         width=\"{:.0}\" height=\"{:.0}\"><style>{STYLE}</style>\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>{parts}</svg>",
        SHOWN * x,
        SHOWN * height
    )
}

/// The picture as a part of a page that has the [`STYLE`].
#[must_use]
pub fn part(picture: &Picture) -> String {
    drawn(picture, None).0
}

/// Text that is no markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A picture and its height: with its title if it is placed in a file, without if it is part of a
/// page.
fn drawn(picture: &Picture, placed: Option<f64>) -> (String, f64) {
    let names = names(picture);
    let (legend, legend_height) = legend(picture, &names);
    let rows = picture.up.names.len();
    let height = if picture.has_rows() { ROW * rows as f64 } else { HEIGHT };
    let width = WIDTH - LEFT - RIGHT;
    // Rows have their names above them, and no numbers to the left.
    let (left, width) = if picture.has_rows() { (RIGHT, width + LEFT - RIGHT) } else { (LEFT, width) };
    let heading = if placed.is_some() { title_lines(&picture.title) } else { Vec::new() };
    let above = TITLE_LINE * heading.len() as f64;
    let top = above + legend_height + 10.0;
    let total = top + height + BELOW;
    let place =
        placed.map_or_else(String::new, |x| format!("x=\"{x}\" width=\"{WIDTH}\" height=\"{total:.0}\" "));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" {place}viewBox=\"0 0 {WIDTH} {total:.0}\" \
         role=\"img\"><title>{}</title>",
        escaped(&picture.title)
    );
    for (line, words) in heading.iter().enumerate() {
        let y = TITLE_LINE * (line as f64 + 1.0);
        svg += &format!("<text class=\"bold\" x=\"{RIGHT}\" y=\"{y}\">{}</text>", escaped(words));
    }
    svg += &format!(
        "<g transform=\"translate(0 {above})\">{legend}</g><g transform=\"translate({left} {top:.1})\">"
    );
    svg += &if picture.has_rows() {
        in_rows(picture, &names, width, height)
    } else {
        in_plane(picture, &names, width, height)
    };
    (svg + "</g></svg>", total)
}

/// A title in lines that fit the width.
fn title_lines(title: &str) -> Vec<String> {
    let letters = ((WIDTH - 2.0 * RIGHT) / BOLD_LETTER) as usize;
    let mut lines: Vec<String> = vec![String::new()];
    for word in title.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= letters {
            *last += " ";
            *last += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The names of series, each once: a colour each.
fn names(picture: &Picture) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in &picture.series {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

/// Names with their colours, sources with their marks, as many in a line as there is room for; and
/// the height of it.
fn legend(picture: &Picture, names: &[&str]) -> (String, f64) {
    let mut entries: Vec<(String, &str, String)> = Vec::new();
    let sources: Vec<Source> = [Source::Printed, Source::Calculated, Source::Measured]
        .into_iter()
        .filter(|source| picture.series.iter().any(|series| series.source == *source))
        .collect();
    if names.len() > 1 {
        for (number, name) in names.iter().enumerate() {
            let of_name = || picture.series.iter().filter(|series| series.name == *name);
            let mark = sample(of_name().collect(), &format!("c{} ", colour(number, names)), number);
            let class = if of_name().any(|series| series.is_ours) { " class=\"bold\"" } else { "" };
            entries.push((mark, class, escaped(name)));
        }
    }
    // Shapes of their own speak for themselves.
    let sources: Vec<Source> = sources
        .into_iter()
        .filter(|source| {
            let mut of_source = picture.series.iter().filter(|series| series.source == *source);
            of_source.any(|series| series.shape == Shape::BySource)
        })
        .collect();
    // Where each name has one source, its mark says enough.
    let is_plain = names.iter().all(|name| picture.series.iter().filter(|of| of.name == *name).count() == 1);
    let sources = if names.len() > 1 && is_plain && !has_errors(picture) { Vec::new() } else { sources };
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
            source => mark(source, colour, at, 0, 1.0),
        };
        entries.push((mark, "", words));
    }
    let (mut x, mut lines, mut svg) = (RIGHT, 0.0, String::new());
    for (mark, class, words) in entries {
        let letter = if class.is_empty() { LETTER } else { BOLD_LETTER };
        let wide = 20.0 + letter * words.chars().count() as f64 + 18.0;
        if x > RIGHT && x + wide > WIDTH {
            (x, lines) = (RIGHT, lines + 1.0);
        }
        let y = 16.0 + LEGEND_LINE * lines;
        svg += &format!(
            "<g transform=\"translate({x:.1} {y:.1})\">{mark}<text{class} x=\"18\">{words}</text></g>"
        );
        x += wide;
    }
    (svg, LEGEND_LINE * (lines + 1.0))
}

fn has_errors(picture: &Picture) -> bool {
    picture.series.iter().flat_map(|series| &series.points).any(|point| point.error > 0.0)
}

/// What a name looks like: its bar, its line, or its mark.
fn sample(series: Vec<&Series>, colour: &str, number: usize) -> String {
    match series.first().map(|series| (series.shape, series.source)) {
        Some((Shape::Bars, _)) => {
            format!("<rect class=\"{colour}bar\" x=\"1\" y=\"-9\" width=\"10\" height=\"10\"/>")
        }
        Some((Shape::Line, _)) => format!("<path class=\"{colour}line\" d=\"M-2 -4H14\"/>"),
        Some((Shape::BySource, Source::Calculated)) if series.len() == 1 => {
            format!("<path class=\"{colour}calculated\" d=\"M-4 -4H14\"/>")
        }
        _ => mark(Source::Measured, colour, (6.0, -4.0), number, 1.3),
    }
}

/// A mark. What is measured has a shape by the number of its name, so that colour is not all that
/// tells names apart.
fn mark(source: Source, colour: &str, (x, y): (f64, f64), number: usize, size: f64) -> String {
    let path = match (source, number % 6) {
        (Source::Calculated, _) => return String::new(),
        (Source::Printed, _) => {
            return format!("<path class=\"{colour}printed\" d=\"M{x:.1} {:.1}l6 6l-6 6l-6 -6z\"/>", y - 6.0);
        }
        (_, 0) => {
            let radius = 3.2 * size;
            return format!(
                "<circle class=\"{colour}measured\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"
            );
        }
        (_, 1) => "m-3 -3h6v6h-6z",
        (_, 2) => "m0 -4l4 7h-8z",
        (_, 3) => "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
        (_, 4) => "m0 4l4 -7h-8z",
        _ => "m-1.2 -4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z",
    };
    format!(
        "<path class=\"{colour}measured\" transform=\"translate({x:.1} {y:.1}) scale({size})\" d=\"M0 0{path}\"/>"
    )
}

/// The ends of a point's bar.
fn ends(point: &Point) -> [f64; 2] {
    [point.y - STANDARD_ERRORS * point.error, point.y + STANDARD_ERRORS * point.error]
}

/// All numbers that the axis of values has to have room for. A bar down to nothing takes no more
/// than a decade of a logarithmic axis.
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
    // A bar is wider than its number.
    let has_bars = picture.series.iter().any(|series| series.shape == Shape::Bars);
    let beside = if has_bars { &[-1.0, 0.0, 1.0][..] } else { &[0.0] };
    let places = points().flat_map(|point| beside.iter().map(move |beside| point.x + beside));
    let across = Along::new(&picture.across, places, width);
    let up = Along::new(&picture.up, values(picture, picture.up.scale), height);
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
    // Ours is drawn last, and so on top.
    let (ours, others): (Vec<&Series>, Vec<&Series>) =
        picture.series.iter().partition(|series| series.is_ours);
    for series in others.into_iter().chain(ours) {
        let number = names.iter().position(|name| *name == series.name).unwrap_or(0);
        // Many measurements of the same places stand side by side, so that their bars do not hide
        // each other.
        let beside = measured.iter().position(|name| *name == series.name);
        let is_beside = measured.len() > 2 && series.source == Source::Measured && !picture.is_scattered();
        let aside = match beside.filter(|_| is_beside) {
            Some(place) => BESIDE * (place as f64 - (measured.len() - 1) as f64 / 2.0),
            None => 0.0,
        };
        let at = |point: &Point| Some((across.place(point.x)? + aside, height - up.place(point.y)?));
        let colour = format!("c{} ", colour(number, names));
        if series.shape == Shape::Bars {
            svg += &bars(series, &colour, &across, &up, height);
            continue;
        }
        let path: Vec<String> =
            series.points.iter().filter_map(at).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let class = match (series.shape, series.source) {
            (Shape::Line, _) => Some("line"),
            (Shape::BySource, Source::Calculated) => Some("calculated"),
            (Shape::BySource, Source::Measured) => Some(if series.is_ours { "ours" } else { "between" }),
            _ => None,
        };
        if let Some(class) = class.filter(|_| path.len() > 1) {
            svg += &format!("<path class=\"{colour}{class}\" d=\"M{}\"/>", path.join("L"));
        }
        if series.shape == Shape::Line && path.len() > 1 {
            continue;
        }
        let source = if series.shape == Shape::BySource { series.source } else { Source::Measured };
        for point in &series.points {
            let Some((x, y)) = at(point) else { continue };
            if point.error > 0.0 {
                let [low, high] = ends(point).map(|end| height - up.place(end).unwrap_or(0.0));
                svg += &format!(
                    "<path class=\"{colour}error\" d=\"M{x:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h6M{0:.1} {high:.1}h6\"/>",
                    x - 3.0
                );
            }
            svg += &mark(source, &colour, (x, y), number, if series.is_ours { 1.7 } else { 1.0 });
        }
    }
    svg
}

/// Bars from the lower edge up to each number.
fn bars(series: &Series, colour: &str, across: &Along, up: &Along, height: f64) -> String {
    let bar = |point: &Point| {
        let (left, right) = (across.place(point.x - HALF_BAR)?, across.place(point.x + HALF_BAR)?);
        let tall = up.place(point.y)?;
        Some(format!(
            "<rect class=\"{colour}bar\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            height - tall,
            right - left
        ))
    };
    series.points.iter().filter_map(bar).collect()
}

fn in_rows(picture: &Picture, names: &[&str], width: f64, height: f64) -> String {
    let across = Along::new(&picture.across, values(picture, picture.across.scale), width);
    let mut svg = numbers_below(&across, height) + &words_below(&picture.across.label, width, height);
    for (row, name) in picture.up.names.iter().enumerate() {
        let y = ROW * (row as f64 + 1.0);
        svg += &format!("<path class=\"grid\" d=\"M0 {y:.1}H{width:.1}\"/>");
        svg += &format!("<text x=\"2\" y=\"{:.1}\">{}</text>", y - 21.0, escaped(name));
    }
    // What is measured is drawn last, and so on top.
    for source in [Source::Calculated, Source::Printed, Source::Measured] {
        for series in picture.series.iter().filter(|series| series.source == source) {
            let number = names.iter().position(|name| *name == series.name).unwrap_or(0);
            let colour = format!("c{} ", colour(number, names));
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
                    mark(source, &colour, (x, y), number, 1.0)
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
        assert!(
            svg.contains("<title>Rates &lt;by&gt; load</title>") && svg.contains("load, items per bucket")
        );
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
