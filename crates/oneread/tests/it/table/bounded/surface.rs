//! Features that only the bounded map has, each with its pitfalls.

use oneread::layout::{BoundedLayout, LayoutError, Quantity};
use oneread::table::bounded::GrowError;
use oneread::table::{BoundedMap, BuildError, TryExtendError};
use oneread_study::solve;
use oneread_study::solve::{MapLayout as Layout, MapTargets as Targets};

fn map() -> BoundedMap<String, u32> {
    let mut map = BoundedMap::with_seed(BoundedLayout::for_capacity(10).unwrap(), 1).unwrap();
    map.try_extend(["one", "two", "three"].map(str::to_owned).into_iter().zip(1..)).unwrap();
    map
}

/// The solver's promises hold for the map: room for all entries, in at most the promised bytes.
#[test]
fn a_plan_becomes_the_map_that_was_planned() {
    let bytes = size_of::<Option<(u64, u64)>>() as u64;
    let solution = solve::map(&Targets::new(20_000, bytes)).unwrap();
    let all: Vec<_> = [solution.best].into_iter().chain(solution.runners_up).collect();
    assert!(all.iter().any(|planned| matches!(planned.layout, Layout::Bounded(_))));
    for planned in &all {
        let Layout::Bounded(layout) = planned.layout else { continue };
        let mut map = BoundedMap::<u64, u64>::with_seed(layout, 1).unwrap();
        assert!(map.byte_len() as u64 <= planned.bytes, "{} of {}", map.byte_len(), planned.bytes);
        map.try_extend((0..20_000).map(|key| (key, key + 1))).unwrap();
        assert_eq!((map.len(), map.get(&19_999), map.get(&20_000)), (20_000, Some(&20_000), None));
    }
}

#[test]
fn a_full_map_gives_the_pair_back_and_stays_as_it_is() {
    let mut map = BoundedMap::try_from_iter(3, [(1u64, 'a'), (2, 'b'), (3, 'c')]).unwrap();
    let full = map.insert(4, 'd').unwrap_err();
    assert_eq!((full.key, full.value, map.len()), (4, 'd', 3));
    assert!(map.entry(4).or_try_insert('d').is_err());
    // Present keys can still be replaced.
    assert_eq!(map.insert(2, 'x'), Ok(Some('b')));
    assert_eq!(map.try_extend([(3, 'y'), (5, 'e'), (6, 'f')]).unwrap_err().key, 5);
    assert_eq!((map[&3], map.len(), map.capacity()), ('y', 3, 3));
}

#[test]
#[cfg_attr(miri, ignore = "an interpreter without that much memory stops, where a system says no")]
fn what_cannot_be_made_is_said() {
    assert_eq!(
        BoundedMap::<u64, u64>::with_capacity(0).err(),
        Some(BuildError::Layout(LayoutError::Zero { what: Quantity::Items }))
    );
    assert!(matches!(BoundedMap::<u64, u64>::with_capacity(1 << 43), Err(BuildError::OutOfMemory(_))));
    assert!(BoundedMap::<u64, u64>::with_capacity(usize::MAX).is_err());
    assert!(BoundedLayout::new(97, 1, 1).is_err() && BoundedLayout::new(96, 1, 1).is_ok());
    assert!(BoundedLayout::new(5, 0, 1).is_err() && BoundedLayout::new(5, 1, 0).is_err());
    let error = BoundedMap::try_from_iter(2, (0..9u64).map(|key| (key, key * 2))).unwrap_err();
    let TryExtendError::Full(full) = &error else { panic!("there is memory") };
    assert_eq!((full.key, full.value), (2, 4));
    assert!(matches!(BoundedMap::try_from_iter(0, [(1u64, 1)]), Err(TryExtendError::Layout(_))));
    let mut map = map();
    assert_eq!(map.grow_into(2), Err(GrowError::NoRoom { items: 3, capacity: 2 }));
    assert!(map.grow_into(0).is_err() && map.grow_into(1 << 43).is_err());
    let refused = map.grow_into(2).unwrap_err();
    assert_eq!(refused.to_string(), "a map for 2 items has no room for these 3: use a larger one");
}

#[test]
#[cfg_attr(miri, ignore = "megabytes, slot by slot")]
fn memory_is_what_the_docs_say() {
    for items in [100_000, 1_000_000] {
        let map = BoundedMap::<u64, u64>::with_capacity(items).unwrap();
        let bytes = map.byte_len() as f64 / items as f64;
        // Eighteen bytes per slot, and 90% of the slots for items, or slightly more, because lines
        // are whole.
        assert!((19.99..=20.0).contains(&bytes), "{bytes}");
        // A set: ten bytes per slot.
        let set = BoundedMap::<u64, ()>::with_capacity(items).unwrap();
        let bytes = set.byte_len() as f64 / items as f64;
        assert!((11.1..=11.12).contains(&bytes), "{bytes}");
    }
}

#[test]
fn items_of_any_size_are_kept() {
    let mut nothing = BoundedMap::with_seed(BoundedLayout::for_capacity(3).unwrap(), 1).unwrap();
    assert_eq!(nothing.insert([0u8; 0], ()), Ok(None));
    assert_eq!(nothing.insert([], ()), Ok(Some(())));
    assert_eq!((nothing.len(), nothing.locate(&[]).item_lines), (1, 0));
    let mut large = BoundedMap::with_seed(BoundedLayout::for_capacity(100).unwrap(), 1).unwrap();
    large.try_extend((0..100u64).map(|key| (key, [key; 17]))).unwrap();
    assert!((0..100).all(|key| large[&key] == [key; 17]));
    // 144 bytes from any multiple of 16 on lie in three or four lines.
    let lines = large.locate(&7).item_lines;
    assert!((3..=8).contains(&lines), "{lines}");
}

#[cfg(feature = "serde")]
#[test]
fn serde_writes_a_map_and_reads_it_with_or_without_a_capacity() {
    use serde::de::DeserializeSeed;
    let map = map();
    let text = serde_json::to_string(&map).unwrap();
    let plain: std::collections::HashMap<String, u32> = serde_json::from_str(&text).unwrap();
    assert_eq!(plain.len(), 3);
    let read: BoundedMap<String, u32> = serde_json::from_str(&text).unwrap();
    assert_eq!((read == map, read.capacity()), (true, 3));
    let into = |capacity| {
        let empty = BoundedMap::<String, u32>::with_capacity(capacity).unwrap();
        empty.deserialize(&mut serde_json::Deserializer::from_str(&text))
    };
    assert_eq!(into(1000).unwrap().capacity(), 1000);
    assert!(into(2).unwrap_err().to_string().contains("no bucket of the key has room"));
    let bytes = postcard::to_stdvec(&map).unwrap();
    assert_eq!(postcard::from_bytes::<BoundedMap<String, u32>>(&bytes).unwrap(), map);
    // The input claims 2^60 items, which it does not have.
    assert!(
        postcard::from_bytes::<BoundedMap<u64, u64>>(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10])
            .is_err()
    );
    assert_eq!(serde_json::from_str::<BoundedMap<u64, u64>>("{}").unwrap().len(), 0);
}
