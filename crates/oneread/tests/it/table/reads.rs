//! Buckets read per operation: counted by a second owner of the items, and within the layout's
//! bounds.

use std::cell::RefCell;
use std::collections::HashSet;

use oneread::hash::{Digest, Digester};
use oneread::layout::{HintRule, Hints, Keep, Maps, Moves, MultilevelLayout, OnCrisis, Restriction, Ties};
use oneread::table::placement::{Crisis, Items, Placement};
use oneread::table::{Entry, MultilevelTable};
use oneread_study::hash::Ideal;

use super::{Random, halving, policies};

/// Digests in their places, and the places read since the list was cleared.
struct Watched {
    digests: Vec<Option<Digest>>,
    read: RefCell<Vec<usize>>,
}

impl Items for Watched {
    fn digest(&self, place: usize) -> Digest {
        self.read.borrow_mut().push(place);
        self.digests[place].expect("the place is in use")
    }

    fn relocate(&mut self, from: usize, to: usize) {
        self.digests[to] = self.digests[from].take();
    }
}

/// A placement whose reads are counted.
struct Counted {
    placement: Placement,
    items: Watched,
}

impl Counted {
    fn new(layout: &MultilevelLayout) -> Self {
        let placement = Placement::new(layout).unwrap();
        let items = Watched { digests: vec![None; placement.places()], read: RefCell::default() };
        Self { placement, items }
    }

    /// Reads a digest's places in the order of a lookup until it is found.
    fn look(&mut self, digest: Digest) -> Option<usize> {
        self.items.read.borrow_mut().clear();
        self.placement.candidates(digest).find(|&place| self.items.digest(place) == digest)
    }

    fn insert(&mut self, digest: Digest) {
        if self.look(digest).is_none() {
            let placed = self.placement.insert(digest, &mut self.items);
            placed.map_or_else(|Crisis| (), |place| self.items.digests[place] = Some(digest));
        }
    }

    fn remove(&mut self, digest: Digest) {
        if let Some(place) = self.look(digest) {
            self.items.digests[place] = None;
            self.placement.remove(place, digest, &mut self.items);
        }
    }

    /// The number of buckets read since the last lookup began, without the stash.
    fn buckets_read(&self) -> u64 {
        let locations =
            self.items.read.borrow().iter().map(|&place| self.placement.location(place)).collect();
        let locations: Vec<_> = locations;
        let levels = self.placement.level_loads().len();
        let in_levels = locations.iter().filter(|location| location.level < levels);
        in_levels.map(|location| (location.level, location.bucket)).collect::<HashSet<_>>().len() as u64
    }
}

/// Applies random changes to a table and a counted placement; returns the most reads of an
/// insertion and of a removal.
fn most_reads(layout: &MultilevelLayout, keys: u64, name: &str) -> [u64; 2] {
    let digester = Ideal::with_seed(keys);
    let mut table = MultilevelTable::<u64, u64, _>::with_digester(layout.clone(), digester).unwrap();
    let mut counted = Counted::new(layout);
    let mut random = Random::new(1);
    let mut most = [0; 2];
    for step in 0..if cfg!(miri) { 100 } else { 20_000 } {
        let (key, insertion) = (random.below(keys), random.below(100) < 55);
        let digest = digester.digest(&key);
        match (insertion, step % 2) {
            (true, 0) => _ = table.insert(key, key),
            (true, _) => _ = table.entry(key).or_try_insert(key),
            (false, 0) => _ = table.remove(&key),
            (false, _) => {
                if let Entry::Occupied(entry) = table.entry(key) {
                    _ = entry.remove();
                }
            }
        }
        if insertion {
            counted.insert(digest);
        } else {
            counted.remove(digest);
        }
        let (told, found) = (table.last_reads(), counted.buckets_read());
        let bound = if insertion { layout.most_insertion_reads() } else { layout.most_removal_reads() };
        assert!(found <= bound, "{name}: {found} buckets read, at most {bound} were promised");
        if layout.moves().restriction().is_some() {
            // An item that the change itself moved to an empty bucket is asked for, but not read.
            assert!(told <= found, "{name}: {told} {found}");
        } else {
            assert_eq!(told, found, "{name}");
        }
        let of_this = &mut most[usize::from(!insertion)];
        *of_this = found.max(*of_this);
    }
    most
}

#[test]
fn no_change_reads_more_buckets_than_the_layout_says() {
    for (name, moves) in policies() {
        // Half full, overfull, and nearly empty.
        for keys in [100, 300, 20] {
            let layout = halving(64, 4, moves).with_stash(10).unwrap();
            most_reads(&layout, keys, name);
        }
        most_reads(&MultilevelLayout::new([9]).unwrap().with_moves(moves).unwrap(), 20, name);
        if moves.restriction().is_none() {
            let layout = MultilevelLayout::new([11, 5, 3, 2]).unwrap().with_slots(3).unwrap();
            most_reads(&layout.with_moves(moves).unwrap(), 100, name);
        }
    }
}

#[cfg_attr(miri, ignore = "needs thousands of steps")]
#[test]
fn the_bounds_are_reached_where_they_should_be() {
    let most = |moves, keys| most_reads(&halving(64, 4, moves).with_stash(10).unwrap(), keys, "");
    // One per level, d = 4, in a table that is nearly full.
    assert_eq!(most(Moves::None, 120), [4, 4]);
    assert_eq!(most(Moves::SecondChance, 120), [4, 4]);
    assert_eq!(most(Moves::Both(Hints::default()), 120), [4, 4]);
    // 2d − 2 with the deepest hints; one less if the bucket that the item goes to is empty, as it
    // is with one slot.
    let deepest = Moves::Hints(Hints { rule: HintRule::Deepest, ..Hints::default() });
    assert_eq!(most(deepest, 200), [5, 4]);
    let slots = halving(64, 4, deepest).with_slots(2).unwrap();
    assert_eq!(most_reads(&slots, 400, ""), [6, 4]);
    // 2d − 1 along two paths. A removal from level 0 looks at everything below it, at most 15
    // buckets.
    let [insertion, removal] = most(Moves::Restricted(Restriction::default()), 300);
    assert!(insertion == 7 && removal > 8, "{insertion} {removal}");
    let greedy = Restriction { keep: Keep::Greedy(Ties::Left), ..Restriction::default() };
    assert!(most(Moves::Restricted(greedy), 300)[0] > 7);
    // Each bucket of a chain has one bucket per level below.
    let chain = Restriction { fanout: 1, maps: Maps::Random, keep: Keep::Random };
    assert_eq!(most(Moves::Restricted(chain), 300), [4, 4]);
}

#[test]
fn a_rebuilding_reads_every_bucket_with_items() {
    let layout = halving(64, 2, Moves::None).with_stash(3).unwrap();
    let layout = layout.with_crisis(OnCrisis::Rebuild { attempts: 100 }).unwrap();
    let mut table = MultilevelTable::with_seed(layout, 3).unwrap();
    let rebuilt = (0..1000u64).find(|&key| table.insert(key, ()).is_ok() && table.generation() > 0);
    // Each item before it had its own bucket, of one slot.
    assert_eq!(Some(table.last_reads()), rebuilt);
    table.remove(&0);
    assert!(table.last_reads() <= 2);
}
