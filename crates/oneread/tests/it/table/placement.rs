//! Where items go: by the format's arithmetic, by the policies' rules, and as often as planned.

use std::collections::HashMap;

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{HintChain, HintRule, Hints, Keep, Maps, Moves, MultilevelLayout, Restriction, Ties};
use oneread::table::placement::{Crisis, Items, Placement};
use oneread_study::hash::Ideal;

use super::{Random, halving, policies};

/// Digests by place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Digests(Vec<Option<Digest>>);

impl Items for Digests {
    fn digest(&self, place: usize) -> Digest {
        self.0[place].expect("the place is in use")
    }

    fn relocate(&mut self, from: usize, to: usize) {
        assert!(self.0[to].is_none(), "moved onto another item");
        self.0[to] = Some(self.0[from].take().expect("something to move"));
    }
}

pub(super) struct Simple {
    pub(super) placement: Placement,
    items: Digests,
}

impl Simple {
    pub(super) fn new(layout: &MultilevelLayout) -> Self {
        let placement = Placement::new(layout).unwrap();
        let items = Digests(vec![None; placement.places()]);
        Self { placement, items }
    }

    pub(super) fn insert(&mut self, digest: Digest) -> Result<usize, Crisis> {
        let place = self.placement.insert(digest, &mut self.items)?;
        assert_eq!(self.items.0[place].replace(digest), None, "the place is free");
        Ok(place)
    }

    pub(super) fn find(&self, digest: Digest) -> Option<usize> {
        self.placement.candidates(digest).find(|&place| self.items.0[place] == Some(digest))
    }

    pub(super) fn remove(&mut self, digest: Digest) {
        let place = self.find(digest).expect("it is there");
        self.items.0[place] = None;
        self.placement.remove(place, digest, &mut self.items);
    }

    /// Checks that everything is where lookups search, and that bits and loads agree.
    fn check(&self) {
        let mut loads = vec![0; self.placement.level_loads().len() + 1];
        for (place, item) in self.items.0.iter().enumerate() {
            assert_eq!(self.placement.in_use(place), item.is_some());
            if let Some(digest) = *item {
                let location = self.placement.location(place);
                loads[location.level] += 1;
                assert_eq!(self.find(digest), Some(place));
                if location.level < loads.len() - 1 {
                    assert_eq!(self.placement.bucket(digest, location.level), location.bucket);
                }
            }
        }
        let (stash, levels) = loads.split_last().unwrap();
        assert_eq!((levels, *stash), (self.placement.level_loads(), self.placement.stash_load()));
    }
}

#[test]
fn buckets_are_those_of_the_written_arithmetic() {
    // Calculated from `docs/format.md` by another program: words 0 to 4 of domain 2^31 + 3, then
    // words 128 to 132.
    let layout = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).unwrap();
    let (first, second) = (Placement::new(&layout).unwrap(), Placement::with_generation(&layout, 1).unwrap());
    for (key, expected, fresh) in BUCKETS {
        let digest = Portable::with_seed(42).digest(&key);
        let buckets = |placement: &Placement| std::array::from_fn(|level| placement.bucket(digest, level));
        assert_eq!((buckets(&first), buckets(&second)), (expected, fresh), "key {key}");
    }
}

#[test]
fn items_are_where_lookups_look_under_every_policy() {
    for (name, moves) in policies() {
        let layout = halving(64, 4, moves).with_stash(10).unwrap();
        let mut table = Simple::new(&layout);
        let mut random = Random::new(1);
        let mut alive: Vec<Digest> = Vec::new();
        for _ in 0..if cfg!(miri) { 200 } else { 20_000 } {
            let up = alive.len() < 20 || random.below(60) as usize > alive.len().saturating_sub(20);
            if up {
                let digest = random.digest();
                let before = (table.items.clone(), table.placement.len());
                match table.insert(digest) {
                    Ok(_) => alive.push(digest),
                    // A crisis changes nothing.
                    Err(Crisis) => assert_eq!((table.items.clone(), table.placement.len()), before, "{name}"),
                }
                for made in table.placement.moves() {
                    let levels = [made.from, made.to].map(|place| table.placement.level_of(place));
                    if moves.second_chance() {
                        assert_eq!(levels[0] + 1, levels[1], "{name}: one level down");
                    }
                }
                let most = if moves.restriction().is_some() { 4 } else { usize::from(moves.second_chance()) };
                assert!(table.placement.moves().len() <= most, "{name}");
            } else {
                let digest = alive.swap_remove(random.below(alive.len() as u64) as usize);
                table.remove(digest);
                let made = table.placement.moves();
                if let Some(hints) = moves.hints() {
                    assert!(made.iter().all(|made| made.from > made.to), "{name}: up");
                    assert!(made.len() <= if hints.chain == HintChain::One { 1 } else { 4 }, "{name}");
                } else if moves.restriction().is_none() {
                    assert!(made.is_empty(), "{name}");
                }
            }
            if alive.len().is_multiple_of(16) {
                table.check();
            }
        }
        assert_eq!(table.placement.len(), alive.len() as u64);
        alive.iter().for_each(|&digest| assert!(table.find(digest).is_some()));
    }
}

#[test]
fn with_random_keep_the_set_of_items_alone_decides_where_they_are() {
    for (fanout, maps) in [(2, Maps::Shifts), (2, Maps::Random), (1, Maps::Nested), (3, Maps::Shifts)] {
        let moves = Moves::Restricted(Restriction { fanout, maps, keep: Keep::Random });
        let layout = halving(64, 4, moves).with_stash(200).unwrap();
        let mut random = Random::new(2);
        let digests: Vec<_> = (0..120).map(|_| random.digest()).collect();
        let mut churned = Simple::new(&layout);
        digests.iter().for_each(|&digest| _ = churned.insert(digest).unwrap());
        for _ in 0..if cfg!(miri) { 5 } else { 2000 } {
            let at = random.below(120) as usize;
            churned.remove(digests[at]);
            let other = random.digest();
            churned.insert(other).unwrap();
            churned.remove(other);
            churned.insert(digests[at]).unwrap();
        }
        digests[60..].iter().for_each(|&digest| churned.remove(digest));
        let mut fresh = Simple::new(&layout);
        digests[..60].iter().rev().for_each(|&digest| _ = fresh.insert(digest).unwrap());
        let levels = layout.capacity() as usize;
        assert_eq!(churned.items.0[..levels], fresh.items.0[..levels], "{maps:?}");
    }
}

#[test]
fn greedy_buckets_keep_an_item_of_the_child_with_the_most() {
    for ties in [Ties::Random, Ties::Left] {
        let restriction = Restriction { fanout: 2, maps: Maps::Shifts, keep: Keep::Greedy(ties) };
        let layout = halving(64, 4, Moves::Restricted(restriction)).with_stash(200).unwrap();
        let mut table = Simple::new(&layout);
        let mut random = Random::new(3);
        let mut alive: Vec<_> = (0..90).map(|_| random.digest()).collect();
        alive.iter().for_each(|&digest| _ = table.insert(digest).unwrap());
        for _ in 0..if cfg!(miri) { 10 } else { 1000 } {
            let at = random.below(90) as usize;
            table.remove(std::mem::replace(&mut alive[at], random.digest()));
            table.insert(alive[at]).unwrap();
            // For each bucket above the last level: the number of items that come to it, by child.
            // The buckets of a part come after those of the parts to its left.
            let mut coming: HashMap<(usize, u64), HashMap<u64, u32>> = HashMap::new();
            let mut kept = HashMap::new();
            for &digest in &alive {
                let level = table.placement.level_of(table.find(digest).unwrap());
                for above in 0..=level.min(2) {
                    let [bucket, child] = [above, above + 1].map(|at| table.placement.bucket(digest, at));
                    *coming.entry((above, bucket)).or_default().entry(child).or_default() += 1;
                    if above == level {
                        kept.insert((above, bucket), child);
                    }
                }
            }
            for (bucket, children) in coming {
                let child = kept[&bucket];
                let most = *children.values().max().unwrap();
                assert_eq!(children[&child], most, "{ties:?} {bucket:?} {children:?}");
                if ties == Ties::Left {
                    assert!(children.iter().all(|(&other, &count)| count < most || other >= child));
                }
            }
        }
    }
}

#[test]
fn the_deepest_hint_is_kept_while_it_is_good() {
    // One bucket per level: it is easy to predict the hints of level 0 and the moves.
    let after_removal = |rule| {
        let moves = Moves::Hints(Hints { rule, chain: HintChain::One });
        let layout = MultilevelLayout::new([1, 1, 1]).unwrap().with_moves(moves).unwrap();
        let mut table = Simple::new(&layout);
        let digests: Vec<_> = (0..5u64).map(|key| Ideal::with_seed(1).digest(&key)).collect();
        // Items in levels 0, 1, 2 and the stash; then the item of level 1 is replaced, which makes
        // the new one the newest.
        digests[..4].iter().for_each(|&digest| _ = table.insert(digest).unwrap());
        table.remove(digests[1]);
        let place = table.insert(digests[4]).unwrap();
        table.remove(digests[0]);
        (table.placement.level_of(place), table.placement.moves().first().map(|made| made.from))
    };
    // Item 1 leaves level 1, where item 3 was the last to find the bucket full: it comes back from
    // the stash (place 3). So item 4 goes to the stash too, and both rules bring it back.
    assert_eq!(after_removal(HintRule::Replace), (3, Some(3)));
    assert_eq!(after_removal(HintRule::Deepest), (3, Some(3)));
    // With hints at the next level only, item 2 comes back to level 1, and item 4 takes its place
    // in level 2. Level 0 still has the hint at item 1's place, where item 2 is now.
    assert_eq!(after_removal(HintRule::Next), (2, Some(1)));
}

const BUCKETS: [(u64, [u64; 5], [u64; 5]); 3] = [
    (0, [16421, 4846, 3857, 568, 1505], [34428, 1437, 1818, 1262, 842]),
    (1, [4756, 7859, 418, 2011, 2408], [22425, 2729, 3738, 1431, 1606]),
    (12345, [35056, 4205, 4901, 1997, 877], [18920, 4866, 4072, 2061, 1440]),
];
