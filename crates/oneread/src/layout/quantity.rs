//! Names of the numbers that a layout can have wrong.

use core::fmt;

macro_rules! quantities {
    ($($name:ident = $text:literal,)*) => {
        /// The number that a [`LayoutError`](super::LayoutError) is about. It prints as in
        /// messages.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Quantity {
            $(#[doc = $text] $name,)*
        }

        impl fmt::Display for Quantity {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$name => $text,)*
                })
            }
        }
    };
}

quantities! {
    Bits = "bits",
    Blocks = "blocks",
    Buckets = "buckets",
    BucketsOfLargestSubtable = "buckets in the largest sub-table (16 times the smallest)",
    BucketsPerChild = "buckets for each child of a bucket",
    BucketsPerGroup = "buckets in a group",
    Cells = "cells",
    Children = "children of a bucket",
    ChildrenOfNestedMaps = "children of a bucket (with nested maps)",
    Counters = "counters",
    CountersPerRow = "counters per row",
    Crisis = "crisis",
    Delta = "delta",
    Epsilon = "epsilon",
    ExtraReads = "extra reads",
    Failure = "failure",
    FalsePositives = "false positives",
    Filters = "filters",
    FingerprintBits = "fingerprint bits",
    Functions = "functions beyond the first",
    Items = "items",
    LastBuckets = "last buckets below a first one",
    Layers = "layers",
    Levels = "levels",
    Lines = "lines",
    Pages = "pages",
    Rate = "rate",
    Ratio = "ratio",
    Rebuilds = "attempts to rebuild",
    Slots = "slots",
    SlotsPerBucket = "slots per bucket",
    StashItems = "items in the stash",
    StepPlaces = "places per step",
    Subtables = "sub-tables",
    SubtablesOfFilter = "sub-tables of a filter",
    Tightening = "tightening",
}

impl Quantity {
    /// Reports whether it can be divided by dividing the set. A matter of shape, such as slots per
    /// bucket, cannot.
    pub(super) const fn grows_with_the_set(self) -> bool {
        matches!(
            self,
            Self::Bits
                | Self::Blocks
                | Self::Buckets
                | Self::Cells
                | Self::Counters
                | Self::CountersPerRow
                | Self::Items
                | Self::Layers
                | Self::Lines
                | Self::Slots
        )
    }
}
