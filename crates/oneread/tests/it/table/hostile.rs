//! Nonsensical input: a clear error or an answer, never an endless loop.

use oneread::hash::{Digester, Std};
use oneread::layout::{Hints, LayoutError, Maps, Moves, MultilevelLayout, OnCrisis, Quantity, Restriction};
use oneread::table::MultilevelTable;

use super::{Liar, halving, policies};

#[test]
fn layouts_without_places_are_refused() {
    assert!(matches!(MultilevelLayout::new([]), Err(LayoutError::Zero { what: Quantity::Levels })));
    assert!(matches!(MultilevelLayout::new([0]), Err(LayoutError::Zero { what: Quantity::Buckets })));
    assert!(matches!(MultilevelLayout::new([5, 0]), Err(LayoutError::Zero { .. })));
    assert!(MultilevelLayout::new([5]).unwrap().with_slots(0).is_err());
    assert!(MultilevelLayout::new([1 << 46]).unwrap().with_slots(2).is_err());
    assert!(MultilevelLayout::new([u64::MAX, u64::MAX]).is_err());
    assert!(MultilevelLayout::new([5]).unwrap().with_stash((1 << 20) + 1).is_err());
    assert!(MultilevelLayout::new([5]).unwrap().with_crisis(OnCrisis::Rebuild { attempts: 0 }).is_err());
    assert!(MultilevelLayout::new([5]).unwrap().with_crisis(OnCrisis::Rebuild { attempts: 1025 }).is_err());
    let large = MultilevelLayout::new([1 << 32]).unwrap();
    assert!(large.clone().with_moves(Moves::Hints(Hints::default())).is_err());
    assert!(large.with_moves(Moves::SecondChance).is_ok());
    // Slots are checked again if they are set after the moves.
    let hinted =
        MultilevelLayout::new([1 << 31]).unwrap().with_moves(Moves::Hints(Hints::default())).unwrap();
    assert!(hinted.with_slots(2).is_err());
}

#[test]
fn restrictions_that_cannot_be_are_refused() {
    let with = |levels: &[u64], fanout, maps| {
        let restriction = Restriction { fanout, maps, ..Restriction::default() };
        MultilevelLayout::new(levels).unwrap().with_moves(Moves::Restricted(restriction))
    };
    assert!(with(&[8, 4, 2], 2, Maps::Shifts).is_ok());
    assert!(with(&[8, 4, 1], 2, Maps::Shifts).is_err(), "no bucket for the second child");
    assert!(with(&[8, 4, 1], 2, Maps::Random).is_ok());
    assert!(with(&[8, 4, 2], 0, Maps::Random).is_err());
    assert!(with(&[8, 4, 2], 9, Maps::Random).is_err());
    assert!(with(&[8, 4, 2], 2, Maps::Nested).is_err());
    assert!(with(&[8; 13], 2, Maps::Random).is_ok(), "2^12 buckets below");
    assert!(with(&[8; 14], 2, Maps::Random).is_err());
    assert!(with(&[8; 64], 1, Maps::Random).is_ok());
    assert!(with(&[8, 4, 2], 2, Maps::Shifts).unwrap().with_slots(2).is_err());
    // Without levels below, all maps are equal.
    assert!(with(&[1], 8, Maps::Shifts).is_ok());
}

// Miri does not refuse memory as a machine does.
#[cfg(not(miri))]
#[test]
fn a_table_without_memory_for_it_is_an_error() {
    let layout = MultilevelLayout::new([1 << 46]).unwrap();
    let error = MultilevelTable::<u64, [u64; 1024]>::with_seed(layout, 1).unwrap_err();
    assert!(error.to_string().contains("no memory"));
}

#[test]
fn one_level_of_one_slot_holds_one_item_and_the_stash() {
    for (name, moves) in policies() {
        let Ok(layout) = MultilevelLayout::new([1]).unwrap().with_stash(0).unwrap().with_moves(moves) else {
            panic!("{name}");
        };
        let mut table = MultilevelTable::with_seed(layout, 1).unwrap();
        assert_eq!(table.insert("a", 1), Ok(None));
        assert_eq!(table.insert("b", 2).unwrap_err().key, "b");
        assert_eq!(table.insert("a", 3), Ok(Some(1)));
        assert_eq!(table.remove("a"), Some(3));
        assert_eq!(table.insert("b", 2), Ok(None));
    }
}

#[test]
fn tables_for_no_items_or_for_more_than_there_can_be_are_refused() {
    assert!(matches!(
        MultilevelLayout::for_items(0, 3.0, 0.5, 5),
        Err(LayoutError::Zero { what: Quantity::Items })
    ));
    assert!(MultilevelLayout::for_items(u64::MAX, 3.0, 0.5, 5).is_err());
    assert!(MultilevelLayout::for_items(1 << 46, 3.0, 0.5, 5).is_err(), "c1·n is too large");
    for c1 in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
        assert!(MultilevelLayout::for_items(10, c1, 0.5, 5).is_err(), "{c1}");
    }
    for ratio in [f64::NAN, f64::INFINITY, -0.5, 0.0, 1.5] {
        assert!(MultilevelLayout::geometric(10, ratio, 5).is_err(), "{ratio}");
    }
    assert!(MultilevelLayout::geometric(0, 0.5, 5).is_err());
    assert!(MultilevelLayout::geometric(u64::MAX, 0.5, 5).is_err());
    assert!(MultilevelLayout::geometric(10, 0.5, 0).is_err());
    assert!(MultilevelLayout::geometric(10, 0.5, u32::MAX).is_err());
}

#[test]
fn all_keys_equal_are_one_item() {
    for (name, moves) in policies() {
        let mut table = MultilevelTable::with_seed(halving(16, 3, moves), 1).unwrap();
        for round in 0..1000 {
            assert!(table.insert("", round).is_ok(), "{name}");
        }
        assert_eq!((table.len(), table.remove(""), table.len()), (1, Some(999), 0), "{name}");
    }
}

#[cfg_attr(miri, ignore = "minutes")]
#[test]
fn keys_whose_equality_lies_fill_the_table_and_no_more() {
    for (name, moves) in policies() {
        for says in [false, true] {
            let digester = Std(std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default());
            let layout = halving(16, 3, moves).with_stash(3).unwrap();
            let mut table = MultilevelTable::with_digester(layout, digester).unwrap();
            for number in 0..1000 {
                let key = Liar(number % 40, says);
                _ = table.insert(key, number);
                _ = table.get(&key).copied();
                _ = table.entry(key).or_try_insert(0).map(|value| *value += 1);
                if number % 3 == 0 {
                    _ = table.remove(&key);
                }
            }
            assert!(table.len() <= table.capacity(), "{name}");
            assert_eq!(table.iter().count(), table.len(), "{name}");
            assert_eq!(table.clone().drain().count(), table.len(), "{name}");
        }
    }
    let digester = Std(std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default());
    assert_eq!(digester.digest(&Liar(1, true)), digester.digest(&Liar(1, true)));
}
