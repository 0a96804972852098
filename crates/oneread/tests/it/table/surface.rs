//! The methods that a map has, each with something that could go wrong.

use oneread::hash::{Keyed, Portable};
use oneread::layout::{HintChain, Hints, Moves, MultilevelLayout, OnCrisis};
use oneread::table::{Entry, MultilevelTable, TryExtendError};

use super::halving;

fn table() -> MultilevelTable<String, u32> {
    let mut table = MultilevelTable::with_seed(halving(16, 3, Moves::None), 1).unwrap();
    table.try_extend(["one", "two", "three"].map(str::to_owned).into_iter().zip(1..)).unwrap();
    table
}

#[test]
fn keys_are_found_in_borrowed_form() {
    let mut table = table();
    assert_eq!((table.get("two"), table.get("four")), (Some(&2), None));
    assert_eq!(table.get_key_value("two"), Some((&"two".to_owned(), &2)));
    assert!(table.contains_key("three") && !table.contains_key("four"));
    *table.get_mut("two").unwrap() += 10;
    assert_eq!(table["two"], 12);
    assert_eq!(table.remove_entry("two"), Some(("two".to_owned(), 12)));
    assert_eq!((table.remove("two"), table.len()), (None, 2));
}

#[test]
#[should_panic(expected = "the key is in the table")]
fn indexing_an_absent_key_panics() {
    _ = table()["four"];
}

#[test]
fn an_inserted_key_stays_the_one_that_came_first() {
    // Equal by number, different by name: the map keeps the first, as a `HashMap` does.
    #[derive(Clone, Copy, Debug)]
    struct Named(u64, &'static str);
    impl PartialEq for Named {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Named {}
    impl oneread::hash::Key for Named {
        fn canonical(&self) -> oneread::hash::Canonical<'_> {
            self.0.canonical()
        }
    }
    let mut table = MultilevelTable::with_seed(halving(16, 3, Moves::None), 1).unwrap();
    assert_eq!(table.insert(Named(1, "first"), 1), Ok(None));
    assert_eq!(table.insert(Named(1, "second"), 2), Ok(Some(1)));
    assert_eq!(table.get_key_value(&Named(1, "")).map(|(key, value)| (key.1, *value)), Some(("first", 2)));
}

#[test]
fn iterators_know_their_length_and_give_everything_once() {
    let mut table = table();
    let mut keys: Vec<_> = table.keys().cloned().collect();
    keys.sort();
    assert_eq!(keys, ["one", "three", "two"]);
    assert_eq!((table.keys().len(), table.values().len(), table.iter().len()), (3, 3, 3));
    assert_eq!(table.values().sum::<u32>(), 6);
    for (_, value) in &mut table {
        *value *= 2;
    }
    table.iter_mut().for_each(|(_, value)| *value += 1);
    assert_eq!(table.clone().into_values().sum::<u32>(), 15);
    assert_eq!(table.clone().into_keys().len(), 3);
    let mut items: Vec<_> = (&table).into_iter().map(|(key, value)| (key.as_str(), *value)).collect();
    items.sort_unstable();
    assert_eq!(items, [("one", 3), ("three", 7), ("two", 5)]);
    let mut iter = table.into_iter();
    assert_eq!((iter.by_ref().count(), iter.next(), iter.len()), (3, None, 0));
}

#[test]
fn equality_is_that_of_the_items() {
    let one = table();
    let layout = MultilevelLayout::new([40, 30]).unwrap();
    let mut other = MultilevelTable::with_seed(layout, 99).unwrap();
    assert!(one != other);
    other.try_extend(one.clone()).unwrap();
    assert_eq!(one, other);
    other.insert("two".to_owned(), 3).unwrap();
    assert_ne!(one, other);
    assert_eq!(one.clone(), one);
}

#[test]
fn it_shows_itself_as_a_map() {
    let mut table = MultilevelTable::with_seed(halving(16, 3, Moves::None), 1).unwrap();
    assert_eq!(format!("{table:?}"), "{}");
    table.insert("a", 1).unwrap();
    assert_eq!(format!("{table:?}"), r#"{"a": 1}"#);
    assert_eq!(format!("{:?}", table.entry("a")), r#"Entry(OccupiedEntry { key: "a", value: 1, .. })"#);
    assert_eq!(format!("{:?}", table.entry("b")), r#"Entry(VacantEntry("b"))"#);
}

#[test]
fn entries_are_filled_changed_and_removed() {
    let mut table = table();
    *table.entry("one".to_owned()).and_modify(|value| *value += 10).or_try_default().unwrap() += 1;
    assert_eq!(table["one"], 12);
    *table.entry("nine".to_owned()).and_modify(|value| *value += 10).or_try_default().unwrap() += 1;
    assert_eq!(table["nine"], 1);
    let Entry::Occupied(entry) = table.entry("nine".to_owned()) else { panic!("it is there") };
    assert_eq!(entry.remove_entry(), ("nine".to_owned(), 1));
    let Entry::Vacant(entry) = table.entry("nine".to_owned()) else { panic!("it is gone") };
    assert_eq!(entry.into_key(), "nine");
    assert_eq!(table.entry("ten".to_owned()).key(), "ten");
    assert_eq!(table.len(), 3);
}

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
    // The stash counts as the level after the last; it is searched whatever is named, and no bucket.
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
    // The newest hint is followed: the item of level 2 comes to level 0, and nothing is left that could follow it.
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

#[test]
fn the_same_seed_places_alike() {
    let loads = |seed| {
        let mut table =
            MultilevelTable::with_digester(halving(64, 3, Moves::None), Portable::with_seed(seed)).unwrap();
        table.try_extend((0..60u64).map(|key| (key, ()))).unwrap();
        table.keys().copied().collect::<Vec<_>>()
    };
    assert_ne!(loads(1), loads(2));
    assert_eq!(loads(1), loads(1));
}
