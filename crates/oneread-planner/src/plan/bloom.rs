//! `oneread plan bloom`.

use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Result, bail};
use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, LayoutError, MAX_PLACES};
use oneread::plan::{Accuracy, bloom};
use oneread::workspace::ln_one_minus_exp;

use super::layout_file::LayoutFile;
use super::plot::{Axis, Chart, Scale, Series, Shape};
use super::sweep::{Numbers, numbers};
use super::{Subject, given, refused, small};
use crate::args::plan::{Bloom, LayoutOut};
use crate::report::Report;

impl Subject for Bloom {
    type Planned = (u64, BloomLayout);

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![
            Whole { items: self.items.number, bits: self.bits, hashes: self.hashes },
            Real { rate: self.rate }
        ]
    }

    fn load(&mut self) -> Result<()> {
        match LayoutFile::read(&self.files)? {
            None => Ok(()),
            Some(LayoutFile::Bloom { bits, hashes, scheme }) => {
                (self.bits, self.hashes) = (Some(bits), Some(hashes));
                self.scheme = Some(scheme);
                Ok(())
            }
            Some(other) => other.refuse("bloom"),
        }
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        match (self.rate, self.items.number, self.bits) {
            (None, ..) => Ok((self.checked_items()?, self.layout()?)),
            (Some(rate), Some(_), None) => self.fewest_bits(rate),
            (Some(rate), None, Some(bits)) => self.most_items(bits, rate),
            (Some(rate), Some(_), Some(bits)) => self.fewest_hashes(bits, rate),
            (Some(_), None, None) => {
                bail!("--items is missing: give it, or --bits, or sweep over one of them")
            }
        }
    }

    fn report(&self, &(items, layout): &Self::Planned) -> Result<Report> {
        let (bits, hashes) = (layout.bits(), layout.hashes());
        let partitioned = bloom::partitioned(bits, hashes, items);
        let standard = layout.with_scheme(SchemeName::Independent)?;
        let mut report = Report::new("")
            .whole("items", "inserted", items)
            .whole("bits", "in all", bits)
            .whole("hashes", "per item", hashes);
        if let Some(rate) = self.rate {
            report = report.real("rate", "at most, of absent keys", rate);
        }
        report = report
            .real("bits_per_item", "bits", bits as f64 / items as f64)
            .odds(
                "false_positive_standard",
                "of absent keys, hashes anywhere (exact)",
                bloom::false_positive_probability(standard, items),
                bloom::ln_false_positive_probability(standard, items),
            )
            .odds(
                "false_positive_textbook",
                "of absent keys, by the usual formula",
                bloom::asymptotic(bits as f64 / items as f64, hashes),
                f64::from(hashes) * ln_one_minus_exp(-f64::from(hashes) * items as f64 / bits as f64),
            )
            .odds(
                "false_positive_partitioned",
                "of absent keys, a band of bits for each hash",
                partitioned,
                ln_partitioned(partitioned, layout, items),
            )
            .whole("optimal_hashes", "per item", bloom::optimal_hashes(bits, items));
        if layout.scheme() != SchemeName::Independent {
            let accuracy = match bloom::accuracy(layout) {
                Accuracy::Exact => "exact",
                Accuracy::Bound => "a bound",
                Accuracy::Extrapolated => "extrapolated from a smaller filter",
                _ => "estimated",
            };
            report = report
                .text("scheme", "how hashes are made", layout.scheme().as_str())
                .odds(
                    "false_positive_scheme",
                    "of absent keys, hashes made by the scheme",
                    bloom::false_positive_probability(layout, items),
                    bloom::ln_false_positive_probability(layout, items),
                )
                .text("accuracy_scheme", "of the line above", accuracy);
        }
        Ok(report)
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.files.out), self.plot.as_deref())
    }

    fn layout_file(&self, &(_, layout): &Self::Planned) -> Result<LayoutFile> {
        let (bits, hashes, scheme) = (layout.bits(), layout.hashes().into(), layout.scheme());
        Ok(LayoutFile::Bloom { bits, hashes, scheme })
    }

    fn charts(&self, &(items, layout): &Self::Planned) -> Result<Vec<Chart>> {
        Ok(vec![against_bits(layout, items)?, as_it_fills(layout, items)])
    }
}

impl Bloom {
    fn scheme(&self) -> SchemeName {
        self.scheme.unwrap_or(SchemeName::Independent)
    }

    /// The smallest filter for a rate, with the given number of hashes or the best.
    fn fewest_bits(&self, rate: f64) -> Result<(u64, BloomLayout)> {
        let (items, scheme) = (self.checked_items()?, self.scheme());
        let Some(hashes) = self.hashes else {
            return Ok((items, bloom::for_rate_with(items, rate, scheme)?));
        };
        let hashes = small(hashes, "hashes")?;
        let with = |bits: u64| BloomLayout::new(bits, hashes)?.with_scheme(scheme);
        with(u64::from(hashes).max(1)).map_err(refused("--hashes"))?;
        let is_enough = |bits: u64| {
            with(bits).is_ok_and(|layout| bloom::false_positive_probability(layout, items) <= rate)
        };
        let Some(bits) = first(u64::from(hashes)..=MAX_PLACES, is_enough) else {
            bail!(
                "--rate: {hashes} hashes do not reach it for {items} items: allow a higher rate, or more --hashes"
            );
        };
        Ok((items, with(bits)?))
    }

    /// The most items for which these bits keep a rate.
    fn most_items(&self, bits: u64, rate: f64) -> Result<(u64, BloomLayout)> {
        let layout = |items: u64| -> Result<BloomLayout> {
            let hashes = match self.hashes {
                Some(hashes) => small(hashes, "hashes")?,
                None => bloom::optimal_hashes(bits, items),
            };
            let layout = BloomLayout::new(bits, hashes).map_err(refused("--bits and --hashes"))?;
            Ok(layout.with_scheme(self.scheme())?)
        };
        let least = bloom::false_positive_probability(layout(1)?, 1);
        if least > rate {
            bail!("--bits: {bits} bits keep no item at this rate: allow a rate of {least:.3e}, or more bits");
        }
        let is_too_many = |items: u64| {
            layout(items).is_ok_and(|layout| bloom::false_positive_probability(layout, items) > rate)
        };
        let items = first(1..=MAX_PLACES, is_too_many).map_or(MAX_PLACES, |items| items - 1);
        Ok((items, layout(items)?))
    }

    /// The fewest hashes that keep a rate.
    fn fewest_hashes(&self, bits: u64, rate: f64) -> Result<(u64, BloomLayout)> {
        let items = self.checked_items()?;
        if self.hashes.is_some() {
            bail!("expected three of --items, --bits, --hashes and --rate, found all: leave one out");
        }
        let with = |hashes: u32| -> Result<BloomLayout> {
            Ok(BloomLayout::new(bits, hashes).map_err(refused("--bits"))?.with_scheme(self.scheme())?)
        };
        let best = bloom::optimal_hashes(bits, items);
        for hashes in 1..=best {
            let layout = with(hashes)?;
            if bloom::false_positive_probability(layout, items) <= rate {
                return Ok((items, layout));
            }
        }
        let possible = bloom::false_positive_probability(with(best)?, items);
        let bits_that_do = bloom::for_rate_with(items, rate, self.scheme());
        let or_bits = bits_that_do.map_or_else(
            |_| String::new(),
            |layout| format!(", or bits {} instead of {bits}", layout.bits()),
        );
        bail!(
            "no number of hashes meets all targets: allow rate {possible:.3e} instead of {rate:.3e}{or_bits}"
        )
    }

    fn checked_items(&self) -> Result<u64> {
        match self.items.given()? {
            items @ 1..=MAX_PLACES => Ok(items),
            items => bail!("--items: expected 1 to {MAX_PLACES} items, found {items}: give another number"),
        }
    }

    /// The standard filter by default: independent hashes over all bits.
    fn layout(&self) -> Result<BloomLayout> {
        let bits = given(self.bits, "bits")?;
        // Checks the bits before planning with them.
        BloomLayout::new(bits, 1).map_err(refused("--bits"))?;
        let hashes = match self.hashes {
            Some(hashes) => small(hashes, "hashes")?,
            None => bloom::optimal_hashes(bits, self.checked_items()?),
        };
        let layout = BloomLayout::new(bits, hashes).map_err(refused("--hashes"))?;
        Ok(layout.with_scheme(self.scheme())?)
    }
}

/// The first number for which `is_so` holds, if it holds for all after it, too.
fn first(numbers: RangeInclusive<u64>, is_so: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (*numbers.start(), *numbers.end());
    if !is_so(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_so(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

/// The logarithm of a probability. Where it is too small for a float, computed with the bits
/// rounded down to equal bands.
fn ln_partitioned(probability: f64, layout: BloomLayout, items: u64) -> f64 {
    match layout.with_scheme(SchemeName::IndependentBands) {
        Ok(banded) if probability < f64::MIN_POSITIVE => bloom::ln_false_positive_probability(banded, items),
        _ => probability.ln(),
    }
}

/// The false positives from empty to three times the items.
fn as_it_fills(layout: BloomLayout, items: u64) -> Chart {
    const POINTS: u64 = 48;
    const TIMES: u64 = 3;
    let at = |at: u64| (u128::from(items) * u128::from(TIMES * at) / u128::from(POINTS)) as u64;
    let mut numbers: Vec<u64> = (1..=POINTS).map(at).filter(|items| *items > 0).collect();
    numbers.dedup();
    let exact = |items: u64| (items as f64, bloom::ln_false_positive_probability(layout, items));
    Chart {
        title: format!("As a filter of {} bits fills", layout.bits()),
        x: Axis { label: "items", scale: Scale::Linear },
        y: Axis { label: "false positives (fraction of absent keys)", scale: Scale::Log },
        series: vec![
            Series::new("exact", Shape::Line, numbers.into_iter().map(exact).collect()),
            Series::new("this plan", Shape::Dots, vec![exact(items)]),
        ],
    }
}

/// The false positives of smaller and larger filters.
fn against_bits(layout: BloomLayout, items: u64) -> Result<Chart, LayoutError> {
    const POINTS: u32 = 64;
    let bits_per_item = |layout: BloomLayout| layout.bits() as f64 / items as f64;
    let point =
        |layout: BloomLayout| (bits_per_item(layout), bloom::ln_false_positive_probability(layout, items));
    let (mut given, mut best) = (Vec::new(), Vec::new());
    for at in 1..=POINTS {
        // From a 32nd to twice the bits.
        let bits = (2.0 * layout.bits() as f64 * f64::from(at) / f64::from(POINTS)) as u64;
        let bits = bits.clamp(1, MAX_PLACES);
        let with =
            |hashes| BloomLayout::new(bits.max(u64::from(hashes)), hashes)?.with_scheme(layout.scheme());
        given.push(point(with(layout.hashes())?));
        best.push(point(with(bloom::optimal_hashes(bits, items))?));
    }
    Ok(Chart {
        title: format!("Bloom filter of {items} items"),
        x: Axis { label: "bits per item", scale: Scale::Linear },
        y: Axis { label: "false positives (fraction of absent keys)", scale: Scale::Log },
        series: vec![
            Series::new(format!("hashes: {}", layout.hashes()), Shape::Line, given),
            Series::new("the best number of hashes", Shape::Line, best),
            Series::new("this plan", Shape::Dots, vec![point(layout)]),
        ],
    })
}
