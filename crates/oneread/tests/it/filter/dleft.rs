//! The d-left filter against lists of fingerprints, and its rates against the paper's.

use oneread::bytes::Kind;
use oneread::filter::{AtomicDLeftFilter, BuildError, DLeftFilter, DLeftView, Full, MergeError};
use oneread::hash::{Digester, Domain, Portable};
use oneread::layout::{BucketBits, DLeftLayout, Division, LayoutError, Quantity, Semisort, Ties};
use oneread::plan;
use oneread_study::hash::Ideal;
use proptest::prelude::*;

use super::{BATCH_LENGTHS, payload};
use crate::statistics::SIX_SIGMA;

const BITS64: BucketBits = BucketBits::Bits64;
const BITS128: BucketBits = BucketBits::Bits128;

/// The default filter by `docs/format.md`: whole fingerprints in lists, shortened when compared.
struct Model {
    buckets: Vec<Vec<u64>>,
    /// The start and size of each sub-table; the same in each page.
    subtables: Vec<(u64, u64)>,
    pages: Option<u64>,
    digester: Portable,
}

impl Model {
    fn new(layout: DLeftLayout, seed: u64) -> Self {
        let mut start = 0;
        let subtable = |&size: &u64| {
            start += size;
            (start - size, size)
        };
        let subtables = layout.buckets().iter().map(subtable).collect();
        let buckets = vec![Vec::new(); (layout.byte_len() / 8) as usize];
        Self { buckets, subtables, pages: layout.pages(), digester: Portable::with_seed(seed) }
    }

    fn choices(&self, key: u64) -> (Vec<usize>, u64) {
        let digest = self.digester.digest(&key);
        let word = |index| digest.word(Domain::DLEFT, index);
        let scaled = |word: u64, size: u64| ((u128::from(word) * u128::from(size)) >> 64) as u64;
        if let Some(pages) = self.pages {
            let bits = word(0);
            let page = 512 * scaled(bits, pages);
            let buckets = [bits % 65536 * 254 / 65536, 254 + bits / 65536 % 128, 382 + (bits >> 23) % 128];
            (buckets.iter().map(|bucket| (page + bucket) as usize).collect(), word(1))
        } else {
            let of = |(subtable, &(start, size)): (u32, &(u64, u64))| {
                (start + scaled(word(subtable), size)) as usize
            };
            ((0..).zip(&self.subtables).map(of).collect(), word(self.subtables.len() as u32))
        }
    }

    /// What a bucket of a load keeps of a fingerprint: its first bits, and at loads 4 and 5 the
    /// sixteenth.
    fn kept(fingerprint: u64, load: usize) -> (u64, u64) {
        let sixteenth = if load == 4 || load == 5 { fingerprint >> 48 & 1 } else { 0 };
        (fingerprint >> (64 - 60 / load), sixteenth)
    }

    fn contains(&self, key: u64) -> bool {
        let (buckets, fingerprint) = self.choices(key);
        buckets.iter().any(|&bucket| {
            let list = &self.buckets[bucket];
            list.iter().any(|&other| Self::kept(other, list.len()) == Self::kept(fingerprint, list.len()))
        })
    }

    fn insert(&mut self, key: u64) -> Result<bool, Full> {
        if self.contains(key) {
            return Ok(true);
        }
        let (buckets, fingerprint) = self.choices(key);
        let least = buckets.into_iter().min_by_key(|&bucket| self.buckets[bucket].len()).unwrap();
        if self.buckets[least].len() == 6 {
            return Err(Full);
        }
        self.buckets[least].push(fingerprint);
        Ok(false)
    }
}

fn usual_layouts() -> Vec<DLeftLayout> {
    vec![
        DLeftLayout::new(2, 7, BITS64).unwrap(),
        DLeftLayout::new(3, 5, BITS64).unwrap(),
        DLeftLayout::new(4, 3, BITS64).unwrap(),
        DLeftLayout::uneven(&[8, 4, 4], BITS64).unwrap(),
        DLeftLayout::paged(1, BITS64).unwrap(),
        DLeftLayout::paged(3, BITS64).unwrap(),
    ]
}

/// Every combination of a layout's policies, small.
fn all_layouts() -> Vec<DLeftLayout> {
    let mut layouts = usual_layouts();
    for bits in [BITS64, BITS128] {
        let layout = DLeftLayout::new(3, 16, bits).unwrap();
        for semisort in [Semisort::None, Semisort::One, Semisort::Paper] {
            let layout = layout.with_semisort(semisort);
            layouts.push(layout.with_ties(Ties::Random));
            layouts.push(layout.with_division(Division::Fixed));
            layouts.push(layout.with_group(2).unwrap());
            layouts.push(layout.with_group(4).unwrap().with_division(Division::Uneven));
        }
    }
    layouts.push(DLeftLayout::paged(2, BITS128).unwrap());
    layouts
}

/// Fills a filter until it is full, and returns the keys.
fn fill(filter: &mut DLeftFilter, most: u64) -> Vec<u64> {
    (0..most).take_while(|key| filter.insert(key).is_ok()).collect()
}

proptest! {
    #[test]
    fn answers_are_those_of_lists_of_fingerprints(
        layout in prop::sample::select(usual_layouts()),
        seed in any::<u64>(),
        // Enough of them to fill a small filter.
        keys in prop::collection::vec(0u64..4000, 0..400),
    ) {
        let mut filter = DLeftFilter::with_seed(layout, seed).unwrap();
        let mut model = Model::new(layout, seed);
        for key in keys {
            prop_assert_eq!(filter.contains(&key), model.contains(key));
            prop_assert_eq!(filter.insert(&key), model.insert(key));
        }
        for key in 0..4000 {
            prop_assert_eq!(filter.contains(&key), model.contains(key));
        }
        let count = model.buckets.iter().map(Vec::len).sum::<usize>() as u64;
        prop_assert_eq!(filter.fingerprints(), count);
    }

    #[test]
    fn nothing_is_forgotten(layout in prop::sample::select(all_layouts()), seed in any::<u64>()) {
        let mut filter = DLeftFilter::with_seed(layout, seed).unwrap();
        let keys = fill(&mut filter, 3000);
        prop_assert!(keys.iter().all(|key| filter.contains(key)));
        let before = filter.clone();
        if keys.len() < 3000 {
            prop_assert_eq!(filter.insert(&(keys.len() as u64)), Err(Full));
        }
        prop_assert_eq!(&filter, &before);
        // Saving, loading and viewing preserve it.
        let bytes = filter.to_bytes();
        prop_assert_eq!(&<DLeftFilter>::from_bytes(&bytes).unwrap(), &filter);
        let view: DLeftView<'_> = DLeftView::open(&bytes).unwrap();
        view.verify().unwrap();
        prop_assert!((0..5000u64).all(|key| view.contains(&key) == filter.contains(&key)));
        prop_assert_eq!(view.fingerprints(), filter.fingerprints());
        filter.clear();
        prop_assert!(filter.is_empty() && !filter.contains(&0));
    }

    #[test]
    fn a_union_has_the_keys_of_both(layout in prop::sample::select(all_layouts()), seed in any::<u64>()) {
        let mut both = [0u64, 1].map(|_| DLeftFilter::with_seed(layout, seed).unwrap());
        let half = layout.total_buckets();
        for key in 0..2 * half {
            // Half full or less, so that there is room for most unions.
            both[(key % 2) as usize].insert(&key).ok();
        }
        let [mut one, other] = both;
        let before = one.clone();
        let kept: Vec<u64> = (0..2 * half).filter(|key| one.contains(key) || other.contains(key)).collect();
        match one.union(&other) {
            Ok(()) => {
                prop_assert!(kept.iter().all(|key| one.contains(key)));
                // Joined buckets were once out of the order that insertions rely on, which then
                // lost keys.
                let more: Vec<u64> =
                    (0..half).map(|key| key | 1 << 40).filter(|key| one.insert(key).is_ok()).collect();
                prop_assert!(kept.iter().chain(&more).all(|key| one.contains(key)));
            }
            Err(error) => {
                prop_assert_eq!(error, MergeError::Full);
                prop_assert_eq!(one, before);
            }
        }
    }
}

#[test]
fn batches_answer_as_single_operations_do() {
    for layout in [plan::dleft::for_items(1000, 16.0).unwrap(), plan::dleft::for_items(40_000, 16.0).unwrap()]
    {
        for count in BATCH_LENGTHS {
            let keys: Vec<u64> = (0..count).map(|key| key * 7 % 900).collect();
            let (mut single, mut batch) =
                (DLeftFilter::with_seed(layout, 3).unwrap(), DLeftFilter::with_seed(layout, 3).unwrap());
            keys.iter().for_each(|key| _ = single.insert(key).unwrap());
            batch.insert_many(&keys).unwrap();
            let atomic = AtomicDLeftFilter::try_from(DLeftFilter::with_seed(layout, 3).unwrap()).unwrap();
            atomic.insert_many(&keys).unwrap();
            assert_eq!((&single, &single), (&batch, &DLeftFilter::from(atomic)));
            let mut answers = Vec::new();
            let asked: Vec<u64> = (0..count).collect();
            batch.contains_many(&asked, |answer| answers.push(answer));
            assert!(asked.iter().map(|key| single.contains(key)).eq(answers));
        }
    }
    let mut tiny = DLeftFilter::with_seed(DLeftLayout::new(2, 1, BITS64).unwrap(), 3).unwrap();
    assert_eq!(tiny.insert_many(&(0..100u64).collect::<Vec<_>>()), Err(Full));
    assert_eq!(tiny.fingerprints(), 12);
}

#[test]
fn threads_lose_nothing() {
    let layout = plan::dleft::for_items(40_000, 16.0).unwrap();
    let filter = AtomicDLeftFilter::try_from(DLeftFilter::with_seed(layout, 5).unwrap()).unwrap();
    // All threads insert into the same buckets, and each sees its own keys from then on.
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let filter = &filter;
            scope.spawn(move || {
                for key in (0..40_000).filter(|key| key % 4 == thread) {
                    filter.insert(&key).unwrap();
                    assert!(filter.contains(&key));
                }
            });
        }
    });
    assert!((0..40_000u64).all(|key| filter.contains(&key)));
    let plain = DLeftFilter::from(filter);
    assert!((0..40_000u64).all(|key| plain.contains(&key)));
    // Keys that were false positives have no fingerprint: at most four in ten thousand.
    assert!((39_900..=40_000).contains(&plain.fingerprints()));
}

#[test]
fn only_single_words_can_be_swapped() {
    let filter = DLeftFilter::with_seed(DLeftLayout::new(3, 16, BITS128).unwrap(), 5).unwrap();
    assert!(AtomicDLeftFilter::try_from(filter).is_err());
}

#[test]
fn layouts_beyond_the_structure_are_refused() {
    let error = |layout| DLeftFilter::with_seed(layout, 1).unwrap_err();
    let five = error(DLeftLayout::new(5, 16, BITS64).unwrap());
    assert_eq!(
        five,
        BuildError::Layout(LayoutError::TooLarge {
            what: Quantity::SubtablesOfFilter,
            expected: 4,
            found: 5
        })
    );
    error(DLeftLayout::new(3, 16, BITS64).unwrap().with_group(8).unwrap());
    error(DLeftLayout::paged(2, BITS64).unwrap().with_group(2).unwrap());
    assert!(DLeftLayout::paged(0, BITS64).is_err() && DLeftLayout::paged(1 << 40, BITS64).is_err());
    for bits in [f64::NAN, 0.0, 14.0, f64::INFINITY, 1e300] {
        assert!(plan::dleft::for_items(1 << 50, bits).is_err());
    }
    for rate in [f64::NAN, 0.0, 1.0, -1.0] {
        assert!(plan::dleft::for_rate(1000, rate).is_err());
    }
    // The smallest filter suffices for no keys.
    assert!(DLeftFilter::with_seed(plan::dleft::for_items(0, 16.0).unwrap(), 1).unwrap().is_empty());
}

/// A union once took the checksums of a view's pages for buckets.
#[test]
fn a_paged_view_is_joined_and_compared_like_any_other_filter() {
    for bits in [BITS64, BITS128] {
        let layout = DLeftLayout::paged(3, bits).unwrap();
        let mut filters = [0u64, 1].map(|_| DLeftFilter::with_seed(layout, 7).unwrap());
        (0..1500u64).for_each(|key| _ = filters[(key % 2) as usize].insert(&key).unwrap());
        let [mut one, other] = filters;
        let bytes = other.to_bytes();
        let view: DLeftView<'_> = DLeftView::open(&bytes).unwrap();
        assert!(*view == other && *view != one);
        one.union(&view).unwrap();
        assert!((0..1500u64).all(|key| one.contains(&key)));
        assert_eq!(<DLeftFilter>::from_bytes(&one.to_bytes()).unwrap(), one);
    }
}

#[test]
fn merging_needs_equal_layouts_and_seeds() {
    let layout = DLeftLayout::new(3, 16, BITS64).unwrap();
    let mut filter = DLeftFilter::with_seed(layout, 1).unwrap();
    let other = DLeftFilter::with_seed(layout, 2).unwrap();
    assert_eq!(filter.union(&other), Err(MergeError::Digesters));
    let other = DLeftFilter::with_seed(DLeftLayout::new(3, 17, BITS64).unwrap(), 1).unwrap();
    assert_eq!(filter.union(&other), Err(MergeError::Layouts));
}

#[test]
fn forged_headers_are_refused() {
    let mut filter = DLeftFilter::with_seed(DLeftLayout::new(3, 5, BITS64).unwrap(), 4).unwrap();
    filter.insert("key").unwrap();
    let bytes = filter.to_bytes();
    assert_eq!(Kind::of(&bytes).unwrap(), Kind::DLeft);
    assert_eq!(payload(&filter).len(), 15 * 8);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(<DLeftFilter>::from_bytes(&damaged).is_err(), "byte {at}");
        assert!(<DLeftFilter>::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        assert!(<DLeftView<'_>>::open(&bytes[..at]).is_err(), "cut at {at}");
    }
}

/// The false-positive rates of several filters, by their buckets: the mean and its standard error.
fn mean_rate(filters: u64, mut build: impl FnMut(u64) -> f64) -> (f64, f64) {
    let rates: Vec<f64> = (0..filters).map(&mut build).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
    (mean, (variance / rates.len() as f64).sqrt())
}

/// A filter of `items` ideal digests.
fn of_items(layout: DLeftLayout, items: u64, seed: u64) -> DLeftFilter<Ideal> {
    let digester = Ideal::with_seed(seed);
    let mut filter = DLeftFilter::with_digester(layout, digester).unwrap();
    (0..items).for_each(|key: u64| filter.insert_again(digester.digest(&key)).unwrap());
    filter
}

/// Asserts that the rates of real filters agree with a figure: within six standard errors, plus a
/// thousandth for figures of four digits, limits for many buckets and the paper's formula (1).
#[track_caller]
fn agrees(layout: DLeftLayout, items: u64, filters: u64, expected: f64) {
    let (mean, error) = mean_rate(filters, |seed| of_items(layout, items, seed).false_positive_rate());
    assert!(error < 0.02 * expected, "{error:e}: too few filters to say anything");
    let z = ((mean / expected - 1.0).abs() - 1e-3).max(0.0) * expected / error;
    assert!(z < SIX_SIGMA, "{mean:e} ± {error:e}, expected {expected:e}");
}

#[test]
fn rates_are_those_of_the_paper_for_64_bit_buckets() {
    let layout = DLeftLayout::new(3, 4096, BITS64).unwrap();
    agrees(layout, 49152, 20, 4.4772e-4);
    agrees(layout.with_semisort(Semisort::None), 49152, 5, 8.9372e-4);
    agrees(layout.with_group(4).unwrap(), 49152, 3, 3.5209e-4);
    // Once planned as an equal division, at 3.521e-4: filters of an uneven one measured 3.249e-4.
    let uneven = layout.with_group(4).unwrap().with_division(Division::Uneven);
    let planned = plan::dleft::plan(uneven, 4.0).unwrap().false_positive;
    assert!((planned / 3.249e-4 - 1.0).abs() < 0.003, "{planned:e}");
    agrees(uneven, 49152, 10, planned);
    for group in [2, 3] {
        let uneven = layout.with_group(group).unwrap().with_division(Division::Uneven);
        let load = 49152.0 / uneven.total_buckets() as f64;
        agrees(uneven, 49152, 5, plan::dleft::plan(uneven, load).unwrap().false_positive);
    }
    // Twelve fingerprints of ten bits in a key's buckets, on average: 1 − (1 − 2^−10)^12.
    agrees(layout.with_division(Division::Fixed).with_semisort(Semisort::None), 49152, 3, 0.011656);
}

#[test]
fn rates_are_those_of_the_paper_for_128_bit_buckets() {
    // 6.4 items per bucket.
    let layout = DLeftLayout::new(3, 2560, BITS128).unwrap();
    agrees(layout.with_semisort(Semisort::One), 49152, 3, 4.2575e-5);
    agrees(layout, 49152, 3, 2.2430e-5);
}

#[test]
fn rates_follow_the_load() {
    let layout = DLeftLayout::new(3, 1024, BITS64).unwrap();
    let planned = |load| plan::dleft::plan(layout, load).unwrap().false_positive;
    for load in [2.0, 3.0, 4.4] {
        agrees(layout, (load * 3072.0) as u64, 10, planned(load));
    }
    // At one item per bucket an eighth of the rate comes from buckets of three; these filters have
    // half a bucket of three on average.
    let (mean, _) = mean_rate(10, |seed| of_items(layout, 3072, seed).false_positive_rate());
    assert!((0.8..2.0).contains(&(mean / planned(1.0))), "{mean:e}, planned {:e}", planned(1.0));
}

#[test]
fn uneven_sub_tables_and_pages_err_as_planned() {
    let spread = DLeftLayout::uneven(&[6144, 3072, 3072], BITS64).unwrap();
    let planned = plan::dleft::plan(spread, 4.0).unwrap().false_positive;
    // By simulation elsewhere: 3.96e-4.
    assert!((planned / 3.96e-4 - 1.0).abs() < 0.005, "{planned:e}");
    agrees(spread, 49152, 10, planned);
    let paged = DLeftLayout::paged(64, BITS64).unwrap();
    let planned = plan::dleft::plan(paged, 4.0).unwrap().false_positive;
    let (mean, error) = mean_rate(10, |seed| of_items(paged, 4 * 64 * 510, seed).false_positive_rate());
    // A page has few buckets, so the limit for many is 1.3/510 too high.
    assert!(
        (mean - planned * (1.0 - 1.3 / 510.0)).abs() < SIX_SIGMA * error + 2e-3 * planned,
        "{mean:e} {planned:e}"
    );
}

#[test]
fn absent_keys_are_found_at_the_rate_that_the_buckets_say() {
    let layout = plan::dleft::for_items(100_000, 16.0).unwrap();
    let mut filter = DLeftFilter::with_seed(layout, 9).unwrap();
    // Consecutive keys, as in practice.
    (0..100_000u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let queries = 10_000_000u64;
    let found = (1 << 40..(1 << 40) + queries).filter(|key: &u64| filter.contains(key)).count() as f64;
    let expected = filter.false_positive_rate() * queries as f64;
    assert!((found - expected).abs() < SIX_SIGMA * expected.sqrt(), "{found} found, {expected} expected");
}
