//! The growing filter against an exact set.

use std::collections::BTreeSet;

use oneread::filter::{BuildError, GrowingFilter, GrowingView, MergeError};
use oneread::layout::{GrowingLayout, LayoutError, Quantity};
use oneread::plan;
use proptest::prelude::*;

use crate::statistics::SIX_SIGMA;

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    InsertMany(Vec<u64>),
    Merge(Vec<u64>),
    Clear,
    SaveAndLoad,
}

const KEYS: u64 = 200;

fn step() -> impl Strategy<Value = Step> {
    let keys = || prop::collection::vec(0..KEYS, 0..80);
    prop_oneof![
        6 => (0..KEYS).prop_map(Step::Insert),
        2 => keys().prop_map(Step::InsertMany),
        2 => keys().prop_map(Step::Merge),
        1 => Just(Step::Clear),
        2 => Just(Step::SaveAndLoad),
    ]
}

fn filled(layout: GrowingLayout, seed: u64, keys: &[u64]) -> GrowingFilter {
    let mut filter = GrowingFilter::with_seed(layout, seed).unwrap();
    filter.insert_many(keys).unwrap();
    filter
}

proptest! {
    #[test]
    fn a_growing_filter_has_every_key_of_an_exact_set(
        first_items in 1u64..20,
        rate in 0.001f64..0.5,
        growth in 2u32..5,
        tightening in 0.3f64..0.9,
        seed: u64,
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let layout = GrowingLayout::new(first_items, rate).unwrap().with_growth(growth).unwrap();
        let layout = layout.with_tightening(tightening).unwrap();
        let mut filter = GrowingFilter::with_seed(layout, seed).unwrap();
        let mut exact = BTreeSet::new();
        // Merged keys may be counted in both filters.
        let mut counted_at_most = 0;
        for step in steps {
            match step {
                Step::Insert(key) => {
                    let (found, before, length) = (filter.contains(&key), exact.contains(&key), filter.len());
                    prop_assert!(found || !before, "a key was forgotten");
                    prop_assert_eq!(filter.insert(&key), Ok(found));
                    prop_assert_eq!(filter.len(), length + u64::from(!found), "only what is new takes room");
                    counted_at_most += u64::from(exact.insert(key));
                }
                Step::InsertMany(keys) => {
                    filter.insert_many(&keys).unwrap();
                    counted_at_most += keys.into_iter().filter(|key| exact.insert(*key)).count() as u64;
                }
                Step::Merge(keys) => {
                    counted_at_most += keys.iter().collect::<BTreeSet<_>>().len() as u64;
                    let other = filled(layout, seed, &keys);
                    let (lengths, layers) = (filter.len() + other.len(), filter.layers() + other.layers());
                    filter.merge(other).unwrap();
                    prop_assert_eq!(filter.len(), lengths);
                    prop_assert!(filter.layers() <= layers);
                    exact.extend(keys);
                }
                Step::Clear => {
                    filter.clear().unwrap();
                    exact.clear();
                    counted_at_most = 0;
                    prop_assert!(filter.is_empty() && filter.layers() == 1);
                    prop_assert!((0..KEYS).all(|key| !filter.contains(&key)));
                }
                Step::SaveAndLoad => {
                    let bytes = filter.to_bytes();
                    let loaded = GrowingFilter::from_bytes(&bytes).unwrap();
                    prop_assert!(loaded == filter);
                    prop_assert_eq!(loaded.to_bytes(), bytes.clone());
                    let view = GrowingView::open(&bytes).unwrap();
                    prop_assert!(*view == filter && (view.len(), view.layers()) == (filter.len(), filter.layers()));
                    for key in 0..2 * KEYS {
                        prop_assert_eq!(loaded.contains(&key), filter.contains(&key));
                        prop_assert_eq!(view.contains(&key), filter.contains(&key));
                    }
                    filter = loaded;
                }
            }
            prop_assert!(exact.iter().all(|key| filter.contains(key)), "a key was forgotten");
            prop_assert!(filter.len() <= counted_at_most);
            prop_assert_eq!(filter.is_empty(), exact.is_empty());
        }
    }
}

/// Grows a filter to the last of the sizes, and at each of them looks up all its keys and counts
/// false positives.
fn grows_at_the_asked_rate(sizes: &[u64], queries: u64) {
    const RATE: f64 = 0.01;
    let layout = GrowingLayout::new(1000, RATE).unwrap();
    let mut filter = GrowingFilter::with_seed(layout, 12).unwrap();
    let mut next = 0u64;
    for &size in sizes {
        for key in next..size {
            filter.insert(&key).unwrap();
        }
        next = size;
        assert!((0..size).all(|key| filter.contains(&key)), "a key was forgotten among {size}");
        // A new key that is a false positive takes no room: at most the rate of them.
        assert!(
            filter.len() <= size && filter.len() as f64 >= size as f64 * (1.0 - 2.0 * RATE),
            "{filter:?}"
        );
        let expected_layers = plan::growing::layers(layout, filter.len()).unwrap();
        assert_eq!(filter.layers(), expected_layers as usize, "{size} keys");

        let positives = (1 << 60..(1 << 60) + queries).filter(|key| filter.contains(key)).count() as f64;
        let measured = positives / queries as f64;
        // The standard deviation of a measured rate p is √(p/queries).
        let noise = SIX_SIGMA * (RATE / queries as f64).sqrt();
        // The sum over the layers exceeds the probability that any of them errs by at most half its
        // square. Few keys in a layer err up to 1% more often than the fill says: keys of one
        // filter are not independent.
        let stated = filter.false_positive_rate();
        assert!(measured < stated * 1.01 + noise, "{size} keys: measured {measured}, stated {stated}");
        assert!(
            measured > stated * (1.0 - stated / 2.0) - noise,
            "{size} keys: measured {measured}, stated {stated}"
        );
        // The first layer has 0.15 of the rate, which varies by 4.5% from filter to filter: the
        // fill of 13,500 bits by √(0.077/13500) = 0.0024 of 0.5, to the power of 9 or 10 hashes.
        // That is 0.68% of the whole. A layer above has 0.85 times the share and 1/√2 times the
        // variation: √(1 + 0.36 + 0.36² + …) = 1.25 times 0.68%, times six.
        let most = RATE * (1.0 + SIX_SIGMA * 0.0085) + noise;
        assert!(measured < most, "{size} keys: measured {measured}, asked for {RATE}");
    }
}

#[test]
fn the_asked_rate_holds_while_it_grows() {
    grows_at_the_asked_rate(&[0, 1, 1000, 10_000, 100_000, 300_000], 500_000);
}

#[test]
#[ignore = "16 s: the same up to ten million keys"]
fn the_asked_rate_holds_up_to_ten_million_keys() {
    grows_at_the_asked_rate(&[1000, 10_000, 100_000, 1_000_000, 10_000_000], 4_000_000);
}

#[test]
fn duplicates_take_no_room() {
    let layout = GrowingLayout::new(100, 0.01).unwrap();
    let keys: Vec<u64> = (0..5000).collect();
    let mut filter = filled(layout, 3, &keys);
    let before = filter.to_bytes();
    for key in &keys {
        assert_eq!(filter.insert(key), Ok(true));
    }
    filter.insert_many(&keys).unwrap();
    assert_eq!(filter.to_bytes(), before);
}

#[test]
fn layers_with_room_for_both_become_one() {
    let layout = GrowingLayout::new(1000, 0.01).unwrap();
    let mut filter = filled(layout, 1, &(0..400).collect::<Vec<_>>());
    filter.merge(filled(layout, 1, &(1000..1400).collect::<Vec<_>>())).unwrap();
    assert_eq!((filter.layers(), filter.len()), (1, 800));
    assert!((0..400).chain(1000..1400u64).all(|key| filter.contains(&key)));
    // The same keys in one filter have the same bits.
    assert!(filter == filled(layout, 1, &(0..400).chain(1000..1400).collect::<Vec<_>>()));
}

#[test]
fn layers_without_room_stand_side_by_side() {
    let layout = GrowingLayout::new(1000, 0.01).unwrap();
    let (mut filter, other) = (
        filled(layout, 1, &(0..900).collect::<Vec<_>>()),
        filled(layout, 1, &(1000..1800).collect::<Vec<_>>()),
    );
    let (rate, other_rate) = (filter.false_positive_rate(), other.false_positive_rate());
    let length = filter.len() + other.len();
    filter.merge(other).unwrap();
    assert_eq!((filter.layers(), filter.len()), (2, length));
    assert!((0..900).chain(1000..1800u64).all(|key| filter.contains(&key)));
    assert!((filter.false_positive_rate() - (rate + other_rate)).abs() < 1e-15, "rates add up");
    // New keys go to the emptier of the two, and then to a layer for 2000.
    let mut key = 1u64 << 40;
    while filter.layers() == 2 {
        filter.insert(&key).unwrap();
        key += 1;
    }
    let before = filter.to_bytes();
    assert!((900 + 1000..=900 + 1001).contains(&(filter.len())), "{}", filter.len());
    assert!(GrowingFilter::from_bytes(&before).unwrap() == filter);
}

/// A filter of one key, whose only layer is full, doubled by merging it with itself.
fn of_layers(doublings: u32) -> GrowingFilter {
    let layout = GrowingLayout::new(1, 0.01).unwrap();
    let mut filter = filled(layout, 1, &[0]);
    for _ in 0..doublings {
        filter.merge(filter.clone()).unwrap();
    }
    filter
}

#[test]
fn too_many_layers_are_not_joined() {
    // 2^12 = 4096 layers are the most.
    let mut filter = of_layers(12);
    assert_eq!(filter.layers(), 4096);
    let before = filter.to_bytes();
    assert_eq!(filter.merge(of_layers(0)), Err(MergeError::TooManyLayers));
    assert!(filter.to_bytes() == before, "nothing is changed");
}

/// A key inserted into a filter of the most layers once added one more, and the saved filter did
/// not load.
#[test]
fn a_filter_of_the_most_layers_takes_no_further_one() {
    let mut filter = of_layers(12);
    let before = filter.to_bytes();
    let absent = (1..100u64).find(|key| !filter.contains(key)).unwrap();
    let error = filter.insert(&absent).unwrap_err();
    assert_eq!(
        error,
        BuildError::Layout(LayoutError::TooLarge { what: Quantity::Layers, expected: 4096, found: 4097 })
    );
    assert!(filter.to_bytes() == before, "nothing is changed");
    assert!(GrowingFilter::from_bytes(&before).unwrap() == filter);
}

#[test]
fn a_set_that_outgrows_its_layout_is_an_error() {
    // Shares of the rate shrink by 10^200 per layer: the third is no longer a float above 0.
    let layout = GrowingLayout::new(2, 0.01).unwrap().with_tightening(1e-200).unwrap();
    let mut filter = GrowingFilter::with_seed(layout, 1).unwrap();
    let error = (0..100u64).find_map(|key| filter.insert(&key).err()).unwrap();
    assert_eq!(error, BuildError::Layout(LayoutError::Fraction { what: Quantity::Rate, found: 0.0 }));
    // Two layers, for two keys and for four.
    assert_eq!((filter.layers(), filter.len()), (2, 6));
    assert!(filter.insert_many(&(0..100u64).collect::<Vec<_>>()).is_err());
    assert_eq!(filter.len(), 6);
}

#[test]
fn filters_that_do_not_match_are_not_joined_and_not_changed() {
    let layout = GrowingLayout::new(100, 0.01).unwrap();
    let mut filter = filled(layout, 1, &[1, 2, 3]);
    let others = [
        (filled(GrowingLayout::new(101, 0.01).unwrap(), 1, &[9]), MergeError::Layouts),
        (filled(GrowingLayout::new(100, 0.02).unwrap(), 1, &[9]), MergeError::Layouts),
        (filled(layout.with_growth(3).unwrap(), 1, &[9]), MergeError::Layouts),
        (filled(layout.with_tightening(0.4).unwrap(), 1, &[9]), MergeError::Layouts),
        (filled(layout, 2, &[9]), MergeError::Digesters),
    ];
    for (other, error) in others {
        let before = filter.to_bytes();
        assert_eq!(filter.merge(other), Err(error));
        assert!(filter.to_bytes() == before, "{error}");
    }
}

#[test]
fn a_rate_is_a_fraction() {
    assert!(matches!(GrowingFilter::with_rate(2.0), Err(BuildError::Layout(LayoutError::Fraction { .. }))));
}

#[test]
fn debug_tells_rate_items_and_layers() {
    let filter = filled(GrowingLayout::new(1000, 0.01).unwrap(), 1, &[1, 2]);
    let bytes = filter.byte_len();
    assert_eq!(
        format!("{filter:?}"),
        format!("Growing {{ rate: 0.01, items: 2, layers: 1, bytes: {bytes}, .. }}")
    );
}

#[test]
fn a_filter_that_may_not_grow_further_says_so_and_is_not_changed() {
    let taken = super::growing_contract::keeps_to_its_bytes::<GrowingFilter>();
    assert!(taken >= 80, "{taken} keys of 100 planned");
}
