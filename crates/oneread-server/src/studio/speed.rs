//! How fast filters are, measured when a page asks: on this machine, in this build.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use oneread::filter::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, DLeftFilter,
    GrowingDLeftCountingFilter, GrowingFilter, GrowingLineFilter, LineFilter, PlacedFilter,
};
use oneread::plan::placed;
use oneread::plan::solve::{self, FilterLayout, FilterTargets, Needs};

/// The most keys of a measured filter, so that a page takes less than a few seconds.
const MAX_KEYS: u64 = 200_000;

/// The lookups of a measurement, of each kind.
const LOOKUPS: u64 = 100_000;

/// Nanoseconds per lookup.
pub(super) struct Measured {
    pub(super) structure: &'static str,
    pub(super) hit: f64,
    pub(super) miss: f64,
}

pub(super) fn explained() -> String {
    format!(
        "Times are of one thread on this machine, now, with at most {MAX_KEYS} keys of 8 bytes; larger filters leave \
         the cache and take longer."
    )
}

/// Builds a filter, inserts keys, and looks up keys that are present and absent.
macro_rules! timed {
    ($filter:expr, $keys:expr) => {{
        let mut filter = $filter;
        for key in 0..$keys {
            _ = filter.insert(&key.to_le_bytes()[..]);
        }
        lookups($keys, |key| filter.contains(&key.to_le_bytes()[..]))
    }};
}

/// Measures the structures that meet the needs.
///
/// # Errors
/// If there is no filter for them.
pub(super) fn measured(items: u64, rate: f64, needs: Needs, is_static: bool) -> Result<Vec<Measured>> {
    let keys = items.clamp(1, MAX_KEYS);
    let solution = solve::filter(&FilterTargets { items: keys, rate, needs, bytes: None })?;
    let mut all = Vec::new();
    for planned in [&solution.best].into_iter().chain(&solution.runners_up) {
        let (hit, miss) = match planned.layout {
            FilterLayout::Bloom(layout) => timed!(BloomFilter::new(layout)?, keys),
            FilterLayout::Blocked(layout) => timed!(BlockedBloomFilter::new(layout)?, keys),
            FilterLayout::Counting(layout) => timed!(CountingBloomFilter::new(layout)?, keys),
            FilterLayout::DLeft(layout) => timed!(DLeftFilter::new(layout)?, keys),
            FilterLayout::DLeftCounting(layout) => timed!(DLeftCountingFilter::new(layout)?, keys),
            FilterLayout::Line(layout) => timed!(LineFilter::new(layout)?, keys),
            FilterLayout::Growing(layout) => timed!(GrowingFilter::new(layout)?, keys),
            FilterLayout::GrowingDLeftCounting(layout) => {
                timed!(GrowingDLeftCountingFilter::new(layout)?, keys)
            }
            FilterLayout::GrowingLine(layout) => timed!(GrowingLineFilter::new(layout)?, keys),
            _ => continue,
        };
        all.push(Measured { structure: planned.structure, hit, miss });
    }
    let cells = placed::cells(keys);
    let bits = (1..=32).find(|bits| placed::false_positive_probability(keys, cells, *bits) <= rate);
    if let Some(bits) = bits.filter(|_| is_static) {
        let of_keys: Vec<[u8; 8]> = (0..keys).map(u64::to_le_bytes).collect();
        let filter = PlacedFilter::from_keys(of_keys.iter().map(|key| &key[..]), bits)?;
        let (hit, miss) = lookups(keys, |key| filter.contains(&key.to_le_bytes()[..]));
        all.push(Measured { structure: "PlacedFilter", hit, miss });
    }
    Ok(all)
}

/// The nanoseconds of a lookup of a present and of an absent key; 0 to `keys` − 1 are present.
fn lookups(keys: u64, contains: impl Fn(u64) -> bool) -> (f64, f64) {
    /// An odd constant, so that keys come in no order of their insertion.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let time = |key: &dyn Fn(u64) -> u64| {
        let begin = Instant::now();
        let found = (0..LOOKUPS).filter(|at| contains(key(*at))).count();
        black_box(found);
        begin.elapsed().as_nanos() as f64 / LOOKUPS as f64
    };
    (time(&|at| at.wrapping_mul(STEP) % keys), time(&|at| keys + at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_structure_that_is_offered_is_measured() {
        let delete = Needs { delete: true, ..Needs::default() };
        let all = measured(2000, 0.01, delete, false).unwrap();
        assert!(all.iter().any(|one| one.structure == "LineFilter"));
        assert!(all.iter().any(|one| one.structure == "CountingBloomFilter"));
        assert!(all.iter().all(|one| one.hit > 0.0 && one.miss > 0.0));
        let all = measured(2000, 0.01, Needs::default(), true).unwrap();
        assert!(all.iter().any(|one| one.structure == "PlacedFilter"));
        assert!(measured(2000, 2.0, Needs::default(), false).is_err());
    }
}
