//! Real hash functions beside ideal ones, on regular keys.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};

use oneread::hash::{Digester, Portable, Std};
use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::table::MultilevelTable;
use oneread_study::hash::family::{MultiplyShift, Tabulation};
use oneread_study::hash::{FromFamily, Ideal};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use super::super::{ITEMS_10K, table_10k};
use super::{means, new};
use crate::Question;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::picture::{Axis, Picture, Point, Series, Source};
use crate::question::Answer;
use crate::verdict::STANDARD_ERRORS;

/// The key of a number.
type Key = fn(u64) -> u64;

/// Keys as programs use them.
const KEYS: [(&str, Key); 3] = [
    ("0, 1, 2, …", |number| number),
    ("multiples of 4096 (addresses)", |number| number << 12),
    ("a high and a low half (pairs)", |number| ((number / 100) << 32) | (number % 100)),
];

const FUNCTIONS: [&str; 6] = [
    "ideal",
    "Portable (the library's own)",
    "SipHash (the standard library's)",
    "FNV-1a, keys of eight bytes",
    "tabulation",
    "multiply-shift",
];

pub(super) fn question() -> Question {
    new(
        "hash-functions",
        "Do hash functions of practice behave as ideal ones?",
        "XII: \"large-scale tests with hash functions commonly used in practice\"",
        |context| {
            let expected: f64 = MultilevelPlan::new(&table_10k()?, ITEMS_10K)?.expected()[1..].iter().sum();
            let mut series = Vec::new();
            // The largest deviation, absolute and in standard errors.
            let (mut most, mut most_errors) = (0f64, 0f64);
            let mut off = Vec::new();
            for (name, key) in KEYS {
                let rows = [
                    below(context, key, Ideal::with_seed)?,
                    below(context, key, Portable::with_seed)?,
                    below(context, key, |seed| {
                        Std(Seeded(BuildHasherDefault::<DefaultHasher>::default(), seed))
                    })?,
                    below(context, key, |seed| Std(Seeded(BuildHasherDefault::<Fnv>::default(), seed)))?,
                    below(context, key, |seed| {
                        let mut rng = Pcg64Mcg::seed_from_u64(seed);
                        let mut draw = || Tabulation::<u64>::draw(8, 64, &mut rng).expect("eight characters");
                        FromFamily::new(draw(), draw())
                    })?,
                    below(context, key, |seed| {
                        let mut rng = Pcg64Mcg::seed_from_u64(seed);
                        let mut draw = || MultiplyShift::<u64>::draw(64, &mut rng).expect("words");
                        FromFamily::new(draw(), draw())
                    })?,
                ];
                let point = |(row, [below]): (usize, &[Measured; 1])| Point {
                    x: row as f64,
                    y: below.value,
                    error: below.standard_error,
                };
                for (function, [below]) in FUNCTIONS.iter().zip(&rows) {
                    let apart = (below.value - expected).abs();
                    most = most.max(apart / expected);
                    most_errors = most_errors.max(apart / below.standard_error);
                    if apart > STANDARD_ERRORS * below.standard_error {
                        off.push(format!("{function} on {name}"));
                    }
                }
                series.push(Series::new(
                    name,
                    Source::Measured,
                    rows.iter().enumerate().map(point).collect(),
                ));
            }
            let calculated = (0..FUNCTIONS.len()).map(|row| Point { x: row as f64, y: expected, error: 0.0 });
            series.push(Series::new("random functions", Source::Calculated, calculated.collect()));
            let differences = format!("at most {:.1}%, or {most_errors:.1} standard errors", 100.0 * most);
            let text = if off.is_empty() {
                format!(
                    "In these tables they do. Of 10k items in the table for as many, on keys as regular as 0, 1, 2, …, all six functions have as many below the first level as is \
                     calculated for random ones: they differ by {differences}, over {} kinds of keys. That holds for FNV-1a and multiply-shift too, for which no \
                     theorem promises it: the library mixes a digest's words again for every level.",
                    KEYS.len()
                )
            } else {
                format!(
                    "Not all do: {} are off by more than four standard errors; {differences}.",
                    off.join(", ")
                )
            };
            let picture = Picture {
                id: "open-hash-functions".to_owned(),
                title: "Items below the first level of the 10k table, by hash function and keys".to_owned(),
                across: Axis::linear("items below the first level"),
                up: Axis::rows("function", FUNCTIONS.map(str::to_owned).into()),
                series,
                caption: "The tick is what is calculated for random functions. Dots of all colours on it: the function behaves as random, whatever the keys.".to_owned(),
            };
            Ok(Answer { text, picture })
        },
    )
}

/// The mean number of items below the first level, over functions.
fn below<D: Digester<u64>>(
    context: &Context,
    key: Key,
    draw: impl Fn(u64) -> D + Sync,
) -> Result<[Measured; 1], Error> {
    let layout: MultilevelLayout = table_10k()?;
    let trial = |seed: u64| -> Result<[f64; 1], Error> {
        let mut table = MultilevelTable::with_digester(layout.clone(), draw(seed))?;
        // A bad function may overfill a table; it then stays as full as possible.
        let refused = (0..ITEMS_10K).filter(|&number| table.insert(key(number), ()).is_err()).count();
        Ok([table.level_loads()[1..].iter().sum::<u64>() as f64 + refused as f64])
    };
    means(context.each(context.effort(60, 1000), trial))
}

/// Seeds a hasher that has no seed by hashing one first, as a user would.
#[derive(Clone)]
struct Seeded<S>(S, u64);

impl<S: BuildHasher> BuildHasher for Seeded<S> {
    type Hasher = S::Hasher;

    fn build_hasher(&self) -> S::Hasher {
        let mut hasher = self.0.build_hasher();
        hasher.write_u64(self.1);
        hasher
    }
}

/// FNV-1a of 64 bits, as published by Fowler, Noll and Vo.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_has_its_published_values() {
        let of = |text: &str| {
            let mut hasher = Fnv::default();
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}
