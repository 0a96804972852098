//! Filters without optional instructions.

use super::statistics::HasBuckets;
use crate::filter::Filter;
use crate::filter::simd::Isa;

impl<C: HasBuckets, D> Filter<C, D> {
    /// Returns the same filter, restricted to instructions that every machine has: for comparisons,
    /// and to see on one machine what others do.
    ///
    /// Answers and buckets are the same, bit for bit. Saving and loading, or converting between
    /// [`DLeftFilter`](super::DLeftFilter) and [`AtomicDLeftFilter`](super::AtomicDLeftFilter),
    /// lifts the restriction.
    ///
    /// ```
    /// use oneread::filter::DLeftFilter;
    /// use oneread::plan;
    ///
    /// let layout = plan::dleft::for_items(1000, 16.0)?;
    /// let mut filter = DLeftFilter::with_seed(layout, 1)?;
    /// let mut portable = DLeftFilter::with_seed(layout, 1)?.without_simd();
    /// assert!(!portable.contains("key"));
    /// assert_eq!(filter.insert("key"), portable.insert("key"));
    /// assert!(portable.contains("key") && filter == portable);
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[must_use]
    pub fn without_simd(mut self) -> Self {
        self.core_mut().buckets_mut().isa = Isa::Portable;
        self
    }
}
