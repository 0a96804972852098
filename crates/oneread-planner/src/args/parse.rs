//! Parses the values of flags.

use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use oneread::hash::probes::SchemeName;

/// A whole number: 10000, `10_000` or 1e4.
///
/// # Errors
/// A sentence for what is no such number.
pub fn whole(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    if let Ok(number) = digits.parse() {
        return Ok(number);
    }
    match digits.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.fract() == 0.0 && number < u64::MAX as f64 => Ok(number as u64),
        Ok(number) if number >= u64::MAX as f64 => {
            Err(format!("expected a whole number up to {:.1e}, found {number:e}", u64::MAX as f64))
        }
        _ => Err("expected a whole number that is not negative, such as 10000 or 1e4".to_owned()),
    }
}

/// The units of bytes: K and `KiB` are 1024 bytes, KB is 1000.
const UNITS: [(&str, u64); 13] = [
    ("KIB", 1 << 10),
    ("MIB", 1 << 20),
    ("GIB", 1 << 30),
    ("TIB", 1 << 40),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("T", 1 << 40),
    ("B", 1),
];

/// A number of bytes, with or without a unit: 65536, 64e6, 64K, 1.5G, `100 GB` or `2GiB`.
///
/// # Errors
/// A sentence for what is no such number.
pub fn bytes(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((upper.strip_suffix(unit)?.trim_end(), *bytes)));
    let (number, unit) = unit.unwrap_or((&upper, 1));
    let too_many = || format!("expected fewer than 2^64 bytes, found {text}");
    if let Ok(number) = whole(number) {
        return number.checked_mul(unit).ok_or_else(too_many);
    }
    match number.parse::<f64>() {
        // Half a byte is a mistake, 1.5 GB is not.
        Ok(number) if number >= 0.0 && unit > 1 => {
            let bytes = number * unit as f64;
            if bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(too_many()) }
        }
        Ok(number) if number >= u64::MAX as f64 => Err(too_many()),
        _ => Err("expected a number of bytes, such as 65536, 64e6, 256M, 1.5G or \"100 GB\"".to_owned()),
    }
}

/// A ratio.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number < 1.0 => Ok(number),
        _ => Err("expected a number between 0 and 1, such as 0.5".to_owned()),
    }
}

/// A number above 0.
///
/// # Errors
/// A sentence for what is none.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above 0, such as 4 or 5.5".to_owned()),
    }
}

/// A whole number in a range, with or without an exponent: 10000 or 1e4.
pub fn whole_in(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| within(whole(text)?, &range)
}

/// A number in a range.
///
/// # Errors
/// A sentence for a number outside the range.
pub fn within(number: u64, range: &RangeInclusive<u64>) -> Result<u64, String> {
    if range.contains(&number) { Ok(number) } else { Err(format!("{number} is not in {range:?}")) }
}

/// One of several values, each with its name and its help.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let names = values.map(|(name, _, help)| PossibleValue::new(name).help(help));
    let value = move |name: String| values.iter().find(|value| value.0 == name).expect("one of the names").1;
    PossibleValuesParser::new(names).map(value)
}

/// The name of a probe scheme.
pub fn scheme() -> impl TypedValueParser<Value = SchemeName> {
    PossibleValuesParser::new(SchemeName::ALL.map(SchemeName::as_str))
        .map(|name| name.parse().expect("one of the names"))
}
