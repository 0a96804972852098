//! Maps numbers to places along an axis, and chooses the numbers to label.

use super::Scale;

/// An axis of a given length.
pub(super) struct Along {
    scale: Scale,
    low: f64,
    high: f64,
    length: f64,
    /// Whether all numbers are integers, so that labels must be integers too.
    is_whole: bool,
}

/// The most labels on an axis.
const MOST_MARKS: usize = 7;

/// The share of the axis left free at both ends.
const MARGIN: f64 = 0.05;

impl Along {
    /// An axis with room for all the numbers.
    pub(super) fn new(scale: Scale, numbers: impl Iterator<Item = f64>, length: f64) -> Self {
        let is_shown = |number: &f64| number.is_finite() && (scale == Scale::Linear || *number > 0.0);
        let mut is_whole = true;
        let (low, high) = numbers
            .filter(is_shown)
            .inspect(|number| is_whole &= number.fract() == 0.0)
            .map(|number| Self::linear(scale, number))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        // A single number is put in the middle of a range.
        let room = if high - low < 1e-9 * high.abs().max(1.0) { 0.5 } else { MARGIN * (high - low) };
        Self { scale, low: low - room, high: high + room, length, is_whole }
    }

    fn linear(scale: Scale, number: f64) -> f64 {
        if scale == Scale::Log { number.log10() } else { number }
    }

    /// The place of a number, if the axis has one; the end of the axis if the number is beyond.
    pub(super) fn place(&self, number: f64) -> Option<f64> {
        if !number.is_finite() || (self.scale == Scale::Log && number <= 0.0) {
            return None;
        }
        let at = (Self::linear(self.scale, number) - self.low) / (self.high - self.low);
        Some(self.length * at.clamp(0.0, 1.0))
    }

    /// Numbers to label, and their places.
    pub(super) fn marks(&self) -> Vec<(f64, String)> {
        let (low, high) = (self.low, self.high);
        let numbers: Vec<(f64, String)> = match self.scale {
            Scale::Linear => equal_steps(low, high, self.is_whole),
            // Over a factor of three or less, equal steps look much like equal factors.
            Scale::Log if high - low < 0.5 && high.abs() < 5.0 => {
                equal_steps(10f64.powf(low), 10f64.powf(high), false)
            }
            Scale::Log => {
                let decades = (high - low).max(1e-9);
                let powers = (low.ceil() as i32)..=(high.floor() as i32);
                if decades < 1.6 {
                    // With few powers of ten, the numbers between them are labelled too.
                    let firsts: &[f64] =
                        if decades < 0.8 { &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0] } else { &[1.0, 2.0, 5.0] };
                    let all = (low.floor() as i32..=high.ceil() as i32)
                        .flat_map(|power| firsts.iter().map(move |first| (*first, power)));
                    all.map(|(first, power)| (first * 10f64.powi(power), plain(first, power)))
                        .filter(|(number, _)| (low..=high).contains(&number.log10()))
                        .collect()
                } else {
                    let every = (powers.clone().count().div_ceil(MOST_MARKS)).max(1) as i32;
                    powers
                        .filter(|power| power % every == 0)
                        .map(|power| (10f64.powi(power), power_of_ten(power)))
                        .collect()
                }
            }
        };
        numbers.into_iter().filter_map(|(number, text)| Some((self.place(number)?, text))).collect()
    }
}

/// Multiples of a round number between two.
fn equal_steps(low: f64, high: f64, is_whole: bool) -> Vec<(f64, String)> {
    let step = round_step((high - low) / (MOST_MARKS - 1) as f64);
    let step = if is_whole { step.max(1.0) } else { step };
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|at| (at as f64 * step, format!("{:.decimals$}", at as f64 * step))).collect()
}

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let unit = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * unit)
        .find(|step| *step >= least * 0.999)
        .unwrap_or(least)
}

/// The powers of ten written without an exponent.
const WRITTEN_OUT: std::ops::RangeInclusive<i32> = -3..=4;

/// A digit or two times a power of ten.
fn plain(first: f64, power: i32) -> String {
    if WRITTEN_OUT.contains(&power) {
        let number = first * 10f64.powi(power);
        let text = format!("{number:.5}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        if first == 1.0 { power_of_ten(power) } else { format!("{first}·{}", power_of_ten(power)) }
    }
}

fn power_of_ten(power: i32) -> String {
    match power {
        0 => "1".to_owned(),
        -2..=3 => plain(1.0, power),
        _ => {
            let raised = |digit: char| match digit {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                other => char::from_u32('⁰' as u32 + other.to_digit(10).unwrap_or(0)).unwrap_or('?'),
            };
            format!("10{}", power.to_string().chars().map(raised).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, numbers: &[f64]) -> Vec<String> {
        Along::new(scale, numbers.iter().copied(), 100.0).marks().into_iter().map(|mark| mark.1).collect()
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
        assert_eq!(texts(Scale::Log, &[0.02, 0.03]), ["0.020", "0.022", "0.024", "0.026", "0.028", "0.030"]);
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let axis = Along::new(Scale::Log, [1.0, 100.0, -3.0, f64::NAN].into_iter(), 110.0);
        assert_eq!((axis.place(0.0), axis.place(f64::NAN)), (None, None));
        assert!((axis.place(10.0).unwrap() - 55.0).abs() < 1e-9);
        assert_eq!(axis.place(1e9), Some(110.0));
    }

    #[test]
    fn one_number_is_in_the_middle() {
        let axis = Along::new(Scale::Linear, [7.0].into_iter(), 100.0);
        assert!((axis.place(7.0).unwrap() - 50.0).abs() < 1e-9);
        assert!(!axis.marks().is_empty());
    }
}
