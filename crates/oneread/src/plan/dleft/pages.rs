//! The odds of a paged filter, whose pages hold different numbers of items.

use super::{DLeftPlan, whole};
use crate::layout::DLeftLayout;
use crate::plan::OutOfRange;
use crate::plan::float::sqrt;

/// The nodes, in standard deviations, and weights that average a function over a normal
/// distribution: the nine-point rule of Gauss and Hermite, exact up to degree 17. All but the first
/// are used on both sides.
const NODES: [(f64, f64); 5] = [
    (0.0, 0.406_349_206_349_206_4),
    (1.023_255_663_789_132_6, 0.244_097_502_894_939_4),
    (2.076_847_978_677_83, 0.049_916_406_765_217_9),
    (3.205_429_002_856_47, 0.002_789_141_321_231_77),
    (4.512_745_863_399_783, 2.234_584_400_774_658e-5),
];

/// Averages over pages. A page has a Poisson number of items, large enough to be nearly normal.
pub(super) fn plan(layout: DLeftLayout, load: f64) -> Result<DLeftPlan, OutOfRange> {
    let buckets: u64 = layout.buckets().iter().sum();
    let deviation = sqrt(load / buckets as f64);
    let mut average = whole(layout, load)?;
    let [(_, middle), others @ ..] = NODES;
    average.load_fraction.iter_mut().for_each(|fraction| *fraction *= middle);
    for odds in [&mut average.false_positive, &mut average.false_positive_exact, &mut average.overflow] {
        *odds *= middle;
    }
    for (at, weight) in others.into_iter().flat_map(|(at, weight)| [(at, weight), (-at, weight)]) {
        // A planned filter's pages are never that overfull or empty.
        let load = (load + at * deviation).clamp(load / 16.0, f64::from(layout.capacity()));
        let page = whole(layout, load)?;
        let sums = average.load_fraction.iter_mut().zip(&page.load_fraction);
        sums.for_each(|(sum, fraction)| *sum += weight * fraction);
        average.false_positive += weight * page.false_positive;
        average.false_positive_exact += weight * page.false_positive_exact;
        average.overflow += weight * page.overflow;
    }
    Ok(average)
}
