//! The odds of an aged filter, fast and to a few digits: a solver computes them dozens of times.
//!
//! The equations are those of d-left tables under churn (`plan::dleft` in the crate
//! `oneread-study`), with one addition: an insertion that finds its minimal remainder joins it,
//! whatever the loads. Each cell has the
//! minimal remainder of one insertion in B·R (B buckets per sub-table, R minimal remainders). The
//! unit of time is an insertion per bucket, or d·B insertions, so that a bucket of j cells is
//! joined at the rate j·d/R. This crowds more buckets than choices alone would.
//!
//! Two simplifications make it fast. Buckets whose highest load fits the first class are not
//! distinguished. And steps have one length, of order 4. The fast variables (the low loads, which
//! settle within a few insertions per bucket) are stable at that length, and the slow ones, which
//! matter, are accurate to some 1e-4.

use alloc::vec;
use alloc::vec::Vec;

use crate::layout::DLeftCountingLayout;
use crate::plan::dleft::match_probability;
use crate::plan::float::ceil;

/// Insertions per bucket in a step, unless the fastest variable needs a shorter one. A full bucket
/// loses items at the rate capacity/load, and an empty one gains them at up to the number of
/// sub-tables. The method is stable up to 2.78 over the sum of the two.
const STEP: f64 = 0.25;

/// The fewest keys per bucket that are followed: fewer would take too many steps. (Such a filter
/// would take more than 500 bits per key.)
pub(super) const MIN_LOAD: f64 = 0.25;

/// Well below 2.78.
const STABLE: f64 = 2.0;

/// The false-positive rate, and the probability that an insertion finds no room.
pub(super) fn odds(layout: DLeftCountingLayout, load: f64, turnovers: f64) -> (f64, f64) {
    let mut filter = Aging::new(layout);
    filter.run(load, 0.0);
    filter.run(load * turnovers, 1.0 / load);
    (filter.false_positive(), filter.full())
}

/// The most cells per bucket.
const MAX_CELLS: usize = 12;

struct Aging {
    layout: DLeftCountingLayout,
    subtables: usize,
    capacity: usize,
    fewest: usize,
    /// By sub-table, by highest load from the fewest cells of a class on, by load.
    state: Vec<f64>,
}

impl Aging {
    fn new(layout: DLeftCountingLayout) -> Self {
        let [subtables, capacity, fewest] =
            [layout.subtables(), layout.capacity(), layout.fewest_cells()].map(|number| number as usize);
        let size = (capacity + 1 - fewest) * (capacity + 1);
        let mut state = vec![0.0; subtables * size];
        state.iter_mut().step_by(size).for_each(|empty| *empty = 1.0);
        Self { layout, subtables, capacity, fewest, state }
    }

    fn size(&self) -> usize {
        (self.capacity + 1 - self.fewest) * (self.capacity + 1)
    }

    /// The classical method of Runge and Kutta. Each unit of time has one insertion per bucket and
    /// removes each item at the rate `removal`.
    fn run(&mut self, time: f64, removal: f64) {
        let fastest =
            STEP.min(STABLE / (f64::from(self.layout.capacity()) * removal + self.subtables as f64));
        let steps = ceil(time / fastest) as u64;
        let step = time / steps.max(1) as f64;
        let mut rates = vec![0.0; self.state.len()];
        let (mut sum, mut point) = (rates.clone(), rates.clone());
        for _ in 0..steps {
            sum.fill(0.0);
            point.copy_from_slice(&self.state);
            for (weight, ahead) in [(1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)] {
                self.rates(&point, removal, &mut rates);
                for (((point, sum), rate), start) in
                    point.iter_mut().zip(&mut sum).zip(&rates).zip(&self.state)
                {
                    *sum += weight * rate;
                    *point = start + ahead * step * rate;
                }
            }
            for (value, sum) in self.state.iter_mut().zip(&sum) {
                *value += step / 6.0 * sum;
            }
        }
    }

    fn rates(&self, state: &[f64], removal: f64, rates: &mut [f64]) {
        const MOST: usize = DLeftCountingLayout::MAX_SUBTABLES as usize;
        let loads = self.capacity + 1;
        // By sub-table: the fraction of buckets with at least each load.
        let mut at_least = [[0.0; MAX_CELLS + 2]; MOST];
        for (subtable, states) in state.chunks_exact(self.size()).enumerate() {
            for present in (0..loads).rev() {
                let here: f64 = states.iter().skip(present).step_by(loads).sum();
                at_least[subtable][present] = at_least[subtable][present + 1] + here;
            }
        }
        let items: f64 = at_least[..self.subtables].iter().flat_map(|loads| &loads[1..]).sum();
        // Those that join, per cell, and those that do not, divided among the sub-tables.
        let joining = self.subtables as f64 * match_probability(self.layout.minimal_bits());
        let choosing = self.subtables as f64 * (1.0 - items * match_probability(self.layout.minimal_bits()));
        rates.fill(0.0);
        let of_subtables = state.chunks_exact(self.size()).zip(rates.chunks_exact_mut(self.size()));
        for (subtable, (states, rates)) in of_subtables.enumerate() {
            for present in 0..loads {
                let left: f64 = at_least[..subtable].iter().map(|loads| loads[present + 1]).product();
                let right: f64 =
                    at_least[subtable + 1..self.subtables].iter().map(|loads| loads[present]).product();
                let arrival = choosing * left * right + joining * present as f64;
                let arrival = if present < self.capacity { arrival } else { 0.0 };
                for (most, row) in states.chunks_exact(loads).enumerate() {
                    let (here, fraction) = (most * loads + present, row[present]);
                    let (arriving, leaving) = (arrival * fraction, removal * present as f64 * fraction);
                    rates[here] -= arriving + leaving;
                    if present > 0 {
                        rates[here - 1] += leaving;
                    }
                    if present < self.capacity {
                        let raised = most.max((present + 1).saturating_sub(self.fewest));
                        rates[raised * loads + present + 1] += arriving;
                    }
                }
            }
        }
    }

    fn false_positive(&self) -> f64 {
        let loads = self.capacity + 1;
        let of_row = |(at, row): (usize, &[f64])| {
            let most = self.fewest + at % (loads - self.fewest);
            let items: f64 =
                row.iter().enumerate().map(|(present, fraction)| present as f64 * fraction).sum();
            items * match_probability(self.layout.remainder_bits(most as u32))
        };
        self.state.chunks_exact(loads).enumerate().map(of_row).sum()
    }

    fn full(&self) -> f64 {
        let loads = self.capacity + 1;
        let of_subtable = |states: &[f64]| states.iter().skip(self.capacity).step_by(loads).sum::<f64>();
        let full = || self.state.chunks_exact(self.size()).map(of_subtable);
        // Without counters, a full bucket also refuses an insertion that joins any of its cells.
        let joins = self.layout.counter_bits() == 0;
        let joined = self.capacity as f64 * match_probability(self.layout.minimal_bits());
        full().product::<f64>() + if joins { joined * full().sum::<f64>() } else { 0.0 }
    }
}
