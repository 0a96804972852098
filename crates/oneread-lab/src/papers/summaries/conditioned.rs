//! Sections IX and X: failures and crises too rare to observe, measured by conditioning.
//!
//! Real tables and summaries are filled with random items. The rest needs no chance. Given what the
//! filters hold, the probability that an item is taken for a deeper one is a product of shares.
//! Given how many items are below the second level, the probability of a crisis is a recursion over
//! some tens of items. The means of these conditional probabilities are the probabilities
//! themselves (Rao, Blackwell), and they vary so little that some hundred tables measure 10^−12 to
//! a few percent.
//!
//! An item's probes are independent of the bits that deeper items set, so the conditional
//! probability is exact. The sum over items is the expected number of failures. Two failures are so
//! unlikely that this is the probability of any.

use oneread::layout::{MultipleFiltersLayout, SingleFilterLayout, SummaryLayout};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{MultiFilterSummary, SingleFilterSummary, Summary};
use oneread_study::hash::Ideal;

use super::filled::{Cells, Filled, Tilt};
use crate::experiment::{Context, Error};
use crate::finding::Measured;

/// The probability of a failure or a crisis of a table with a summary, measured with this many
/// tables.
pub(super) fn failure_or_crisis(
    context: &Context,
    tables: u64,
    plan: &SummaryPlan,
    tilt: Tilt,
) -> Result<Measured, Error> {
    let (layout, items) = (plan.table().layout(), plan.table().items());
    let crises = Crises::new(&layout.levels()[FIRST_COUNTED..]);
    let trial = |seed| -> Result<f64, Error> {
        let filled = Filled::mixed(layout, items, tilt, seed)?;
        let failures = match plan.layout() {
            SummaryLayout::Single(filter) => of_single(&filled, *filter)?,
            SummaryLayout::Multiple(filters) => of_multiple(&filled, filters)?,
            other => return Err(format!("{other:?} does not fail by filters").into()),
        };
        Ok(filled.weight() * (failures + crises.probability(filled.reaching(FIRST_COUNTED))?))
    };
    let trials: Result<Vec<f64>, Error> = context.each(tables, trial).into_iter().collect();
    Ok(Measured::mean(&trials?))
}

/// The expected failures of multiple filters, given their fill: an item at level i fails if
/// `B_(i+1)` has all its bits.
pub(super) fn of_multiple(filled: &Filled, layout: &MultipleFiltersLayout) -> Result<f64, Error> {
    let mut summary = MultiFilterSummary::with_digester(layout.clone(), Ideal::with_seed(0))?;
    insert_all(filled, &mut summary)?;
    let fill = summary.fill();
    let next = layout.filters().iter().zip(fill).skip(1);
    let of_level = |(items, (&(_, hashes), fill)): (&Vec<_>, (&(u64, u32), f64))| {
        items.len() as f64 * fill.powi(hashes as i32)
    };
    Ok(filled.levels.iter().zip(next).map(of_level).sum())
}

/// The expected failures of a single filter, given its cells. This also checks that the real
/// summary answers as these cells do.
pub(super) fn of_single(filled: &Filled, layout: SingleFilterLayout) -> Result<f64, Error> {
    let mut summary = SingleFilterSummary::with_digester(layout, filled.levels.len(), Ideal::with_seed(0))?;
    insert_all(filled, &mut summary)?;
    let cells = Cells::of(filled, layout.cells(), layout.hashes());
    let differs = |&&digest: &&_| {
        summary.lookup(digest).first().map_or(0, |level| level + 1) != usize::from(cells.smallest(digest))
    };
    if filled.levels.iter().flatten().any(|digest| differs(&digest)) {
        return Err("the summary's cells are not where they were thought to be".into());
    }
    let of_level = |(level, items): (usize, &Vec<_>)| items.len() as f64 * cells.fails(level);
    Ok(filled.levels.iter().enumerate().map(of_level).sum())
}

pub(super) fn insert_all<S: Summary>(filled: &Filled, summary: &mut S) -> Result<(), Error> {
    for (level, digests) in filled.levels.iter().enumerate() {
        for &digest in digests {
            summary.insert(digest, level)?;
        }
    }
    Ok(())
}

/// Crises are counted from the items that reach this level: the third.
const FIRST_COUNTED: usize = 2;

/// The probability of a crisis, by the number of items that reach the first of several levels.
struct Crises(Vec<f64>);

impl Crises {
    /// More items than ever reach the third level of the paper's tables.
    const MOST: usize = 1500;

    /// Works from the last level up: an item that fits in no level is a crisis.
    fn new(levels: &[u64]) -> Self {
        let mut crisis: Vec<f64> = (0..=Self::MOST).map(|items| f64::from(u8::from(items > 0))).collect();
        for &buckets in levels.iter().rev() {
            // Indexed by the number of items that found their bucket taken, of those so far
            // (equation 3 of the paper counts the taken buckets instead).
            let mut passed_on = vec![1.0];
            let mut given = Vec::with_capacity(Self::MOST + 1);
            for came in 0..=Self::MOST {
                given.push(passed_on.iter().zip(&crisis).map(|(weight, crisis)| weight * crisis).sum());
                let mut next = vec![0.0; passed_on.len() + 1];
                for (passed, weight) in passed_on.iter().enumerate() {
                    let taken = (came - passed) as f64 / buckets as f64;
                    next[passed] += weight * (1.0 - taken);
                    next[passed + 1] += weight * taken;
                }
                // Weights below the range of floats do not matter.
                while next.len() > 1 && next.last().is_some_and(|&weight| weight < f64::MIN_POSITIVE) {
                    next.pop();
                }
                passed_on = next;
            }
            crisis = given;
        }
        Self(crisis)
    }

    fn probability(&self, items: usize) -> Result<f64, Error> {
        self.0.get(items).copied().ok_or_else(|| format!("{items} items at the third level").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crises_of_few_items_are_those_of_birthdays() {
        let crises = Crises::new(&[10, 20]);
        assert_eq!((crises.0[0], crises.0[1]), (0.0, 0.0));
        // Of two items, at most one is passed on, and it has room.
        assert_eq!(crises.0[2], 0.0);
        // All three meet, and the two that are passed on meet again.
        assert!((crises.0[3] - 0.1 * 0.1 / 20.0).abs() < 1e-15, "{}", crises.0[3]);
        assert!(crises.probability(Crises::MOST + 1).is_err());
    }
}
