//! Compares what operations touch, as they report it, with the promised bounds, and checks the
//! invariants.

use alloc::vec::Vec;

use super::group::{SLOTS, Tag};
use super::look::Touched;
use super::{BoundedMap, LineBounds, route};
use crate::hash::{Digest, Digester, Domain, Portable};
use crate::layout::BoundedLayout;

/// Few digests, so that tags are equal and groups full, as an attacker would have it.
#[derive(Clone, Copy)]
struct Few {
    digests: u64,
}

impl Digester<u64> for Few {
    fn digest(&self, key: &u64) -> Digest {
        Portable::with_seed(3).digest(&(key % self.digests))
    }
}

impl<V, D: Digester<u64>> BoundedMap<u64, V, D> {
    /// Checks the invariants of the map and of its groups.
    fn check(&self) {
        let mut out: Vec<Vec<Tag>> = alloc::vec![Vec::new(); self.slots.groups().len()];
        let mut items = 0;
        for (place, (key, _)) in self.slots.iter() {
            items += 1;
            let word = route::word(self.digester.digest(key));
            let (home, tag) = (self.slots.home(word), Tag::of(word));
            assert_eq!(self.slots.tag(place), Some(tag), "the tag of {key}");
            if place / SLOTS != home {
                out[home].push(tag);
            }
            assert_eq!(
                self.find(word, key, &mut ()).map(|(found, _)| found),
                Some(place),
                "the place of {key}"
            );
        }
        assert_eq!(items, self.len);
        for (group, out) in self.slots.groups().iter().zip(out) {
            let mut group = *group;
            // The out-tags account for every key that is out.
            for tag in out {
                assert!(group.may_be_out(tag));
                group.comes_back(tag);
            }
            let mut nothing_out = group;
            nothing_out.nothing_is_out();
            assert_eq!(group, nothing_out);
        }
    }
}

#[test]
fn no_operation_touches_more_lines_than_promised_whatever_the_digests() {
    let mut most = LineBounds { lookup: 0, insertion: 0, removal: 0 };
    let mut refused = 0;
    // Few lines, so that routes meet; in one case 100 lines, so that the lines of the only route
    // differ.
    for (digests, lines) in [(1, 100), (2, 12), (3, 12), (5, 12), (8, 12), (13, 12), (40, 12), (1000, 12)] {
        let layout = BoundedLayout::new(400, lines, 3).unwrap();
        let mut map = BoundedMap::<u64, u64, _>::with_digester(layout, Few { digests }).unwrap();
        let bound = map.max_lines_touched();
        // Six lines of tags, each with the items of 32 slots of 16 bytes, which are eight lines.
        assert_eq!(bound, LineBounds { lookup: 6 * 9, insertion: 6 * 9, removal: 12 * 9 });
        for step in 0..if cfg!(miri) { 40u64 } else { 20_000 } {
            let random = Portable::with_seed(digests).digest(&step).word(Domain::new(0), 0);
            let (key, filling) = (random % 600, step / 2000 % 2 == 0);
            let word = route::word(map.digester.digest(&key));
            let mut touched = Touched::new::<u64, u64>();
            let place = map.find(word, &key, &mut touched).map(|(place, _)| place);
            assert!(touched.lines() <= bound.lookup);
            most.lookup = most.lookup.max(touched.lines());
            match place {
                None if filling || random >> 32 & 3 == 0 => {
                    refused += u32::from(map.insert_new(word, key, key, &mut touched).is_err());
                    assert!(touched.lines() <= bound.insertion);
                    most.insertion = most.insertion.max(touched.lines());
                }
                Some(place) if !filling || random >> 32 & 3 == 0 => {
                    assert_eq!(map.take(place, word, &mut touched), Some((key, key)));
                    assert!(touched.lines() <= bound.removal);
                    most.removal = most.removal.max(touched.lines());
                }
                _ => {}
            }
            if step % 100 == 99 {
                map.check();
            }
        }
        map.check();
    }
    // The bounds are reached: with one digest, a lookup reads its whole route.
    if !cfg!(miri) {
        assert_eq!((most.lookup, most.insertion), (54, 54));
        assert!(most.removal >= 54, "{most:?}");
        assert!(refused > 0);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn with_one_digest_all_slots_of_a_route_are_used() {
    let layout = BoundedLayout::new(1000, 100, 3).unwrap();
    let mut map = BoundedMap::<u64, (), _>::with_digester(layout, Few { digests: 1 }).unwrap();
    let room = (0..1000).take_while(|&key| map.insert(key, ()).is_ok()).count();
    // Six lines of 32 slots, if the three other lines differ: with this digest they do.
    assert_eq!((room, map.stash_len(), map.last_level_len()), (192, 32, 32));
    map.check();
    // Items in the stash come home as others leave.
    for key in 0..32 {
        assert_eq!(map.remove(&key), Some(()));
        map.check();
    }
    (0..192).for_each(|key| assert_eq!(map.contains_key(&key), key >= 32));
}

#[test]
fn a_removal_brings_a_key_home() {
    let layout = BoundedLayout::new(1000, 100, 3).unwrap();
    let mut map = BoundedMap::<u64, (), _>::with_digester(layout, Few { digests: 1 }).unwrap();
    (0..17).for_each(|key| assert!(map.insert(key, ()).is_ok()));
    let at_home =
        |map: &BoundedMap<_, _, _>, key: u64| map.locate(&key).location == Some(super::Region::Home);
    assert!(at_home(&map, 15) && !at_home(&map, 16));
    map.remove(&3);
    assert!(at_home(&map, 16));
    map.check();
}
