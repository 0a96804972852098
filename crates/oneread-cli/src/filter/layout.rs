//! Converts the flags of `build` into the layout of a filter.

use std::fmt;

use anyhow::{Result, bail};
use oneread::layout::{
    BlockedLayout, BloomLayout, CountingLayout, DLeftCountingLayout, DLeftLayout, GrowingLayout, LayoutError,
    LineLayout,
};
use oneread::plan;

use crate::args;

/// The layout of a filter of any kind.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    Bloom(BloomLayout),
    Blocked(BlockedLayout),
    Counting(CountingLayout),
    Growing(GrowingLayout),
    DLeft(DLeftLayout),
    DLeftCounting(DLeftCountingLayout),
    Line(LineLayout),
}

/// The number of sub-tables of a d-left counting filter of a given size, as in the paper.
const COUNTING_SUBTABLES: u32 = 4;

impl Layout {
    /// The layout for `lines` lines; in a growing filter, that of the first layer.
    pub(super) fn plan(args: &args::Build, lines: u64) -> Result<Self> {
        use args::Kind;
        check_flags(args)?;
        Ok(match args.kind {
            Kind::Bloom => Self::Bloom(bits(args, lines, args.bits_per_key)?),
            Kind::Blocked => Self::Blocked(match args.bits_per_key {
                Some(bits_per_key) => plan::blocked::for_bits_per_key(lines, bits_per_key)?,
                None => plan::blocked::for_rate(lines, args.rate)?,
            }),
            Kind::Counting => {
                let width = args.counter_bits_or_default();
                let counters = bits(args, lines, args.bits_per_key.map(|bits| bits / f64::from(width)))?;
                let layout = CountingLayout::new(counters.bits(), counters.hashes(), width)?;
                Self::Counting(layout.with_scheme(counters.scheme())?)
            }
            Kind::Growing => Self::Growing(GrowingLayout::new(lines, args.rate)?),
            Kind::DLeft => Self::DLeft(match args.bits_per_key {
                Some(bits_per_key) => plan::dleft::for_items(lines, bits_per_key)?,
                None => plan::dleft::for_rate(lines, args.rate)?,
            }),
            Kind::DLeftCounting => Self::DLeftCounting(match args.bits_per_key {
                Some(bits_per_key) => {
                    plan::dleft_counting::for_bits_per_key(COUNTING_SUBTABLES, lines, bits_per_key)?
                }
                None => plan::dleft_counting::for_rate(lines, args.rate, plan::dleft_counting::LIFE)?,
            }),
            Kind::Line => Self::Line(match args.bits_per_key {
                Some(bits_per_key) => plan::line::for_bits_per_key(lines, bits_per_key)?,
                None => plan::line::for_rate(lines, args.rate)?,
            }),
        })
    }

    /// The false-positive rate with `items` distinct keys; for a growing filter, with any number.
    /// For a d-left counting filter it allows for some turnover of keys. For d-left filters beyond
    /// their room it is 1.
    pub(super) fn planned_rate(self, items: u64) -> f64 {
        match self {
            Self::Bloom(layout) => plan::bloom::false_positive_probability(layout, items),
            Self::Blocked(layout) => plan::blocked::false_positive_probability(layout, items),
            Self::Counting(layout) => plan::counting::false_positive_probability(layout, items),
            Self::Growing(layout) => layout.rate(),
            Self::DLeft(layout) => {
                let load = items.max(1) as f64 / layout.total_buckets() as f64;
                plan::dleft::plan(layout, load).map_or(1.0, |plan| plan.false_positive)
            }
            Self::DLeftCounting(layout) => {
                let load = items.max(1) as f64 / layout.total_buckets() as f64;
                plan::dleft_counting::false_positive(layout, load, plan::dleft_counting::LIFE).unwrap_or(1.0)
            }
            Self::Line(layout) => plan::line::false_positive_probability(layout, items),
        }
    }
}

/// Rejects flags that a kind does not use.
fn check_flags(args: &args::Build) -> Result<()> {
    use args::Kind;
    let (name, hashes, counters, size) = match args.kind {
        Kind::Bloom => ("bloom", true, false, true),
        Kind::Blocked => ("blocked", false, false, true),
        Kind::Counting => ("counting", true, true, true),
        Kind::Growing => ("growing", false, false, false),
        Kind::DLeft => ("dleft", false, false, true),
        Kind::DLeftCounting => ("dleft-counting", false, false, true),
        Kind::Line => ("line", false, false, true),
    };
    for (flag, given, taken) in [
        ("--hashes", args.hashes.is_some(), hashes),
        ("--scheme", args.scheme.is_some(), hashes),
        ("--counter-bits", args.counter_bits.is_some(), counters),
        ("--bits-per-key", args.bits_per_key.is_some(), size),
    ] {
        if given && !taken {
            bail!("{flag} does not go with --kind {name}: leave it out");
        }
    }
    Ok(())
}

/// The bits of a Bloom filter, or the counters of a counting filter: as planned, except for what
/// flags override.
fn bits(args: &args::Build, items: u64, bits_per_key: Option<f64>) -> Result<BloomLayout, LayoutError> {
    use plan::bloom;
    let Some(bits_per_key) = bits_per_key else {
        let planned = || Ok(bloom::for_rate(items, args.rate)?.scheme());
        return match (args.hashes, args.scheme) {
            (None, None) => bloom::for_rate(items, args.rate),
            (None, Some(scheme)) => bloom::for_rate_with(items, args.rate, scheme),
            (Some(hashes), scheme) => {
                bloom::for_rate_and_hashes(items, args.rate, hashes, scheme.map_or_else(planned, Ok)?)
            }
        };
    };
    // A float above the range becomes the largest number, which is too large anyway.
    let planned = bloom::for_bits((items as f64 * bits_per_key).ceil() as u64, items)?;
    let hashes = args.hashes.unwrap_or(planned.hashes());
    BloomLayout::new(planned.bits(), hashes)?.with_scheme(args.scheme.unwrap_or(planned.scheme()))
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bloom(layout) => {
                write!(
                    f,
                    "bloom of {} bits and {} {} hashes",
                    layout.bits(),
                    layout.hashes(),
                    layout.scheme()
                )
            }
            Self::Blocked(layout) => write!(f, "blocked of {} bits", layout.bits()),
            Self::Counting(layout) => write!(
                f,
                "counting of {} counters of {} bits and {} {} hashes",
                layout.counters(),
                layout.counter_bits(),
                layout.hashes(),
                layout.scheme()
            ),
            Self::Growing(layout) => {
                write!(f, "growing from {} items at a rate of {}", layout.first_items(), layout.rate())
            }
            Self::DLeft(layout) => write!(f, "dleft of {} buckets", layout.total_buckets()),
            Self::DLeftCounting(layout) => {
                write!(f, "dleft-counting of {} buckets", layout.total_buckets())
            }
            Self::Line(layout) => {
                write!(
                    f,
                    "line of {} lines and remainders of {} bits",
                    layout.lines(),
                    layout.remainder_bits()
                )
            }
        }
    }
}
