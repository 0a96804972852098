//! A d-left table as balls and bins: the loads of its buckets, and the false-positive rate that
//! follows. It covers what filters do not do: more items than there is room for, and balancing with
//! random ties.

use oneread::layout::{DLeftLayout, Ties};

use crate::papers::random::{Choices, Random};

/// The loads of a table's buckets.
pub(super) struct Table {
    layout: DLeftLayout,
    loads: Vec<Vec<u32>>,
}

/// Sub-table and bucket.
type Place = (usize, usize);

impl Table {
    /// An empty table. Its buckets hold any number of items.
    pub(super) fn new(layout: DLeftLayout) -> Self {
        let loads: Vec<Vec<u32>> =
            layout.buckets().iter().map(|&buckets| vec![0; buckets as usize]).collect();
        Self { layout, loads }
    }

    /// A table of `items` items, and their places.
    pub(super) fn filled(layout: DLeftLayout, items: u64, random: Random) -> (Self, Vec<Place>) {
        let mut table = Self::new(layout);
        let places = (0..items).map(|item| table.insert(random.item(item), 0)).collect();
        (table, places)
    }

    /// Puts an item into the least loaded of its buckets, for the first time or again. Ties are
    /// broken anew each time.
    pub(super) fn insert(&mut self, item: Choices, time: usize) -> Place {
        let bucket = |subtable: usize| (subtable, item.below(subtable, self.layout.buckets()[subtable]));
        let load = |(subtable, bucket): Place| self.loads[subtable][bucket];
        let mut best = bucket(0);
        let mut equally_good = 1;
        for subtable in 1..self.loads.len() {
            let place = bucket(subtable);
            if load(place) < load(best) {
                (best, equally_good) = (place, 1);
            } else if load(place) == load(best) && self.layout.ties() == Ties::Random {
                equally_good += 1;
                // These choices follow those of the buckets. They replace the place with
                // probability 1/`equally_good`, which makes all equally good buckets equally
                // likely.
                if item.below((1 + time) * self.loads.len() + subtable, equally_good) == 0 {
                    best = place;
                }
            }
        }
        let (subtable, bucket) = best;
        self.loads[subtable][bucket] += 1;
        best
    }

    pub(super) fn remove(&mut self, (subtable, bucket): Place) {
        self.loads[subtable][bucket] -= 1;
    }

    /// Formula (1) on these buckets, in groups of the layout's size: the sum over a key's buckets
    /// of the load times the probability to match one fingerprint.
    pub(super) fn false_positive(&self) -> f64 {
        let of_group = |group: &[u32]| -> f64 {
            let total = group.iter().sum();
            group.iter().map(|&load| matches(load, self.layout.fingerprint_bits(load, total))).sum()
        };
        let of_subtable = |loads: &Vec<u32>| {
            loads.chunks(self.layout.group() as usize).map(of_group).sum::<f64>() / loads.len() as f64
        };
        self.loads.iter().map(of_subtable).sum()
    }
}

/// The probability to match any of `load` fingerprints, if no key matches two.
fn matches(load: u32, bits: u32) -> f64 {
    f64::from(load) * 0.5f64.powi(bits as i32)
}
