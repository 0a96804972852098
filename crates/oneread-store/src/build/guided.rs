//! The keys of a segment, grouped by guide.

use crate::plan::Loads;
use oneread::hash::Digest;

use crate::format::geometry::{self, LEVELS};
use crate::format::guide::{Form, Located, Solver};

/// The keys of each guide, in any level.
#[derive(Debug)]
pub(crate) struct Guided {
    keys: Vec<Located>,
    /// For each guide, the end of its keys.
    ends: Vec<u32>,
}

impl Guided {
    /// Groups the keys of a segment with `homes` homes by guides of this form.
    pub(crate) fn new(homes: u32, form: Form, keys: impl Iterator<Item = Located> + Clone) -> Self {
        let guides: Vec<u32> =
            keys.clone().map(|(digest, _)| form.guide(geometry::page(digest, 0, homes))).collect();
        let mut ends = vec![0u32; form.guides(homes) as usize];
        guides.iter().for_each(|&guide| ends[guide as usize] += 1);
        let mut all = 0;
        for count in &mut ends {
            // Holds the start of a guide's keys for now; filling moves it to the end.
            all += std::mem::replace(count, all);
        }
        let mut sorted = vec![(Digest::from_halves(0, 0), 0); all as usize];
        for (key, guide) in keys.zip(guides) {
            let at = &mut ends[guide as usize];
            sorted[*at as usize] = key;
            *at += 1;
        }
        Self { keys: sorted, ends }
    }

    /// Iterates over the keys of each guide.
    fn iter(&self) -> impl Iterator<Item = &[Located]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.keys[start as usize..end as usize])
    }

    /// Adds the guides of a segment with these levels to `loads`.
    pub(crate) fn count(&self, levels: [u32; LEVELS], loads: &mut Loads) {
        let levels = levels.iter().filter(|&&pages| pages > 0).count() as u32;
        self.iter().for_each(|keys| loads.add(keys.len() as u32, levels, 1));
    }

    /// Solves all guides, with `guide_bytes` bytes each.
    pub(crate) fn solve(&self, guide_bytes: u32, solver: &mut Solver) -> Vec<u8> {
        let mut guides = vec![0; self.ends.len() * guide_bytes as usize];
        for (keys, guide) in self.iter().zip(guides.chunks_exact_mut(guide_bytes as usize)) {
            solver.write(keys, guide);
        }
        guides
    }
}
