//! The numbers of the papers.

use serde_json::Value;

use super::{HUNDRED_THOUSAND, Shell, TEN_THOUSAND, assert_digits, floats, json, refused};

#[test]
fn multilevel_gives_the_numbers_of_the_paper() {
    let plan = json(&format!("multilevel {TEN_THOUSAND}"));
    assert_digits(&plan, "crisis_probability", 1.00702e-12, 6);
    let expected = floats(&plan["expected"]);
    for (found, expected) in expected.iter().zip([8848.066, 1088.077, 63.4510, 0.40608, 3.3691e-5]) {
        assert!((found / expected - 1.0).abs() < 2e-5, "found {found}, expected {expected}");
    }
    let approximate = floats(&plan["expected_approximate"]);
    for (found, expected) in approximate.iter().zip([8848.066, 1088.114, 63.4211, 0.39932, -4.799e-5]) {
        assert!((found / expected - 1.0).abs() < 2e-5, "found {found}, expected {expected}");
    }
    let plan = json(&format!("multilevel {HUNDRED_THOUSAND}"));
    assert_digits(&plan, "crisis_probability", 6.6414e-24, 5);
    let ln = plan["ln_crisis_probability"].as_f64().unwrap();
    assert!((ln - 6.6414e-24f64.ln()).abs() < 1e-4);
}

#[test]
fn summaries_give_the_numbers_of_the_paper() {
    let plan = json(&format!("summary interpolation {TEN_THOUSAND} --fingerprint-bits 55"));
    assert_digits(&plan, "failure", 1.38764e-9, 6);
    assert_digits(&plan, "false_positive", 2.7756e-13, 5);
    assert_eq!((&plan["bytes"], &plan["occupancy_bytes"]), (&72_500.into(), &7_500.into()));
    let plan = json(&format!("summary interpolation {HUNDRED_THOUSAND} --fingerprint-bits 61"));
    assert_digits(&plan, "failure", 2.16838e-9, 6);
    assert_digits(&plan, "false_positive", 4.3368e-14, 5);

    let plan = json(&format!("summary single {TEN_THOUSAND} --cells 120000 --hashes 15"));
    assert_digits(&plan, "false_positive", 0.00632, 3);
    assert_eq!(plan["bytes"], 40_000);
    // The paper adds the two.
    let sum = |plan: &Value| plan["failure"].as_f64().unwrap() + plan["crisis_probability"].as_f64().unwrap();
    assert!((sum(&plan) / 7.63977e-10 - 1.0).abs() < 1e-6);
    let plan = json(&format!("summary single {HUNDRED_THOUSAND} --cells 1200000 --hashes 15"));
    assert!((sum(&plan) / 7.26769e-9 - 1.0).abs() < 1e-6);
    let plan = json(&format!("summary single {TEN_THOUSAND} --cells 100000 --hashes 10"));
    assert_digits(&plan, "failure", 2.1081e-6, 5);

    let filters = "106000:7,87500:49,5500:49,500:49,100:49";
    let plan = json(&format!("summary multiple {TEN_THOUSAND} --filters {filters}"));
    assert!((sum(&plan) / 4.9719e-12 - 1.0).abs() < 1e-5);
    let crisis = plan["crisis_probability"].as_f64().unwrap();
    assert!(((plan["failure_exact"].as_f64().unwrap() + crisis) / 4.803e-12 - 1.0).abs() < 2e-4);
    assert_digits(&plan, "false_positive", 0.00616, 3);
    assert_eq!((&plan["bytes"], &plan["occupancy_bytes"]), (&24_950.into(), &7_500.into()));
    let filters = "1.06e6:7,875e3:49,55e3:49,1e3:49,1e3:49,1e3:49";
    let plan = json(&format!("summary multiple {HUNDRED_THOUSAND} --filters {filters}"));
    assert_digits(&plan, "failure", 1.3836e-11, 5);
    // 400000 + 100000 + 50000 + 25000 + 12500 + 12500 = 600000 bits of occupancy.
    assert_eq!((&plan["bytes"], &plan["occupancy_bytes"]), (&249_125.into(), &75_000.into()));
}

#[test]
fn deletions_give_the_numbers_of_the_paper() {
    let plan = json("deletions --alive 9090 --deleted 909 --levels 40000,10000,5000,2500,2500");
    assert_digits(&plan, "expected_moves_uniform", 100.0169, 7);
    assert_digits(&plan, "expected_moves_first_level", 118.3417, 7);
}

#[test]
fn dleft_gives_the_numbers_of_the_paper() {
    let plan = json("dleft --subtables 3 --load 4 --bucket-bits 64 --semisort none --group 1");
    assert_digits(&plan, "false_positive", 8.9372e-4, 5);
    assert_digits(&plan, "bloom_false_positive", 4.5871e-4, 5);
    let loads = floats(&plan["load_fraction"]);
    assert!((loads[1] / 5.902e-4 - 1.0).abs() < 1e-4 && (loads[7] / 5.567e-31 - 1.0).abs() < 1e-4);
    assert_eq!((loads.len(), &plan["bits_per_item"]), (8, &16.0.into()));
    for (args, expected) in [
        ("--load 4 --bucket-bits 64 --semisort one", 4.4772e-4),
        ("--load 4 --bucket-bits 64 --semisort paper --group 4", 3.5209e-4),
        ("--load 6.4 --bucket-bits 128 --semisort one", 4.2575e-5),
        ("--load 6.4 --bucket-bits 128 --semisort paper", 2.2430e-5),
        ("--load 6.4 --bucket-bits 128 --semisort paper --group 4", 2.0431e-5),
    ] {
        assert_digits(&json(&format!("dleft --subtables 3 {args}")), "false_positive", expected, 5);
    }
    assert_digits(&json("dleft --load 6.4 --bucket-bits 128"), "bloom_false_positive", 6.7137e-5, 5);
}

#[test]
fn bloom_gives_the_textbook_numbers() {
    // (1 − e^(−k/c))^k, the limit for many items.
    for (bits, hashes, limit) in [(4, 3, 0.14689), (8, 6, 0.021577), (12, 8, 0.0031424), (16, 11, 0.00045871)]
    {
        let plan = json(&format!("bloom --items 1e8 --bits {bits}00_000_000 --hashes {hashes}"));
        assert_digits(&plan, "false_positive_standard", limit, 5);
        assert_digits(&plan, "false_positive_partitioned", limit, 5);
        assert_eq!(plan["optimal_hashes"], hashes);
    }
    // Two bits, one hash, one item: half of all keys hit its bit.
    let plan = json("bloom --items 1 --bits 2 --hashes 1");
    assert_digits(&plan, "false_positive_standard", 0.5, 15);
}

#[test]
fn restricted_gives_the_recomputed_numbers() {
    for (args, expected) in [
        ("--items 8192 --policy random", 0.6165),
        ("--items 16384 --policy random", 1.2336),
        ("--items 32768 --policy random", 2.4678),
        ("--items 16384 --policy greedy --ties random", 0.0562),
        ("--items 32768 --policy greedy --ties left", 0.1620),
    ] {
        let plan = json(&format!("restricted {args} --levels 6 --fanout 2"));
        let found = plan["expected_stash"].as_f64().unwrap();
        assert!((found - expected).abs() < 6e-5, "{args}: found {found}");
    }
}

#[test]
fn a_bloom_filter_is_planned_by_its_scheme() {
    // less-hashing, n = 100 at 16 bits per key, from an independent program: in units of the limit
    // 4.5871e-4.
    for (scheme, over_limit, accuracy) in
        [("double", 3.05, "exact"), ("partitioned", 11.2, "exact"), ("extended-cube", 1.20, "extrapolated")]
    {
        let plan = json(&format!("bloom --items 100 --bits 1600 --hashes 11 --scheme {scheme}"));
        let found = plan["false_positive_scheme"].as_f64().unwrap() / 4.5871e-4;
        assert!((found - over_limit).abs() < 0.01 + 0.06 * (over_limit - 1.0), "{scheme}: {found}");
        assert_eq!(plan["scheme"], scheme);
        assert!(plan["accuracy_scheme"].as_str().unwrap().contains(accuracy), "{plan}");
    }
}

#[test]
fn summaries_of_counters_are_planned_under_churn() {
    let paper = "summary multiple --items 10000 --levels 40000,10000,5000,2500,2500 \
                 --filters 106000:7,87500:49,5500:49,500:49,100:49";
    let plan = json(&format!("{paper} --turnovers 10 --counter-bits 4,4,4,4,2"));
    // Measured: 109 to 170 of 10,000.
    let share = plan["churned_wrong_first"].as_f64().unwrap();
    assert!((0.0109..0.0170).contains(&share), "{plan}");
    assert_eq!(plan["counter_bytes"], 99_775);
    let saturated =
        floats(&json(&format!("{paper} --turnovers 40 --counter-bits 4,4,4,3,1"))["churned_saturated"]);
    // Measured: 225 of 500 and 94 of 100.
    assert!((saturated[3] - 225.0).abs() < 40.0 && (saturated[4] - 94.0).abs() < 10.0, "{saturated:?}");
    let shell = Shell::new();
    refused(&shell, &format!("{paper} --turnovers 1e6"), "turnovers from");
    refused(&shell, &format!("{paper} --turnovers 1 --counter-bits 4,4"), "--counter-bits");

    let single = "summary single --items 10000 --levels 40000,10000,5000,2500,2500";
    let plan = json(&format!("{single} --cells 120000 --hashes 15 --turnovers 6 --counter-bits 4,1,1,1,1"));
    // Simulated: 0.0349, and 90,868 of 120,000 counters of the second level.
    let share = plan["churned_wrong_first"].as_f64().unwrap();
    assert!((share / 0.0349 - 1.0).abs() < 0.05, "{plan}");
    assert!((floats(&plan["churned_saturated"])[1] / 90_868.0 - 1.0).abs() < 0.01, "{plan}");
    assert_eq!(plan["counter_bytes"], 120_000);
    // With four bits by default, almost none saturates.
    let plan = json(&format!("{single} --cells 120000 --hashes 15 --turnovers 100"));
    assert!(plan["churned_wrong_first"].as_f64().unwrap() < 1e-9, "{plan}");
    assert_eq!(plan["counter_bytes"], 300_000);
    refused(
        &shell,
        &format!("{single} --cells 9 --hashes 3 --turnovers 1 --counter-bits 4,4"),
        "--counter-bits",
    );
}
