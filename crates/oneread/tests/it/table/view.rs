//! Saved tables searched in place: they answer as the table did, and bytes that are no table make no harm.

use oneread::bytes::{LoadError, Saved, Viewed};
use oneread::hash::Keyed;
use oneread::layout::{Moves, MultilevelLayout};
use oneread::table::{MultilevelTable, MultilevelTableView};

use super::saved::{Table, churned, reseal};
use super::{Random, policies};

type View<'a> = MultilevelTableView<'a, u64, u32>;

#[test]
fn views_of_every_policy_answer_as_the_table_does() {
    for (name, moves) in policies() {
        let table = churned(moves);
        let bytes = table.to_bytes();
        let view = View::open(&bytes).unwrap();
        view.verify().unwrap();
        for key in 0..120 {
            assert_eq!(view.get(&key), table.get(&key).copied(), "{name}, {key}");
            assert_eq!(view.contains_key(&key), table.contains_key(&key), "{name}, {key}");
        }
        assert_eq!((view.len(), view.layout()), (table.len(), table.layout()));
        assert!(view.iter().eq(table.iter().map(|(&key, &value)| (key, value))), "{name}");
    }
}

#[test]
fn items_of_any_length_are_found() {
    // Buckets of three, more items than marks, some of them in the stash.
    let layout = MultilevelLayout::new([7, 3]).unwrap().with_slots(3).unwrap().with_stash(9).unwrap();
    let digester = Keyed::with_secret([1; 16]);
    let mut table = MultilevelTable::with_digester(layout, digester).unwrap();
    let item = |number: usize| ("ž".repeat(number), (Some(number as i8), vec![9u8; number % 5]));
    let stored = (0..30).filter(|&number| table.insert(item(number).0, item(number).1).is_ok()).count();
    assert!(table.stash_len() > 0 && stored == table.len());
    let bytes = table.to_bytes();
    type Strings<'a> = MultilevelTableView<'a, String, (Option<i8>, Vec<u8>), Keyed>;
    let view = Strings::open_with(&bytes, digester).unwrap();
    for number in 0..40 {
        let (key, value) = item(number);
        let expected = table.contains_key(&key).then_some(value);
        assert_eq!(view.get(key.as_str()), expected, "{number}");
    }
    assert_eq!(view.iter().count(), stored);
    let view: Result<Strings<'_>, LoadError> = Viewed::open(&bytes);
    assert!(matches!(view, Err(LoadError::DigesterNeeded)));
    let other = Keyed::with_secret([2; 16]);
    assert!(matches!(Strings::open_with(&bytes, other), Err(LoadError::Digester)));
    // Types that the items do not have: the lengths do not fit.
    assert!(MultilevelTableView::<u64, u64, Keyed>::open_with(&bytes, digester).is_err());
    assert!(MultilevelTableView::<u64, String, Keyed>::open_with(&bytes, digester).is_err());
}

#[test]
fn items_without_bytes_are_counted_and_found() {
    let mut table =
        MultilevelTable::<[u8; 0], ()>::with_seed(MultilevelLayout::new([1]).unwrap(), 1).unwrap();
    let empty = table.to_bytes();
    table.insert([], ()).unwrap();
    let full = table.to_bytes();
    let open = |bytes| MultilevelTableView::<[u8; 0], ()>::open(bytes).unwrap().get(&[]);
    assert_eq!((open(empty.as_slice()), open(full.as_slice())), (None, Some(())));
}

#[test]
fn damage_is_an_error_when_opened_or_verified() {
    let table = churned(Moves::None);
    let bytes = table.to_bytes();
    for at in (0..bytes.len()).step_by(if cfg!(miri) { 101 } else { 1 }) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        if let Ok(view) = View::open(&damaged) {
            assert!(at >= 128, "the header is checked at once");
            assert!(matches!(view.verify(), Err(LoadError::Checksum { .. })), "byte {at}");
            (0..90).for_each(|key| _ = view.get(&key));
            assert!(view.iter().count() <= view.len());
        }
        assert!(View::open(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn forged_bytes_that_load_are_viewed_alike_and_others_harm_nobody() {
    for (name, moves) in policies() {
        let bytes = churned(moves).to_bytes();
        let mut random = Random::new(4);
        for _ in 0..if cfg!(miri) { 3 } else { 300 } {
            let mut forged = bytes.clone();
            let at = 64 + 8 * random.below((forged.len() - 64) as u64 / 8) as usize;
            let value = if random.below(2) == 0 { random.word() } else { random.below(200) };
            forged[at..at + 8].copy_from_slice(&value.to_le_bytes());
            reseal(&mut forged);
            let view = View::open(&forged);
            match Table::from_bytes(&forged) {
                Ok(table) => {
                    let view = view.unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!((0..90).all(|key| view.get(&key) == table.get(&key).copied()), "{name}");
                }
                Err(_) => _ = view.map(|view| (0..90).filter(|key| view.contains_key(key)).count()),
            }
        }
    }
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    let table = Table::with_seed(MultilevelLayout::new([1]).unwrap(), 1).unwrap();
    let mut bytes = table.to_bytes();
    bytes[128..136].copy_from_slice(&(1u64 << 40).to_le_bytes());
    reseal(&mut bytes);
    assert!(matches!(View::open(&bytes), Err(LoadError::Invalid { .. })));
}

#[cfg(not(miri))]
#[test]
fn tables_of_version_1_are_viewed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/multilevel.oneread");
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let view = MultilevelTableView::<String, u64>::open(&bytes).unwrap();
    view.verify().unwrap();
    for key in 0..20 {
        let expected = (key % 3 != 0).then_some(key);
        assert_eq!(view.get(format!("key {key}").as_str()), expected);
    }
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(MultilevelTableView::<String, u64>::open(&damaged).is_ok_and(|view| view.verify().is_err()));
}
