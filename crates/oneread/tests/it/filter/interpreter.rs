//! A short life of every filter, for an interpreter that detects undefined behaviour (Miri): each
//! operation with unsafe code, on the smallest layouts of each kind.

use oneread::filter::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicDLeftFilter, BlockedBloomFilter, BlockedView,
    BloomFilter, BloomView, CountMinSketch, CountingBloomFilter, CountingView, DLeftCountingFilter,
    DLeftCountingView, DLeftFilter, DLeftView, GrowingDLeftCountingFilter, GrowingFilter, GrowingLineFilter,
    LineFilter, LineView, NotPresent, PlacedFilter, PlacedView,
};
use oneread::hash::Keyed;
use oneread::layout::{
    BlockedLayout, BloomLayout, BucketBits, CountMinLayout, CountingLayout, DLeftCountingLayout, DLeftLayout,
    GrowingLayout, LineLayout,
};

/// More than a batch.
fn keys() -> Vec<u64> {
    (0..40).collect()
}

/// One by one, in a batch, saved, loaded and viewed: every key is found.
macro_rules! lives {
    ($filter:ident, $view:ident, $layout:expr) => {{
        let layout = $layout;
        let mut filter = $filter::with_seed(layout, 1).unwrap();
        assert!(!filter.contains(&0u64));
        for key in &keys()[..20] {
            _ = filter.insert(key);
        }
        _ = filter.insert_many(&keys()[20..]);
        let mut found = Vec::new();
        filter.contains_many(&keys(), |answer| found.push(answer));
        assert_eq!(found, [true; 40]);
        assert!(keys().iter().all(|key| filter.contains(key)));
        let bytes = filter.to_bytes();
        assert_eq!(<$filter>::from_bytes(&bytes).unwrap(), filter);
        let view: $view<'_> = $view::open(&bytes).unwrap();
        view.verify().unwrap();
        assert!(keys().iter().all(|key| view.contains(key)));
        filter
    }};
}

/// One by one and in a batch: no key is left.
macro_rules! empties {
    ($filter:expr) => {{
        let mut filter = $filter;
        for key in &keys()[..20] {
            filter.remove(key).unwrap();
        }
        filter.remove_many(&keys()[20..]).unwrap();
        assert!(filter.is_empty());
        assert_eq!(filter.remove(&0u64), Err(NotPresent));
    }};
}

#[test]
fn bloom_filters_live() {
    lives!(BloomFilter, BloomView, BloomLayout::new(700, 5).unwrap());
    lives!(BlockedBloomFilter, BlockedView, BlockedLayout::new(3).unwrap());
}

#[test]
fn counting_filters_live() {
    for bits in [2, 3, 4, 8] {
        let filter = lives!(CountingBloomFilter, CountingView, CountingLayout::new(900, 3, bits).unwrap());
        if bits > 3 {
            empties!(filter);
        }
    }
}

#[test]
fn d_left_filters_live() {
    // Buckets of 128 bits have no unsafe code, and their tables take an interpreter minutes.
    lives!(DLeftFilter, DLeftView, DLeftLayout::new(3, 20, BucketBits::Bits64).unwrap());
    lives!(DLeftFilter, DLeftView, DLeftLayout::paged(1, BucketBits::Bits64).unwrap());
    lives!(DLeftFilter, DLeftView, DLeftLayout::uneven(&[20, 11], BucketBits::Bits64).unwrap());
}

#[test]
fn d_left_counting_filters_live() {
    let layout = DLeftCountingLayout::new(4, 4).unwrap();
    empties!(lives!(DLeftCountingFilter, DLeftCountingView, layout));
}

#[test]
fn line_filters_live() {
    for bits in [8, 9, 10, 12, 16] {
        empties!(lives!(LineFilter, LineView, LineLayout::new(bits, 3).unwrap()));
    }
}

#[test]
fn filters_are_joined() {
    macro_rules! joins {
        ($filter:ident, $layout:expr) => {{
            let layout = $layout.unwrap();
            let (mut one, mut other) =
                ($filter::with_seed(layout, 1).unwrap(), $filter::with_seed(layout, 1).unwrap());
            _ = one.insert_many(&keys()[..20]);
            _ = other.insert_many(&keys()[20..]);
            one.union(&other).unwrap();
            assert!(keys().iter().all(|key| one.contains(key)));
        }};
    }
    joins!(BloomFilter, BloomLayout::new(700, 5));
    joins!(BlockedBloomFilter, BlockedLayout::new(3));
    joins!(CountingBloomFilter, CountingLayout::new(900, 3, 4));
    joins!(DLeftFilter, DLeftLayout::new(3, 20, BucketBits::Bits64));
    joins!(LineFilter, LineLayout::new(10, 3));
}

#[test]
fn filters_of_threads_live() {
    fn insert_all(insert: impl Fn(&u64) + Sync, contains: impl Fn(&u64) -> bool) {
        std::thread::scope(|scope| {
            for part in keys().chunks(20).map(<[u64]>::to_vec) {
                let insert = &insert;
                scope.spawn(move || part.iter().for_each(insert));
            }
        });
        assert!(keys().iter().all(contains));
    }
    let layout = BloomLayout::new(700, 5).unwrap();
    let filter = AtomicBloomFilter::from(BloomFilter::with_seed(layout, 1).unwrap());
    insert_all(|key| _ = filter.insert(key), |key| filter.contains(key));
    let layout = BlockedLayout::new(3).unwrap();
    let filter = AtomicBlockedBloomFilter::from(BlockedBloomFilter::with_seed(layout, 1).unwrap());
    insert_all(|key| _ = filter.insert(key), |key| filter.contains(key));
    let layout = DLeftLayout::new(3, 20, BucketBits::Bits64).unwrap();
    let filter = AtomicDLeftFilter::try_from(DLeftFilter::with_seed(layout, 1).unwrap()).unwrap();
    insert_all(|key| _ = filter.insert(key).unwrap(), |key| filter.contains(key));
}

#[test]
fn growing_filters_live() {
    let layout = GrowingLayout::new(10, 0.01).unwrap();
    macro_rules! grows {
        ($filter:ident) => {{
            let mut filter = $filter::with_seed(layout, 1).unwrap();
            filter.insert_many(&keys()[..20]).unwrap();
            keys()[20..].iter().for_each(|key| _ = filter.insert(key).unwrap());
            assert!(filter.layers() > 1 && keys().iter().all(|key| filter.contains(key)));
            assert!(<$filter>::from_bytes(&filter.to_bytes()).unwrap() == filter);
            filter
        }};
    }
    grows!(GrowingFilter);
    for key in keys() {
        let (mut line, mut dleft) = (grows!(GrowingLineFilter), grows!(GrowingDLeftCountingFilter));
        line.remove(&key).unwrap();
        dleft.remove(&key).unwrap();
        if key == 2 {
            break;
        }
    }
}

#[test]
fn static_filters_and_sketches_live() {
    let filter = PlacedFilter::from_keys(&keys(), 12).unwrap();
    let bytes = filter.to_bytes();
    let view: PlacedView<'_> = PlacedView::open(&bytes).unwrap();
    assert!(keys().iter().all(|key| filter.contains(key) && view.contains(key)));
    let mut sketch = CountMinSketch::with_seed(CountMinLayout::new(50, 3).unwrap(), 1).unwrap();
    for key in keys() {
        sketch.add(&key, key);
    }
    assert!(keys().iter().all(|key| sketch.estimate(key) >= *key));
}

#[test]
fn keys_of_every_length_live() {
    let text = [7u8; 300];
    let mut filter =
        BloomFilter::with_digester(BloomLayout::new(7000, 5).unwrap(), Keyed::with_secret([1; 16])).unwrap();
    let mut portable = BloomFilter::with_seed(BloomLayout::new(7000, 5).unwrap(), 1).unwrap();
    for length in (0..40).chain([127, 128, 129, 255, 256, 257, 300]) {
        filter.insert(&text[..length]);
        portable.insert(&text[..length]);
        assert!(filter.contains(&text[..length]) && portable.contains(&text[..length]));
    }
}
