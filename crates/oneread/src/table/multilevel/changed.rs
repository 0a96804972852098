//! The entries as a placement needs them, and the buckets that a change reads.

use alloc::vec::Vec;
use core::cell::RefCell;

use crate::hash::{Digest, Digester};
use crate::table::placement::{Items, Placement};

/// What the last change read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    /// The number of buckets read by the last change.
    pub(super) last: u64,
    /// The places whose digests the placement read, perhaps some twice; kept to save allocations.
    asked: Vec<usize>,
    /// Everything was counted: later reads add nothing.
    all: bool,
}

impl Reads {
    /// Starts a change whose lookup read `looked` buckets.
    pub(super) fn begin(&mut self, looked: u32) {
        self.last = looked.into();
        self.asked.clear();
        self.all = false;
    }

    /// Counts the reads of a rebuild: all of `places`, which are in order and in use. Places from
    /// `stash` on are not in buckets.
    pub(super) fn all(&mut self, places: &[usize], slots: usize, stash: usize) {
        let in_buckets = places.iter().take_while(|&&place| place < stash);
        let mut before = None;
        self.last =
            in_buckets.filter(|&place| before.replace(place / slots) != Some(place / slots)).count() as u64;
        self.all = true;
    }

    /// Ends a change. Adds the buckets of the places read, each once, except those that the lookup
    /// had read: the digest's own of the levels below `looked_at`. The stash is in fast memory and
    /// not counted.
    #[inline]
    pub(super) fn end(&mut self, placement: &Placement, digest: Digest, looked_at: usize) {
        if !self.asked.is_empty() && !self.all {
            self.add_asked(placement, digest, looked_at);
        }
    }

    #[cold]
    fn add_asked(&mut self, placement: &Placement, digest: Digest, looked_at: usize) {
        let stash = placement.level_loads().len();
        // Places of one bucket are neighbours.
        self.asked.sort_unstable();
        let mut before = None;
        for &place in &self.asked {
            let location = placement.location(place);
            let bucket = Some((location.level, location.bucket));
            let is_own = || placement.bucket(digest, location.level) == location.bucket;
            if bucket != before && location.level < stash && !(location.level < looked_at && is_own()) {
                self.last += 1;
            }
            before = bucket;
        }
    }
}

/// The entries, while a placement changes them.
pub(super) struct Entries<'a, K, V, D> {
    entries: &'a mut [Option<(K, V)>],
    digester: &'a D,
    asked: RefCell<&'a mut Vec<usize>>,
}

impl<'a, K, V, D> Entries<'a, K, V, D> {
    pub(super) fn new(entries: &'a mut [Option<(K, V)>], digester: &'a D, reads: &'a mut Reads) -> Self {
        Self { entries, digester, asked: RefCell::new(&mut reads.asked) }
    }
}

impl<K, V, D: Digester<K>> Items for Entries<'_, K, V, D> {
    #[inline]
    fn digest(&self, place: usize) -> Digest {
        let mut asked = self.asked.borrow_mut();
        if asked.len() == asked.capacity() {
            // Restricted hashing reads the same places often; without duplicates the list stays
            // short.
            asked.sort_unstable();
            asked.dedup();
        }
        asked.push(place);
        drop(asked);
        let (key, _) = self.entries[place].as_ref().expect("the place is in use");
        self.digester.digest(key)
    }

    #[inline]
    fn relocate(&mut self, from: usize, to: usize) {
        self.entries[to] = self.entries[from].take();
    }
}
