//! Every table behaves like a `HashMap`, whatever its layout and operations. A saved table loads
//! again, and a forged one is refused or works.
#![no_main]

use std::collections::HashMap;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use oneread::bytes::Saved;
use oneread::layout::{
    HintChain, HintRule, Hints, Keep, LayoutError, Maps, Moves, MultilevelLayout, OnCrisis, Restriction, Ties,
};
use oneread::table::MultilevelTable;
use oneread_study::hash::Ideal;
use oneread_study::table::{
    ChainedTable, CuckooLayout, CuckooTable, DLeftTable, Deletion, Digested, LinearProbingTable, SongTable,
    StudyTable,
};
use xxhash_rust::xxh3::xxh3_64;

const HEADER: usize = 128;

#[derive(Arbitrary, Debug)]
struct Input {
    seed: u64,
    /// Buckets of the levels.
    levels: Vec<u8>,
    slots: u8,
    stash: u8,
    attempts: u8,
    moves: [u8; 4],
    operations: Vec<Operation>,
    /// Words of the saved table by number, and their new values.
    forged: Vec<(u8, u64)>,
}

/// Keys are bytes, so that they repeat.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert(u8, u32),
    Remove(u8),
    Get(u8),
}

fuzz_target!(|input: Input| {
    if let Ok(layout) = layout(&input) {
        let mut table = MultilevelTable::<u64, u32>::with_seed(layout, input.seed).expect("a small table");
        let model = compare(&input.operations, |operation| match operation {
            Operation::Insert(key, value) => Answer::inserted(table.insert(key.into(), value)),
            Operation::Remove(key) => Answer::Value(table.remove(&key.into())),
            Operation::Get(key) => Answer::Value(table.get(&key.into()).copied()),
        });
        assert_eq!(table.iter().map(|(&key, &value)| (key, value)).collect::<HashMap<_, _>>(), model);
        let bytes = table.to_bytes();
        let loaded = MultilevelTable::<u64, u32>::from_bytes(&bytes).expect("it was just saved");
        assert!(loaded == table && loaded.to_bytes() == bytes);
        load_forged(bytes, &input.forged);
    }
    study(&input);
});

fn layout(input: &Input) -> Result<MultilevelLayout, LayoutError> {
    let hints = |[_, rule, chain, _]: [u8; 4]| Hints {
        rule: [HintRule::Replace, HintRule::Deepest, HintRule::Next, HintRule::DeepestUnchecked]
            [usize::from(rule) % 4],
        chain: [HintChain::One, HintChain::Recursive][usize::from(chain) % 2],
    };
    let restriction = |[_, maps, keep, fanout]: [u8; 4]| Restriction {
        fanout: u32::from(fanout) % 10,
        maps: [Maps::Shifts, Maps::Random, Maps::Nested][usize::from(maps) % 3],
        keep: [Keep::Random, Keep::Greedy(Ties::Random), Keep::Greedy(Ties::Left)][usize::from(keep) % 3],
    };
    let moves = match input.moves[0] % 5 {
        0 => Moves::None,
        1 => Moves::SecondChance,
        2 => Moves::Hints(hints(input.moves)),
        3 => Moves::Both(hints(input.moves)),
        _ => Moves::Restricted(restriction(input.moves)),
    };
    let on_crisis = match input.attempts % 4 {
        0 => OnCrisis::Stash,
        attempts => OnCrisis::Rebuild { attempts: attempts.into() },
    };
    MultilevelLayout::new(input.levels.iter().map(|&buckets| u64::from(buckets)).collect::<Vec<_>>())?
        .with_slots(u32::from(input.slots) % 8)?
        .with_stash(u32::from(input.stash) % 16)?
        .with_moves(moves)?
        .with_crisis(on_crisis)
}

/// The answer of an operation.
#[derive(Debug, PartialEq)]
enum Answer {
    Value(Option<u32>),
    Full,
}

impl Answer {
    fn inserted<E>(answer: Result<Option<u32>, E>) -> Self {
        answer.map_or(Self::Full, Self::Value)
    }
}

/// Runs the same operations on a table and on a map, and returns the map. A table may be full, but
/// not for a key that it holds.
fn compare(operations: &[Operation], mut table: impl FnMut(Operation) -> Answer) -> HashMap<u64, u32> {
    let mut model: HashMap<u64, u32> = HashMap::new();
    for &operation in operations {
        let found = table(operation);
        let expected = match operation {
            Operation::Insert(key, _) if found == Answer::Full => {
                assert!(!model.contains_key(&key.into()), "full for a key that is there");
                continue;
            }
            Operation::Insert(key, value) => model.insert(key.into(), value),
            Operation::Remove(key) => model.remove(&key.into()),
            Operation::Get(key) => model.get(&key.into()).copied(),
        };
        assert_eq!(found, Answer::Value(expected), "{operation:?}");
    }
    model
}

/// Bytes with some words changed and valid checksums.
fn load_forged(mut bytes: Vec<u8>, forged: &[(u8, u64)]) {
    for &(word, value) in forged {
        let at = 8 * usize::from(word);
        if at + 8 <= bytes.len() {
            put(&mut bytes, at, value);
        }
    }
    let payload = xxh3_64(&bytes[HEADER..]);
    put(&mut bytes, 40, payload);
    let header = xxh3_64(&[&bytes[..56], &bytes[64..HEADER]].concat());
    put(&mut bytes, 56, header);
    match MultilevelTable::<u64, u32>::from_bytes(&bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut table) => {
            assert_eq!(table.to_bytes(), bytes);
            for key in 0..50 {
                assert!(table.insert(key, 1).is_err() || table.get(&key) == Some(&1));
                assert!(table.remove(&key).is_none_or(|value| value == 1) && !table.contains_key(&key));
            }
        }
    }
}

fn put(bytes: &mut [u8], at: usize, field: u64) {
    bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
}

/// The study tables, small enough to become full.
fn study(input: &Input) {
    let size = |at: usize| u64::from(input.levels.get(at).copied().unwrap_or(5)) % 64 + 1;
    let mut seed = input.seed;
    let mut draw = |_| {
        seed = seed.wrapping_add(1);
        Digested(Ideal::with_seed(seed))
    };
    let check = |table: &mut dyn StudyTable<u64, u32>| {
        let model = compare(&input.operations, |operation| match operation {
            Operation::Insert(key, value) => Answer::inserted(table.insert(key.into(), value)),
            Operation::Remove(key) => Answer::Value(table.remove(&key.into())),
            Operation::Get(key) => Answer::Value(table.get(&key.into()).copied()),
        });
        assert_eq!(table.len(), model.len());
    };
    check(&mut ChainedTable::new(&mut draw));
    check(&mut LinearProbingTable::new(size(0), Deletion::BackwardShift, &mut draw).expect("cells"));
    check(&mut LinearProbingTable::new(size(0), Deletion::Tombstones, &mut draw).expect("cells"));
    let cuckoo =
        CuckooLayout::new(size(1)).and_then(|layout| layout.with_functions(2 + input.seed as u32 % 3));
    let cuckoo =
        cuckoo.and_then(|layout| layout.with_slots(1 + u32::from(input.slots) % 4)).expect("a layout");
    let cuckoo = cuckoo.with_stash(u32::from(input.stash) % 4);
    check(&mut CuckooTable::new(cuckoo, &mut draw).expect("a small table"));
    check(&mut DLeftTable::new(1 + input.seed as u32 % 4, size(2), 3, &mut draw).expect("a small table"));
    check(&mut SongTable::new(size(3), 1 + input.seed as u32 % 5, &mut draw).expect("a small table"));
}
