//! Arbitrary bytes are refused, or load as a structure that answers, encodes to the same bytes and
//! can be changed.
//!
//! The first byte chooses between the bytes as they are, and a valid file with some words changed
//! and valid checksums.
#![no_main]

use std::sync::LazyLock;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use oneread::bytes::{Kind, Saved};
use oneread::filter::{
    BlockedBloomFilter, BlockedView, BloomFilter, BloomView, CountMinSketch, CountMinView,
    CountingBloomFilter, CountingView, DLeftCountingFilter, DLeftCountingView, DLeftFilter, DLeftView,
    GrowingDLeftCountingFilter, GrowingDLeftCountingView, GrowingFilter, GrowingLineFilter, GrowingLineView,
    GrowingView, LineFilter, LineView, PlacedFilter, PlacedView,
};
use oneread::hash::{Digester, Portable};
use oneread::layout::{
    BlockedLayout, BloomLayout, BucketBits, CountMinLayout, CountingCellsLayout, CountingFiltersLayout,
    CountingLayout, DLeftCountingLayout, DLeftLayout, GrowingLayout, InterpolationLayout, LineLayout,
    ListLayout, MultipleFiltersLayout, Remainders, SingleFilterLayout,
};
use oneread::summary::{
    CountingMultiFilterSummary, CountingMultiFilterView, CountingSingleFilterSummary,
    CountingSingleFilterView, InterpolationSummary, InterpolationView, MultiFilterSummary, MultiFilterView,
    SingleFilterSummary, SingleFilterView, Summary,
};
use xxhash_rust::xxh3::xxh3_64;

const HEADER: usize = 128;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut bloom = BloomFilter::with_seed(BloomLayout::new(300, 3).unwrap(), 1).unwrap();
    let mut blocked = BlockedBloomFilter::with_seed(BlockedLayout::new(2).unwrap(), 1).unwrap();
    let mut counting = CountingBloomFilter::with_seed(CountingLayout::new(100, 3, 3).unwrap(), 1).unwrap();
    let mut count_min = CountMinSketch::with_seed(CountMinLayout::new(11, 3).unwrap(), 1).unwrap();
    let mut growing = GrowingFilter::with_seed(GrowingLayout::new(8, 0.05).unwrap(), 1).unwrap();
    for key in 0..40u64 {
        bloom.insert(&key);
        blocked.insert(&key);
        counting.insert(&key);
        count_min.add(&key, key);
        growing.insert(&key).unwrap();
    }
    let mut files = summaries();
    files.extend(d_left());
    files.extend([bloom.to_bytes(), blocked.to_bytes(), counting.to_bytes()]);
    files.extend([count_min.to_bytes(), growing.to_bytes()]);
    files
});

/// Files of every kind of d-left filter, of placed fingerprints, and of line filters.
fn d_left() -> Vec<Vec<u8>> {
    let small = DLeftLayout::uneven(&[8, 4, 4], BucketBits::Bits64).unwrap();
    let large = DLeftLayout::new(3, 4, BucketBits::Bits128).unwrap();
    let layouts = [small, large, small.with_group(4).unwrap(), large.with_group(2).unwrap()];
    let mut files = Vec::from(layouts.map(|layout| {
        let mut filter = DLeftFilter::with_seed(layout, 1).unwrap();
        (0..40u64).for_each(|key| _ = filter.insert(&key).unwrap());
        filter.to_bytes()
    }));
    let counting = DLeftCountingLayout::new(3, 4).unwrap();
    let two_sizes = counting.with_counter_bits(2).unwrap().with_remainders(Remainders::TwoSizes).unwrap();
    let fixed = counting.with_remainders(Remainders::Fixed).unwrap();
    files.extend([counting, counting.with_capacity(12).unwrap(), two_sizes, fixed].map(|layout| {
        let mut filter = DLeftCountingFilter::with_seed(layout, 1).unwrap();
        (0..50u64).for_each(|key| _ = filter.insert(&(key % 45)).unwrap());
        filter.to_bytes()
    }));
    let mut growing = GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(8, 0.05).unwrap(), 1).unwrap();
    (0..100u64).for_each(|key| _ = growing.insert(&key).unwrap());
    let digests = (0..40u64).map(|key| Portable::with_seed(1).digest(&key));
    let placed = PlacedFilter::from_digests(digests, 11, Portable::with_seed(1)).unwrap();
    files.extend([growing.to_bytes(), placed.to_bytes()]);
    let mut growing = GrowingLineFilter::with_seed(GrowingLayout::new(8, 0.05).unwrap(), 1).unwrap();
    (0..200u64).for_each(|key| _ = growing.insert(&key).unwrap());
    files.push(growing.to_bytes());
    files.extend(LineLayout::REMAINDER_BITS.map(|bits| {
        let mut filter = LineFilter::with_seed(LineLayout::new(bits, 2).unwrap(), 1).unwrap();
        (0..70u64).for_each(|key| _ = filter.insert(&key));
        filter.to_bytes()
    }));
    files
}

/// A file of each kind of summary, most with three levels.
fn summaries() -> Vec<Vec<u8>> {
    fn filled<S: Summary + Saved>(mut summary: S) -> Vec<u8> {
        (0..30u64).for_each(|key| _ = summary.insert(Portable::with_seed(1).digest(&key), key as usize % 3));
        summary.to_bytes()
    }
    let filters = MultipleFiltersLayout::new([(200, 3), (100, 5)]).unwrap();
    let filters = filters.with_list(ListLayout::new(1, 12, 20).unwrap()).unwrap();
    let cells = SingleFilterLayout::new(60, 4).unwrap();
    let strings = InterpolationLayout::new(30).unwrap();
    let counting = CountingCellsLayout::new(cells, [3, 2, 1]).unwrap();
    vec![
        filled(MultiFilterSummary::with_seed(filters.clone(), 1).unwrap()),
        filled(CountingMultiFilterSummary::with_seed(CountingFiltersLayout::usual(filters), 1).unwrap()),
        filled(SingleFilterSummary::with_seed(cells, 5, 1).unwrap()),
        filled(CountingSingleFilterSummary::with_seed(counting, 1).unwrap()),
        filled(InterpolationSummary::with_seed(strings, 3, 1).unwrap()),
        filled(InterpolationSummary::in_blocks(strings, 3, 128, Portable::with_seed(1)).unwrap()),
    ]
}

/// Changes to one of the files.
#[derive(Arbitrary, Debug)]
struct Forged {
    file: u8,
    /// Words of the file by number, and their new values.
    words: Vec<(u8, u64)>,
    /// Bytes to add to the payload or remove from it.
    length: i8,
    /// Whether the length in the header follows.
    announced: bool,
    /// Whether to recompute the checksums.
    sealed: bool,
}

impl Forged {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = FILES[usize::from(self.file) % FILES.len()].clone();
        let length = bytes.len().saturating_add_signed(self.length.into()).max(HEADER);
        bytes.resize(length, 0);
        if self.announced {
            put(&mut bytes, 32, (length - HEADER) as u64);
        }
        for &(word, value) in &self.words {
            let at = 8 * usize::from(word);
            if at + 8 <= bytes.len() {
                put(&mut bytes, at, value);
            }
        }
        if self.sealed {
            let payload = xxh3_64(&bytes[HEADER..]);
            put(&mut bytes, 40, payload);
            let header = xxh3_64(&[&bytes[..56], &bytes[64..HEADER]].concat());
            put(&mut bytes, 56, header);
        }
        bytes
    }
}

fn put(bytes: &mut [u8], at: usize, field: u64) {
    bytes[at..at + 8].copy_from_slice(&field.to_le_bytes());
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, rest)) = input.split_first() else { return };
    if choice % 2 == 0 {
        load(rest);
    } else if let Ok(forged) = Forged::arbitrary(&mut Unstructured::new(rest)) {
        load(&forged.bytes());
    }
});

/// Loads and views the bytes as every kind; both must agree.
fn load(bytes: &[u8]) {
    let kind = Kind::of(bytes).ok();
    // A view opens before it verifies, so its validity is known only after `verify`.
    macro_rules! views {
        ($view:ident, $ask:ident) => {
            <$view<'_>>::open(bytes).is_ok_and(|view| {
                (0..20u64).for_each(|key| _ = view.$ask(&key));
                view.verify().is_ok()
            })
        };
    }
    macro_rules! loads {
        ($filter:ident, $view:ident, $ask:ident, $kind:ident, $change:expr) => {
            let loaded = <$filter>::from_bytes(bytes);
            let streamed = <$filter>::load(bytes);
            assert_eq!(loaded.is_ok(), views!($view, $ask), "{}", Kind::$kind);
            match loaded {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(mut filter) => {
                    assert_eq!(kind, Some(Kind::$kind));
                    assert!(streamed.is_ok());
                    assert_eq!(filter.to_bytes(), bytes);
                    assert!(!format!("{filter:?}").is_empty());
                    (0..20u64).for_each(|key| _ = filter.$ask(&key));
                    #[allow(clippy::redundant_closure_call)]
                    $change(&mut filter);
                    let saved = filter.to_bytes();
                    assert!(<$filter>::from_bytes(&saved).unwrap() == filter);
                }
            }
        };
    }
    loads!(BloomFilter, BloomView, contains, Bloom, |filter: &mut BloomFilter| {
        filter.union(&filter.clone()).unwrap();
        (0..20u64).for_each(|key| _ = filter.insert(&key));
        assert!((0..20u64).all(|key| filter.contains(&key)));
    });
    loads!(BlockedBloomFilter, BlockedView, contains, Blocked, |filter: &mut BlockedBloomFilter| {
        filter.union(&filter.clone()).unwrap();
        (0..20u64).for_each(|key| _ = filter.insert(&key));
        assert!((0..20u64).all(|key| filter.contains(&key)));
    });
    loads!(CountingBloomFilter, CountingView, contains, Counting, |filter: &mut CountingBloomFilter| {
        (0..20u64).for_each(|key| _ = filter.remove(&key));
        filter.union(&filter.clone()).unwrap();
        (0..20u64).for_each(|key| _ = filter.insert(&key));
        assert!((0..20u64).all(|key| filter.contains(&key)));
        (0..20u64).for_each(|key| filter.remove(&key).unwrap());
    });
    loads!(CountMinSketch, CountMinView, estimate, CountMin, |sketch: &mut CountMinSketch| {
        _ = sketch.merge(&sketch.clone());
        (0..20u64).for_each(|key| sketch.add(&key, u64::MAX / 3));
        assert!((0..20u64).all(|key| sketch.estimate(&key) >= u64::MAX / 3));
    });
    loads!(GrowingFilter, GrowingView, contains, Growing, |filter: &mut GrowingFilter| {
        _ = filter.merge(filter.clone());
        // The next layer of a forged filter may exceed memory. So this inserts only where bits per
        // key and rates are usual.
        let layout = filter.layout();
        let usual = layout.growth() < 10 && layout.rate() > 1e-6 && layout.tightening() > 0.5;
        if usual && filter.len() <= 8 * filter.byte_len() as u64 {
            (0..20u64).for_each(|key| assert!(filter.insert(&key).is_err() || filter.contains(&key)));
        }
        assert!(filter.false_positive_rate() <= 1.0 && filter.len() < u64::MAX);
    });
    loads!(DLeftFilter, DLeftView, contains, DLeft, |filter: &mut DLeftFilter| {
        _ = filter.union(&filter.clone());
        (0..20u64).for_each(|key| assert!(filter.insert(&key).is_err() || filter.contains(&key)));
        assert!(filter.false_positive_rate() <= 1.0);
    });
    loads!(
        DLeftCountingFilter,
        DLeftCountingView,
        contains,
        DLeftCounting,
        |filter: &mut DLeftCountingFilter| {
            (0..20u64).for_each(|key| assert!(filter.insert(&key).is_err() || filter.contains(&key)));
            (0..20u64).for_each(|key| _ = filter.remove(&key));
            assert!(filter.false_positive_rate() <= 1.0);
        }
    );
    loads!(
        GrowingDLeftCountingFilter,
        GrowingDLeftCountingView,
        contains,
        GrowingDLeftCounting,
        |filter: &mut GrowingDLeftCountingFilter| {
            // As above: the next layer may exceed memory.
            let layout = filter.layout();
            let usual = layout.growth() < 10 && layout.rate() > 1e-6 && layout.tightening() > 0.5;
            if usual && layout.first_items() < 1000 && filter.layers() < 10 {
                (0..20u64).for_each(|key| assert!(filter.insert(&key).is_err() || filter.contains(&key)));
            }
            (0..40u64).for_each(|key| _ = filter.remove(&key));
            assert!(filter.false_positive_rate() <= 1.0);
        }
    );
    loads!(PlacedFilter, PlacedView, contains, Placed, |filter: &mut PlacedFilter| {
        assert!(filter.false_positive_rate() <= 1.0 && filter.len() <= filter.cells());
    });
    loads!(LineFilter, LineView, contains, Line, |filter: &mut LineFilter| {
        _ = filter.union(&filter.clone());
        (0..20u64).for_each(|key| assert!(filter.insert(&key).is_err() || filter.contains(&key)));
        (0..40u64).for_each(|key| _ = filter.remove(&key));
        assert!(filter.false_positive_rate() <= 1.0);
    });
    loads!(GrowingLineFilter, GrowingLineView, contains, GrowingLine, |filter: &mut GrowingLineFilter| {
        // The next layer may exceed memory.
        (0..20u64)
            .for_each(|key| assert!(filter.insert_within(&key, 1 << 24).is_err() || filter.contains(&key)));
        (0..40u64).for_each(|key| _ = (filter.remove(&key), filter.count(&key)));
        assert!(filter.false_positive_rate() <= 1.0);
    });
    load_summary::<MultiFilterSummary>(bytes, Some(views!(MultiFilterView, levels_of)));
    load_summary::<SingleFilterSummary>(bytes, Some(views!(SingleFilterView, levels_of)));
    load_summary::<CountingMultiFilterSummary>(bytes, Some(views!(CountingMultiFilterView, levels_of)));
    load_summary::<CountingSingleFilterSummary>(bytes, Some(views!(CountingSingleFilterView, levels_of)));
    load_summary::<InterpolationSummary>(bytes, Some(views!(InterpolationView, levels_of)));
}

/// A summary loads if and only if its view opens, where it has one. A loaded summary answers,
/// encodes to the same bytes and keeps its contract.
fn load_summary<S: Summary + Saved + std::fmt::Debug>(bytes: &[u8], viewed: Option<bool>) {
    let loaded = S::from_bytes(bytes);
    assert!(viewed.is_none_or(|viewed| viewed == loaded.is_ok()), "{}", S::KIND);
    let Ok(mut summary) = loaded else { return };
    assert!(S::load(bytes).is_ok());
    assert_eq!(summary.to_bytes(), bytes);
    assert!(!format!("{summary:?}").is_empty());
    for key in 0..20u64 {
        let (digest, level) = (Portable::with_seed(2).digest(&key), key as usize % summary.level_count());
        if summary.insert(digest, level).is_ok() {
            assert!(summary.lookup(digest).contains(level));
            _ = summary.relocate(digest, level, 0);
            _ = summary.remove(digest, 0);
        }
    }
    let saved = summary.to_bytes();
    assert_eq!(S::from_bytes(&saved).unwrap().to_bytes(), saved);
}
