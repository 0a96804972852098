//! The table against a `HashMap`: the same operations, the same answers.

use std::collections::HashMap;

use oneread::hash::Digester;
use oneread::layout::{Moves, MultilevelLayout, OnCrisis};
use oneread::table::{Entry, MultilevelTable};

use super::maps::{one_operation, whole_map};
use super::{Constant, Random, halving, policies};

/// Random operations on keys below `keys`, in a table that may become full.
fn compare<D: Digester<u64>>(
    table: &mut MultilevelTable<u64, u64, D>,
    keys: u64,
    operations: u64,
    seed: u64,
) {
    let mut model: HashMap<u64, u64> = HashMap::new();
    let mut random = Random::new(seed);
    let mut refused = 0;
    let depth = table.layout().level_count() as u32;
    for operation in 0..operations {
        refused += u32::from(one_operation!(table, model, random, keys));
        let read = table.locate(&random.below(keys)).buckets_read;
        assert!(read <= depth, "{read} buckets");
        if operation % 4096 == 4095 {
            whole_map!(table, model, random);
            let loads = table.level_loads().iter().sum::<u64>() as usize;
            assert_eq!(loads + table.stash_len(), model.len());
        }
    }
    assert!(model.iter().all(|(key, value)| table.get(key) == Some(value)));
    if keys > 2 * table.capacity() as u64 {
        assert!(refused > 0 || cfg!(miri), "a table that is too small becomes full");
    }
}

fn operations() -> u64 {
    if cfg!(miri) { 300 } else { 200_000 }
}

#[test]
fn does_what_a_hash_map_does_under_every_policy() {
    for (at, (_, moves)) in policies().into_iter().enumerate() {
        // 112 slots and a stash: 60 keys fit, 1000 do not.
        for keys in [60, 1000] {
            let layout = halving(64, 3, moves).with_stash(7).unwrap();
            let mut table = MultilevelTable::with_seed(layout, at as u64).unwrap();
            compare(&mut table, keys, operations(), at as u64);
        }
    }
}

#[test]
fn does_what_a_hash_map_does_with_several_slots_a_bucket() {
    let unrestricted = policies().into_iter().filter(|(_, moves)| moves.restriction().is_none());
    for (at, (_, moves)) in unrestricted.enumerate() {
        for slots in [2, 3, 70] {
            let layout = MultilevelLayout::new([11, 5, 3]).unwrap().with_slots(slots).unwrap();
            let layout = layout.with_moves(moves).unwrap().with_stash(3).unwrap();
            let keys = 3 * layout.capacity();
            let mut table = MultilevelTable::with_seed(layout, at as u64).unwrap();
            compare(&mut table, keys, operations() / 2, at as u64);
        }
    }
}

#[test]
fn does_what_a_hash_map_does_while_it_is_rebuilt() {
    for moves in [Moves::None, Moves::SecondChance] {
        let layout = halving(64, 3, moves).with_stash(2).unwrap();
        let layout = layout.with_crisis(OnCrisis::Rebuild { attempts: 3 }).unwrap();
        let mut table = MultilevelTable::with_seed(layout, 5).unwrap();
        compare(&mut table, 70, operations() / 10, 5);
        assert!(table.generation() > 0);
    }
}

#[test]
fn does_what_a_hash_map_does_with_one_digest_for_all_keys() {
    for (_, moves) in policies() {
        let layout = halving(64, 4, moves).with_stash(5).unwrap();
        let layout = layout.with_crisis(OnCrisis::Rebuild { attempts: 2 }).unwrap();
        let mut table = MultilevelTable::with_digester(layout, Constant).unwrap();
        compare(&mut table, 300, operations() / 100, 1);
        table.clear();
        assert_eq!((0..300).filter(|&key| table.insert(key, 0).is_ok()).count(), 4 + 5);
    }
}

#[test]
#[ignore = "two minutes: ten million operations under every policy"]
fn does_what_a_hash_map_does_for_long() {
    for (at, (_, moves)) in policies().into_iter().enumerate() {
        let layout = halving(1024, 5, moves).with_stash(20).unwrap();
        let mut table = MultilevelTable::with_seed(layout, at as u64).unwrap();
        compare(&mut table, 2500, 10_000_000, at as u64);
    }
}
