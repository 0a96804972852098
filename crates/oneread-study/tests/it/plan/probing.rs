//! Compares linear probing with every way to hash a few items, with Knuth's limits and with the
//! lecture's bounds.

use oneread::layout::MAX_PLACES;
use oneread_study::plan::probing;

use super::{assert_close, choose};

/// The mean probes of a hit and of a miss over all m^n hash functions of n items.
fn by_counting(cells: usize, items: usize) -> (f64, f64) {
    let functions = cells.pow(items as u32);
    let (mut hits, mut misses) = (0, 0);
    for function in 0..functions {
        let mut table = vec![false; cells];
        let probes = |table: &[bool], start: usize| (0..).find(|i| !table[(start + i) % cells]).unwrap() + 1;
        let mut rest = function;
        for _ in 0..items {
            let start = rest % cells;
            rest /= cells;
            // A hit reads the cells that its insertion read.
            let looked = probes(&table, start);
            hits += looked;
            table[(start + looked - 1) % cells] = true;
        }
        if items < cells {
            misses += (0..cells).map(|start| probes(&table, start)).sum::<usize>();
        }
    }
    (hits as f64 / (functions * items.max(1)) as f64, misses as f64 / (functions * cells) as f64)
}

#[test]
fn small_tables_have_the_probes_that_counting_finds() {
    for cells in 1..=6 {
        for items in 0..=cells {
            let (hits, misses) = by_counting(cells, items);
            if items > 0 {
                assert_close(probing::hit_probes(cells as u64, items as u64).unwrap(), hits, 1e-14);
            }
            if items < cells {
                assert_close(probing::miss_probes(cells as u64, items as u64).unwrap(), misses, 1e-14);
            }
        }
    }
}

#[test]
fn large_tables_are_close_to_the_limit() {
    let cells = MAX_PLACES;
    for (load, hits, misses) in
        [(0.0, 1.0, 1.0), (0.25, 7.0 / 6.0, 25.0 / 18.0), (0.5, 1.5, 2.5), (0.75, 2.5, 8.5)]
    {
        let items = (cells as f64 * load) as u64;
        assert_close(probing::hit_probes_limit(load).unwrap(), hits, 1e-15);
        assert_close(probing::miss_probes_limit(load).unwrap(), misses, 1e-15);
        assert_close(probing::hit_probes(cells, items.max(1)).unwrap(), hits, 1e-11);
        assert_close(probing::miss_probes(cells, items).unwrap(), misses, 1e-11);
    }
    // Values for finite tables are below the limit.
    for cells in [2, 10, 1000] {
        let items = cells / 2;
        assert!(probing::hit_probes(cells, items).unwrap() < 1.5);
        assert!(probing::miss_probes(cells, items).unwrap() < 2.5);
    }
}

#[test]
fn a_full_table_takes_the_root_of_its_size() {
    // Knuth: Q_0(m, m − 1) = √(πm/2) − 1/3 + …; with all cells but one full, a miss takes (m +
    // 1)/2.
    let cells = 1u64 << 30;
    let root = (core::f64::consts::FRAC_PI_2 * cells as f64).sqrt();
    assert_close(probing::hit_probes(cells, cells).unwrap(), (1.0 + root - 1.0 / 3.0) / 2.0, 1e-9);
    assert_close(probing::miss_probes(cells, cells - 1).unwrap(), (cells + 1) as f64 / 2.0, 1e-10);
}

#[test]
fn the_lecture_s_constant_is_q() {
    assert_close(probing::CRITICAL_BASE, (core::f64::consts::E / 4.0).cbrt(), 1e-15);
    assert_eq!(format!("{:.3}", probing::CRITICAL_BASE), "0.879");
    for height in 0..12 {
        let expected = probing::CRITICAL_BASE.powi(1 << height);
        assert_close(probing::critical_block_bound(height), expected, 1e-11);
    }
    assert_eq!(probing::critical_block_bound(u32::MAX), 0.0);
    assert_close(probing::ln_critical_block_bound(40), (1.0 - 4f64.ln()) / 3.0 * 2f64.powi(40), 1e-14);
}

#[test]
fn blocks_are_critical_as_often_as_counting_finds_and_less_than_the_bound() {
    // Two cells of six, two items: the block is critical with more than 4/3 items, so with both:
    // 1/9.
    assert_close(probing::critical_block_probability(6, 2, 1).unwrap(), 1.0 / 9.0, 1e-14);
    // Four cells of 64, 21 items: critical with three or more, each there with probability 1/16.
    let below: f64 = (0..3).map(|k| choose(21, k) as f64 * 15f64.powi(21 - k as i32) / 16f64.powi(21)).sum();
    assert_close(probing::critical_block_probability(64, 21, 2).unwrap(), 1.0 - below, 1e-12);
    for height in 0..=20 {
        let (cells, items) = (1 << 24, (1 << 24) / 3);
        let exact = probing::ln_critical_block_probability(cells, items, height).unwrap();
        assert!(exact < probing::ln_critical_block_bound(height), "height {height}: {exact}");
    }
}

#[test]
fn the_proof_s_bounds_hold() {
    let q = (core::f64::consts::E / 4.0).cbrt();
    let sum: f64 = (1..2000).map(|i| f64::from(i) * q.powi(i)).sum();
    assert_close(probing::run_bound(), 3.0 + 96.0 * sum, 1e-10);
    assert!(probing::run_bound_by_blocks() < probing::run_bound());
    assert!(probing::run_bound_by_blocks() > probing::miss_probes_limit(1.0 / 3.0).unwrap());
}

#[test]
fn refuses_what_no_table_can_have() {
    for cells in [0, MAX_PLACES + 1, u64::MAX] {
        assert_eq!(probing::hit_probes(cells, 1).unwrap_err().what, "cells");
        assert_eq!(probing::miss_probes(cells, 1).unwrap_err().what, "cells");
        assert_eq!(probing::critical_block_probability(cells, 0, 0).unwrap_err().what, "cells");
    }
    for items in [0, 9, u64::MAX] {
        assert_eq!(probing::hit_probes(8, items).unwrap_err().what, "items");
    }
    for items in [8, u64::MAX] {
        assert_eq!(probing::miss_probes(8, items).unwrap_err().what, "items");
    }
    for load in [f64::NAN, -0.1, 1.0, 1e18, f64::INFINITY] {
        assert_eq!(probing::hit_probes_limit(load).unwrap_err().what, "load");
        assert_eq!(probing::miss_probes_limit(load).unwrap_err().what, "load");
    }
    assert_eq!(probing::critical_block_probability(9, 4, 1).unwrap_err().what, "items");
    for height in [4, u32::MAX] {
        assert_eq!(probing::critical_block_probability(15, 4, height).unwrap_err().what, "height of a block");
    }
    assert!(probing::critical_block_probability(MAX_PLACES, 4, 21).is_err());
}
