//! Places by level, for whoever knows from elsewhere, such as a summary, which level to look at.

use core::ops::Range;

use super::Placement;
use crate::hash::Digest;

impl Placement {
    #[inline(always)]
    pub(crate) fn level_count(&self) -> usize {
        self.geometry.level_count()
    }

    /// The places of a digest's bucket in a level, in use or not.
    #[inline(always)]
    pub(crate) fn places_in(&self, digest: Digest, level: usize) -> Range<usize> {
        self.geometry.places_of(self.geometry.choice(digest, level))
    }

    /// The places of the stash, in use or not.
    pub(crate) fn stash(&self) -> Range<usize> {
        self.geometry.stash()
    }

    /// The item at `from` is now at `to`, which was free; nothing else moves.
    pub(in crate::table) fn transfer(&mut self, from: usize, to: usize) {
        self.moves.clear();
        self.occupancy.clear(from, self.level_of(from));
        self.occupancy.set(to, self.level_of(to));
    }
}
