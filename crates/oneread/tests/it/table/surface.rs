//! Features that only the multilevel table has, each with its pitfalls.

use oneread::hash::Keyed;
use oneread::layout::{HintChain, Hints, Moves, MultilevelLayout, OnCrisis};
use oneread::table::{MultilevelTable, TryExtendError};

use super::halving;

#[test]
fn making_one_of_too_many_items_gives_the_first_without_room_back() {
    let layout = MultilevelLayout::new([1, 1]).unwrap().with_stash(0).unwrap();
    let error =
        MultilevelTable::try_from_iter(layout.clone(), (0..9u64).map(|key| (key, key * 2))).unwrap_err();
    let TryExtendError::Full(full) = &error else { panic!("there is memory") };
    assert_eq!((full.key, full.value), (2, 4));
    assert!(error.to_string().contains("larger layout"));
    assert_eq!(MultilevelTable::try_from_iter(layout, [(1u64, 'a')]).unwrap()[&1], 'a');
}

#[test]
fn levels_can_be_named() {
    let layout = MultilevelLayout::new([1, 1, 1]).unwrap().with_stash(1).unwrap();
    let mut table = MultilevelTable::with_digester(layout, Keyed::with_secret([7; 16])).unwrap();
    (0..4u64).for_each(|key| assert_eq!(table.insert(key, key), Ok(None)));
    for key in 0..3 {
        assert_eq!(table.locate(&key).location.unwrap().level, key as usize);
        assert_eq!(table.locate(&key).buckets_read, key as u32 + 1);
        assert_eq!(table.get_in_levels(&key, [key as usize]), Some(&key));
        assert_eq!(table.get_in_levels(&key, [2, 1, 0, 77]), Some(&key));
        assert_eq!(table.get_in_levels(&key, (0..3).filter(|&level| level != key as usize)), None);
    }
    // The stash counts as the level after the last. It is searched with any levels, and reads no
    // bucket.
    assert_eq!(table.locate(&3).location.unwrap().level, 3);
    assert_eq!((table.locate(&3).buckets_read, table.get_in_levels(&3, [])), (3, Some(&3)));
    assert_eq!(table.locate(&4).location, None);
    assert_eq!((table.level_loads(), table.stash_len(), table.capacity()), (&[1, 1, 1][..], 1, 4));
    // Empty buckets are not read.
    table.remove(&1);
    assert_eq!((table.locate(&2).buckets_read, table.locate(&9).buckets_read), (2, 2));
}

#[test]
fn moves_are_told_with_what_and_where() {
    let moves = Moves::Hints(Hints { chain: HintChain::Recursive, ..Hints::default() });
    let layout = MultilevelLayout::new([1, 1, 1]).unwrap().with_moves(moves).unwrap();
    let mut table = MultilevelTable::with_seed(layout, 1).unwrap();
    (0..3u64).for_each(|key| assert_eq!(table.insert(key, key), Ok(None)));
    assert_eq!(table.last_moves(), []);
    // The newest hint is followed: the item of level 2 comes to level 0, and no hint is left to
    // follow.
    table.remove(&0);
    let [moved] = table.last_moves() else { panic!("one move: {:?}", table.last_moves()) };
    assert_eq!((table.location(moved.from).level, table.location(moved.to).level), (2, 0));
    assert_eq!(table.item_at(moved.to), Some((&2, &2)));
    assert_eq!(table.item_at(moved.from), None);
}

#[test]
fn a_rebuilding_changes_places_and_nothing_else() {
    let plain = halving(64, 2, Moves::None).with_stash(0).unwrap();
    let rebuilt = plain.clone().with_crisis(OnCrisis::Rebuild { attempts: 100 }).unwrap();
    let fits = |layout| {
        let mut table = MultilevelTable::with_seed(layout, 3).unwrap();
        let count = (0..1000u64).take_while(|&key| table.insert(key, key).is_ok()).count();
        (table, count)
    };
    let ((_, without), (table, with)) = (fits(plain), fits(rebuilt));
    assert!(with > without, "{with} {without}");
    assert!(table.generation() > 0 && table.len() == with);
    assert!((0..with as u64).all(|key| table[&key] == key && table.locate(&key).location.is_some()));
}
