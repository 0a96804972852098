//! Documents, sweeps, and the flags that describe a table.

use serde_json::Value;

use super::{Shell, assert_digits, floats, json};

#[test]
fn documents_have_their_fields_in_order() {
    let shell = Shell::new();
    let levels = "--levels 40,10,5";
    for (args, fields) in [
        (
            format!("multilevel --items 10 {levels}"),
            &["expected_approximate", "expected", "crisis_probability"][..],
        ),
        (
            format!("summary interpolation --items 10 {levels} --fingerprint-bits 20"),
            &[
                "false_positive",
                "failure",
                "failure_exact",
                "failure_by_level",
                "crisis_probability",
                "extra_reads_per_hit",
                "reads_per_miss",
                "bytes",
                "occupancy_bytes",
            ],
        ),
        (
            format!("deletions --alive 10 --deleted 5 {levels}"),
            &["expected_moves_uniform", "expected_moves_first_level"],
        ),
        (
            "dleft --load 4".to_owned(),
            &["load_fraction", "false_positive", "bits_per_item", "bloom_false_positive"],
        ),
        (
            "bloom --items 10 --bits 80".to_owned(),
            &["false_positive_standard", "false_positive_partitioned", "optimal_hashes"],
        ),
        ("restricted --items 64 --levels 3".to_owned(), &["expected_stash"]),
    ] {
        let document = shell.done(&format!("{args} --json"));
        let place = |field| document.find(&format!("\n  \"{field}\": "));
        let places: Vec<_> = fields.iter().map(place).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{args}: {document}");
        // The table has the same names.
        let table = shell.done(&args);
        assert!(fields.iter().all(|field| table.contains(field)), "{args}: {table}");
    }
}

#[test]
fn what_is_too_small_for_a_float_is_told_by_its_logarithm() {
    let args = "bloom --items 1 --bits 1e12 --hashes 64";
    let plan = json(args);
    for field in ["false_positive_standard", "false_positive_partitioned"] {
        assert!(plan[field].is_null(), "{plan}");
        // 64 hashes of 64 bits set among 10^12: 64·ln(64/10^12) = −1502.2, and a little more, since
        // the bits may coincide.
        let ln = plan[format!("ln_{field}")].as_f64().unwrap();
        assert!((ln + 1502.2).abs() < 0.1, "{ln}");
    }
    assert!(Shell::new().done(args).contains("e-653"));
    let args = "multilevel --items 1000 --levels 1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5,1e5";
    let plan = json(args);
    let ln = plan["ln_crisis_probability"].as_f64().unwrap();
    assert!(plan["crisis_probability"].is_null() && ln < -745.0 && ln > -1e6, "{plan}");
    assert!(plan["expected_stash"].is_null(), "{plan}");
    // Two items never fill two buckets each: 0 means impossible.
    let plan = json("multilevel --items 2 --levels 10,10");
    assert_eq!(
        (plan["crisis_probability"].as_f64(), plan["expected_stash"].as_f64()),
        (Some(0.0), Some(0.0))
    );
    let plan = json("summary single --items 1 --levels 10,10 --cells 100 --hashes 5");
    assert_eq!((plan["failure"].as_f64(), &plan["failure_by_level"]), (Some(0.0), &[0.0, 0.0].into()));
    // The logarithm of this one is not known.
    let plan = json("dleft --load 1");
    assert!(plan["load_fraction"][6].is_null() && plan["load_fraction"][5].is_f64(), "{plan}");
}

#[test]
fn a_sweep_has_a_row_for_each_value() {
    let shell = Shell::new();
    // Without --hashes, which the sweep sets.
    let csv = shell.done("bloom --items 1000 --bits 8000 --sweep hashes=1..8");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["hashes", "items", "bits"]);
    let column = rows[0].iter().position(|name| *name == "false_positive_standard").unwrap();
    assert_eq!(rows.len(), 9);
    for (hashes, row) in (1..).zip(&rows[1..]) {
        assert_eq!((row.len(), row[0]), (rows[0].len(), hashes.to_string().as_str()));
        let single = shell.json(&format!("bloom --items 1000 --bits 8000 --hashes {hashes}"));
        let probability: f64 = row[column].parse().expect("a number");
        // The JSON reader rounds the last digit differently.
        assert_digits(&single, "false_positive_standard", probability, 15);
    }

    let first_column = |args: &str| {
        let csv = shell.done(args);
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(first_column("dleft --sweep load=3.5..4.5..0.5"), ["3.5", "4", "4.5"]);
    assert_eq!(first_column("bloom --bits 8000 --sweep items=10..1000..x10"), ["10", "100", "1000"]);
    assert_eq!(first_column("bloom --bits 8000 --sweep items=10..1000 --steps 3"), ["10", "505", "1000"]);
    assert_eq!(
        first_column("bloom --bits 8000 --sweep items=10..1000 --steps 3 --log"),
        ["10", "100", "1000"]
    );
    assert_eq!(
        first_column("multilevel --items 9 --first-level 9 --sweep ratio=0.3..0.6 --steps 4").len(),
        4
    );
    // Too many to take each, or no whole numbers: twenty steps.
    assert_eq!(first_column("bloom --bits 8000 --sweep items=100..1100")[..3], ["100", "150", "200"]);
    assert_eq!(first_column("dleft --sweep load=3..5")[..3], ["3", "3.1", "3.2"]);
    assert_eq!(first_column("dleft --sweep load=3..5").len(), 21);
    // Rounded to 1, 1, 2, 2, 3: each once.
    assert_eq!(first_column("bloom --items 9 --bits 99 --sweep hashes=1..3..0.45"), ["1", "2", "3"]);

    // Lists come last, with a column for each entry; shorter ones leave some empty.
    let csv = shell.done("restricted --items 64 --sweep levels=1..2");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].contains("expected_0") && lines[0].ends_with("expected_1"), "{csv}");
    assert!(lines[1].ends_with(',') && !lines[2].ends_with(','), "{csv}");

    // A number that the plan does not repeat is in its documents anyway.
    let documents = shell.json("multilevel --items 9 --first-level 9 --sweep ratio=0.4..0.5..0.1");
    assert_eq!((&documents[0]["ratio"], &documents[1]["levels"]), (&0.4.into(), &[9, 5, 3, 2, 1].into()));
    let documents = shell.json("bloom --items 10 --sweep bits=80..100..10");
    assert_eq!(
        floats(&documents.as_array().unwrap().iter().map(|plan| plan["bits"].clone()).collect()),
        [80.0, 90.0, 100.0]
    );
}

#[test]
fn levels_may_be_geometric() {
    let levels = |args: &str| floats(&json(&format!("multilevel {args}"))["levels"]);
    // Table I of the paper: c1 = 3, c2 = 1/2.
    let halving = [30_000.0, 15_000.0, 7_500.0, 3_750.0, 1_875.0];
    assert_eq!(levels("--items 10000 --first-level 30000 --ratio 0.5 --level-count 5"), halving);
    assert_eq!(levels("--items 10000 --c1 3 --c2 0.5 --level-count 5"), halving);
    assert_eq!(levels("--items 10000 --buckets-per-item 3"), halving);
    // Rounded up.
    assert_eq!(levels("--items 10 --first-level 100 --ratio 0.3 --level-count 4"), [100.0, 30.0, 9.0, 3.0]);
    // A file has the levels themselves.
    let shell = Shell::new();
    shell.done("multilevel --items 10 --c1 4 --level-count 2 --layout-out layout.json");
    let file: Value = serde_json::from_str(&shell.read("layout.json")).expect("JSON");
    assert_eq!(file["levels"], Value::from([40, 20]));
}

#[test]
fn every_number_of_a_plan_can_be_swept() {
    let shell = Shell::new();
    for (args, fields) in [
        ("multilevel --items 10 --levels 40,10", &["items", "slots"][..]),
        ("multilevel --items 10 --first-level 40", &["first_level", "first-level", "level_count"]),
        ("multilevel --items 10 --ratio 0.1", &["first_level", "buckets_per_item"]),
        ("summary single --items 10 --levels 40,10 --cells 100 --hashes 2", &["cells"]),
        (
            "summary interpolation --items 10 --levels 40,10 --fingerprint-bits 20",
            &["items", "slots", "fingerprint-bits", "fingerprint_bits"],
        ),
        ("summary single --items 10 --levels 40,10 --cells 100 --hashes 5", &["items", "slots", "hashes"]),
        ("summary multiple --items 10 --levels 40,10 --filters 100:5,50:5", &["items", "slots"]),
        ("deletions --alive 10 --deleted 5 --levels 40,10", &["alive", "deleted", "slots"]),
        ("dleft --load 4", &["subtables", "load", "group", "buckets"]),
        ("bloom --items 10 --bits 100", &["items", "bits", "hashes"]),
        ("restricted --items 10 --levels 2", &["items", "levels", "fanout"]),
    ] {
        for field in fields {
            let range = if *field == "buckets" { "4..5" } else { "2..3..1" };
            let csv = shell.done(&format!("{args} --sweep {field}={range}"));
            assert_eq!(csv.lines().count(), 3, "{args} --sweep {field}: {csv}");
            assert!(csv.starts_with(&field.replace('-', "_")), "{csv}");
        }
    }
}
