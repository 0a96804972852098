//! `oneread plan bloom`.

use anyhow::{Result, bail};
use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, LayoutError, MAX_PLACES};
use oneread::plan::{Accuracy, bloom};

use super::layout_file::LayoutFile;
use super::plot::{self, Axis, Chart, Scale, Series, Shape};
use super::report::Report;
use super::sweep::{Numbers, numbers};
use super::{Subject, given, refused, small};
use crate::args::plan::Bloom;

impl Subject for Bloom {
    type Planned = (u64, BloomLayout);

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![Whole { items: self.items.number, bits: self.bits, hashes: self.hashes }]
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
        Ok((self.checked_items()?, self.layout()?))
    }

    fn report(&self, &(items, layout): &Self::Planned) -> Result<Report> {
        let (bits, hashes) = (layout.bits(), layout.hashes());
        let partitioned = bloom::partitioned(bits, hashes, items);
        let standard = layout.with_scheme(SchemeName::Independent)?;
        let mut report = Report::new("")
            .whole("items", "inserted", items)
            .whole("bits", "in all", bits)
            .whole("hashes", "an item", hashes)
            .real("bits_per_item", "bits", bits as f64 / items as f64)
            .odds(
                "false_positive_standard",
                "of absent keys, hashes anywhere (exact)",
                bloom::false_positive_probability(standard, items),
                bloom::ln_false_positive_probability(standard, items),
            )
            .odds(
                "false_positive_partitioned",
                "of absent keys, a band of bits for each hash",
                partitioned,
                ln_partitioned(partitioned, layout, items),
            )
            .whole("optimal_hashes", "an item", bloom::optimal_hashes(bits, items));
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

    fn save(&self, &(items, layout): &Self::Planned) -> Result<()> {
        let (bits, hashes, scheme) = (layout.bits(), layout.hashes().into(), layout.scheme());
        LayoutFile::Bloom { bits, hashes, scheme }.write(&self.files.out)?;
        plot::write(self.plot.as_deref(), || Ok(vec![against_bits(layout, items)?]))
    }
}

impl Bloom {
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
        Ok(layout.with_scheme(self.scheme.unwrap_or(SchemeName::Independent))?)
    }
}

/// The logarithm of a probability. Where it is too small for a float, computed with the bits
/// rounded down to equal bands.
fn ln_partitioned(probability: f64, layout: BloomLayout, items: u64) -> f64 {
    match layout.with_scheme(SchemeName::IndependentBands) {
        Ok(banded) if probability < f64::MIN_POSITIVE => bloom::ln_false_positive_probability(banded, items),
        _ => probability.ln(),
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
