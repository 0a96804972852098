//! Do double, triple or quadruple hashing suffice for the multiple-filter summary?
//!
//! This is measured by conditioning. Real tables are filled, and their items set bits by the
//! scheme. An item of the level above has random words h1, h2, …; given all but h1, its locations
//! are h1 plus fixed offsets. The share of h1 for which all of them are set is counted exactly, for
//! all h1 at once: the filter is shifted by each offset, and the intersection of all shifts is
//! counted. So failures of 10^−20 are measured as well as those of 0.1.
//!
//! Steps differ. Those of small order, such as 0, visit few locations and cause nearly all
//! failures. With double hashing, every h2 is tried. With more words, only steps in a small
//! subgroup and the steps of the filter's items are tried. The others can only add failures, so the
//! sum is a lower bound.

use oneread::hash::probes::{AnyScheme, SchemeName};
use oneread::hash::{Digest, Domain};
use oneread::plan::summary::SummaryPlan;

use super::super::filled::Filled;
use super::super::summary::FILTERS_10K;
use super::super::{ITEMS_10K, table_10k};
use super::{means, new};
use crate::Question;
use crate::experiment::Error;
use crate::picture::{Axis, Picture, Series};
use crate::question::Answer;

/// The schemes, and how many words they take.
const SCHEMES: [(SchemeName, u32); 3] =
    [(SchemeName::Double, 2), (SchemeName::Triple, 3), (SchemeName::Quadruple, 4)];

/// Combinations of steps to try per filter, besides those of its items.
const MOST_COMBINATIONS: u64 = 30_000;

pub(super) fn question() -> Question {
    new(
        "probes",
        "Do two, three or four hash functions suffice for the filters of a multiple-filter summary?",
        "VIII-B: double hashing \"is not effective in our setting\", with triple and quadruple hashing it \"appears to improve\"; such small probabilities made it \"impossible to prove\" by experiments",
        |context| {
            let tables = context.effort(4, 100);
            let layout = table_10k()?;
            let trial = |seed: u64| -> Result<[f64; 12], Error> {
                let filled = Filled::plain(&layout, ITEMS_10K, seed)?;
                let mut failures = [0.0; 12];
                for (at, (scheme, words)) in SCHEMES.into_iter().enumerate() {
                    for level in 1..FILTERS_10K.len() {
                        let (bits, hashes) = FILTERS_10K[level];
                        let deeper = filled.levels[level..].iter().flatten();
                        let filter =
                            Filter::new(AnyScheme::new(scheme, Domain::SUMMARY, hashes, bits)?, deeper, bits);
                        let above = filled.levels[level - 1].len() as f64;
                        failures[4 * at + level - 1] = above * filter.fails(hashes, words);
                    }
                }
                Ok(failures)
            };
            let failures = means(context.each(tables, trial))?;
            let plan = SummaryPlan::new(
                &layout,
                ITEMS_10K,
                &oneread::layout::MultipleFiltersLayout::new(FILTERS_10K)?.into(),
            )?;
            let independent = plan.failure_exact();
            let mut series: Vec<Series> = (0..4)
                .map(|filter| {
                    let of_words = |at: usize| ((at + 2) as f64, failures[4 * at + filter]);
                    // A filter that was empty in all tables shows nothing.
                    let seen = (0..3).map(of_words).filter(|(_, failures)| failures.value > 0.0);
                    Series::measured(format!("B{}", filter + 1), seen)
                })
                .filter(|series| !series.points.is_empty())
                .collect();
            series.push(Series::calculated("all, independent", [(2.0, independent), (4.0, independent)]));
            let total = |at: usize| failures[4 * at..4 * at + 4].iter().map(|of| of.value).sum::<f64>();
            let text = format!(
                "No. With independent functions a table of 10k items is expected to have {} failures; with double hashing {}, with triple hashing at least \
                 {} and with quadruple hashing at least {}. Nearly all come from steps of a small order, such as 0, which visit few places: in filters this small \
                 such steps are not rare enough.",
                two_digits(independent),
                two_digits(total(0)),
                two_digits(total(1)),
                two_digits(total(2)),
            );
            let picture = Picture {
                id: "open-probes".to_owned(),
                title: "Expected failures of a summary for 10k items, by its filter".to_owned(),
                across: Axis::linear("words of a digest that make all locations"),
                up: Axis::log("expected failures a table"),
                series,
                caption: "Each word more makes failures a thousand times rarer or more, but even with four the line of independent functions is far below. The small \
                          filters B2 and B3 are the worst: they have the fewest places."
                    .to_owned(),
            };
            Ok(Answer { text, picture })
        },
    )
}

fn two_digits(value: f64) -> String {
    if value > 0.01 { format!("{value:.2}") } else { format!("{value:.1e}") }
}

/// A filter's bits, twice in a row, so that any shift is a slice of them; and the offsets of its
/// items.
struct Filter {
    bits: u64,
    twice: Vec<u64>,
    of_items: Vec<Vec<u64>>,
}

impl Filter {
    fn new<'d>(scheme: AnyScheme, items: impl Iterator<Item = &'d Digest>, bits: u64) -> Self {
        let mut twice = vec![0u64; (2 * bits).div_ceil(64) as usize + 2];
        let mut of_items = Vec::new();
        for &digest in items {
            let mut locations = Vec::new();
            scheme.for_each(digest, |location| locations.push(location));
            for location in &locations {
                for at in [*location, location + bits] {
                    twice[(at / 64) as usize] |= 1 << (at % 64);
                }
            }
            of_items.push(locations.iter().map(|at| (at + bits - locations[0]) % bits).collect());
        }
        Self { bits, twice, of_items }
    }

    /// The probability that a random item finds all its bits set, over the tried steps: a lower
    /// bound.
    fn fails(&self, hashes: u32, words: u32) -> f64 {
        if self.of_items.is_empty() {
            return 0.0;
        }
        let steps = words - 1;
        // All steps, or those of a subgroup: multiples of bits/order.
        let order = (1..=self.bits)
            .rev()
            .find(|order| {
                self.bits.is_multiple_of(*order) && (words == 2 || order.pow(steps) <= MOST_COMBINATIONS)
            })
            .unwrap_or(1);
        let unit = self.bits / order;
        let mut hits = 0.0;
        for combination in 0..order.pow(steps) {
            let mut step = [0u64; 3];
            (0..steps).for_each(|at| step[at as usize] = combination / order.pow(at) % order * unit);
            hits += self.all_set(&offsets(step, hashes, self.bits)) as f64;
        }
        if words > 2 {
            // Each item adds at least its own location. Steps of the subgroup are counted already.
            let is_new = |offsets: &&Vec<u64>| offsets.iter().any(|offset| offset % unit != 0);
            let new = self.of_items.iter().filter(is_new);
            hits += new.map(|offsets| self.all_set(offsets) as f64).sum::<f64>();
        }
        hits / (self.bits as f64).powi(words as i32)
    }

    /// The number of h1 for which all locations are set.
    fn all_set(&self, offsets: &[u64]) -> u64 {
        let mut offsets = offsets.to_vec();
        offsets.sort_unstable();
        offsets.dedup();
        let words = self.bits.div_ceil(64) as usize;
        let mut common = vec![u64::MAX; words];
        if !self.bits.is_multiple_of(64) {
            common[words - 1] = (1 << (self.bits % 64)) - 1;
        }
        for offset in offsets {
            let (first, shift) = ((offset / 64) as usize, offset % 64);
            let mut any = 0;
            for (at, word) in common.iter_mut().enumerate() {
                let low = self.twice[first + at] >> shift;
                let high = if shift == 0 { 0 } else { self.twice[first + at + 1] << (64 - shift) };
                *word &= low | high;
                any |= *word;
            }
            if any == 0 {
                return 0;
            }
        }
        common.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// i·h2 + C(i, 2)·h3 + C(i, 3)·h4 modulo the size, for all i.
fn offsets([h2, h3, h4]: [u64; 3], hashes: u32, size: u64) -> Vec<u64> {
    let (mut offset, mut first, mut second) = (0, h2, h3);
    (0..hashes)
        .map(|_| {
            let now = offset;
            offset = (offset + first) % size;
            first = (first + second) % size;
            second = (second + h4) % size;
            now
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use oneread::hash::Digester;
    use oneread_study::hash::Ideal;

    use super::*;

    #[test]
    fn offsets_are_those_of_the_library() {
        for (scheme, words) in SCHEMES {
            let scheme = AnyScheme::new(scheme, Domain::SUMMARY, 9, 1000).unwrap();
            let digest = Ideal::with_seed(3).digest(&u64::from(words));
            let mut found = Vec::new();
            scheme.for_each(digest, |location| found.push(location));
            // The steps are differences of the locations.
            let difference =
                |of: &[u64]| -> Vec<u64> { of.windows(2).map(|w| (w[1] + 1000 - w[0]) % 1000).collect() };
            let (first, second) = (difference(&found), difference(&difference(&found)));
            let third = difference(&second);
            let steps =
                [first[0], if words > 2 { second[0] } else { 0 }, if words > 3 { third[0] } else { 0 }];
            let expected: Vec<u64> =
                offsets(steps, 9, 1000).iter().map(|at| (at + found[0]) % 1000).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_counted_at_once_is_what_is_counted_one_by_one() {
        let scheme = AnyScheme::new(SchemeName::Double, Domain::SUMMARY, 3, 70).unwrap();
        let items: Vec<Digest> = (0..12u64).map(|item| Ideal::with_seed(1).digest(&item)).collect();
        let filter = Filter::new(scheme, items.iter(), 70);
        let is_set = |at: u64| filter.twice[(at / 64) as usize] >> (at % 64) & 1 == 1;
        let mut hits = 0u32;
        for h2 in 0..70 {
            for h1 in 0..70 {
                hits += u32::from((0..3).all(|i| is_set((h1 + i * h2) % 70)));
            }
        }
        assert!((filter.fails(3, 2) - f64::from(hits) / 4900.0).abs() < 1e-12);
    }
}
