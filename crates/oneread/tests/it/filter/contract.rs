//! The promises of every filter, tested on each of them. Each filter also has its own file.

use std::fmt::Debug;
use std::sync::Arc;

use oneread::bytes::LoadError;
use oneread::filter::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicDLeftFilter, BlockedBloomFilter, BlockedView,
    BloomFilter, BloomView, CountingBloomFilter, CountingView, DLeftCountingFilter, DLeftCountingView,
    DLeftFilter, DLeftView, GrowingDLeftCountingFilter, GrowingDLeftCountingView, GrowingFilter,
    GrowingLineFilter, GrowingLineView, GrowingView, LineFilter, LineView, MergeError, NotPresent,
    ShardedLineFilter,
};
use oneread::hash::{Digester, Portable};
use oneread::layout::GrowingLayout;
use oneread::plan;

use super::BATCH_LENGTHS;

const ITEMS: u64 = 3000;
const RATE: f64 = 0.01;

/// The result of an insertion: whether the key may have been present. None is full here.
trait Inserted {
    fn was_present(self) -> bool;
}

impl Inserted for bool {
    fn was_present(self) -> bool {
        self
    }
}

impl<E: Debug> Inserted for Result<bool, E> {
    fn was_present(self) -> bool {
        self.expect("room")
    }
}

/// The result of many insertions.
trait Done {
    fn done(self);
}

impl Done for () {
    fn done(self) {}
}

impl<E: Debug> Done for Result<(), E> {
    fn done(self) {
        self.expect("room");
    }
}

/// An empty filter of any kind for [`ITEMS`] keys at [`RATE`].
trait Empty: Sized {
    fn empty(seed: u64) -> Self;
}

macro_rules! planned {
    ($($filter:ident: $layout:expr;)*) => {$(
        impl Empty for $filter {
            fn empty(seed: u64) -> Self {
                $filter::with_seed($layout.unwrap(), seed).unwrap()
            }
        }
    )*};
}

planned! {
    BloomFilter: plan::bloom::for_rate(ITEMS, RATE);
    BlockedBloomFilter: plan::blocked::for_rate(ITEMS, RATE);
    CountingBloomFilter: plan::counting::for_rate(ITEMS, RATE, 4);
    DLeftFilter: plan::dleft::for_rate(ITEMS, RATE);
    DLeftCountingFilter: plan::dleft_counting::for_rate(ITEMS, RATE, plan::dleft_counting::LIFE);
    // Every key is inserted twice and takes a slot each time; pairs fill lines less evenly than
    // distinct keys.
    LineFilter: plan::line::for_rate(3 * ITEMS, RATE);
    // With room to add layers.
    GrowingFilter: GrowingLayout::new(ITEMS / 10, RATE);
    GrowingDLeftCountingFilter: GrowingLayout::new(ITEMS / 10, RATE);
    GrowingLineFilter: GrowingLayout::new(ITEMS / 10, RATE);
    // Of 256 parts, none gets 32 of 3000 keys: P(Poisson(11.7) ≥ 32)·256 < 2e-4, for a fixed seed.
    // Each key is inserted twice.
    ShardedLineFilter: plan::line::for_rate(64, RATE);
}

macro_rules! shared {
    ($($shared:ident: $plain:ident;)*) => {$(
        impl Empty for $shared {
            fn empty(seed: u64) -> Self {
                $shared::try_from($plain::empty(seed)).expect("a usual layout")
            }
        }
    )*};
}

shared! {
    AtomicBloomFilter: BloomFilter;
    AtomicBlockedBloomFilter: BlockedBloomFilter;
    AtomicDLeftFilter: DLeftFilter;
}

/// An upper bound on finds among `queries`, exceeded with probability at most e^−20 if each has at
/// most `rate`: Bernstein's inequality, P(X ≥ m + √(2mt) + 2t/3) ≤ e^−t.
fn most_found(queries: u64, rate: f64) -> f64 {
    let (mean, t) = (queries as f64 * rate, 20.0);
    mean + (2.0 * mean * t).sqrt() + 2.0 * t / 3.0
}

macro_rules! every_filter {
    ($($module:ident: $filter:ident;)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn keeps_its_keys_at_its_rate() {
                let mut filter = $filter::empty(1);
                assert!(filter.is_empty() && !filter.contains(&0u64));
                assert_eq!(filter.false_positive_rate(), 0.0);
                let said = (0..ITEMS).filter(|key| filter.insert(key).was_present()).count() as u64;
                assert!((0..ITEMS).all(|key| filter.contains(&key)) && !filter.is_empty());
                assert!((said as f64) < most_found(ITEMS, RATE), "{said} were said to be there");
                // The planned rate of a filter without layers is a mean over seeds. A single filter
                // differs by less than a fifth (its fill has a deviation of 1/√bits, and there are
                // 20,000).
                let stated = filter.false_positive_rate();
                assert!(stated > 0.0 && stated < 1.2 * RATE, "{stated}");
                let queries = 20_000;
                let found = (ITEMS..ITEMS + queries).filter(|key| filter.contains(key)).count() as f64;
                assert!(found < most_found(queries, 1.2 * RATE), "{found}");
                assert!((0..ITEMS).all(|key| filter.insert(&key).was_present()), "all are there");
                filter.clear().done();
                assert!(filter.is_empty() && (0..ITEMS).all(|key| !filter.contains(&key)));
                assert!(filter == $filter::empty(1));
            }

            #[test]
            fn many_keys_at_once_are_as_one_after_the_other() {
                for length in BATCH_LENGTHS {
                    let keys: Vec<u64> = (0..length).collect();
                    let queries: Vec<u64> = (length / 2..length + length / 2).collect();
                    let (mut one_by_one, mut at_once) = ($filter::empty(9), $filter::empty(9));
                    keys.iter().for_each(|key| _ = one_by_one.insert(key).was_present());
                    at_once.insert_many(&keys).done();
                    assert!(at_once == one_by_one, "{length} keys");
                    let mut found = Vec::new();
                    at_once.contains_many(&queries, |answer| found.push(answer));
                    let expected: Vec<bool> = queries.iter().map(|key| one_by_one.contains(key)).collect();
                    assert_eq!(found, expected, "{length} keys");
                }
            }

            #[test]
            fn keys_are_hashed_through_the_digester_or_elsewhere() {
                let digester = Portable::with_seed(5);
                let mut filter = $filter::empty(5);
                assert!(!filter.contains("key"));
                assert!(!filter.insert_digest(digester.digest("key")).was_present());
                assert!(filter.contains("key") && filter.contains(&String::from("key")));
                assert!(filter.contains(b"key") && filter.contains_digest(digester.digest("key")));
                assert_eq!(filter.digester(), &digester);
                assert!($filter::empty(5) != $filter::empty(6) && filter != $filter::empty(5));
            }
        }
    )*};
}

every_filter! {
    bloom: BloomFilter;
    blocked: BlockedBloomFilter;
    counting: CountingBloomFilter;
    dleft: DLeftFilter;
    dleft_counting: DLeftCountingFilter;
    line: LineFilter;
    growing: GrowingFilter;
    growing_dleft_counting: GrowingDLeftCountingFilter;
    growing_line: GrowingLineFilter;
}

macro_rules! saved {
    ($($module:ident: $filter:ident, $view:ident;)*) => {$(
        #[test]
        fn $module() {
            let mut filter = $filter::empty(3);
            (0..ITEMS).for_each(|key| _ = filter.insert(&key).was_present());
            let bytes = filter.to_bytes();
            assert!($filter::from_bytes(&bytes).unwrap() == filter);
            assert!($filter::from_bytes_with(&bytes, Portable::with_seed(3)).unwrap() == filter);
            let other = $filter::from_bytes_with(&bytes, Portable::with_seed(4));
            assert!(matches!(other, Err(LoadError::Digester)));
            let mut written = Vec::new();
            filter.save(&mut written).unwrap();
            assert!(written == bytes && $filter::load(&*bytes).unwrap() == filter);

            let view = $view::open(&bytes).unwrap();
            view.verify().unwrap();
            let owned = $view::open_owned(Arc::new(bytes.clone())).unwrap();
            let moved = std::thread::spawn(move || { owned.verify().map(|()| owned.clone()) });
            let owned = moved.join().unwrap().unwrap();
            assert!(*view == filter && *owned == filter);
            assert!((0..2 * ITEMS).all(|key| {
                let expected = filter.contains(&key);
                view.contains(&key) == expected && owned.contains(&key) == expected
            }));

            // The header, and some of the payload, which has one checksum.
            let damaged = (0..bytes.len()).step_by(bytes.len() / 100).chain(0..128);
            for at in damaged {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << (at % 8);
                assert!($filter::from_bytes(&bytes).is_err(), "byte {at}");
                let verified = $view::open_owned(bytes).and_then(|view| view.verify());
                assert!(verified.is_err(), "byte {at}");
            }
            for length in [0, 1, 127, 128, bytes.len() / 2, bytes.len() - 1] {
                assert!($filter::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
                assert!($view::open(&bytes[..length]).is_err(), "{length} bytes");
            }
        }
    )*};
}

mod is_saved_loaded_and_viewed {
    use super::*;

    saved! {
        bloom: BloomFilter, BloomView;
        blocked: BlockedBloomFilter, BlockedView;
        counting: CountingBloomFilter, CountingView;
        dleft: DLeftFilter, DLeftView;
        dleft_counting: DLeftCountingFilter, DLeftCountingView;
        line: LineFilter, LineView;
        growing: GrowingFilter, GrowingView;
        growing_dleft_counting: GrowingDLeftCountingFilter, GrowingDLeftCountingView;
        growing_line: GrowingLineFilter, GrowingLineView;
    }
}

macro_rules! removes {
    ($($module:ident: $filter:ident;)*) => {$(
        #[test]
        fn $module() {
            let mut filter = $filter::empty(7);
            assert_eq!(filter.remove("key"), Err(NotPresent));
            assert!(!filter.insert("key").was_present());
            assert!(filter.insert("key").was_present());
            assert_eq!((filter.remove("key"), filter.contains("key")), (Ok(()), true));
            assert_eq!((filter.remove("key"), filter.contains("key")), (Ok(()), false));
            // A duplicate takes no room, so one removal is enough.
            assert!(!filter.insert_if_absent("key").was_present());
            assert!(filter.insert_if_absent("key").was_present());
            let digest = filter.digester().digest("key");
            assert_eq!((filter.remove_digest(digest), filter.contains("key")), (Ok(()), false));

            for length in BATCH_LENGTHS {
                let keys: Vec<u64> = (0..length).collect();
                let (mut one_by_one, mut at_once) = ($filter::empty(9), $filter::empty(9));
                one_by_one.insert_many(&keys).done();
                at_once.insert_many(&keys).done();
                let (first, second) = keys.split_at(keys.len() / 3);
                first.iter().for_each(|key| one_by_one.remove(key).unwrap());
                at_once.remove_many(first).unwrap();
                assert!(at_once == one_by_one, "{length} keys");
                at_once.remove_many(second).unwrap();
                assert!(at_once.is_empty(), "{length} keys");
                assert_eq!(at_once.remove_many(&[1u64]), Err(NotPresent));
            }

            let keys: Vec<u64> = (0..ITEMS).collect();
            filter.insert_many(&keys).done();
            let (gone, kept) = keys.split_at(keys.len() / 2);
            filter.remove_many(gone).unwrap();
            assert!(kept.iter().all(|key| filter.contains(key)));
            let found = gone.iter().filter(|key| filter.contains(key)).count() as f64;
            assert!(found < most_found(gone.len() as u64, RATE), "{found}");
            // Keys before an absent one are removed, those after it are not.
            let absent = (ITEMS..).find(|key| !filter.contains(key)).unwrap();
            let (before, after) = kept.split_at(100);
            let asked = before.iter().chain([&absent]).chain(after);
            assert_eq!(filter.remove_many(asked), Err(NotPresent));
            assert!(after.iter().all(|key| filter.contains(key)));
            filter.remove_many(after).unwrap();
            assert!(filter.is_empty());
        }
    )*};
}

mod removes {
    use super::*;

    removes! {
        counting: CountingBloomFilter;
        dleft_counting: DLeftCountingFilter;
        line: LineFilter;
        growing_dleft_counting: GrowingDLeftCountingFilter;
        growing_line: GrowingLineFilter;
    }
}

macro_rules! merges {
    ($($module:ident: $filter:ident, $view:ident;)*) => {$(
        #[test]
        fn $module() {
            let of = |seed: u64, keys: std::ops::Range<u64>| {
                let mut filter = $filter::empty(seed);
                keys.for_each(|key| _ = filter.insert(&key).was_present());
                filter
            };
            // Half of the planned keys: a union of d-left filters cannot choose buckets again, and
            // so is full earlier.
            let (mut one, other) = (of(1, 0..ITEMS / 4), of(1, ITEMS / 4..ITEMS / 2));
            let before = one.clone();
            assert_eq!(one.union(&of(2, 0..9)), Err(MergeError::Digesters));
            assert!(one == before);
            let bytes = other.to_bytes();
            one.union(&other).unwrap();
            assert!((0..ITEMS / 2).all(|key| one.contains(&key)));
            let mut by_view = before;
            by_view.union(&*$view::open(&bytes).unwrap()).unwrap();
            assert!(by_view == one);
        }
    )*};
}

mod merges {
    use super::*;

    merges! {
        bloom: BloomFilter, BloomView;
        blocked: BlockedBloomFilter, BlockedView;
        counting: CountingBloomFilter, CountingView;
        dleft: DLeftFilter, DLeftView;
        line: LineFilter, LineView;
    }
}

macro_rules! threads {
    ($($module:ident: $filter:ident;)*) => {$(
        #[test]
        fn $module() {
            let mut filter = $filter::empty(1);
            let keys: Vec<u64> = (0..ITEMS).collect();
            std::thread::scope(|scope| {
                for (number, keys) in keys.chunks(keys.len() / 4).enumerate() {
                    let filter = &filter;
                    scope.spawn(move || match number % 2 {
                        0 => filter.insert_many(keys).done(),
                        _ => keys.iter().for_each(|key| _ = filter.insert(key).was_present()),
                    });
                }
            });
            assert!(keys.iter().all(|key| filter.contains(key) && filter.insert(key).was_present()));
            let mut found = Vec::new();
            filter.contains_many(&keys, |answer| found.push(answer));
            assert_eq!(found, vec![true; keys.len()]);
            let found = (ITEMS..10 * ITEMS).filter(|key| filter.contains(key)).count() as f64;
            // A sharded filter holds each key twice at this point.
            assert!(found < most_found(9 * ITEMS, 2.0 * RATE), "{found}");
            filter.clear();
            assert!(filter.is_empty() && keys.iter().all(|key| !filter.contains(key)));
        }
    )*};
}

mod takes_keys_from_many_threads {
    use super::*;

    threads! {
        bloom: AtomicBloomFilter;
        blocked: AtomicBlockedBloomFilter;
        dleft: AtomicDLeftFilter;
        line: ShardedLineFilter;
    }
}
