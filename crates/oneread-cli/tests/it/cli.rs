//! The command from a user's view: its output, and its exit codes.

use std::path::Path;

use serde_json::Value;

use super::shell::{command, oneread, run_in, survives_a_reader_that_hangs_up, text};

#[test]
fn demo_builds_a_store_that_reads_as_planned() {
    let output = oneread(&["demo", "--keys", "200000", "--value-bytes", "50", "--json"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "no bar away from a terminal");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let number = |field: &str| report[field].as_f64().unwrap_or_else(|| panic!("{field}: {report}"));
    assert_eq!((&report["keys"], &report["value_bytes"]), (&200_000.into(), &50.into()));
    // 16 and 50 bytes per record.
    assert_eq!(report["raw_bytes"], 200_000 * 66);
    assert!((1.0..1.01).contains(&number("reads_per_hit")), "{report}");
    // About 5000 pages for 500,000 misses, ±500: by Chernoff's bound, 2·exp(−500²/(3·5000)),
    // exceeded for one seed in eight million, and the seeds are fixed.
    assert!(number("planned_reads_per_miss") <= 0.01, "{report}");
    assert!((number("reads_per_miss") - number("planned_reads_per_miss")).abs() < 0.001, "{report}");
    // The calculation assumes many pages of records of one size, as here; one segment has few.
    for (planned, measured) in [
        ("planned_ram_bytes_per_key", "ram_bytes_per_key"),
        ("planned_utilisation", "utilisation"),
        ("planned_disk_bytes", "disk_bytes"),
    ] {
        assert!((number(planned) / number(measured) - 1.0).abs() < 0.05, "{measured}: {report}");
    }
    for lookups in ["hits", "misses"] {
        assert_eq!(report[lookups]["lookups"], 500_000);
        assert!(report[lookups]["p50_ns"].as_u64().unwrap() > 0);
    }
    assert_eq!(report["kept"], false);
    assert!(!Path::new(report["path"].as_str().unwrap()).exists(), "the temporary folder is gone");
}

#[test]
fn demo_shows_what_it_measured_and_keeps_the_store_when_told() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let keep = folder.path().join("new folder");
    let args = ["demo", "--keys", "1000", "--keep", keep.to_str().expect("UTF-8")];
    let output = oneread(&args);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    for name in [
        "planned",
        "page reads per hit",
        "page reads per miss",
        "bytes of memory per key",
        "utilisation",
        "█",
    ] {
        assert!(text(&output.stdout).contains(name), "{name} is missing:\n{}", text(&output.stdout));
    }
    let store = keep.join("oneread-demo.store");
    let get = oneread(&["store", "get", store.to_str().expect("UTF-8"), "key-000000000042"]);
    assert!(text(&get.stdout).starts_with("value of key-000000000042"), "{}", text(&get.stderr));
    // Another run does not overwrite it.
    let output = oneread(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there already is a oneread-demo.store"));
}

#[test]
fn bad_use_is_one_sentence_on_stderr_and_exit_code_2() {
    for (args, expected) in [
        (&["demo", "--keys", "0"][..], "1..=1000000000"),
        (&["demo", "--keys", "1000000000000"], "1..=1000000000"),
        (&["demo", "--keys", "many"], "many"),
        (&["demo", "--keys"], "--keys"),
        (&["demo", "--value-bytes", "1048577"], "1048576"),
        (&["demo", "--keep", "Cargo.toml"], "Cargo.toml: cannot make this folder"),
        (&["demo", "--colour"], "--colour"),
        (&["dmeo"], "dmeo"),
    ] {
        let output = oneread(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let message = text(&output.stderr);
        assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1, "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

/// `filter build --items 1e6` said "invalid digit found in string".
#[test]
fn numbers_have_exponents_and_sizes_have_units_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    for args in [
        "demo --keys 1e3 --value-bytes 1K",
        "filter build f --items 1e3",
        "simulate table --items 1e1 --first-level 1e1 --levels 2 --steps 1e1 --trials 1e0",
        "simulate table --items 1e1 --levels 1e1,5",
        "store create s",
        "store bench s --lookups 1e1",
        "store stats s --measure 1e1",
    ] {
        let output = run_in(folder.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args}: {}", text(&output.stderr));
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
    survives_a_reader_that_hangs_up(command().args(["demo", "--keys", "1"]));
}

#[test]
fn what_was_perhaps_meant_and_the_usage_follow_bad_use() {
    let output = oneread(&["dmeo"]);
    let message = text(&output.stderr);
    assert!(message.contains("tip: a similar subcommand exists: 'demo'"), "{message}");
    let output = oneread(&["plan", "bloom", "--itmes", "10"]);
    let message = text(&output.stderr);
    assert!(message.contains("tip: a similar argument exists: '--items'"), "{message}");
    assert!(message.contains("Usage: oneread plan bloom"), "{message}");
}
