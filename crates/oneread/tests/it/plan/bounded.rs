//! The plan of a bounded map, against churned maps.

use oneread::hash::{Digester, Domain, reduce};
use oneread::layout::{BoundedLayout, LayoutError, Quantity};
use oneread::plan::bounded::{MAX_LOAD, churned, for_churn};
use oneread::table::BoundedMap;
use oneread::table::bounded::Region;
use oneread_study::hash::Ideal;

/// The mean fraction of keys outside their lines, and the mean number in the last level, over
/// several snapshots of a churned map.
fn simulated(layout: BoundedLayout) -> (f64, f64) {
    const SNAPSHOTS: u64 = 8;
    let items = layout.capacity();
    let mut map = BoundedMap::with_seed(layout, 1).unwrap();
    let random = |index: u64| Ideal::with_seed(2).digest(&index).word(Domain::new(0), 0);
    let mut keys: Vec<u64> = (0..items).collect();
    keys.iter().for_each(|&key| assert_eq!(map.insert(key, ()), Ok(None)));
    let (mut out, mut last) = (0, 0);
    let mut next = items;
    let mut churn = |map: &mut BoundedMap<u64, ()>, steps: u64| {
        for _ in 0..steps {
            let at = reduce(random(next), items) as usize;
            map.remove(&keys[at]).unwrap();
            keys[at] = next;
            assert_eq!(map.insert(next, ()), Ok(None));
            next += 1;
        }
    };
    churn(&mut map, 5 * items);
    for _ in 0..SNAPSHOTS {
        churn(&mut map, items);
        for key in map.keys() {
            match map.locate(key).location.unwrap() {
                Region::Home | Region::Neighbour => {}
                Region::LastLevel => (out, last) = (out + 1, last + 1),
                _ => out += 1,
            }
        }
    }
    (f64::from(out) / (SNAPSHOTS * items) as f64, f64::from(last) / SNAPSHOTS as f64)
}

#[test]
#[cfg_attr(miri, ignore = "millions of steps")]
fn the_plan_says_what_churned_maps_come_to() {
    for (items, lines, last) in [(60_000, 2200, 23), (60_000, 2062, 22), (60_000, 2010, 21)] {
        let layout = BoundedLayout::new(items, lines, last).unwrap();
        let plan = churned(&layout).unwrap();
        let (out, in_last) = simulated(layout);
        // At home-line loads of 0.85, 0.91 and 0.93, some 2%, 6% and 8% of the keys are spilled: at
        // least 1200, in eight nearly independent snapshots, so that they deviate by 0.01 of
        // themselves. The ten or more in the last level deviate by 0.1. Six deviations, and 2% and
        // 10% for the model.
        let planned = plan.last_line_mean() * last as f64;
        assert!((out / plan.out_of_line() - 1.0).abs() < 0.08, "{lines}: {out} {plan:?}");
        assert!(
            (in_last - planned).abs() < 0.1 * planned + 6.0 * (planned / 8.0).sqrt() + 1.0,
            "{lines}: {in_last} {planned}"
        );
    }
}

#[test]
fn rare_events_are_computed_as_such() {
    let plan = churned(&BoundedLayout::for_capacity(10_000_000).unwrap()).unwrap();
    // Four full lines, and 32 or more keys where 4.5 are expected: e^−4.5·4.5^32/32! = 3.3e-17 and
    // a sixth more, times 0.31^4.
    let p = plan.ln_stash_probability().exp();
    assert!((1e-20..1e-17).contains(&p), "{p:e}");
    let ever = plan.stash_ever(1e9);
    assert!((ever / (1e9 * p) - 1.0).abs() < 1e-6, "{ever:e}");
    assert_eq!(plan.stash_ever(1e40), 1.0);
    assert_eq!(plan.stash_ever(0.0), 0.0);
}

#[test]
fn what_no_plan_can_be_made_for_is_said() {
    let dense = BoundedLayout::new(31_000, 1000, 10).unwrap();
    let error = churned(&dense).unwrap_err();
    assert_eq!((error.what, error.at_most), ("load", MAX_LOAD));
    assert_eq!(for_churn(0, 1e-9), Err(LayoutError::Zero { what: Quantity::Items }));
    assert!(for_churn(1000, 0.0).is_err() && for_churn(1000, f64::NAN).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "many equations")]
fn the_smallest_last_level_is_found() {
    let layout = for_churn(1_000_000, 1e-12).unwrap();
    let p = |layout: &BoundedLayout| churned(layout).unwrap().ln_stash_probability();
    assert!(p(&layout) <= 1e-12f64.ln(), "{layout:?}");
    // 5% fewer would not suffice. (The result may have a line or two more than needed.)
    let fewer = BoundedLayout::new(1_000_000, layout.home_lines() + 8, layout.last_lines() - 8).unwrap();
    assert!(p(&fewer) > 1e-12f64.ln(), "{layout:?}");
}
