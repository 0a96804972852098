//! Runs single trials.

use alloc::vec;
use alloc::vec::Vec;

use super::lifetimes::Victims;
use super::{Simulation, SimulationError};
use crate::hash::Ideal;
use oneread::hash::{Digest, Digester};
use oneread::table::placement::{Items, Placement};
use oneread::workspace::zeroed;

/// The result of one trial.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// The items in the stash at the end.
    pub end_stash: u64,
    /// The largest stash after any insertion.
    pub max_stash: u64,
    /// The sum of the stash sizes after each step since the warm-up, and the number of these steps.
    pub stash_over_time: (u64, u64),
    /// The items of each level at the end.
    pub level_occupancy: Vec<u64>,
    /// The most items of each level after any insertion.
    pub level_maximum: Vec<u64>,
    /// The moves made by insertions in the steps.
    pub insertion_moves: u64,
    /// The moves made by deletions.
    pub deletion_moves: u64,
}

/// Runs trials of a simulation and reuses its memory.
#[derive(Clone, Debug)]
pub struct Simulator {
    simulation: Simulation,
    placement: Placement,
    items: Population,
}

/// Digests by place, and a number for each item.
#[derive(Clone, Debug)]
struct Population {
    digests: Vec<Digest>,
    numbers: Vec<u32>,
    /// The place of each number.
    places: Vec<u32>,
}

impl Population {
    #[inline]
    fn put(&mut self, number: usize, place: usize, digest: Digest) {
        self.digests[place] = digest;
        self.numbers[place] = number as u32;
        self.places[number] = place as u32;
    }
}

impl Items for Population {
    #[inline]
    fn digest(&self, place: usize) -> Digest {
        self.digests[place]
    }

    #[inline]
    fn relocate(&mut self, from: usize, to: usize) {
        self.put(self.numbers[from] as usize, to, self.digests[from]);
    }
}

impl Simulator {
    /// Allocates the memory for the trials.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(simulation: &Simulation) -> Result<Self, SimulationError> {
        let placement = Placement::new(&simulation.layout)?;
        let places = placement.places() as u64;
        let items = Population {
            digests: zeroed(Digest::from_halves(0, 0), places)?,
            numbers: zeroed(0, places)?,
            places: zeroed(0, simulation.items)?,
        };
        Ok(Self { simulation: simulation.clone(), placement, items })
    }

    /// Runs one trial. It is the same for the same seed and number, and independent for others.
    ///
    /// # Errors
    /// If the stash overflows.
    pub fn trial(&mut self, seed: u64, trial: u64) -> Result<Trial, SimulationError> {
        let Simulation { items: count, steps, lifetimes, .. } = self.simulation;
        // The counters of different trials are disjoint.
        let digest_of =
            |item: u64| Ideal::with_seed(seed).digest(&(u128::from(trial) << 64 | u128::from(item)));
        self.placement.clear();
        let levels = self.placement.level_loads().len();
        let mut shown = Trial {
            end_stash: 0,
            max_stash: 0,
            stash_over_time: (0, 0),
            level_occupancy: Vec::new(),
            level_maximum: vec![0; levels],
            insertion_moves: 0,
            deletion_moves: 0,
        };
        for number in 0..count {
            self.insert(number as usize, digest_of(number), &mut shown)?;
        }
        shown.insertion_moves = 0;
        // Digests of items that are never inserted decide the order of the first deletions.
        let mut victims = Victims::new(lifetimes, count, |item| digest_of(u64::MAX - item));
        let warm_up = self.simulation.warm_up();
        for step in 0..steps {
            let digest = digest_of(count + step);
            let number = victims.next(digest);
            let place = self.items.places[number] as usize;
            self.placement.remove(place, self.items.digests[place], &mut self.items);
            shown.deletion_moves += self.placement.moves().len() as u64;
            self.insert(number, digest, &mut shown)?;
            if step >= warm_up {
                shown.stash_over_time.0 += self.placement.stash_load();
                shown.stash_over_time.1 += 1;
            }
        }
        shown.end_stash = self.placement.stash_load();
        shown.level_occupancy = self.placement.level_loads().to_vec();
        Ok(shown)
    }

    #[inline]
    fn insert(&mut self, number: usize, digest: Digest, shown: &mut Trial) -> Result<(), SimulationError> {
        let place = self.placement.insert(digest, &mut self.items).map_err(|_| SimulationError::StashFull)?;
        self.items.put(number, place, digest);
        shown.insertion_moves += self.placement.moves().len() as u64;
        shown.max_stash = shown.max_stash.max(self.placement.stash_load());
        for (most, &load) in shown.level_maximum.iter_mut().zip(self.placement.level_loads()) {
            *most = load.max(*most);
        }
        Ok(())
    }
}
