//! Groups of buckets whose fingerprints never grow.
//!
//! The paper divides the bits of a group by its load, and adds the one or two bits that a bucket's
//! state encodes at its load. When a bucket reaches a load at which its state encodes more bits,
//! this length may rise, although the bits for it are gone. A filter can only use the minimum
//! length along the way. To be independent of the insertion order, this takes the minimum over all
//! orders.

use oneread::layout::DLeftLayout;
use oneread::plan::dleft;

use crate::experiment::Error;

/// The paper's formula (1) with these lengths, in the limit of many groups.
pub(super) fn never_growing(layout: DLeftLayout, load: f64) -> Result<f64, Error> {
    let group = layout.group() as usize;
    let fractions = dleft::loads(layout.buckets(), layout.ties(), load, layout.capacity())?;
    let base = layout.capacity() as usize + 1;
    // Indexed by the loads of a group, read as digits: the length in the first bucket. The other
    // buckets follow by symmetry.
    let mut lengths: Vec<u32> = Vec::new();
    let mut rate = 0.0;
    for number in 0..base.pow(group as u32) {
        let loads: Vec<usize> = (0..group as u32).map(|digit| number / base.pow(digit) % base).collect();
        let total: usize = loads.iter().sum();
        let mut least = layout.fingerprint_bits(loads[0] as u32, total as u32);
        for (bucket, &own) in loads.iter().enumerate() {
            // The length before the last item came, if the first bucket was not empty then.
            if own > usize::from(bucket == 0) {
                least = least.min(lengths[number - base.pow(bucket as u32)]);
            }
        }
        lengths.push(least);
        if loads[0] > 0 {
            for fractions in fractions.by_subtable() {
                let probability: f64 = loads.iter().map(|&load| fractions[load]).product();
                rate += probability * loads[0] as f64 * 0.5f64.powi(least as i32);
            }
        }
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneread::layout::BucketBits::{Bits64, Bits128};

    #[test]
    fn single_buckets_never_ask_for_more() {
        for (bucket_bits, load) in [(Bits64, 4.0), (Bits128, 6.4)] {
            let layout = DLeftLayout::new(3, 4096, bucket_bits).unwrap();
            let planned = dleft::plan(layout, load).unwrap().false_positive;
            assert!((never_growing(layout, load).unwrap() / planned - 1.0).abs() < 1e-9);
        }
    }
}
