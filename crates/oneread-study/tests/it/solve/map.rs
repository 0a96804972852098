//! The smallest maps.

use oneread::plan::solve::{Target, Unsolved};
use oneread_study::solve::{self, MapTargets};
use rand_pcg::Pcg64Mcg;

use super::between;
use crate::plan::below;

#[test]
fn random_maps_meet_their_targets() {
    let mut rng = Pcg64Mcg::new(13);
    for round in 0..10 {
        let entries = between(&mut rng, 100.0, 1e6) as u64;
        let stash = between(&mut rng, 0.01, 10.0);
        let targets = MapTargets { stash, ..MapTargets::new(entries, 1 + below(&mut rng, 100) as u64) };
        let best = solve::map(&targets).unwrap().best;
        assert!(best.expected_stash <= stash && best.load < 1.0);
        if round >= 3 {
            // Finding what to relax takes as long as many solutions.
            continue;
        }
        let less = MapTargets { bytes: Some(best.bytes - 1), ..targets };
        let Err(Unsolved::Infeasible(relax)) = solve::map(&less) else { panic!("a byte less would do") };
        assert!(relax[0].target == Target::Bytes && relax[0].possible == best.bytes as f64);
    }
}

#[test]
fn hostile_targets_are_errors() {
    for (entries, entry_bytes) in [(0, 1), (1, 0), (u64::MAX, 1), (10, u64::MAX)] {
        assert!(solve::map(&MapTargets::new(entries, entry_bytes)).is_err());
    }
}
