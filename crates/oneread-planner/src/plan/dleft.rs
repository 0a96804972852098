//! `oneread plan dleft`.

use std::path::Path;

use anyhow::{Result, bail};
use oneread::layout::{BucketBits, DLeftLayout};
use oneread::plan::dleft;

use super::layout_file::LayoutFile;
use super::plot::{Axis, Chart, Scale, Series, Shape};
use super::sweep::{Numbers, numbers};
use super::{Subject, given, refused, small};
use crate::args::plan::{Dleft, LayoutOut};
use crate::report::Report;

/// Three sub-tables are best.
const DEFAULT_SUBTABLES: u64 = 3;

const DEFAULT_BUCKET_BITS: u64 = 64;

/// The number in the paper's simulation; the plan does not depend on it.
const DEFAULT_BUCKETS: u64 = 4096;

impl Subject for Dleft {
    type Planned = (DLeftLayout, dleft::DLeftPlan);

    fn numbers(&mut self) -> Numbers<'_> {
        numbers![
            Whole { subtables: self.subtables },
            Real { load: self.load },
            Whole { bucket_bits: self.bucket_bits, group: self.group, buckets: self.buckets }
        ]
    }

    fn load(&mut self) -> Result<()> {
        match LayoutFile::read(&self.files)? {
            None => Ok(()),
            Some(LayoutFile::Dleft { buckets, bucket_bits, semisort, group, ties }) => {
                if buckets.windows(2).any(|pair| pair[0] != pair[1]) {
                    bail!(
                        "expected sub-tables of equal size, found {buckets:?}: plan uneven ones by the library"
                    );
                }
                self.subtables = Some(buckets.len() as u64);
                self.buckets = buckets.first().copied();
                self.bucket_bits = Some(bucket_bits);
                self.semisort = Some(semisort);
                self.group = Some(group);
                self.ties = Some(ties);
                Ok(())
            }
            Some(other) => other.refuse("dleft"),
        }
    }

    fn plan(&self, _: Option<&Self::Planned>) -> Result<Self::Planned> {
        let (layout, load) = (self.layout()?, given(self.load, "load")?);
        let capacity = layout.capacity();
        if !(load > 0.0 && load <= f64::from(capacity)) {
            let bits = layout.bucket_bits().bits();
            bail!(
                "--load: expected more than 0 items per bucket, and up to {capacity} in {bits} bits, found {load}: \
                 give another load, or change --bucket-bits"
            );
        }
        Ok((layout, dleft::plan(layout, load)?))
    }

    fn report(&self, (layout, plan): &Self::Planned) -> Result<Report> {
        // Any number of items may come to a bucket, though few do.
        let load_fraction: Vec<_> = plan.load_fraction.iter().map(|&fraction| (fraction, true)).collect();
        Ok(Report::new("load")
            .whole("subtables", "a key has a bucket in each", layout.buckets().len() as u64)
            .real("load", "items per bucket", given(self.load, "load")?)
            .whole("bucket_bits", "bits", layout.bucket_bits().bits())
            .whole("group", "buckets that share their bits", layout.group())
            .rare_list("load_fraction", "of buckets; in the last row: or more", &load_fraction)
            .rare("false_positive", "of absent keys, by the paper's sum", plan.false_positive, true)
            .rare(
                "false_positive_exact",
                "of absent keys, each counted once",
                plan.false_positive_exact,
                true,
            )
            .rare("overflow", "of items, which find no room", plan.overflow, true)
            .real("bits_per_item", "bits", plan.bits_per_item)
            .whole("bloom_hashes", "of a Bloom filter of this size", plan.bloom_hashes)
            .rare(
                "bloom_false_positive",
                "of absent keys, in a Bloom filter of this size",
                plan.bloom_false_positive,
                true,
            ))
    }

    fn outputs(&self) -> (Option<&LayoutOut>, Option<&Path>) {
        (Some(&self.files.out), self.plot.as_deref())
    }

    fn layout_file(&self, (layout, _): &Self::Planned) -> Result<LayoutFile> {
        Ok(LayoutFile::Dleft {
            buckets: layout.buckets().to_vec(),
            bucket_bits: layout.bucket_bits().bits().into(),
            semisort: layout.semisort(),
            group: layout.group().into(),
            ties: layout.ties(),
        })
    }

    fn charts(&self, &(layout, ref plan): &Self::Planned) -> Result<Vec<Chart>> {
        let load = given(self.load, "load")?;
        Ok(vec![loads(plan, load), against_bits(layout, plan, load)?])
    }
}

impl Dleft {
    fn layout(&self) -> Result<DLeftLayout> {
        let bucket_bits = self.bucket_bits.unwrap_or(DEFAULT_BUCKET_BITS);
        let Some(bucket_bits) = u32::try_from(bucket_bits).ok().and_then(BucketBits::from_bits) else {
            bail!("--bucket-bits: expected 64 or 128, found {bucket_bits}: give one of the two");
        };
        let subtables = small(self.subtables.unwrap_or(DEFAULT_SUBTABLES), "subtables")?;
        let layout = DLeftLayout::new(subtables, self.buckets.unwrap_or(DEFAULT_BUCKETS), bucket_bits)
            .map_err(refused("--subtables and --buckets"))?
            .with_semisort(self.semisort.unwrap_or_default())
            .with_ties(self.ties.unwrap_or_default());
        layout.with_group(small(self.group.unwrap_or(1), "group")?).map_err(refused("--group"))
    }
}

fn loads(plan: &dleft::DLeftPlan, load: f64) -> Chart {
    /// Rarer loads would flatten the rest of the chart.
    const LEAST: f64 = 1e-20;
    let fractions = plan.load_fraction.iter().copied();
    let bars = (0..).map(f64::from).zip(fractions).filter(|(_, fraction)| *fraction >= LEAST);
    Chart {
        title: format!("d-left filter, {load} items per bucket: loads"),
        x: Axis { label: "load (items in a bucket)", scale: Scale::Linear },
        y: Axis { label: "fraction of buckets", scale: Scale::Log },
        series: vec![Series::new(
            "buckets",
            Shape::Bars,
            bars.map(|(load, fraction)| (load, fraction.ln())).collect(),
        )],
    }
}

/// The false positives of emptier and fuller filters.
fn against_bits(layout: DLeftLayout, here: &dleft::DLeftPlan, load: f64) -> Result<Chart> {
    const POINTS: u32 = 60;
    let bucket_bits = f64::from(layout.bucket_bits().bits());
    // From full to half of the planned load.
    let (fewest, most) = (bucket_bits / f64::from(layout.capacity()), 2.0 * bucket_bits / load);
    let (mut of_dleft, mut of_bloom) = (Vec::new(), Vec::new());
    for at in 0..=POINTS {
        let bits = fewest + (most - fewest) * f64::from(at) / f64::from(POINTS);
        let plan = dleft::plan(layout, (bucket_bits / bits).min(f64::from(layout.capacity())))?;
        of_dleft.push((bits, plan.false_positive.ln()));
        of_bloom.push((bits, plan.bloom_false_positive.ln()));
    }
    Ok(Chart {
        title: "Beside a Bloom filter of the same size".to_owned(),
        x: Axis { label: "bits per item", scale: Scale::Linear },
        y: Axis { label: "false positives (fraction of absent keys)", scale: Scale::Log },
        series: vec![
            Series::new("d-left filter", Shape::Line, of_dleft),
            Series::new("Bloom filter", Shape::Line, of_bloom),
            Series::new("this plan", Shape::Dots, vec![(here.bits_per_item, here.false_positive.ln())]),
        ],
    })
}
