//! `oneread simulate` from a user's view.

use std::process::Output;

use serde_json::Value;

use super::shell::{oneread, succeeded};

fn simulate(args: &[&str]) -> Output {
    oneread(&[&["simulate"], args].concat())
}

fn document(args: &[&str]) -> Value {
    serde_json::from_str(succeeded(&simulate(args), &args.join(" "))).expect("JSON")
}

#[test]
fn a_table_of_the_paper_has_the_paper_s_stash() {
    let document = document(&[
        "table",
        "--items",
        "8192",
        "--first-level",
        "8192",
        "--ratio",
        "0.5",
        "--levels",
        "4",
        "--second-chance",
        "--hints",
        "replace",
        "--moves",
        "recursive",
        "--steps",
        "262144",
        "--trials",
        "16",
        "--seed",
        "1",
        "--json",
    ]);
    let number = |field: &str| document[field].as_f64().unwrap_or_else(|| panic!("{field} in {document}"));
    // Moves, Table I: 0.236 printed, 0.237 recomputed. Bounds of 4.5 standard errors, about 0.015
    // each here.
    let (mean, error) = (number("mean_stash"), number("mean_stash_standard_error"));
    assert!((mean - 0.237).abs() < 4.5 * error && error < 0.03, "{mean} ± {error}");
    assert!(number("end_stash") <= number("max_stash") && number("mean_of_max_stash") <= number("max_stash"));
    for field in ["levels", "level_occupancy", "level_occupancy_standard_error", "level_maximum"] {
        assert_eq!(document[field].as_array().unwrap().len(), 4, "{field}");
    }
    let occupied: f64 =
        document["level_occupancy"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
    assert!((occupied + number("end_stash") - 8192.0).abs() < 1e-6);
    let trials: u64 = document["end_stash_counts"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(trials, 16);
    assert!(number("moves_an_insertion") > 0.0 && number("moves_a_deletion") > 0.0);
}

#[test]
fn levels_of_any_sizes_are_filled_as_planned() {
    let document = document(&[
        "table",
        "--items",
        "10000",
        "--levels",
        "40000,10000,5000,2500,2500",
        "--trials",
        "40",
        "--json",
    ]);
    // Summaries, Table II: 8848.07, 1088.08, 63.45.
    for (level, expected) in [8848.066, 1088.077, 63.451].into_iter().enumerate() {
        let mean = document["level_occupancy"][level].as_f64().unwrap();
        let error = document["level_occupancy_standard_error"][level].as_f64().unwrap();
        assert!((mean - expected).abs() < 4.5 * error, "level {level}: {mean} ± {error}");
    }
    assert!(document["mean_stash"].is_null() && document["moves_a_deletion"].is_null());
}

#[test]
fn every_policy_and_lifetime_can_be_named() {
    for flags in [
        &["--second-chance"][..],
        &["--hints", "deepest"],
        &["--hints", "deepest-unchecked"],
        &["--hints", "next", "--moves", "recursive", "--second-chance"],
        &["--slots", "4"],
        &["--restricted", "2"],
        &["--restricted", "2", "--keep", "greedy"],
        &["--restricted", "3", "--keep", "greedy", "--ties", "left", "--maps", "random"],
        &["--restricted", "1", "--maps", "nested"],
        &["--lifetimes", "fifo"],
        &["--lifetimes", "fixed"],
        &["--lifetimes", "heavy-tailed", "--shape", "1.2"],
    ] {
        let common =
            ["table", "--items", "100", "--levels", "3", "--steps", "2000", "--trials", "2", "--json"];
        let document = document(&[&common[..], flags].concat());
        assert!(document["mean_stash"].as_f64().unwrap() >= 0.0, "{flags:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let run = |seed| {
        document(&["table", "--items", "100", "--levels", "2", "--steps", "5000", "--json", "--seed", seed])
    };
    assert_ne!(run("1"), run("2"));
    assert_eq!(run("1"), run("1"));
}

#[test]
fn people_get_a_table() {
    let output = simulate(&["table", "--items", "100", "--levels", "2", "--trials", "1", "--steps", "2000"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("level 0") && text.contains("level 1") && text.contains("stash"), "{text}");
    assert!(text.contains('–'), "one trial has no standard error:\n{text}");
}

#[test]
fn bad_use_is_one_sentence_and_exit_code_2() {
    for (args, expected) in [
        (&["table", "--levels", "3"][..], "--items"),
        (&["table", "--items", "0", "--levels", "3"], "--items"),
        (&["table", "--items", "10", "--levels", "0"], "levels"),
        (&["table", "--items", "10", "--levels", "65"], "levels"),
        (&["table", "--items", "10", "--levels", "3,0,1"], "buckets"),
        (&["table", "--items", "10", "--levels", "3,x"], "3,x"),
        (&["table", "--items", "10", "--levels", "8,4", "--ratio", "0.3"], "--ratio"),
        (&["table", "--items", "10", "--levels", "3", "--ratio", "1.5"], "ratio"),
        (&["table", "--items", "10", "--levels", "3", "--moves", "recursive"], "--hints"),
        (&["table", "--items", "10", "--levels", "3", "--keep", "greedy"], "--restricted"),
        (&["table", "--items", "10", "--levels", "3", "--restricted", "9"], "9"),
        (&["table", "--items", "10", "--levels", "3", "--restricted", "2", "--hints", "next"], "--hints"),
        (&["table", "--items", "10", "--levels", "3", "--restricted", "2", "--maps", "nested"], "nested"),
        (&["table", "--items", "10", "--levels", "3", "--restricted", "2", "--slots", "2"], "slots"),
        (&["table", "--items", "10", "--levels", "3", "--trials", "0"], "--trials"),
        (&["table", "--items", "10", "--levels", "3", "--shape", "1"], "above 1"),
        (&["table", "--items", "1", "--first-level", "100000000000", "--levels", "1"], "slots"),
    ] {
        let output = simulate(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert_eq!(
            (message.lines().take_while(|line| !line.is_empty()).count(), output.stdout.len()),
            (1, 0),
            "{args:?}: {message}"
        );
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}
