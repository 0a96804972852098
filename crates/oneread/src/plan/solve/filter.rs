//! The smallest filter that meets given needs.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::f64::consts::LN_2;

use crate::layout::{
    BlockedLayout, BloomLayout, CountingLayout, DLeftCountingLayout, DLeftLayout, GrowingLayout, LayoutError,
    LineLayout, Quantity, check_fraction,
};
use crate::plan::error::check;
use crate::plan::float::{ceil, exp, ln, ln_1p};
use crate::plan::search::{first_within, least_possible};
use crate::plan::{blocked, bloom, counting, dleft, dleft_counting, growing, line};

use super::{Relax, Solution, Target, Unsolved};

/// The targets of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterTargets {
    /// The keys.
    pub items: u64,
    /// The highest false-positive rate.
    pub rate: f64,
    /// What the filter must be able to do.
    pub needs: Needs,
    /// The most bytes; `None` for no limit.
    pub bytes: Option<u64>,
}

/// What a filter must support beside lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Needs {
    /// Keys can be removed.
    pub delete: bool,
    /// The number of keys need not be known: the filter grows, at the same rate.
    pub growth: bool,
    /// Many threads can insert and look up at once.
    pub threads: bool,
    /// A lookup reads one cache line.
    pub one_line: bool,
    /// A lookup reads one page of 4 KiB, so that the filter can lie in a file.
    pub one_page: bool,
}

impl Needs {
    /// The needs that are not met.
    fn missing(self, can: Self) -> Vec<Target> {
        let needs = [
            (self.delete, can.delete, Target::Deletion),
            (self.growth, can.growth, Target::Growth),
            (self.threads, can.threads, Target::Threads),
            (self.one_line, can.one_line, Target::OneLine),
            (self.one_page, can.one_page || can.one_line, Target::OnePage),
        ];
        needs.into_iter().filter(|(asked, can, _)| *asked && !can).map(|(.., target)| target).collect()
    }

    /// Drops one of the needs.
    fn without(self, target: Target) -> Self {
        match target {
            Target::Deletion => Self { delete: false, ..self },
            Target::Growth => Self { growth: false, ..self },
            Target::Threads => Self { threads: false, ..self },
            Target::OneLine => Self { one_line: false, ..self },
            _ => Self { one_page: false, ..self },
        }
    }
}

/// The layout of a filter of any kind.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FilterLayout {
    /// Of a [`BloomFilter`](crate::filter::BloomFilter).
    Bloom(BloomLayout),
    /// Of a [`BlockedBloomFilter`](crate::filter::BlockedBloomFilter).
    Blocked(BlockedLayout),
    /// Of a [`CountingBloomFilter`](crate::filter::CountingBloomFilter).
    Counting(CountingLayout),
    /// Of a [`DLeftFilter`](crate::filter::DLeftFilter).
    DLeft(DLeftLayout),
    /// Of a [`DLeftCountingFilter`](crate::filter::DLeftCountingFilter).
    DLeftCounting(DLeftCountingLayout),
    /// Of a [`LineFilter`](crate::filter::LineFilter).
    Line(LineLayout),
    /// Of a [`GrowingFilter`](crate::filter::GrowingFilter).
    Growing(GrowingLayout),
    /// Of a [`GrowingDLeftCountingFilter`](crate::filter::GrowingDLeftCountingFilter).
    GrowingDLeftCounting(GrowingLayout),
    /// Of a [`GrowingLineFilter`](crate::filter::GrowingLineFilter).
    GrowingLine(GrowingLayout),
}

/// A filter, planned.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedFilter {
    /// Its layout.
    pub layout: FilterLayout,
    /// The library's type for this layout; with `threads`, the one for many threads.
    pub structure: &'static str,
    /// The keys it was planned for.
    pub items: u64,
    /// The bits of the filter, with all keys in it.
    pub bits: u64,
    /// The false-positive rate then.
    pub false_positive: f64,
    /// The expected cache lines read per lookup of a present key.
    pub lines_per_hit: f64,
    /// The expected cache lines read per lookup of an absent key.
    pub lines_per_miss: f64,
    /// What it supports.
    pub can: Needs,
}

impl PlannedFilter {
    /// The bits per key.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.items as f64
    }

    /// The bits per key above log2(1/ε), the least of any filter with the rate ε.
    #[must_use]
    pub fn bits_over_optimum(&self) -> f64 {
        self.bits_per_key() + ln(self.false_positive) / LN_2
    }

    /// The bytes.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.bits.div_ceil(8)
    }
}

/// The bits of a cache line.
const LINE_BITS: u64 = 512;

/// The bits of a page.
const PAGE_BITS: u64 = 8 * DLeftLayout::PAGE_BYTES;

/// A kind of filter.
struct Candidate {
    /// What it supports; one line or page only if it does at every size.
    can: Needs,
    plan: fn(u64, f64) -> Result<PlannedFilter, LayoutError>,
    /// Whether planning it is fast.
    is_fast: bool,
}

const NOTHING: Needs =
    Needs { delete: false, growth: false, threads: false, one_line: false, one_page: false };

/// All kinds of filters. A new kind is a [`FilterLayout`], an entry here, and its function below.
const CANDIDATES: [Candidate; 9] = [
    Candidate { can: Needs { threads: true, ..NOTHING }, plan: of_bloom, is_fast: true },
    Candidate {
        can: Needs { threads: true, one_line: true, one_page: true, ..NOTHING },
        plan: of_blocked,
        is_fast: true,
    },
    Candidate { can: Needs { delete: true, ..NOTHING }, plan: of_counting, is_fast: true },
    Candidate { can: Needs { threads: true, one_page: true, ..NOTHING }, plan: of_dleft, is_fast: false },
    Candidate { can: Needs { delete: true, ..NOTHING }, plan: of_dleft_counting, is_fast: false },
    Candidate { can: Needs { delete: true, threads: true, ..NOTHING }, plan: of_line, is_fast: true },
    Candidate { can: Needs { growth: true, ..NOTHING }, plan: of_growing, is_fast: true },
    Candidate {
        can: Needs { delete: true, growth: true, ..NOTHING },
        plan: of_growing_dleft_counting,
        is_fast: true,
    },
    Candidate { can: Needs { delete: true, growth: true, ..NOTHING }, plan: of_growing_line, is_fast: true },
];

/// Finds the smallest of the library's filters that meets the targets.
///
/// # What is smallest
/// Bloom filters have the fewest bits, and blocked ones the fewest blocks. D-left filters are
/// within 0.01% of the fewest bits, or 0.1% if they can delete. They are planned by their limit for
/// many buckets, and those that can delete for [20 turnovers](dleft_counting::LIFE). A growing
/// filter is planned with a first layer for all keys; after growing it takes more. A Bloom filter's
/// cache lines are those of its probes, each on a line of its own; a miss ends at the first unset
/// bit.
///
/// # Errors
/// If the rate is not between 0 and 1, or if there are no items or too many; if the targets exclude
/// each other.
///
/// # Example
/// ```
/// use oneread::plan::solve::{self, Needs, FilterTargets};
///
/// let targets =
///     FilterTargets { items: 1_000_000, rate: 0.01, needs: Needs::default(), bytes: None };
/// assert_eq!(solve::filter(&targets)?.best.structure, "BloomFilter");
/// let delete = Needs { delete: true, ..Needs::default() };
/// let deleting = solve::filter(&FilterTargets { needs: delete, ..targets })?.best;
/// assert_eq!(deleting.structure, "LineFilter");
/// assert!(deleting.bits_per_key() < 11.1);
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn filter(targets: &FilterTargets) -> Result<Solution<PlannedFilter>, Unsolved> {
    let FilterTargets { items, rate, needs, bytes } = *targets;
    check_fraction(Quantity::Rate, rate)?;
    check("items", items as f64, 1.0, crate::layout::MAX_PLACES as f64)?;
    let most = bytes.unwrap_or(u64::MAX);
    let (mut best, mut runners_up) =
        first_within(candidates(items, rate, needs), |planned| planned.byte_len() <= most)
            .map_err(|smallest| Unsolved::Infeasible(relaxed(targets, smallest.as_ref())))?;
    for planned in runners_up.iter_mut().chain([&mut best]) {
        planned.structure = structure(planned.layout, needs.threads);
    }
    // A target binds if there is a smaller filter without it: a Bloom filter, or one that is found
    // as fast.
    let mut binds = Vec::from([Target::FalsePositive]);
    let fast = CANDIDATES.iter().filter(|candidate| candidate.is_fast);
    for planned in fast.filter_map(|candidate| (candidate.plan)(items, rate).ok()) {
        let missing = if planned.bits < best.bits { needs.missing(planned.can) } else { Vec::new() };
        for target in missing {
            if !binds.contains(&target) {
                binds.push(target);
            }
        }
    }
    Ok(Solution { best, binds, runners_up })
}

/// Finds the lowest rate, to three digits, of a filter with these needs in at most `bytes` bytes:
/// for it and these bytes, [`filter()`] has a solution.
///
/// # Errors
/// If there are no items or too many, or if the bytes suffice for no rate.
///
/// # Example
/// ```
/// use oneread::plan::solve::{self, FilterTargets, Needs};
///
/// let (items, needs) = (1_000_000, Needs::default());
/// // 10 bits per key.
/// let rate = solve::lowest_rate(items, needs, 1_250_000)?;
/// assert!((0.008..0.0082).contains(&rate));
/// let targets = FilterTargets { items, rate, needs, bytes: Some(1_250_000) };
/// assert_eq!(solve::filter(&targets)?.best.structure, "BloomFilter");
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn lowest_rate(items: u64, needs: Needs, bytes: u64) -> Result<f64, Unsolved> {
    /// The rate of the most hashes at their best size, 2^−64.
    const LOWEST: f64 = 1.0 / (1u128 << crate::layout::MAX_HASHES) as f64;
    let targets = FilterTargets { items, rate: LOWEST, needs, bytes: Some(bytes) };
    check("items", items as f64, 1.0, crate::layout::MAX_PLACES as f64)?;
    // Only d-left filters keep to a page at a low rate.
    let kinds = |candidate: &Candidate| candidate.is_fast || needs.one_page && !needs.one_line;
    if serves(&targets, LOWEST, kinds) {
        return Ok(LOWEST);
    }
    match least_rate(&targets, kinds) {
        Some(rate) => Ok(rate),
        // Says which bytes the highest rate takes.
        None => filter(&FilterTargets { rate: HIGHEST, ..targets }).map(|_| HIGHEST),
    }
}

/// A higher rate is as good as none.
const HIGHEST: f64 = 0.999;

/// Reports whether a filter of one of these kinds meets the targets at a rate.
fn serves(targets: &FilterTargets, rate: f64, kinds: impl Fn(&Candidate) -> bool) -> bool {
    let FilterTargets { items, needs, bytes, .. } = *targets;
    let most = bytes.unwrap_or(u64::MAX);
    CANDIDATES.iter().filter(|candidate| kinds(candidate)).any(|candidate| {
        (candidate.plan)(items, rate)
            .is_ok_and(|planned| planned.byte_len() <= most && needs.missing(planned.can).is_empty())
    })
}

/// The least rate from that of the targets on at which a filter of one of these kinds meets them.
fn least_rate(targets: &FilterTargets, kinds: impl Fn(&Candidate) -> bool) -> Option<f64> {
    let Ok(possible) =
        least_possible(targets.rate, HIGHEST, |rate| Ok::<_, Infallible>(serves(targets, rate, &kinds)));
    possible
}

/// All filters that meet the needs at a rate, the smallest first.
fn candidates(items: u64, rate: f64, needs: Needs) -> Vec<PlannedFilter> {
    // No filter has fewer bits; a small filter of any kind lies on one line or page.
    let least_bits = -(items as f64) * ln(rate) / LN_2;
    let (one_line, one_page) = (least_bits <= LINE_BITS as f64, least_bits <= PAGE_BITS as f64);
    let may = |can: Needs| {
        let can = Needs { one_line: can.one_line || one_line, one_page: can.one_page || one_page, ..can };
        needs.missing(can).is_empty()
    };
    let candidates = CANDIDATES.iter().filter(|candidate| may(candidate.can));
    let mut all: Vec<PlannedFilter> =
        candidates.filter_map(|candidate| (candidate.plan)(items, rate).ok()).collect();
    // Leaves out what cannot be planned at this rate, or exceeds it by rounding.
    all.retain(|planned| planned.false_positive <= rate && needs.missing(planned.can).is_empty());
    all.sort_by_key(|planned| planned.bits);
    all
}

/// Finds the targets to relax, given the smallest filter without a limit on its bytes, if any.
fn relaxed(targets: &FilterTargets, smallest: Option<&PlannedFilter>) -> Vec<Relax> {
    let FilterTargets { items, rate, needs, bytes } = *targets;
    let most = bytes.unwrap_or(u64::MAX);
    let mut relax = Vec::new();
    if let (Some(asked), Some(planned)) = (bytes, smallest) {
        let possible = planned.byte_len() as f64;
        relax.push(Relax { target: Target::Bytes, asked: asked as f64, possible });
    }
    // Drop one need.
    for target in needs.missing(NOTHING) {
        let fewer = needs.without(target);
        if candidates(items, rate, fewer).iter().any(|planned| planned.byte_len() <= most) {
            relax.push(Relax { target, asked: 1.0, possible: 0.0 });
        }
    }
    // Or raise the rate, so that the bytes fall. D-left filters hardly shrink, and take seconds to
    // plan.
    let possible = least_rate(targets, |candidate| candidate.is_fast || needs.delete && !needs.growth);
    relax.extend(possible.map(|possible| Relax { target: Target::FalsePositive, asked: rate, possible }));
    relax
}

const fn structure(layout: FilterLayout, threads: bool) -> &'static str {
    match (layout, threads) {
        (FilterLayout::Bloom(_), false) => "BloomFilter",
        (FilterLayout::Bloom(_), true) => "AtomicBloomFilter",
        (FilterLayout::Blocked(_), false) => "BlockedBloomFilter",
        (FilterLayout::Blocked(_), true) => "AtomicBlockedBloomFilter",
        (FilterLayout::DLeft(_), false) => "DLeftFilter",
        (FilterLayout::DLeft(_), true) => "AtomicDLeftFilter",
        (FilterLayout::Counting(_), _) => "CountingBloomFilter",
        (FilterLayout::DLeftCounting(_), _) => "DLeftCountingFilter",
        (FilterLayout::Line(_), false) => "LineFilter",
        (FilterLayout::Line(_), true) => "ShardedLineFilter",
        (FilterLayout::Growing(_), _) => "GrowingFilter",
        (FilterLayout::GrowingDLeftCounting(_), _) => "GrowingDLeftCountingFilter",
        (FilterLayout::GrowingLine(_), _) => "GrowingLineFilter",
    }
}

/// A filter whose lookups read this many places per hit and per miss, each on a line of its own.
fn planned(
    layout: FilterLayout,
    (items, bits): (u64, u64),
    false_positive: f64,
    lines: (f64, f64),
    can: Needs,
) -> PlannedFilter {
    // At most all lines.
    let most = ceil(bits as f64 / LINE_BITS as f64);
    let can = Needs {
        one_line: can.one_line || bits <= LINE_BITS,
        one_page: can.one_page || bits <= PAGE_BITS,
        ..can
    };
    PlannedFilter {
        layout,
        structure: structure(layout, false),
        items,
        bits,
        false_positive,
        lines_per_hit: lines.0.min(most),
        lines_per_miss: lines.1.min(most),
        can,
    }
}

/// The probes per hit, which are all, and per miss, which end at the first unset place.
fn probes(hashes: u32, fill: f64) -> (f64, f64) {
    let found = exp(f64::from(hashes) * ln(fill));
    (f64::from(hashes), (1.0 - found) / (1.0 - fill))
}

fn of_bloom(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = bloom::for_rate(items, rate)?;
    let lines = probes(layout.hashes(), bloom::expected_fill(layout, items));
    let can = Needs { threads: true, ..Needs::default() };
    let false_positive = bloom::false_positive_probability(layout, items);
    Ok(planned(FilterLayout::Bloom(layout), (items, layout.bits()), false_positive, lines, can))
}

fn of_blocked(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = blocked::for_rate(items, rate)?;
    let can = Needs { threads: true, one_line: true, one_page: true, ..Needs::default() };
    let false_positive = blocked::false_positive_probability(layout, items);
    Ok(planned(FilterLayout::Blocked(layout), (items, layout.bits()), false_positive, (1.0, 1.0), can))
}

fn of_counting(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    /// At the planned load, fewer than one counter in 10^13 saturates.
    const COUNTER_BITS: u32 = 4;
    let layout = counting::for_rate(items, rate, COUNTER_BITS)?;
    let fill = exp(f64::from(layout.hashes()) * items as f64 * ln_1p(-1.0 / layout.counters() as f64));
    let lines = probes(layout.hashes(), 1.0 - fill);
    let can = Needs { delete: true, ..Needs::default() };
    let false_positive = counting::false_positive_probability(layout, items);
    Ok(planned(FilterLayout::Counting(layout), (items, layout.bits()), false_positive, lines, can))
}

fn of_dleft(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = dleft::for_rate(items, rate)?;
    let load = items as f64 / layout.total_buckets() as f64;
    let plan = dleft::plan(layout, load).map_err(|_| LayoutError::OutOfReach { rate, items })?;
    let lines = layout.buckets().len() as f64;
    let can = Needs { threads: true, one_page: layout.pages().is_some(), ..Needs::default() };
    Ok(planned(FilterLayout::DLeft(layout), (items, layout.bits()), plan.false_positive, (lines, lines), can))
}

/// A present key lies in its home, or in a second line as often as such lines are read.
fn of_line(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = line::for_rate(items, rate)?;
    let lines = line::lines_read(layout, items);
    let can = Needs { delete: true, threads: true, ..Needs::default() };
    let false_positive = line::false_positive_probability(layout, items);
    Ok(planned(FilterLayout::Line(layout), (items, layout.bits()), false_positive, (lines, lines), can))
}

fn of_dleft_counting(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = dleft_counting::for_rate(items, rate, dleft_counting::LIFE)?;
    let load = items as f64 / layout.total_buckets() as f64;
    let false_positive = dleft_counting::false_positive(layout, load, dleft_counting::LIFE)
        .map_err(|_| LayoutError::OutOfReach { rate, items })?;
    let lines = f64::from(layout.subtables());
    let can = Needs { delete: true, ..Needs::default() };
    Ok(planned(
        FilterLayout::DLeftCounting(layout),
        (items, layout.bits()),
        false_positive,
        (lines, lines),
        can,
    ))
}

fn of_growing(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = GrowingLayout::new(items, rate)?;
    let layer = growing::layer(layout, 0)?;
    let lines = probes(layer.hashes(), bloom::expected_fill(layer, items));
    let can = Needs { growth: true, ..Needs::default() };
    let false_positive = growing::false_positive_probability(layout, items)?;
    Ok(planned(
        FilterLayout::Growing(layout),
        (items, growing::bits(layout, items)?),
        false_positive,
        lines,
        can,
    ))
}

fn of_growing_dleft_counting(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = GrowingLayout::new(items, rate)?;
    let (layer, _) = dleft_counting::layer(layout, 0)?;
    let load = items as f64 / layer.total_buckets() as f64;
    let false_positive = dleft_counting::false_positive(layer, load, dleft_counting::LIFE)
        .map_err(|_| LayoutError::OutOfReach { rate, items })?;
    let lines = f64::from(layer.subtables());
    let can = Needs { delete: true, growth: true, ..Needs::default() };
    let layout = FilterLayout::GrowingDLeftCounting(layout);
    Ok(planned(layout, (items, layer.bits()), false_positive, (lines, lines), can))
}

fn of_growing_line(items: u64, rate: f64) -> Result<PlannedFilter, LayoutError> {
    let layout = GrowingLayout::new(items, rate)?;
    let (layer, _) = line::layer(layout, 0)?;
    let lines = line::lines_read(layer, items);
    let can = Needs { delete: true, growth: true, ..Needs::default() };
    let false_positive = line::false_positive_probability(layer, items);
    Ok(planned(FilterLayout::GrowingLine(layout), (items, layer.bits()), false_positive, (lines, lines), can))
}
