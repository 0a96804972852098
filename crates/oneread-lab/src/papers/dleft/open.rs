//! The question of the last section: how much of the factor d·load in the false-positive rate can
//! be removed simply.
//!
//! A filter of rate ε takes at least log2(1/ε) bits per key; the excess is its waste. A d-left
//! filter wastes log2(d·load) because it compares that many fingerprints, and its counters. Sorting
//! the fingerprints of a bucket, as quotienting does, regains log2(load!) bits per bucket;
//! semi-sorting regains a part of that.

use oneread::filter::{BloomFilter, DLeftFilter, PlacedFilter};
use oneread::hash::Digester;
use oneread::layout::{BucketBits, DLeftLayout, Semisort, Ties};
use oneread::plan::{bloom, dleft};
use oneread_study::hash::Ideal;

use super::{SUBTABLES, TABLE_II, layout};
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::picture::{Axis, Picture, Point, Series, Source};
use crate::question::Answer;
use crate::{Paper, Question};

/// The approximate number of keys in a filter.
const KEYS: u64 = 49_152;

pub(in super::super) fn questions() -> Vec<Question> {
    vec![Question::new(
        Paper::DLeft,
        "open/factor",
        "Can the factor d·load of the false positives be removed with simple techniques?",
        "IV: \"is there some way to remove the factor entirely with computationally simple techniques?\"",
        answer,
    )]
}

/// A point: log2(1/ε) across, the waste upwards.
fn point(rate: Measured, bits_per_key: f64) -> Point {
    let worth = -rate.value.log2();
    let error = rate.standard_error / rate.value / std::f64::consts::LN_2;
    // Filters of equal rates differ by the rounding of floats.
    let error = if error < 1e-9 { 0.0 } else { error };
    Point { x: worth, y: bits_per_key - worth, error }
}

fn answer(context: &Context) -> Result<Answer, Error> {
    let filters = context.effort(6, 100);
    let of_dleft = |bucket_bits: BucketBits, bits_per_key: f64, group: u32| -> Result<Point, Error> {
        let layout =
            dleft::for_bits_per_key(SUBTABLES, KEYS, bits_per_key, bucket_bits)?.with_group(group)?;
        let rates = means(context, filters, |seed| dleft_rate(layout, seed))?;
        Ok(point(rates, layout.bits() as f64 / KEYS as f64))
    };
    let mut series = Vec::new();
    for (name, bucket_bits, all) in [
        ("d-left, 64-bit buckets", BucketBits::Bits64, [14.0, 16.0, 18.0]),
        ("d-left, 128-bit buckets", BucketBits::Bits128, [18.0, 20.0, 24.0]),
    ] {
        let points: Result<Vec<Point>, Error> =
            all.map(|bits| of_dleft(bucket_bits, bits, 1)).into_iter().collect();
        series.push(Series::new(name, Source::Measured, points?));
    }
    let placed = [9, 12, 15, 18].map(|fingerprint| -> Result<Point, Error> {
        let rates = means(context, filters, |seed| {
            let digester = Ideal::with_seed(seed);
            let digests = (0..KEYS).map(|key| digester.digest(&key));
            Ok(PlacedFilter::from_digests(digests, fingerprint, digester)?.false_positive_rate())
        })?;
        Ok(point(rates, 1.05 * f64::from(fingerprint)))
    });
    series.push(Series::new(
        "placed by cuckoo hashing",
        Source::Measured,
        placed.into_iter().collect::<Result<_, _>>()?,
    ));
    let blooms = [10u64, 13, 16, 20, 24].map(|bits_per_key| -> Result<Point, Error> {
        let layout = bloom::for_bits(bits_per_key * KEYS, KEYS)?;
        let rates = means(context, filters, |seed| {
            let mut filter = BloomFilter::with_digester(layout, Ideal::with_seed(seed))?;
            (0..KEYS).for_each(|key| _ = filter.insert(&key));
            Ok(filter.false_positive_rate())
        })?;
        Ok(point(rates, bits_per_key as f64))
    });
    series.push(Series::new("Bloom filter", Source::Measured, blooms.into_iter().collect::<Result<_, _>>()?));
    for (name, load) in [("sorted buckets, load 4", 4.0), ("sorted buckets, load 6.4", 6.4)] {
        let waste = sorted(load)?;
        series.push(Series::calculated(name, [(8.0, waste), (18.0, waste)]));
    }
    let at = |series: &Series, of: usize| series.points[of].y;
    let text = format!(
        "Not entirely, but much of it. Over log2(1/ε) per key, real d-left filters waste {:.2} bits with 64-bit buckets at 16 bits per key and {:.2} with 128-bit buckets at 20; \
         log2(d·load), the factor, is {:.2} and {:.2}. Without semi-sorting they would waste {:.2} and {:.2}; with all fingerprints of a bucket sorted (quotienting), and coded \
         without a bit too much, {:.2} and {:.2}. Placing every key in one of four cells by cuckoo hashing wastes {:.2} at fingerprints of 12 bits, and a factor of \
         four is left; but keys have to be known beforehand. A Bloom filter wastes {:.2} at 16 bits.",
        at(&series[0], 1),
        at(&series[1], 1),
        12f64.log2(),
        19.2f64.log2(),
        plain(BucketBits::Bits64, 4.0)?,
        plain(BucketBits::Bits128, 6.4)?,
        sorted(4.0)?,
        sorted(6.4)?,
        at(&series[2], 1),
        at(&series[3], 2),
    );
    let picture = Picture {
        id: "open-factor".to_owned(),
        title: "Bits per key over log2(1/ε)".to_owned(),
        across: Axis::linear("log2(1/ε), the bits that any filter takes"),
        up: Axis::linear("bits per key over that"),
        series,
        caption: "A Bloom filter's waste grows with the bits; the others' hardly does. d-left filters cross it near 16 bits per key, and the dashed lines show what sorting \
                  their buckets could still give."
            .to_owned(),
    };
    Ok(Answer { text, picture })
}

/// The waste of unsorted buckets.
fn plain(bucket_bits: BucketBits, load: f64) -> Result<f64, Error> {
    let plan = dleft::plan(layout(bucket_bits, Semisort::None, 1)?, load)?;
    Ok(plan.bits_per_item + plan.false_positive_exact.log2())
}

/// The waste of buckets that store their fingerprints optimally as a set. A fingerprint of f bits
/// costs f − log2(load!)/load, and the load costs its entropy; 2^−f is the rate divided by d·load.
fn sorted(load: f64) -> Result<f64, Error> {
    let fractions =
        dleft::loads(&[1; SUBTABLES as usize], Ties::Left, load, TABLE_II.len() as u32 + 2)?.overall();
    let (mut saved, mut entropy) = (0.0, 0.0);
    for (items, fraction) in fractions.into_iter().enumerate().filter(|(_, fraction)| *fraction > 0.0) {
        let ln_factorial: f64 = (1..=items).map(|item| (item as f64).log2()).sum();
        saved += fraction * ln_factorial;
        entropy -= fraction * fraction.log2();
    }
    Ok((f64::from(SUBTABLES) * load).log2() + (entropy - saved) / load)
}

fn dleft_rate(layout: DLeftLayout, seed: u64) -> Result<f64, Error> {
    let digester = Ideal::with_seed(seed);
    let mut filter = DLeftFilter::with_digester(layout, digester)?;
    for key in 0..KEYS {
        filter.insert_again(digester.digest(&key))?;
    }
    Ok(filter.false_positive_rate())
}

fn means(
    context: &Context,
    trials: u64,
    trial: impl Fn(u64) -> Result<f64, Error> + Send + Sync,
) -> Result<Measured, Error> {
    let found: Result<Vec<f64>, Error> = context.each(trials, trial).into_iter().collect();
    Ok(Measured::mean(&found?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waste_of_sorted_buckets_is_less_than_the_factor() {
        // log2(12) = 3.585. At load 4 sorting regains log2(4!)/4 = 1.146 bits, and the load costs
        // its entropy of 1.26 bits over four keys.
        let waste = sorted(4.0).unwrap();
        assert!((2.6..2.9).contains(&waste), "{waste}");
    }
}
