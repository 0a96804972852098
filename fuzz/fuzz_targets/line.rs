//! A line filter of a few lines never forgets a key, whether filled, saved, grown or merged; and
//! every filter that loads can be changed.
#![no_main]

use std::collections::HashMap;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use oneread::filter::{LineFilter, LineView};
use oneread::layout::LineLayout;
use xxhash_rust::xxh3::xxh3_64;

const HEADER: usize = 128;

#[derive(Arbitrary, Debug)]
struct Input {
    bits: u8,
    lines: u8,
    steps: Vec<Step>,
    /// Words of the saved filter by number, and the bits to flip in them.
    forged: Vec<(u16, u64)>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Insert(u16),
    /// Inserts the second field's number of keys from the first on, to fill lines soon.
    InsertMany(u16, u8),
    Remove(u16),
    RemoveMany(u16, u8),
    Reload,
    Grow,
    Union,
}

fuzz_target!(|input: Input| {
    let bits = LineLayout::REMAINDER_BITS[usize::from(input.bits) % LineLayout::REMAINDER_BITS.len()];
    let layout = LineLayout::new(bits, u64::from(input.lines % 9) + 1).unwrap();
    let mut filter = LineFilter::with_seed(layout, 1).unwrap();
    let mut model = HashMap::new();
    for step in &input.steps {
        change(&mut filter, &mut model, step);
        assert!(model.iter().all(|(key, &count)| count == 0 || filter.contains(key)), "{step:?}");
    }
    let mut bytes = filter.to_bytes();
    assert!(<LineFilter>::from_bytes(&bytes).unwrap() == filter);
    for &(word, flips) in &input.forged {
        let at = 8 * usize::from(word) % bytes.len();
        bytes[at..at + 8].iter_mut().zip(flips.to_le_bytes()).for_each(|(byte, flips)| *byte ^= flips);
    }
    let payload = xxh3_64(&bytes[HEADER..]);
    bytes[40..48].copy_from_slice(&payload.to_le_bytes());
    let header = xxh3_64(&[&bytes[..56], &bytes[64..HEADER]].concat());
    bytes[56..64].copy_from_slice(&header.to_le_bytes());
    load(&bytes);
});

fn change(filter: &mut LineFilter, model: &mut HashMap<u16, u32>, step: &Step) {
    match *step {
        Step::Insert(key) => insert(filter, model, key),
        Step::InsertMany(first, count) => {
            (0..u16::from(count)).for_each(|more| insert(filter, model, first.wrapping_add(more)));
        }
        Step::Remove(key) => remove(filter, model, key),
        Step::RemoveMany(first, count) => {
            (0..u16::from(count)).for_each(|more| remove(filter, model, first.wrapping_add(more)));
        }
        Step::Reload => *filter = LineFilter::from_bytes(&filter.to_bytes()).unwrap(),
        Step::Grow => {
            // Each bit less doubles the lines, so this needs a limit.
            if filter.layout().lines() < 64 {
                _ = filter.grow();
            }
        }
        Step::Union => {
            if filter.union(&filter.clone()).is_ok() {
                model.values_mut().for_each(|count| *count = (2 * *count).min(1000));
            }
        }
    }
}

fn insert(filter: &mut LineFilter, model: &mut HashMap<u16, u32>, key: u16) {
    let before = filter.clone();
    let count = model.entry(key).or_insert(0);
    if filter.insert(&key).is_ok() {
        *count = count.saturating_add(1).min(1000);
    } else {
        assert!(*filter == before, "a refusal changes nothing");
    }
}

fn remove(filter: &mut LineFilter, model: &mut HashMap<u16, u32>, key: u16) {
    // Removing an absent key is not allowed.
    if let Some(count) = model.get_mut(&key).filter(|count| **count > 0) {
        assert!(filter.remove(&key).is_ok());
        *count -= 1;
    }
}

/// Arbitrary bytes: decode and view both refuse them or load the same filter.
fn load(bytes: &[u8]) {
    let viewed = <LineView<'_>>::open(bytes).is_ok_and(|view| {
        (0..20u64).for_each(|key| _ = view.contains(&key));
        assert!(view.fingerprints().count() as u64 <= 16 * bytes.len() as u64);
        view.verify().is_ok()
    });
    let loaded = <LineFilter>::from_bytes(bytes);
    assert_eq!(loaded.is_ok(), viewed);
    let Ok(mut filter) = loaded else { return };
    assert_eq!(filter.to_bytes(), bytes);
    (0..20u64).for_each(|key| assert!(filter.insert(&key).is_err() || filter.contains(&key)));
    (0..40u64).for_each(|key| _ = filter.remove(&key));
    assert!(<LineFilter>::from_bytes(&filter.to_bytes()).unwrap() == filter);
    assert!(filter.false_positive_rate() <= 1.0 && filter.lines_read() >= 1.0);
}
