//! Items with weights: the same buckets as the table's, room in bytes.

use oneread::layout::MultilevelLayout;
use oneread::table::placement::{Crisis, Items, Placement, Weighted, bucket};

use super::Random;

struct Nothing;

impl Items for Nothing {
    fn digest(&self, _: usize) -> oneread::hash::Digest {
        unreachable!("no moves, no questions")
    }

    fn relocate(&mut self, _: usize, _: usize) {
        unreachable!("no moves")
    }
}

#[test]
fn equal_weights_are_placed_as_slots_are() {
    let layout = MultilevelLayout::new([50, 20, 7]).unwrap().with_slots(5).unwrap().with_stash(0).unwrap();
    let mut slots = Placement::new(&layout).unwrap();
    let mut bytes = Weighted::new(&layout, 5 * 9 + 8).unwrap();
    let mut random = Random::new(1);
    let mut crises = 0;
    for _ in 0..500 {
        let digest = random.digest();
        let expected = slots.insert(digest, &mut Nothing).map(|place| slots.location(place));
        assert_eq!(bytes.insert(digest, 9), expected);
        crises += u32::from(expected.is_err());
        for level in 0..3 {
            let number = slots.bucket(digest, level);
            assert_eq!(bytes.bucket(digest, level), number);
            assert_eq!(bucket(digest, level, layout.levels()[level]), number);
        }
    }
    // 385 slots for 500 items.
    assert!(crises >= 115, "{crises}");
}

#[test]
fn room_is_what_items_leave() {
    let layout = MultilevelLayout::new([10, 3]).unwrap();
    let mut placed = Weighted::new(&layout, 1000).unwrap();
    let mut random = Random::new(2);
    let mut held: Vec<(usize, u64, u32)> = Vec::new();
    let mut crises = 0;
    for _ in 0..20_000 {
        if !held.is_empty() && random.below(2) == 0 {
            let (level, bucket, weight) = held.swap_remove(random.below(held.len() as u64) as usize);
            placed.remove(level, bucket, weight);
        } else {
            let (digest, weight) = (random.digest(), 1 + random.below(400) as u32);
            match placed.insert(digest, weight) {
                Ok(at) => held.push((at.level, at.bucket, weight)),
                Err(Crisis) => {
                    crises += 1;
                    for level in 0..2 {
                        assert!(placed.room(level, placed.bucket(digest, level)) < weight);
                    }
                }
            }
        }
    }
    assert!(crises > 0);
    for (level, buckets) in [(0, 10), (1, 3)] {
        for number in 0..buckets {
            let here = held.iter().filter(|&&(l, b, _)| (l, b) == (level, number));
            assert_eq!(placed.items(level, number) as usize, here.clone().count());
            assert_eq!(placed.room(level, number), 1000 - here.map(|&(.., weight)| weight).sum::<u32>());
        }
    }
    placed.clear();
    assert_eq!((placed.room(0, 0), placed.items(1, 2)), (1000, 0));
}

#[test]
#[should_panic(expected = "has no such item")]
fn what_is_not_there_cannot_be_removed() {
    let mut placed = Weighted::new(&MultilevelLayout::new([1]).unwrap(), 10).unwrap();
    placed.remove(0, 0, 1);
}
