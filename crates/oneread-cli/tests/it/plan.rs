//! `oneread plan` from a user's view: the papers' numbers, the forms of its output, and all kinds
//! of bad input.
//!
//! Expected numbers come from an independent program in extended precision, and are exact to the
//! given digits.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The table of Kirsch and Mitzenmacher for ten thousand items, and the one for a hundred thousand.
const TEN_THOUSAND: &str = "--items 10000 --levels 40000,10000,5000,2500,2500";
const HUNDRED_THOUSAND: &str = "--items 100000 --levels 400000,100000,50000,25000,12500,12500";

/// A separate directory for each test, in which the command runs.
struct Shell(TempDir);

impl Shell {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The output of a run that must succeed with nothing on stderr.
    fn done(&self, args: &str) -> String {
        let output = run(self.0.path(), args);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args}");
        text(&output.stdout).to_owned()
    }

    fn json(&self, args: &str) -> Value {
        serde_json::from_str(&self.done(&format!("{args} --json"))).expect("JSON")
    }
}

/// Runs `oneread plan` with arguments, separated by spaces.
fn run(directory: &Path, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oneread"))
        .arg("plan")
        .args(args.split_whitespace())
        .current_dir(directory)
        .output()
        .expect("the command starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn json(args: &str) -> Value {
    Shell::new().json(args)
}

/// Checks that a field has the expected digits: `printed` has `digits` of them.
#[track_caller]
fn assert_digits(document: &Value, field: &str, expected: f64, digits: i32) {
    let found = document[field].as_f64().unwrap_or_else(|| panic!("{field} is no number in {document}"));
    let error = (found / expected - 1.0).abs();
    assert!(error < 0.51 * 10f64.powi(1 - digits), "{field}: found {found:e}, expected {expected:e}");
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
}

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

#[test]
fn a_layout_comes_back_from_its_file() {
    let shell = Shell::new();
    for (flags, layout, rest) in [
        ("multilevel", "--levels 40,10 --slots 2", "--items 20"),
        ("summary interpolation", "--levels 40,10 --fingerprint-bits 20", "--items 20"),
        ("summary single", "--levels 40,10 --cells 100 --hashes 5", "--items 20"),
        ("summary multiple", "--levels 40,10 --slots 1 --filters 100:5,50:3", "--items 20"),
        ("deletions", "--levels 40,10", "--alive 20 --deleted 10"),
        (
            "dleft",
            "--subtables 4 --bucket-bits 128 --semisort one --group 2 --ties random --buckets 64",
            "--load 8",
        ),
        ("bloom", "--bits 100 --hashes 3", "--items 10"),
    ] {
        let by_flags = shell.json(&format!("{flags} {layout} {rest} --layout-out layout.json"));
        let file = shell.read("layout.json");
        let by_file = shell.json(&format!("{flags} --layout layout.json {rest} --layout-out again.json"));
        assert_eq!(by_flags, by_file, "{flags}");
        assert_eq!(file, shell.read("again.json"), "{flags}");
        assert!(file.starts_with("{\n  \"kind\": \""), "{file}");
    }
    // A sweep changes one number of a layout.
    let csv = shell.done("bloom --layout layout.json --items 10 --sweep hashes=3..4");
    assert!(csv.lines().nth(2).unwrap().starts_with("4,10,100,"), "{csv}");
}

/// Files of plans were truncated and overwritten in place: a full disk left half a file, and a
/// store was overwritten.
#[cfg(unix)]
#[test]
fn files_of_plans_are_replaced_whole_and_never_in_the_place_of_a_store() {
    use oneread_store::{Builder, Options};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let shell = Shell::new();
    Builder::new(Options::new()).unwrap().finish(shell.path("store")).unwrap();
    let store = std::fs::read(shell.path("store")).unwrap();
    for (flag, name) in [("--layout-out", "layout.json"), ("--plot", "plot.svg")] {
        let plan = format!("multilevel --levels 40,10 --items 20 {flag}");
        shell.done(&format!("{plan} {name}"));
        let metadata = || std::fs::metadata(shell.path(name)).unwrap();
        let before = metadata();
        std::fs::write(shell.path("plain"), "").unwrap();
        let plain = std::fs::metadata(shell.path("plain")).unwrap().permissions().mode();
        assert_eq!(before.permissions().mode(), plain, "{name}");

        // For a link, the file that it leads to is replaced. Readers of the old file keep it whole,
        // since the new one is another file.
        let link = shell.path(&format!("link-{name}"));
        std::os::unix::fs::symlink(shell.path(name), &link).unwrap();
        let _open = std::fs::File::open(&link).unwrap();
        shell.done(&format!("{plan} link-{name}"));
        assert_ne!(metadata().ino(), before.ino(), "{name}");
        assert!(link.is_symlink());

        refused(&shell, &format!("{plan} store"), "store: it is a store: name another file");
        refused(&shell, &format!("{plan} /dev/full"), "/dev/full: cannot write it");
        refused(&shell, &format!("{plan} ."), "cannot write it");
        assert_eq!(std::fs::read(shell.path("store")).unwrap(), store, "{name}");
    }
    let names = std::fs::read_dir(shell.path("")).unwrap().count();
    assert_eq!(names, 6, "no temporary file stays");
}

#[test]
fn the_library_loads_what_layout_out_writes() {
    use oneread::hash::probes::SchemeName;
    use oneread::layout::{
        BloomLayout, BucketBits, DLeftLayout, InterpolationLayout, MultilevelLayout, MultipleFiltersLayout,
        Semisort, SingleFilterLayout, Ties,
    };

    fn layout<L: serde::de::DeserializeOwned>(args: &str) -> L {
        let shell = Shell::new();
        shell.done(&format!("{args} --layout-out layout.json"));
        serde_json::from_str(&shell.read("layout.json")).expect("a layout")
    }
    let table = MultilevelLayout::new([40, 10]).and_then(|table| table.with_slots(2)).expect("a table");
    let of_table = "--items 20 --levels 40,10 --slots 2";
    assert_eq!(layout::<MultilevelLayout>(&format!("multilevel {of_table}")), table);
    // A summary's file has its table as well.
    let args = format!("summary interpolation {of_table} --fingerprint-bits 20");
    assert_eq!(layout::<MultilevelLayout>(&args), table);
    assert_eq!(Ok(layout(&args)), InterpolationLayout::new(20));
    // The cells as used.
    let args = format!("summary single {of_table} --cells 103 --hashes 5");
    assert_eq!(Ok(layout(&args)), SingleFilterLayout::new(100, 5));
    let args = format!("summary multiple {of_table} --filters 100:5,50:3");
    assert_eq!(Ok(layout(&args)), MultipleFiltersLayout::new([(100, 5), (50, 3)]));
    let args =
        "dleft --load 8 --subtables 4 --bucket-bits 128 --semisort one --group 2 --ties random --buckets 65";
    let expected = DLeftLayout::new(4, 64, BucketBits::Bits128).and_then(|layout| layout.with_group(2));
    let expected = expected.map(|layout| layout.with_semisort(Semisort::One).with_ties(Ties::Random));
    assert_eq!(Ok(layout(args)), expected);
    let expected = BloomLayout::new(100, 3).and_then(|layout| layout.with_scheme(SchemeName::Independent));
    assert_eq!(Ok(layout("bloom --items 10 --bits 100 --hashes 3")), expected);
}

#[test]
fn a_file_that_is_no_layout_is_refused() {
    let shell = Shell::new();
    shell.done("bloom --items 10 --bits 100 --layout-out bloom.json");
    for (contents, expected) in [
        (shell.read("bloom.json").as_str(), "found one for `plan bloom`"),
        ("", "no layout"),
        ("[]", "no layout"),
        (r#"{"kind": "table"}"#, "unknown variant"),
        (r#"{"kind": "multilevel", "levels": [10]}"#, "missing field `slots`"),
        (r#"{"kind": "multilevel", "levels": [10], "slots": 1, "depth": 3}"#, "unknown field `depth`"),
        (r#"{"kind": "multilevel", "levels": [-10], "slots": 1}"#, "invalid value"),
        (r#"{"kind": "multilevel", "levels": [], "slots": 1}"#, "levels"),
        (r#"{"kind": "multilevel", "levels": [10], "slots": 18446744073709551615}"#, "slots"),
    ] {
        fs::write(shell.path("layout.json"), contents).expect("a file");
        refused(&shell, "multilevel --items 10 --layout layout.json", expected);
    }
    refused(&shell, "multilevel --items 10 --layout absent.json", "absent.json");
    refused(&shell, "multilevel --items 10 --layout .", "cannot read it");
    refused(&shell, "multilevel --items 10 --levels 10 --layout bloom.json", "cannot be used with");
    refused(&shell, "bloom --items 10 --bits 100 --layout-out no/such/directory", "no/such/directory");
}

/// Fails unless the text is a well-formed document of elements; returns the text between its tags.
#[track_caller]
fn texts_of_xml(document: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut texts = Vec::new();
    let mut rest = document.trim();
    while let Some(start) = rest.find('<') {
        texts.push(rest[..start].trim().to_owned());
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "attributes are quoted: {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "tags are closed in turn");
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) {
            open.push(tag.split_whitespace().next().expect("a name"));
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.is_empty(), "open at the end: {open:?}");
    texts.retain(|text| !text.is_empty());
    texts
}

#[test]
fn a_plot_is_an_svg_with_labelled_axes() {
    let shell = Shell::new();
    let false_positives = "false positives (fraction of absent keys)";
    let bytes = "bytes of the summary";
    for (args, labels) in [
        (format!("multilevel {TEN_THOUSAND}"), &["level", "items, buckets", "10 k", "expected items"][..]),
        (format!("summary interpolation {TEN_THOUSAND} --fingerprint-bits 55"), &[bytes, "probability"]),
        (format!("summary single {TEN_THOUSAND} --cells 120000 --hashes 15"), &[bytes, "probability"]),
        (
            format!("summary multiple {TEN_THOUSAND} --filters 106000:7,87500:49,5500:49,500:49,100:49"),
            &[bytes, "probability", "that any key fails, at most", "that an absent key is found"],
        ),
        (
            "dleft --load 4".to_owned(),
            &["load (items in a bucket)", "fraction of buckets", "bits per item", false_positives],
        ),
        ("bloom --items 1e6 --bits 16e6".to_owned(), &["bits per item", false_positives, "this plan"]),
        // Degenerate sizes.
        ("bloom --items 1 --bits 1".to_owned(), &["bits per item"]),
        ("multilevel --items 1 --levels 1".to_owned(), &["level"]),
        ("dleft --load 6".to_owned(), &["bits per item"]),
        ("dleft --load 1e-9".to_owned(), &["bits per item"]),
    ] {
        shell.done(&format!("{args} --plot plan.svg"));
        let image = shell.read("plan.svg");
        assert!(image.starts_with("<svg ") && !image.contains("NaN"), "{args}: {image}");
        let texts = texts_of_xml(&image);
        for label in labels {
            assert!(texts.iter().any(|text| text == label), "{args} has no {label:?}: {texts:?}");
        }
    }
}

/// Runs a command that must fail quickly with one sentence.
#[track_caller]
fn refused(shell: &Shell, args: &str, expected: &str) {
    let start = Instant::now();
    let output = run(shell.0.path(), args);
    let elapsed = start.elapsed();
    assert_eq!(output.status.code(), Some(2), "{args}");
    assert!(output.stdout.is_empty(), "{args}");
    let message = text(&output.stderr);
    assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1, "{args}: {message}");
    assert!(message.contains(expected), "{args}: {message}");
    // It takes milliseconds, or more on a busy machine; a search would take minutes.
    assert!(elapsed < Duration::from_secs(60), "{args} took {elapsed:?}");
}

#[test]
fn bad_input_is_one_sentence_on_stderr_and_exit_code_2() {
    let shell = Shell::new();
    for (args, expected) in [
        ("multilevel --items 0 --levels 10", "items"),
        ("multilevel --items -5 --levels 10", "not negative"),
        ("multilevel --items NaN --levels 10", "whole number"),
        ("multilevel --items 2.5 --levels 10", "whole number"),
        ("multilevel --items 1e18 --levels 10", "items"),
        ("multilevel --items 1e400 --levels 10", "whole number"),
        ("multilevel --levels 10", "--items"),
        ("multilevel --items 10", "--levels"),
        ("multilevel --items 10 --levels ,", "--levels"),
        ("multilevel --items 10 --levels 10,,5", "--levels"),
        ("multilevel --items 10 --levels 10,0", "buckets"),
        ("multilevel --items 10 --levels 1e18", "buckets"),
        ("multilevel --items 10 --levels 60e12,60e12", "buckets"),
        ("multilevel --items 10 --levels 10 --slots 0", "slots"),
        ("multilevel --items 10 --levels 10 --slots 1e18", "slots"),
        ("multilevel --items 10 --levels 10 --first-level 10", "cannot be used with"),
        ("multilevel --items 10 --first-level 10 --c1 10", "cannot be used with"),
        ("multilevel --items 10 --ratio 0.5", "--first-level"),
        ("multilevel --items 10 --first-level 0", "buckets"),
        ("multilevel --items 10 --first-level 1e18", "buckets"),
        ("multilevel --items 10 --first-level 10 --ratio 1", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --ratio 0", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --ratio -0.5", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --ratio NaN", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --level-count 0", "levels"),
        ("multilevel --items 10 --first-level 10 --level-count 1e18", "level-count"),
        ("multilevel --items 10 --c1 NaN", "above 0"),
        ("multilevel --items 10 --c1 -1", "above 0"),
        ("multilevel --items 10 --c1 1e300", "buckets"),
        ("multilevel --items 10 --levels 10 --sweep ratio=0.1..0.2", "--first-level"),
        ("multilevel --items 10 --sweep ratio=0.1..0.2", "--first-level"),
        ("multilevel --items 10 --sweep items=1..2", "--levels"),
        ("summary interpolation --items 10 --levels 10 --fingerprint-bits 0", "fingerprint bits"),
        ("summary interpolation --items 10 --levels 10 --fingerprint-bits 129", "fingerprint bits"),
        ("summary interpolation --items 0 --levels 10 --fingerprint-bits 20", "items"),
        ("summary single --items 10 --levels 10 --cells 0 --hashes 5", "cells"),
        ("summary single --items 10 --levels 10 --cells 100 --hashes 0", "hashes"),
        ("summary single --items 10 --levels 10 --cells 1e18 --hashes 5", "cells"),
        ("summary single --items 10 --levels 10 --cells 4 --hashes 5", "hashes"),
        ("summary multiple --items 10 --levels 10 --filters 10", "106000:7"),
        ("summary multiple --items 10 --levels 10 --filters 10:0", "hashes"),
        ("summary multiple --items 10 --levels 10 --filters 0:1", "bits"),
        ("summary multiple --items 10 --levels 10,5 --filters 10:1", "filters"),
        ("summary multiple --items 10 --levels 10 --filters -10:1", "106000:7"),
        ("deletions --alive 0 --deleted 0 --levels 10", "items"),
        ("deletions --alive 10 --deleted 1e18 --levels 10", "items"),
        ("deletions --alive 10 --deleted 5 --levels 0", "buckets"),
        ("dleft --load 0", "above 0"),
        ("dleft --load -1", "above 0"),
        ("dleft --load nan", "above 0"),
        ("dleft --load -inf", "above 0"),
        ("dleft --load 7", "up to 6"),
        ("dleft --load 1e18 --bucket-bits 128", "up to 11"),
        ("dleft --load 4 --bucket-bits 65", "64 or 128"),
        ("dleft --load 4 --subtables 0", "sub-tables"),
        ("dleft --load 4 --subtables 9", "sub-tables"),
        ("dleft --load 4 --subtables 1e18", "--subtables"),
        ("dleft --load 4 --group 0", "group"),
        ("dleft --load 4 --semisort two", "none, one, paper"),
        ("dleft --load 4 --buckets 1e18", "buckets"),
        ("bloom --items 0 --bits 10", "items"),
        ("bloom --items 1e18 --bits 10", "items"),
        ("bloom --items 10 --bits 0", "bits"),
        ("bloom --items 10 --bits 1e18", "bits"),
        ("bloom --items 10 --bits 10 --hashes 0", "hashes"),
        ("bloom --items 10 --bits 10 --hashes 1e18", "hashes"),
        ("restricted --items 0 --levels 1", "items"),
        ("restricted --items 1e18 --levels 6", "items"),
        ("restricted --items 64 --levels 0", "levels"),
        ("restricted --items 64 --levels 8", "levels"),
        ("restricted --items 64 --levels 3 --fanout 0", "fan-out"),
        ("restricted --items 64 --levels 3 --policy best", "random, greedy"),
        ("bloom --items 10 --bits 10 --sweep hashes", "FIELD=A..B"),
        ("bloom --items 10 --bits 10 --sweep hashes=1", "FIELD=A..B"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..NaN", "FIELD=A..B"),
        ("bloom --items 10 --bits 10 --sweep hashes=3..1", "no larger than B"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..3..0", "steps above 0"),
        ("bloom --items 10 --bits 10 --sweep hashes=0..3..x2", "A above 0"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..1e18..1", "10000 values"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..9 --steps 1e18", "10000 values"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..9 --steps 1", "2 or more"),
        ("bloom --items 10 --bits 10 --sweep hashes=0..9 --log", "start above 0"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..9..2 --steps 3", "leave out --steps"),
        ("bloom --items 10 --bits 10 --hashes 1 --steps 3", "--sweep"),
        ("bloom --items 10 --bits 10 --sweep hashes=-1..3", "hashes cannot be -1"),
        ("bloom --items 10 --bits 10 --sweep hashes=0..3", "at hashes = 0"),
        ("bloom --items 10 --bits 10 --sweep levels=1..3", "items, bits, hashes"),
        ("bloom --items 10 --sweep hashes=1..3", "--bits"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..3 --plot x.svg", "cannot be used with"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..3 --layout-out x.json", "cannot be used with"),
        ("dleft --sweep load=0..4", "at load = 0"),
    ] {
        refused(&shell, args, expected);
    }
}

#[test]
fn help_teaches_by_example() {
    for command in ["", "multilevel", "summary", "deletions", "dleft", "bloom", "restricted"]
        .map(str::to_owned)
        .into_iter()
        .chain(["interpolation", "single", "multiple"].map(|kind| format!("summary {kind}")))
    {
        let shell = Shell::new();
        let help = shell.done(&format!("{command} --help"));
        // Each example of the help must work; some read a file that an earlier one wrote.
        let joined = help.replace("\\\n", "");
        let examples = joined.lines().filter_map(|line| line.strip_prefix("  oneread plan "));
        let examples: Vec<_> = examples.map(|example| example.split('>').next().unwrap()).collect();
        assert!(!examples.is_empty(), "{help}");
        for example in examples {
            assert!(example.starts_with(&command), "{example}");
            shell.done(example);
        }
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
