//! Balanced d-left filters, compared with the paper's rates.

use std::collections::HashSet;

use oneread::filter::DLeftFilter;
use oneread::hash::Digester;
use oneread::layout::{BucketBits, DLeftLayout};
use oneread_study::filter::insert_balanced;
use oneread_study::hash::Ideal;

use crate::fixtures::SIX_SIGMA;

/// The mean false-positive rate of several filters, by their buckets, and its standard error.
fn mean_rate(filters: u64, mut build: impl FnMut(u64) -> f64) -> (f64, f64) {
    let rates: Vec<f64> = (0..filters).map(&mut build).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
    (mean, (variance / rates.len() as f64).sqrt())
}

#[test]
fn balancing_halves_the_rate() {
    // Section II-D, by an independent program with ties to the left: 2.361e-4 and 4.56e-6, to about
    // 1%.
    for (layout, items, expected) in [
        (DLeftLayout::new(2, 4096, BucketBits::Bits64).unwrap(), 32768u64, 2.361e-4),
        (DLeftLayout::new(2, 4096, BucketBits::Bits128).unwrap(), 49152, 4.56e-6),
    ] {
        let (mean, error) = mean_rate(3, |seed| {
            let digester = Ideal::with_seed(seed);
            let mut filter = DLeftFilter::with_digester(layout, digester).unwrap();
            let balance =
                insert_balanced(&mut filter, (0..items).map(|key: u64| digester.digest(&key))).unwrap();
            assert!((0..items).all(|key| filter.contains_digest(digester.digest(&key))));
            assert!(balance.rate < balance.rate_before && balance.moves > 0);
            balance.rate
        });
        assert!(
            (mean - expected).abs() < SIX_SIGMA * error + 0.01 * expected,
            "{mean:e} ± {error:e}, {expected:e}"
        );
    }
}

#[test]
fn balancing_is_of_sets() {
    let layout = DLeftLayout::new(2, 2, BucketBits::Bits64).unwrap();
    let keys: Vec<u64> = (0..1000).map(|key| key % 10).collect();
    let mut filter = DLeftFilter::with_seed(layout, 1).unwrap();
    let digester = *filter.digester();
    insert_balanced(&mut filter, keys.iter().map(|key| digester.digest(key))).unwrap();
    assert_eq!(filter.fingerprints(), 10);
    let distinct: HashSet<u64> = keys.into_iter().collect();
    assert!(distinct.iter().all(|key| filter.contains(key)));
    // Far more keys than room, and more in a bucket than a byte counts: an error, and nothing
    // changes.
    let mut filter = DLeftFilter::with_seed(layout, 1).unwrap();
    filter.insert(&7u64).unwrap();
    let before = filter.clone();
    for count in [24u64, 1000, 1024, 5000] {
        let digests: Vec<_> = (100..100 + count).map(|key: u64| filter.digester().digest(&key)).collect();
        assert!(insert_balanced(&mut filter, digests).is_err());
        assert_eq!(filter, before);
    }
}
