use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::*;
use crate::filter::Filter;
use crate::filter::Full;
use crate::filter::batch::partition::MIN_SHIFT;
use crate::filter::cores::{Build, Counted, HasLayout, Same};
use crate::filter::line::{Fingerprints, LineFilter, LineTable};
use crate::hash::{Digester, Portable};

type Table = LineTable<Vec<Line>>;

/// Words of keys, most of them with homes in the first share of the lines; every tenth is that of a
/// repeated key, which comes up to seven times.
fn some_words(count: u64, crowded: f64) -> Vec<u64> {
    let word = |number: u64| {
        let key = if number % 10 == 9 { number / 70 } else { number };
        let word = Places::word(Portable::with_seed(7).digest(&key));
        if key.is_multiple_of(4) { word } else { (word as f64 * crowded) as u64 }
    };
    (0..count).map(word).collect()
}

fn empty(bits: u32, lines: u64) -> Table {
    Table::build(LineLayout::new(bits, lines).unwrap()).unwrap()
}

/// Reports whether the bytes of the table load as a filter.
fn loads(table: &Table) -> bool {
    let filter = Filter::of(table.clone(), Portable::with_seed(1));
    LineFilter::from_bytes(&filter.to_bytes()).unwrap().core().is_same(table)
}

fn keys_for(filter: &Table, keys: usize) -> Keys {
    Keys::new(shape(filter.layout(), keys as u64, u64::MAX)).unwrap()
}

/// The copies of each fingerprint of a table.
fn copies(table: &Table) -> BTreeMap<u64, u64> {
    let mut copies = counts(Fingerprints::new(&table.table));
    assert!(copies.values().all(|&slots| slots <= u64::from(LineLayout::COPY_SLOTS)));
    table.table.copies.iter().for_each(|(number, count)| *copies.get_mut(&number).unwrap() += count);
    copies
}

fn counts(numbers: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    numbers.for_each(|number| *counts.entry(number).or_insert(0) += 1);
    counts
}

fn numbers<'a>(filter: &'a Table, words: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    let places = &filter.table.places;
    words.iter().map(|&word| places.number(places.of(word)))
}

/// The bits of remainders, the lines, the share of the lines with most homes, and keys per slot:
/// evenly spread, and with one block full long before the others; with room for all, and without.
const CASES: [(u32, u64, f64, f64); 8] = [
    (10, 1, 1.0, 0.9),
    (10, 3000, 1.0, 0.95),
    (10, 3000, 1.0, 1.2),
    (8, 2500, 0.3, 0.4),
    (8, 2500, 0.9, 1.1),
    (9, 5000, 1.0, 0.95),
    (12, 2048, 1.0, 1.1),
    (16, 1500, 0.5, 0.7),
];

#[test]
fn a_key_of_a_batch_has_the_same_place() {
    for bits in LineLayout::REMAINDER_BITS {
        let most = shape(LineLayout::new(bits, 1).unwrap(), 1, 0).max_shift;
        for shift in [MIN_SHIFT, most] {
            let form = Form { remainder: bits, lines: shift - LINE };
            let places = Places::new(LineLayout::new(bits, 3 << form.lines).unwrap());
            // The most that there can be: half of the memory of 1024 blocks.
            let number = 1u32 << (form.lines + 12);
            for word in some_words(2000, 1.0) {
                let place = places.of(word);
                let key = Key::new(place, number, form);
                for key in [key, Key(key.0 | Key::INSERTED)] {
                    assert_eq!(key.place(place.line >> form.lines << form.lines, form), place);
                    assert_eq!(key.number(form), number as usize);
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many keys for an interpreter")]
fn partitioned_keys_are_in_as_those_one_after_the_other_are() {
    let (mut full, mut rounds) = (0, 0);
    for case @ (bits, lines, crowded, load) in CASES {
        let mut filter = empty(bits, lines);
        let words = some_words((filter.layout().capacity() as f64 * load) as u64, crowded);
        let mut keys = keys_for(&filter, words.len());
        rounds += words.len() as u64 / keys.capacity();
        let outcome = keys.insert(filter.isa, &mut filter.table, words.iter().copied());
        let len = filter.len() as usize;
        assert_eq!(outcome, if len < words.len() { Err(Full) } else { Ok(()) }, "{case:?}");
        assert_eq!(copies(&filter), counts(numbers(&filter, &words[..len])), "{case:?}");
        assert!(loads(&filter), "{case:?}");
        if let Some(&refused) = words.get(len) {
            full += 1;
            assert_eq!(filter.insert_word(refused), Err(Full), "{case:?}");
        }

        let mut answers = alloc::vec![true; keys.capacity() as usize];
        let mut found = Vec::new();
        let queries = some_words(3 * words.len() as u64, crowded);
        let asked = queries.iter().copied();
        keys.contains(filter.isa, &filter.table, &mut answers, asked, |answer| found.push(answer));
        assert!(queries.iter().map(|&word| filter.contains_word(word)).eq(found), "{case:?}");
    }
    assert!(full >= 3 && rounds >= 30, "{full} full, {rounds} rounds");
}

/// Keys that come six times, four of which are only counted, after one without room.
#[test]
fn what_is_taken_back_leaves_no_copy() {
    let (lines, keys) = (2000, 5000);
    let mut filter = empty(10, lines);
    // All have their home in the last line: it, its other lines and the stash are soon full, and
    // the first block is not.
    let last = |word: u64| u64::MAX - word / (lines + 1);
    let (some, others) = (some_words(keys, 1.0), some_words(2 * keys, 0.5).split_off(keys as usize));
    let refused = some.iter().find(|&&word| filter.insert_word(last(word)) == Err(Full)).unwrap();
    let (len, before) = (filter.len(), copies(&filter));
    assert!(len < 1000, "{len}");
    let words = core::iter::once(last(*refused)).chain(others.iter().flat_map(|&word| [word; 6]));
    let mut keys = keys_for(&filter, 7 * keys as usize);
    assert_eq!(keys.insert(filter.isa, &mut filter.table, words), Err(Full));
    assert_eq!((filter.len(), copies(&filter)), (len, before));
}

#[test]
fn few_keys_and_filters_beyond_all_measure_are_not_partitioned() {
    let keys = |bits, lines, keys| Keys::new(shape(LineLayout::new(bits, lines).unwrap(), keys, u64::MAX));
    assert!(keys(10, 30_000, 29_999).is_none());
    // Whatever length the iterator claims.
    for count in [30_000, u64::MAX] {
        let keys = keys(10, 30_000, count).unwrap();
        assert!(keys.capacity() * 8 <= 30_000 * 64 / 2 + 64 * keys.blocks() as u64);
    }
    assert!(keys(16, 1 << 24, u64::MAX).is_none());
    let layout = |bytes| LineLayout::new(10, bytes / 64).unwrap();
    assert!(partition(layout(LARGE_BYTES - 64), usize::MAX, u64::MAX).is_none());
    assert!(partition(layout(LARGE_BYTES), usize::MAX, u64::MAX).is_some());
}
