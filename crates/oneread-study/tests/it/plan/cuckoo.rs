//! Compares thresholds of cuckoo hashing with published ones, and timeouts with the lecture's.

use oneread_study::plan::cuckoo;

use super::assert_close;

#[test]
fn thresholds_are_the_published_ones() {
    // Two choices: 1/2, and Fernholz, Ramachandran, 2007; Cain, Sanders, Wormald, 2007. Buckets of
    // one: Dietzfelbinger et al., "Tight Thresholds for Cuckoo Hashing via XORSAT", 2010. The
    // others: Walzer, "Load Thresholds for Cuckoo Hashing with Overlapping Blocks", 2018, table 1.
    let published = [
        (2, 1, 0.5),
        (2, 2, 0.8970118682),
        (2, 3, 0.9591542686),
        (2, 4, 0.9803697743),
        (3, 1, 0.9179352767),
        (3, 2, 0.9882014140),
        (3, 3, 0.9972857393),
        (3, 4, 0.9992531564),
        (4, 1, 0.9767701649),
        (4, 2, 0.9982414840),
        (5, 1, 0.9924383913),
        (6, 1, 0.9973795528),
        (7, 1, 0.9990637588),
    ];
    for (choices, bucket, expected) in published {
        assert_close(cuckoo::threshold(choices, bucket).unwrap(), expected, 2e-10);
    }
}

#[test]
fn more_choices_and_larger_buckets_hold_more() {
    for choices in 2..=8 {
        for bucket in 1..=8 {
            let load = cuckoo::threshold(choices, bucket).unwrap();
            assert!(load < 1.0 + 1e-15);
            // From 0.9999… on, they differ by less than a float's precision.
            if load < 1.0 - 1e-12 {
                assert!(load < cuckoo::threshold(choices + 1, bucket).unwrap());
                assert!(load < cuckoo::threshold(choices, bucket + 1).unwrap());
            }
        }
    }
    for (choices, bucket) in [(64, 1), (2, 64), (64, 64)] {
        let load = cuckoo::threshold(choices, bucket).unwrap();
        assert!(load > 0.99999 && load < 1.0 + 1e-12, "{load}");
    }
}

#[test]
fn thresholds_solve_the_equation_of_the_core() {
    // Three choices, buckets of one: ξ(e^ξ − 1)/(e^ξ − 1 − ξ) = 3 at ξ = 2.1491…, by hand.
    let degree = |x: f64| x * x.exp_m1() / (x.exp_m1() - x);
    let (mut low, mut high) = (1.0f64, 3.0f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if degree(middle) < 3.0 { low = middle } else { high = middle }
    }
    assert_close(cuckoo::threshold(3, 1).unwrap(), low / (3.0 * (-(-low).exp_m1()).powi(2)), 1e-13);
}

#[test]
fn timeouts_are_the_lecture_s() {
    // 6·log2 n, rounded up; not 0 for one item or none.
    let expected = [(0, 1), (1, 1), (2, 6), (3, 10), (4, 12), (1000, 60), (1 << 20, 120), (u64::MAX, 384)];
    for (items, moves) in expected {
        assert_eq!(cuckoo::insertion_timeout(items), moves, "{items} items");
    }
}

#[test]
fn cells_are_more_than_twice_the_items() {
    assert_eq!(cuckoo::least_cells(1000, 0.5).unwrap(), 2500);
    assert_eq!(cuckoo::least_cells(0, 0.5).unwrap(), 1);
    assert_eq!(cuckoo::least_cells(u64::MAX, 0.5).unwrap(), u64::MAX);
    for epsilon in [f64::NAN, 0.0, -1.0, 1e18, f64::INFINITY] {
        assert_eq!(cuckoo::least_cells(10, epsilon).unwrap_err().what, "epsilon");
    }
}

#[test]
fn refuses_what_no_table_can_have() {
    for choices in [0, 1, 65, u32::MAX] {
        assert_eq!(cuckoo::threshold(choices, 1).unwrap_err().what, "choices");
    }
    for bucket in [0, 65, u32::MAX] {
        assert_eq!(cuckoo::threshold(2, bucket).unwrap_err().what, "places in a bucket");
    }
}
