//! The strings of a page summary, which are read shallowest level first.

use crate::layout::{MultilevelLayout, PageLayout};

use super::super::float::{exp, expm1, ln_1p};
use super::super::multilevel::MultilevelPlan;

/// What a [page summary](PageLayout) says of a multilevel table with a number of items, inserted one after the other.
///
/// A key at level l found its buckets of the levels above full, and each of these is read before its own if one of its s strings is the
/// key's: s slots of b bits, of which one value stands for none, make l·(1 − (1 − 1/(2^b − 1))^s) extra reads. So the reads of a hit
/// are exact, and those of a miss too, but that of buckets with more than 700 items each on their way through all are taken for full.
///
/// There is no *failure* here: a key is not named one level, and reads of others are rare, not excluded.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, PageLayout};
/// use oneread::plan::multilevel::MultilevelPlan;
/// use oneread::plan::summary::PagePlan;
///
/// let table = MultilevelLayout::new([2_500, 625, 312])?.with_slots(4)?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// let (short, long) = (PageLayout::new(8)?, PageLayout::new(12)?);
/// let plan = PagePlan::with_table(table.clone(), short);
/// assert!(plan.extra_reads_per_hit() > 0.001 && plan.byte_len() == 13_748);
/// assert!(PagePlan::with_table(table, long).extra_reads_per_hit() < 0.001);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PagePlan {
    table: MultilevelPlan,
    layout: PageLayout,
    extra_reads_per_hit: f64,
    reads_per_miss: f64,
}

impl PagePlan {
    /// Plans a summary for a table that is planned already.
    #[must_use]
    pub fn with_table(table: MultilevelPlan, layout: PageLayout) -> Self {
        let ln_differs = ln_1p(-1.0 / ((1u64 << layout.fingerprint_bits()) - 1) as f64);
        let any_of = |strings: u32| if strings == 0 { 0.0 } else { -expm1(f64::from(strings) * ln_differs) };
        let full = any_of(table.layout().slots());
        let levels_above = table.expected().iter().zip(0u32..).map(|(items, level)| items * f64::from(level));
        let extra_reads_per_hit = levels_above.sum::<f64>() * full / table.items() as f64;
        let read_at = |level| {
            table.expectation_at(level, |reached| {
                expectation_over_bucket(table.layout(), level, reached, any_of)
            })
        };
        let reads_per_miss = (0..table.layout().level_count()).map(read_at).sum();
        Self { layout, extra_reads_per_hit, reads_per_miss, table }
    }

    /// The plan of the table.
    #[must_use]
    pub const fn table(&self) -> &MultilevelPlan {
        &self.table
    }

    /// What was planned.
    #[must_use]
    pub const fn layout(&self) -> PageLayout {
        self.layout
    }

    /// The probability that a level is named for a key that is not in the table, at most: that any is read is no likelier than
    /// the number of reads expected.
    #[must_use]
    pub const fn false_positive(&self) -> f64 {
        self.reads_per_miss.min(1.0)
    }

    /// The expected reads beyond the first of a lookup of a key that is in the table.
    #[must_use]
    pub const fn extra_reads_per_hit(&self) -> f64 {
        self.extra_reads_per_hit
    }

    /// The expected reads of a lookup of a key that is not.
    #[must_use]
    pub const fn reads_per_miss(&self) -> f64 {
        self.reads_per_miss
    }

    /// The bytes of the summary. A bit a bucket is not needed beside it.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.layout.byte_len(self.table.layout())
    }
}

/// The expectation of a rising function of the items in a bucket, of which `reached` came to the level.
fn expectation_over_bucket(
    table: &MultilevelLayout,
    level: usize,
    reached: u64,
    function: impl Fn(u32) -> f64,
) -> f64 {
    /// e^−700 is nearly the smallest float.
    const MAX_COMING: f64 = 700.0;
    let (slots, coming) = (table.slots(), reached as f64);
    let in_bucket = 1.0 / table.levels()[level] as f64;
    if in_bucket == 1.0 || coming * in_bucket > MAX_COMING {
        return function(slots.min(u32::try_from(reached).unwrap_or(u32::MAX)));
    }
    let ln_none = coming * ln_1p(-in_bucket);
    let odds = in_bucket / (1.0 - in_bucket);
    // Pr(so many come), from none on; what is left to 1 is that the bucket is full.
    let (mut probability, mut sum, mut left) = (exp(ln_none), 0.0, -expm1(ln_none));
    for items in 1..slots {
        let before = f64::from(items - 1);
        probability *= (coming - before).max(0.0) / f64::from(items) * odds;
        sum += probability * function(items);
        left -= probability;
    }
    sum + left.max(0.0) * function(slots)
}
