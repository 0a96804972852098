//! Loading takes no more memory than the file warrants, whatever its header says.
//!
//! A separate test binary, since it counts the allocations of the whole program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use oneread::filter::{
    BlockedBloomFilter, BlockedView, BloomFilter, BloomView, CountMinSketch, CountMinView,
    CountingBloomFilter, CountingView, DLeftCountingFilter, DLeftCountingView, DLeftFilter, DLeftView,
    GrowingDLeftCountingFilter, GrowingDLeftCountingView, GrowingFilter, GrowingLineFilter, GrowingLineView,
    GrowingView, PlacedFilter, PlacedView,
};
use oneread::layout::{
    BlockedLayout, BloomLayout, BucketBits, CountMinLayout, CountingLayout, DLeftCountingLayout, DLeftLayout,
    GrowingLayout,
};
use xxhash_rust::xxh3::xxh3_64;

thread_local! {
    /// The bytes that this thread holds, and the most it held since the last reset.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

fn change(add: usize, take: usize) {
    HELD.with(|held| {
        let (now, most) = held.get();
        let now = (now + add).saturating_sub(take);
        held.set((now, most.max(now)));
    });
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size(), 0);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        change(0, layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new memory may both be held for a moment.
        change(size, 0);
        change(0, layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory held during some work, beyond what was held before.
fn most_during<R>(work: impl FnOnce() -> R) -> usize {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    drop(work());
    HELD.with(|held| held.get().1) - before
}

fn put(bytes: &mut [u8], at: usize, field: u64) {
    bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
}

/// Recomputes both checksums; positions as in `docs/format.md`.
fn reseal(bytes: &mut [u8]) {
    let payload = xxh3_64(&bytes[128..]);
    put(bytes, 40, payload);
    let header = xxh3_64(&[&bytes[..56], &bytes[64..128]].concat());
    put(bytes, 56, header);
}

/// A loaded vector grows by doubling: at most twice its final size, plus half of that while it
/// moves, plus a little for errors and layers.
fn warranted(file: usize) -> usize {
    3 * file + 1024
}

const SIZES: [u64; 8] = [1, 4096, 1_000_000, 1 << 30, 1 << 37, 1 << 46, 1 << 63, u64::MAX];

/// Loads and views with each absurd number in each field of the layout, and each absurd length of
/// the payload.
fn takes_what_the_file_warrants(
    bytes: &[u8],
    tables: usize,
    load: impl Fn(&[u8]) -> bool,
    load_stream: impl Fn(&[u8]) -> bool,
    open: impl Fn(&[u8]) -> bool,
) {
    assert!(load(bytes) && load_stream(bytes) && open(bytes), "the file itself is whole");
    let warranted = |file: usize| warranted(file) + tables;
    let mut refused = 0;
    for length in SIZES.into_iter().chain([bytes.len() as u64 - 128]) {
        for field in 0..8 {
            for value in SIZES {
                let mut forged = bytes.to_vec();
                put(&mut forged, 32, length);
                put(&mut forged, 64 + 8 * field, value);
                reseal(&mut forged);
                let mut loaded = false;
                let most = most_during(|| loaded = load(&forged));
                assert!(
                    most <= warranted(forged.len()),
                    "field {field} = {value}, length {length}: {most} bytes"
                );
                // A stream does not state its length.
                let most = most_during(|| _ = load_stream(&forged));
                assert!(
                    most <= warranted(forged.len()),
                    "field {field} = {value}, length {length}: {most} bytes"
                );
                // A view copies nothing but the list of its layers.
                let most = most_during(|| _ = open(&forged));
                assert!(
                    most <= warranted(forged.len()),
                    "field {field} = {value}, length {length}: {most} bytes"
                );
                refused += u32::from(!loaded);
            }
        }
    }
    assert!(refused > 500, "only {refused} of 576 forged files were refused");
}

macro_rules! check {
    ($filter:ident, $view:ident, $structure:expr) => {
        check!($filter, $view, $structure, 0)
    };
    // With `$tables` bytes for tables, whatever the size of the file.
    ($filter:ident, $view:ident, $structure:expr, $tables:expr) => {
        takes_what_the_file_warrants(
            &$structure.to_bytes(),
            $tables,
            |bytes| <$filter>::from_bytes(bytes).is_ok(),
            |bytes| <$filter>::load(bytes).is_ok(),
            |bytes| <$view<'_>>::open(bytes).is_ok(),
        )
    };
}

#[test]
fn no_header_makes_loading_allocate_more_than_the_file_warrants() {
    check!(BloomFilter, BloomView, BloomFilter::with_seed(BloomLayout::new(3000, 3).unwrap(), 1).unwrap());
    check!(
        BlockedBloomFilter,
        BlockedView,
        BlockedBloomFilter::with_seed(BlockedLayout::new(5).unwrap(), 1).unwrap()
    );
    check!(
        CountingBloomFilter,
        CountingView,
        CountingBloomFilter::with_seed(CountingLayout::new(900, 3, 4).unwrap(), 1).unwrap()
    );
    check!(
        CountMinSketch,
        CountMinView,
        CountMinSketch::with_seed(CountMinLayout::new(30, 3).unwrap(), 1).unwrap()
    );
    check!(
        GrowingFilter,
        GrowingView,
        GrowingFilter::with_seed(GrowingLayout::new(100, 0.01).unwrap(), 1).unwrap()
    );
}

/// The layout determines tables for reading buckets. In a d-left filter they have the lengths in a
/// group of four buckets of up to eleven fingerprints: 12^4 times 4 bytes, in a vector that grows
/// by doubling. In a counting filter they have 256 states of 128 bytes, 512 rows of 64 for lookups
/// and 512 of 32 for insertions, shared by all filters with the same policies.
const DLEFT_TABLES: usize = 3 * 4 * 12 * 12 * 12 * 12 + 65_536;
const COUNTING_TABLES: usize = 256 * 128 + 512 * 64 + 512 * 32;

#[test]
fn no_header_of_a_d_left_filter_does() {
    for layout in [
        DLeftLayout::uneven(&[8, 4, 4], BucketBits::Bits64).unwrap(),
        DLeftLayout::new(3, 4, BucketBits::Bits128).unwrap().with_group(4).unwrap(),
        DLeftLayout::paged(2, BucketBits::Bits64).unwrap(),
    ] {
        check!(DLeftFilter, DLeftView, DLeftFilter::with_seed(layout, 1).unwrap(), DLEFT_TABLES);
    }
    let layout = DLeftCountingLayout::new(3, 40).unwrap();
    for layout in [layout, layout.with_capacity(12).unwrap()] {
        check!(
            DLeftCountingFilter,
            DLeftCountingView,
            DLeftCountingFilter::with_seed(layout, 1).unwrap(),
            COUNTING_TABLES
        );
    }
    check!(
        GrowingDLeftCountingFilter,
        GrowingDLeftCountingView,
        GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(100, 0.01).unwrap(), 1).unwrap(),
        COUNTING_TABLES
    );
}

#[test]
fn no_header_of_a_filter_of_placed_fingerprints_does() {
    let keys: Vec<u64> = (0..300).collect();
    check!(PlacedFilter, PlacedView, PlacedFilter::from_keys(&keys, 13).unwrap());
}

/// A growing filter's records are in the payload, and can be false too.
#[test]
fn no_layer_makes_loading_allocate_more_than_the_file_warrants() {
    let mut filter = GrowingFilter::with_seed(GrowingLayout::new(10, 0.01).unwrap(), 1).unwrap();
    (0..50u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let bytes = filter.to_bytes();
    for word in 0..6 * filter.layers() {
        for value in SIZES {
            let mut forged = bytes.clone();
            put(&mut forged, 128 + 8 * word, value);
            reseal(&mut forged);
            let most = most_during(|| <GrowingFilter>::from_bytes(&forged).is_ok());
            assert!(most <= warranted(forged.len()), "word {word} = {value}: {most} bytes");
            let most = most_during(|| <GrowingView<'_>>::open(&forged).is_ok());
            assert!(most <= warranted(forged.len()), "word {word} = {value}: {most} bytes");
        }
    }
}

#[test]
fn no_layer_of_a_growing_d_left_filter_does() {
    let layout = GrowingLayout::new(10, 0.01).unwrap();
    let mut filter = GrowingDLeftCountingFilter::with_seed(layout, 1).unwrap();
    (0..50u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let bytes = filter.to_bytes();
    let warranted = |file| warranted(file) + COUNTING_TABLES * filter.layers();
    for word in 0..8 * filter.layers() {
        for value in SIZES {
            let mut forged = bytes.clone();
            put(&mut forged, 128 + 8 * word, value);
            reseal(&mut forged);
            let most = most_during(|| <GrowingDLeftCountingFilter>::from_bytes(&forged).is_ok());
            assert!(most <= warranted(forged.len()), "word {word} = {value}: {most} bytes");
            let most = most_during(|| <GrowingDLeftCountingView<'_>>::open(&forged).is_ok());
            assert!(most <= warranted(forged.len()), "word {word} = {value}: {most} bytes");
        }
    }
}

#[test]
fn no_layer_of_a_growing_line_filter_does() {
    let layout = GrowingLayout::new(10, 0.01).unwrap();
    let mut filter = GrowingLineFilter::with_seed(layout, 1).unwrap();
    (0..100u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let bytes = filter.to_bytes();
    // A layer has a table of the other lines of 28 quotients, and so takes less than 512 bytes
    // besides its lines; a vector starts with four.
    let warranted = |file| warranted(file) + 4 * 512;
    for word in 0..8 * filter.layers() {
        for value in SIZES {
            let mut forged = bytes.clone();
            put(&mut forged, 128 + 8 * word, value);
            reseal(&mut forged);
            let most = most_during(|| <GrowingLineFilter>::from_bytes(&forged).is_ok());
            assert!(most <= warranted(forged.len()), "word {word} = {value}: {most} bytes");
            let most = most_during(|| <GrowingLineView<'_>>::open(&forged).is_ok());
            assert!(most <= warranted(forged.len()), "word {word} = {value}: {most} bytes");
        }
    }
}

/// A valid file takes its own size, plus the spare capacity of a growing vector.
#[test]
fn a_large_file_is_loaded_in_about_its_own_size() {
    let filter = BloomFilter::with_seed(BloomLayout::new(10_000_000, 3).unwrap(), 1).unwrap();
    let bytes = filter.to_bytes();
    let most = most_during(|| <BloomFilter>::from_bytes(&bytes).unwrap());
    assert!(most <= warranted(bytes.len()), "{most} bytes for a file of {}", bytes.len());
    assert!(most >= bytes.len() - 128, "the counting allocator does not count");
    assert_eq!(most_during(|| _ = <BloomView<'_>>::open(&bytes).unwrap()), 0, "a view copies nothing");
}
