//! Our filters as contenders: key by key, in batches, and by several threads.
//!
//! The filters have their methods in common, but no trait: a macro writes one for each. All calls
//! are static, as in a user's program.

use oneread::filter::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicDLeftFilter, BlockedBloomFilter, BloomFilter,
    CountingBloomFilter, DLeftCountingFilter, DLeftFilter, LineFilter, ShardedLineFilter,
};

use super::contest::{BenchKey, Contender, in_threads, made, removable, tally};

/// Why an insertion succeeds.
pub(crate) const ROOM: &str = "room for as many keys as were planned";

/// Why a removal succeeds.
const INSERTED: &str = "the key was inserted";

/// A filter of this library.
pub(crate) trait Ours<K> {
    fn clear(&mut self);
    fn contains(&self, key: &K) -> bool;
    fn count(&self, keys: &[K]) -> usize;
    fn byte_len(&self) -> usize;
}

/// A filter that takes keys from one thread.
pub(crate) trait Insert<K>: Ours<K> {
    fn insert(&mut self, key: &K);
    fn insert_many(&mut self, keys: &[K]);
}

/// A filter that takes keys from many threads.
pub(crate) trait Share<K>: Ours<K> + Sync {
    fn insert(&self, key: &K);
    fn insert_many(&self, keys: &[K]);
}

/// A filter that gives keys back.
pub(crate) trait Remove<K>: Insert<K> {
    fn remove(&mut self, key: &K);
    fn remove_many(&mut self, keys: &[K]);
}

/// The methods of filters; `sure` ones always have room.
macro_rules! ours {
    (sure $call:expr) => { _ = $call };
    (limited $call:expr) => { _ = $call.expect(ROOM) };
    ($($filter:ty: $inserts:ident($($own:tt)+) $room:ident),+ $(,)?) => {$(
        impl<K: BenchKey> Ours<K> for $filter {
            fn clear(&mut self) {
                Self::clear(self);
            }

            fn contains(&self, key: &K) -> bool {
                Self::contains(self, key)
            }

            fn count(&self, keys: &[K]) -> usize {
                let mut found = 0;
                self.contains_many(keys, |answer| found += usize::from(answer));
                found
            }

            fn byte_len(&self) -> usize {
                Self::byte_len(self)
            }
        }

        impl<K: BenchKey> $inserts<K> for $filter {
            fn insert($($own)+ self, key: &K) {
                ours!($room Self::insert(self, key));
            }

            fn insert_many($($own)+ self, keys: &[K]) {
                ours!($room Self::insert_many(self, keys));
            }
        }
    )+};
}

macro_rules! removes {
    ($($filter:ty),+) => {$(
        impl<K: BenchKey> Remove<K> for $filter {
            fn remove(&mut self, key: &K) {
                Self::remove(self, key).expect(INSERTED);
            }

            fn remove_many(&mut self, keys: &[K]) {
                Self::remove_many(self, keys).expect(INSERTED);
            }
        }
    )+};
}

ours! {
    BloomFilter: Insert(&mut) sure,
    BlockedBloomFilter: Insert(&mut) sure,
    CountingBloomFilter: Insert(&mut) sure,
    DLeftFilter: Insert(&mut) limited,
    DLeftCountingFilter: Insert(&mut) limited,
    LineFilter: Insert(&mut) limited,
    AtomicBloomFilter: Share(&) sure,
    AtomicBlockedBloomFilter: Share(&) sure,
    AtomicDLeftFilter: Share(&) limited,
    ShardedLineFilter: Share(&) limited,
}

removes!(CountingBloomFilter, DLeftCountingFilter, LineFilter);

/// A contender that gets one key after the other.
pub(crate) fn single<K: BenchKey, F: Insert<K> + 'static>(name: &str, filter: F) -> Box<dyn Contender<K>> {
    made(
        name,
        filter,
        F::clear,
        |filter, keys: &[K]| keys.iter().for_each(|key| filter.insert(key)),
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        F::byte_len,
    )
}

/// A contender that gets all keys at once.
pub(crate) fn batch<K: BenchKey, F: Insert<K> + 'static>(name: &str, filter: F) -> Box<dyn Contender<K>> {
    made(name, filter, F::clear, F::insert_many, F::count, F::byte_len)
}

/// Like [`single`], with removals.
pub(crate) fn removing<K: BenchKey, F: Remove<K> + 'static>(name: &str, filter: F) -> Box<dyn Contender<K>> {
    removable(
        name,
        filter,
        F::clear,
        |filter, keys: &[K]| keys.iter().for_each(|key| filter.insert(key)),
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        |filter, keys| keys.iter().for_each(|key| filter.remove(key)),
        F::byte_len,
    )
}

/// Like [`batch`], with removals.
pub(crate) fn removing_batch<K: BenchKey, F: Remove<K> + 'static>(
    name: &str,
    filter: F,
) -> Box<dyn Contender<K>> {
    removable(name, filter, F::clear, F::insert_many, F::count, F::remove_many, F::byte_len)
}

/// Inserts key by key from `threads` threads; looks up from one.
pub(crate) fn shared<K: BenchKey, F: Share<K> + 'static>(
    name: &str,
    filter: F,
    threads: usize,
) -> Box<dyn Contender<K>> {
    made(
        name,
        filter,
        F::clear,
        move |filter, keys: &[K]| {
            in_threads(threads, keys, |keys| keys.iter().for_each(|key| filter.insert(key)));
        },
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        F::byte_len,
    )
}

/// Inserts batches from `threads` threads; looks up a batch from one.
pub(crate) fn shared_batch<K: BenchKey, F: Share<K> + 'static>(
    name: &str,
    filter: F,
    threads: usize,
) -> Box<dyn Contender<K>> {
    made(
        name,
        filter,
        F::clear,
        move |filter, keys: &[K]| in_threads(threads, keys, |keys| filter.insert_many(keys)),
        F::count,
        F::byte_len,
    )
}
