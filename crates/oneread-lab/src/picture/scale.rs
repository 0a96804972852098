//! From numbers to places along an axis, and the numbers that are written there.

use super::{Axis, Scale};

/// An axis of a length.
pub(super) struct Along {
    scale: Scale,
    low: f64,
    high: f64,
    length: f64,
    /// Whether there are only whole numbers, so that what is between them means nothing.
    is_whole: bool,
    /// What stands behind large numbers: the B of MB.
    unit: &'static str,
}

/// Marks on an axis are at most this many.
const MAX_MARKS: usize = 7;

/// The share of the axis that is left free on both sides.
const MARGIN: f64 = 0.05;

impl Along {
    /// An axis that has room for all the numbers.
    pub(super) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>, length: f64) -> Self {
        let scale = axis.scale;
        let unit = if axis.label.contains("bytes") { "B" } else { "" };
        let is_shown = |number: &f64| number.is_finite() && (scale != Scale::Log || *number > 0.0);
        let mut is_whole = true;
        let (low, high) = numbers
            .filter(is_shown)
            .inspect(|number| is_whole &= number.fract() == 0.0)
            .map(|number| Self::linear(scale, number))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        // A single number stands in the middle of something.
        let room = if high - low < 1e-9 * high.abs().max(1.0) { 0.5 } else { MARGIN * (high - low) };
        Self { scale, low: low - room, high: high + room, length, is_whole, unit }
    }

    fn linear(scale: Scale, number: f64) -> f64 {
        match scale {
            Scale::Linear => number,
            Scale::Log => number.log10(),
            Scale::Ln => number / std::f64::consts::LN_10,
        }
    }

    /// Where a number is, if it is on the axis at all; at the end if it is beyond.
    pub(super) fn place(&self, number: f64) -> Option<f64> {
        if !number.is_finite() || (self.scale == Scale::Log && number <= 0.0) {
            return None;
        }
        let at = (Self::linear(self.scale, number) - self.low) / (self.high - self.low);
        Some(self.length * at.clamp(0.0, 1.0))
    }

    /// Numbers to write, and their places.
    pub(super) fn marks(&self) -> Vec<(f64, String)> {
        let (low, high) = (self.low, self.high);
        let numbers: Vec<(f64, String)> = match self.scale {
            Scale::Linear => equal_steps(low, high, self.is_whole, self.unit),
            // A factor of three or less: equal steps are not far from equal factors.
            Scale::Log | Scale::Ln if high - low < 0.5 && high.abs() < 5.0 => {
                equal_steps(10f64.powf(low), 10f64.powf(high), false, self.unit)
            }
            Scale::Log | Scale::Ln => {
                let decades = (high - low).max(1e-9);
                let powers = (low.ceil() as i32)..=(high.floor() as i32);
                if decades < 1.6 {
                    // Too few powers of ten: what is between them is written too.
                    let firsts: &[f64] =
                        if decades < 0.8 { &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0] } else { &[1.0, 2.0, 5.0] };
                    let all = (low.floor() as i32..=high.ceil() as i32)
                        .flat_map(|power| firsts.iter().map(move |first| (*first, power)));
                    all.map(|(first, power)| (first * 10f64.powi(power), plain(first, power)))
                        .filter(|(number, _)| (low..=high).contains(&number.log10()))
                        .collect()
                } else {
                    let least = powers.clone().count().div_ceil(MAX_MARKS) as f64;
                    let every = round_step(least.max(1.0)) as i32;
                    let powers = powers.filter(|power| power % every == 0);
                    return powers
                        .filter_map(|power| {
                            // No float holds 10^-400; its logarithm is one.
                            let number = f64::from(power)
                                * if self.scale == Scale::Ln { std::f64::consts::LN_10 } else { 1.0 };
                            let number = if self.scale == Scale::Ln { number } else { 10f64.powf(number) };
                            Some((self.place(number)?, power_of_ten(power)))
                        })
                        .collect();
                }
            }
        };
        let given = |number: f64| if self.scale == Scale::Ln { number.ln() } else { number };
        numbers.into_iter().filter_map(|(number, text)| Some((self.place(given(number))?, text))).collect()
    }
}

/// Multiples of a round number between two.
fn equal_steps(low: f64, high: f64, is_whole: bool, unit: &str) -> Vec<(f64, String)> {
    let step = round_step((high - low) / (MAX_MARKS - 1) as f64);
    let step = if is_whole { step.max(1.0) } else { step };
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    let most = low.abs().max(high.abs());
    (first..=last).map(|at| (at as f64 * step, human(at as f64 * step, step, most, unit))).collect()
}

/// A number as people write it: 250 MB rather than 250000000. All on an axis that goes up to `most`
/// in steps of `step` have the same form.
fn human(number: f64, step: f64, most: f64, unit: &str) -> String {
    let (size, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")]
        .into_iter()
        .find(|(size, _)| most >= *size)
        .map_or((1.0, ""), |(size, prefix)| (if prefix == "k" { 1e3 } else { size }, prefix));
    let decimals = (-(step / size).log10().floor()).max(0.0) as usize;
    let text = format!("{:.decimals$}", number / size);
    match (prefix, unit) {
        _ if number == 0.0 => "0".to_owned(),
        ("", "") => text,
        _ => format!("{text} {prefix}{unit}"),
    }
}

/// 1, 2 or 5 times a power of ten, at least as large.
fn round_step(least: f64) -> f64 {
    let unit = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * unit)
        .find(|step| *step >= least * 0.999)
        .unwrap_or(least)
}

/// A digit or two times a power of ten: written out, with a prefix, or as a power.
fn plain(first: f64, power: i32) -> String {
    match power {
        -3..=3 => {
            let text = format!("{:.5}", first * 10f64.powi(power));
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        4..=11 => {
            let prefix = ["k", "M", "G"][(power / 3 - 1) as usize];
            format!("{} {prefix}", first * 10f64.powi(power % 3))
        }
        _ if first == 1.0 => power_of_ten(power),
        _ => format!("{first}·{}", power_of_ten(power)),
    }
}

fn power_of_ten(power: i32) -> String {
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => char::from_u32('⁰' as u32 + other.to_digit(10).unwrap_or(0)).unwrap_or('?'),
    };
    match power {
        -2..=11 => plain(1.0, power),
        _ => format!("10{}", power.to_string().chars().map(raised).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, numbers: &[f64]) -> Vec<String> {
        labelled(scale, "", numbers)
    }

    fn labelled(scale: Scale, label: &str, numbers: &[f64]) -> Vec<String> {
        let axis = Axis { scale, ..Axis::linear(label) };
        Along::new(&axis, numbers.iter().copied(), 100.0).marks().into_iter().map(|mark| mark.1).collect()
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(texts(Scale::Linear, &[0.0, 10.0]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(Scale::Linear, &[2.0, 3.0, 4.0]), ["2", "3", "4"]);
        assert_eq!(texts(Scale::Linear, &[0.2, 0.9]), ["0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(texts(Scale::Log, &[1e-4, 1.0]), ["10⁻⁴", "10⁻³", "0.01", "0.1", "1"]);
        assert_eq!(
            texts(Scale::Log, &[1e-30, 1.0]),
            ["10⁻³⁰", "10⁻²⁵", "10⁻²⁰", "10⁻¹⁵", "10⁻¹⁰", "10⁻⁵", "1"]
        );
        assert_eq!(texts(Scale::Log, &[1.0, 10.0]), ["1", "2", "5", "10"]);
        assert_eq!(texts(Scale::Log, &[1e3, 1e6]), ["1000", "10 k", "100 k", "1 M"]);
        // Their logarithms can be drawn where no float holds the numbers.
        assert_eq!(texts(Scale::Ln, &[-921.1, 0.0]), ["10⁻⁴⁰⁰", "10⁻³⁰⁰", "10⁻²⁰⁰", "10⁻¹⁰⁰", "1"]);
    }

    #[test]
    fn large_numbers_have_a_prefix_and_bytes_a_unit() {
        let megabytes = ["100 MB", "200 MB", "300 MB", "400 MB"];
        assert_eq!(labelled(Scale::Linear, "bytes of memory", &[5e7, 4.1e8]), megabytes);
        assert_eq!(texts(Scale::Linear, &[0.0, 3e4])[..3], ["0", "10 k", "20 k"]);
        assert_eq!(texts(Scale::Linear, &[1e6, 2e6])[..2], ["1.0 M", "1.2 M"]);
        assert_eq!(texts(Scale::Log, &[0.02, 0.03]), ["0.020", "0.022", "0.024", "0.026", "0.028", "0.030"]);
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let axis = Along::new(&Axis::log(""), [1.0, 100.0, -3.0, f64::NAN].into_iter(), 110.0);
        assert_eq!((axis.place(0.0), axis.place(f64::NAN)), (None, None));
        assert!((axis.place(10.0).unwrap() - 55.0).abs() < 1e-9);
        assert_eq!(axis.place(1e9), Some(110.0));
    }

    #[test]
    fn one_number_is_in_the_middle() {
        let axis = Along::new(&Axis::linear(""), [7.0].into_iter(), 100.0);
        assert!((axis.place(7.0).unwrap() - 50.0).abs() < 1e-9);
        assert!(!axis.marks().is_empty());
    }
}
