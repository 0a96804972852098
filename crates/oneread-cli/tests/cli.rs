//! The command as a user meets it: what it prints where, and its exit codes.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn oneread(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oneread")).args(args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn demo_prints_one_json_document_with_sane_numbers() {
    let output = oneread(&["demo", "--keys", "1000", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "no progress bar away from a terminal");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["keys"], 1000);
    // 1000·999/2 pairs, each meeting with probability 2^-20.
    let expected_pairs = report["expected_colliding_pairs"].as_f64().unwrap();
    assert!((expected_pairs - 499_500.0 / 1_048_576.0).abs() < 1e-9);

    let functions = report["functions"].as_array().unwrap();
    assert!(functions.iter().any(|function| function["name"] == "Portable"));
    for function in functions {
        let number =
            |field: &str| function[field].as_f64().unwrap_or_else(|| panic!("{function} has {field}"));
        assert!(number("ns_per_key") > 0.0, "{function}");
        // A key fills at most one bucket, and one that shares a bucket makes a pair.
        let filled = 1_048_576.0 * (1.0 - number("empty_share"));
        assert!(filled < 1000.5, "{function}");
        assert!(filled + number("colliding_pairs") > 999.5, "{function}");
        // Chance gives half a pair. No family here promises more than twice that on average, and the seed
        // is fixed: this cannot fail by bad luck.
        assert!(number("colliding_pairs") <= 5.0, "{function}");
        assert!((1.0..=3.0).contains(&number("fullest_bucket")), "{function}");
    }
}

#[test]
fn the_same_seed_gives_the_same_demo_but_for_the_time() {
    let report = |seed| {
        let output = oneread(&["demo", "--keys", "5000", "--json", "--seed", seed]);
        let mut report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for function in report["functions"].as_array_mut().unwrap() {
            function["ns_per_key"].take();
        }
        report
    };
    assert_ne!(report("7"), report("8"));
    assert_eq!(report("7"), report("7"));
}

#[test]
fn demo_prints_a_table_with_a_line_for_each_function() {
    let output = oneread(&["demo", "--keys", "1"]);
    assert_eq!(output.status.code(), Some(0));
    let table = text(&output.stdout);
    for name in ["MultiplyShift", "StringHash", "Portable", "Keyed", "Ideal"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name} is missing:\n{table}");
    }
}

#[test]
fn bad_use_is_one_sentence_on_stderr_and_exit_code_2() {
    for (args, expected) in [
        (&["demo", "--keys", "0"][..], "1..=1000000000"),
        (&["demo", "--keys", "1000000000000"], "1..=1000000000"),
        (&["demo", "--keys", "many"], "many"),
        (&["demo", "--keys"], "--keys"),
        (&["demo", "--colour"], "--colour"),
        (&["dmeo"], "dmeo"),
    ] {
        let output = oneread(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let message = text(&output.stderr);
        assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

#[test]
fn help_goes_to_stdout_when_asked_for_and_to_stderr_when_not() {
    for args in [&["--help"][..], &["demo", "--help"], &["help"]] {
        let output = oneread(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(text(&output.stdout).contains("Usage: oneread"), "{args:?}");
    }
    let output = oneread(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("Usage: oneread"));
}

#[test]
fn a_reader_that_hangs_up_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneread"))
        .args(["demo", "--keys", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}
