//! Saved structures load unchanged, in every way.

use oneread::bytes::{Kind, Saved};
use oneread::filter::{
    BlockedBloomFilter, BlockedView, BloomFilter, BloomView, CountMinSketch, CountMinView,
    CountingBloomFilter, CountingView, DLeftView, GrowingFilter, GrowingView,
};
use oneread::hash::Portable;
use oneread::hash::probes::SchemeName;
use oneread::layout::{
    BlockedLayout, BloomLayout, CountMinLayout, Counting, CountingLayout, GrowingLayout, Update,
};
use oneread_study::hash::Ideal;

use super::{HEADER, blocked, bloom, count_min, counting, dleft, growing, load_and_open, samples};

/// From bytes and from a stream.
fn comes_back<F: Saved + PartialEq>(structure: &F) {
    let bytes = structure.to_bytes();
    assert_eq!(Kind::of(&bytes).unwrap(), F::KIND);
    assert!(bytes.len() > HEADER && bytes.len().is_multiple_of(8));
    assert!(F::from_bytes(&bytes).unwrap() == *structure);

    let mut saved = Vec::new();
    structure.save(&mut saved).unwrap();
    assert_eq!(saved, bytes);
    // A stream is read up to the end of the structure and no further.
    saved.extend_from_slice(b"what follows");
    let mut stream = &saved[..];
    assert!(F::load(&mut stream).unwrap() == *structure);
    assert_eq!(stream, b"what follows");
}

#[test]
fn every_kind_comes_back() {
    comes_back(&bloom());
    comes_back(&blocked());
    comes_back(&counting());
    comes_back(&count_min());
    comes_back(&growing());
    comes_back(&dleft());
}

#[test]
fn every_layout_comes_back() {
    for scheme in SchemeName::ALL {
        for bits in [64, 65, 127, 128, 1000] {
            let layout = BloomLayout::new(bits, 5).unwrap().with_scheme(scheme).unwrap();
            let mut filter = BloomFilter::with_seed(layout, 1).unwrap();
            filter.insert("key");
            comes_back(&filter);
        }
        for (counting, width) in
            [(Counting::EachProbe, 2), (Counting::OncePerItem, 5), (Counting::EachProbe, 8)]
        {
            let layout = CountingLayout::new(99, 4, width).unwrap().with_counting(counting);
            let mut filter = CountingBloomFilter::with_seed(layout.with_scheme(scheme).unwrap(), 1).unwrap();
            filter.insert("key");
            comes_back(&filter);
        }
    }
    for update in [Update::Plain, Update::Conservative] {
        let mut sketch =
            CountMinSketch::with_seed(CountMinLayout::new(7, 2).unwrap().with_update(update), 1).unwrap();
        sketch.add("key", u64::MAX);
        comes_back(&sketch);
    }
    let layout = GrowingLayout::new(3, 0.001).unwrap().with_growth(5).unwrap().with_tightening(0.7).unwrap();
    let mut filter = GrowingFilter::with_seed(layout, 1).unwrap();
    (0..100u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let other = filter.clone();
    filter.merge(other).unwrap();
    comes_back(&filter);
}

#[test]
fn empty_structures_and_all_seeds_come_back() {
    for seed in [0, 1, u64::MAX] {
        comes_back(&BloomFilter::with_seed(BloomLayout::new(1, 1).unwrap(), seed).unwrap());
        comes_back(&BlockedBloomFilter::with_seed(BlockedLayout::new(1).unwrap(), seed).unwrap());
        comes_back(&CountingBloomFilter::with_seed(CountingLayout::new(1, 1, 2).unwrap(), seed).unwrap());
        comes_back(&CountMinSketch::with_seed(CountMinLayout::new(1, 1).unwrap(), seed).unwrap());
        comes_back(&GrowingFilter::with_seed(GrowingLayout::new(1, 0.5).unwrap(), seed).unwrap());
    }
}

#[test]
fn structures_larger_than_a_chunk_come_back() {
    // A payload of more than two reads of 65536 bytes, and not a multiple of them.
    let mut bloom = BloomFilter::with_seed(BloomLayout::new(1_100_000, 3).unwrap(), 1).unwrap();
    let mut blocked = BlockedBloomFilter::with_seed(BlockedLayout::new(2500).unwrap(), 1).unwrap();
    let mut growing = GrowingFilter::with_seed(GrowingLayout::new(40_000, 0.01).unwrap(), 1).unwrap();
    for key in 0..100_000u64 {
        bloom.insert(&key);
        blocked.insert(&key);
        growing.insert(&key).unwrap();
    }
    for (kind, bytes) in [
        (Kind::Bloom, bloom.to_bytes()),
        (Kind::Blocked, blocked.to_bytes()),
        (Kind::Growing, growing.to_bytes()),
    ] {
        assert!(bytes.len() > 131_072, "{kind}");
        assert!(load_and_open(kind, &bytes).unwrap() == bytes, "{kind}");
    }
}

#[test]
fn views_answer_as_what_was_saved() {
    let samples = samples().map(|(_, bytes)| bytes);
    let [bloom_bytes, blocked_bytes, counting_bytes, count_min_bytes, growing_bytes, dleft_bytes] = &samples;
    let (bloom, blocked, counting, count_min, growing, dleft) =
        (bloom(), blocked(), counting(), count_min(), growing(), dleft());
    let bloom_view = <BloomView<'_>>::open(bloom_bytes).unwrap();
    let blocked_view = <BlockedView<'_>>::open(blocked_bytes).unwrap();
    let counting_view = <CountingView<'_>>::open(counting_bytes).unwrap();
    let count_min_view = <CountMinView<'_>>::open(count_min_bytes).unwrap();
    let growing_view = <GrowingView<'_>>::open(growing_bytes).unwrap();
    let dleft_view = <DLeftView<'_>>::open(dleft_bytes).unwrap();
    for key in 0..2000u64 {
        assert_eq!(bloom_view.contains(&key), bloom.contains(&key), "key {key}");
        assert_eq!(blocked_view.contains(&key), blocked.contains(&key), "key {key}");
        assert_eq!(counting_view.contains(&key), counting.contains(&key), "key {key}");
        assert_eq!(counting_view.count_at_most(&key), counting.count_at_most(&key), "key {key}");
        assert_eq!(count_min_view.estimate(&key), count_min.estimate(&key), "key {key}");
        assert_eq!(growing_view.contains(&key), growing.contains(&key), "key {key}");
        assert_eq!(dleft_view.contains(&key), dleft.contains(&key), "key {key}");
    }
    assert_eq!(bloom_view.false_positive_rate(), bloom.false_positive_rate());
    assert_eq!(blocked_view.false_positive_rate(), blocked.false_positive_rate());
    assert_eq!(counting_view.false_positive_rate(), counting.false_positive_rate());
    assert_eq!(growing_view.false_positive_rate(), growing.false_positive_rate());
    assert_eq!(dleft_view.false_positive_rate(), dleft.false_positive_rate());
    assert!(*bloom_view == bloom && *blocked_view == blocked && *counting_view == counting);
    assert!(*count_min_view == count_min && *growing_view == growing && *dleft_view == dleft);
    // A view is joined like any other filter.
    let mut joined: BloomFilter = BloomFilter::with_seed(bloom.layout(), bloom.digester().seed()).unwrap();
    joined.union(&bloom_view).unwrap();
    assert!(joined == bloom && counting_view.to_bloom().unwrap() == counting.to_bloom().unwrap());
}

#[test]
fn other_digesters_come_back_too() {
    let mut filter =
        BloomFilter::with_digester(BloomLayout::new(300, 3).unwrap(), Ideal::with_seed(9)).unwrap();
    filter.insert(&7u64);
    let bytes = filter.to_bytes();
    let loaded = BloomFilter::<Ideal>::from_bytes(&bytes).unwrap();
    assert!(loaded == filter && loaded.contains(&7u64));
    assert!(BloomFilter::<Portable>::from_bytes(&bytes).is_err());
}
