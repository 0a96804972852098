//! How exact a plan is.

/// How far the numbers of a plan may be off, for ideal hash functions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Accuracy {
    /// All numbers are exact to rounding: a relative error below 1e-11 for filters, and below 1e-10
    /// for tables.
    ///
    /// Tables leave out what is unlikely: below 1e-30 of the crisis probability while that is above
    /// 1e-200, and 1e-38 of every number at the low ends (fewer items passed on mean fewer later).
    Exact,
    /// Distributions were computed by contour integrals, at a stride.
    Close {
        /// The relative error of expected numbers, and of the crisis probability. (Unusually low
        /// numbers that a level passes on, less likely than 1e-12, may be further off: nothing else
        /// depends on them.)
        relative_error: f64,
    },
    /// The true probability is no higher, and no lower than that of independent probes: proven for
    /// the partition scheme, measured for the others.
    Bound,
    /// The excess over independent probes from [`probes::excess`](super::probes::excess) is
    /// accurate to about 6%.
    Extrapolated,
    /// A level has so few buckets for its items, or such large ones, that what it passes on was
    /// assumed to be normal. Expected loads are right to some digits (in 100 random plans at most
    /// 1.5e-5 of the items were lost). A crisis is nearly certain, unless a larger level follows.
    Overloaded,
    /// The crisis probability is below 1e-200 and takes 100 items or more in one bucket. Its
    /// logarithm was estimated from the likeliest way to a crisis; all other numbers are exact.
    Estimated,
}
