//! `oneread filter` from a user's view: against exact sets, and against all kinds of bad input.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use oneread::bytes::Saved;
use oneread::filter::{BloomFilter, CountMinSketch};
use oneread::hash::Keyed;
use oneread::layout::{BloomLayout, CountMinLayout};
use oneread::plan;
use serde_json::Value;
use tempfile::TempDir;

const KINDS: [&str; 4] = ["bloom", "blocked", "counting", "growing"];

/// The kinds that can be full, and whose smallest size is for a lower rate than 1%.
const DLEFT: [&str; 2] = ["dleft", "dleft-counting"];

/// All kinds that can be full.
pub(crate) fn limited() -> impl Iterator<Item = &'static str> {
    DLEFT.into_iter().chain(["line"])
}

pub(crate) fn all_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().chain(limited())
}

/// The requested rate.
const RATE: f64 = 0.01;

/// A separate directory for each test, in which the command runs.
pub(crate) struct Shell {
    directory: TempDir,
    input: TempDir,
}

impl Shell {
    pub(crate) fn new() -> Self {
        let directory = || tempfile::tempdir().expect("a temporary directory");
        Self { directory: directory(), input: directory() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs `oneread filter` with arguments, separated by spaces, and an input.
    pub(crate) fn run(&self, args: &str, input: &[u8]) -> Output {
        let file = self.input.path().join("input");
        fs::write(&file, input).expect("input");
        // The bounds of these tests are for one seed: 0, unless they name another or leave it to
        // the command.
        let names_seed = ["--seed", "--like", "--random"].iter().any(|flag| args.contains(flag));
        let seed: &[&str] = if args.starts_with("build ") && !names_seed { &["--seed", "0"] } else { &[] };
        Command::new(env!("CARGO_BIN_EXE_oneread"))
            .arg("filter")
            .args(args.split_whitespace().filter(|&flag| flag != "--random"))
            .args(seed)
            .current_dir(self.path())
            .stdin(File::open(&file).expect("input"))
            .output()
            .expect("the command starts")
    }

    /// The output of a run that must succeed, with nothing on stderr.
    pub(crate) fn done(&self, args: &str, input: &[u8]) -> Vec<u8> {
        let output = self.run(args, input);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args}");
        output.stdout
    }

    pub(crate) fn json(&self, args: &str, input: &[u8]) -> Value {
        serde_json::from_slice(&self.done(&format!("{args} --json"), input)).expect("JSON")
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).expect("a file")
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).expect("a file");
    }

    /// The files and their contents.
    pub(crate) fn snapshot(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.path()).expect("a directory").map(|entry| entry.expect("an entry"));
        let mut files: Vec<_> = entries
            .map(|entry| {
                let name = entry.file_name().into_string().expect("UTF-8");
                (name, fs::read(entry.path()).unwrap_or_default())
            })
            .collect();
        files.sort();
        files
    }
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// `name 0`, `name 1`, …, one per line.
pub(crate) fn numbered(name: &str, count: u32) -> Vec<u8> {
    (0..count).flat_map(|number| format!("{name} {number}\n").into_bytes()).collect()
}

#[test]
fn every_key_is_found_and_others_at_the_planned_rate() {
    const COUNT: u32 = 200_000;
    let keys = numbered("key", COUNT);
    let exact: HashSet<&str> = text(&keys).lines().collect();
    // Keys and other lines in turn, as in a mixed stream.
    let mixed: String = (0..COUNT).map(|number| format!("other {number}\nkey {number}\n")).collect();
    for kind in all_kinds() {
        let shell = Shell::new();
        let built = shell.json(&format!("build f --rate {RATE} --kind {kind}"), &keys);
        assert_eq!((&built["kind"], &built["lines"]), (&kind.into(), &COUNT.into()));

        let printed = shell.done("query f", mixed.as_bytes());
        let (found, false_positives): (Vec<&str>, Vec<&str>) =
            text(&printed).lines().partition(|line| exact.contains(line));
        assert!(found.into_iter().eq(text(&keys).lines()), "{kind} forgets keys, or changes their order");

        // 2000 of 200,000 others, ±300: by Chernoff's bound, 2·exp(−300²/(3·2000)), exceeded for
        // one seed in a million, and the seed is fixed. A growing filter reserves a part of the
        // rate for layers to come: it reports its own rate.
        let asked = RATE * f64::from(COUNT);
        let told = built["false_positive_rate"].as_f64().unwrap() * f64::from(COUNT);
        let is_limited = limited().any(|limited| limited == kind);
        let tells = kind == "growing" || is_limited;
        let expected = if tells { told } else { asked };
        // For the fewer that a d-left filter finds, six standard deviations: exceeded once in 10^8
        // seeds.
        let tolerance = if is_limited { 6.0 * told.sqrt() } else { 300.0 };
        let count = false_positives.len() as f64;
        assert!(expected <= asked && (count - expected).abs() < tolerance, "{kind}: {count} false positives");

        let inverted = shell.done("query f --invert", mixed.as_bytes());
        let printed: HashSet<&str> = text(&printed).lines().collect();
        let rest = mixed.lines().filter(|line| !printed.contains(line));
        assert!(text(&inverted).lines().eq(rest), "{kind}: --invert prints the other lines");
    }
}

#[test]
fn the_same_lines_give_the_same_bytes() {
    let keys = numbered("key", 5000);
    for kind in all_kinds() {
        let shell = Shell::new();
        shell.done(&format!("build one --kind {kind}"), &keys);
        shell.done(&format!("build two --kind {kind}"), &keys);
        assert_eq!(shell.read("one"), shell.read("two"), "{kind}");
        shell.done(&format!("build seeded --kind {kind} --seed 7"), &keys);
        assert_ne!(shell.read("one"), shell.read("seeded"), "{kind}");
        if kind != "growing" {
            shell.done(&format!("build streamed --kind {kind} --items 5000"), &keys);
            assert_eq!(shell.read("one"), shell.read("streamed"), "{kind}: counted first or told");
        }
    }
}

#[test]
fn the_library_finds_the_lines_as_byte_strings_under_seed_0() {
    let shell = Shell::new();
    shell.done("build f", b"one\ntwo\n");
    let filter: BloomFilter = Saved::from_bytes(&shell.read("f")).expect("a filter");
    assert!(filter.contains("one") && filter.contains(&b"two"[..]) && !filter.contains("three"));
    assert_eq!(filter.digester().seed(), 0);
    assert_eq!(
        filter.layout(),
        plan::bloom::for_rate(2, RATE).unwrap(),
        "the library's plan, scheme and all"
    );
}

#[test]
fn a_merged_filter_is_the_filter_of_all_lines() {
    let (a, b) = (numbered("a", 300), numbered("b", 200));
    for kind in KINDS {
        let shell = Shell::new();
        let flags = format!("--kind {kind} --items 1000");
        shell.done(&format!("build a {flags}"), &a);
        shell.done(&format!("build b {flags}"), &b);
        shell.done(&format!("build all {flags}"), &[&*a, &*b].concat());
        let merged = shell.json("merge merged a b", b"");
        assert_eq!(shell.read("merged"), shell.read("all"), "{kind}");
        assert_eq!(merged, {
            let mut info = shell.json("info all", b"");
            assert_eq!(info.as_object_mut().unwrap().remove("verified"), Some(true.into()));
            info
        });
    }
}

#[test]
fn filters_have_secret_seeds_unless_they_are_to_be_merged() {
    let (a, b) = (numbered("a", 300), numbered("b", 200));
    for kind in all_kinds() {
        let shell = Shell::new();
        let seed = |name: &str| shell.json(&format!("info {name}"), b"")["seed"].as_u64().expect("a seed");
        // Two of three 64-bit seeds are equal once in 6e18.
        for name in ["one", "two", "three"] {
            shell.done(&format!("build {name} --random --kind {kind} --items 1000"), &a);
        }
        let seeds = HashSet::from([seed("one"), seed("two"), seed("three"), 0]);
        assert_eq!(seeds.len(), 4, "{kind}: {seeds:?}");

        shell.done("build like --like one", &b);
        assert_eq!(seed("like"), seed("one"), "{kind}");
        if kind == "dleft-counting" {
            continue;
        }
        shell.done("merge merged one like", b"");
        let all = [&*a, &*b].concat();
        assert_eq!(shell.done("query merged", &all), all, "{kind}");
        let refused = shell.run("merge no one two", b"");
        assert!(text(&refused.stderr).contains("build one --like the other"), "{}", text(&refused.stderr));
        let refused = shell.run("build x --like one --items 5", b"");
        assert!(text(&refused.stderr).contains("cannot be used with"), "{}", text(&refused.stderr));
        let refused = shell.run("build x --like missing", b"");
        assert!(text(&refused.stderr).contains("missing: cannot be the model of --like"));
    }
}

#[test]
fn growing_filters_join_their_layers() {
    let shell = Shell::new();
    shell.done("build a --kind growing --items 100", &numbered("a", 1000));
    shell.done("build b --kind growing --items 100", &numbered("b", 500));
    let merged = shell.json("merge ab a b", b"");
    let layers = |name: &str| shell.json(&format!("info {name}"), b"")["layers"].as_u64().unwrap();
    // 100 + 200 + 400 + 800 hold a thousand lines.
    assert_eq!(layers("a"), 4);
    assert!((4..=layers("a") + layers("b")).contains(&merged["layers"].as_u64().unwrap()));
    let all = [numbered("a", 1000), numbered("b", 500)].concat();
    assert_eq!(shell.done("query ab", &all), all);
}

#[test]
fn info_tells_the_fields_of_each_kind() {
    let keys = numbered("key", 10_000);
    for kind in KINDS {
        let shell = Shell::new();
        shell.done(&format!("build f --kind {kind} --seed 5"), &keys);
        let info = shell.json("info f", b"");
        let number =
            |field: &str| info[field].as_f64().unwrap_or_else(|| panic!("{kind} has {field}: {info}"));
        assert_eq!(
            (&info["kind"], &info["digester"], &info["seed"]),
            (&kind.into(), &"portable".into(), &5.into())
        );
        assert_eq!(info["verified"], true);
        assert_eq!(info["items_estimated"], kind != "growing");
        // A growing filter does not count the up to 1% that seem to exist already, and the standard
        // error of an estimate is √m/k = √95,900/7 = 44.
        assert!((number("items") - 10_000.0).abs() <= 200.0, "{kind}: {info}");
        assert!((number("bits_per_key") - number("bits") / number("items")).abs() < 1e-9, "{kind}");
        assert_eq!(number("bytes"), shell.read("f").len() as f64);
        // The header, at most 48 bytes more per layer, and at most 64 for rounding up to a block or
        // word.
        let overhead = number("bytes") - number("bits") / 8.0;
        assert!((128.0..=240.0).contains(&overhead), "{kind}: {overhead}");

        let has = |field: &str| !info[field].is_null();
        let fixed = kind != "growing";
        assert_eq!((has("hashes"), has("fill"), has("layers")), (fixed, fixed, !fixed), "{kind}");
        assert_eq!(has("scheme"), ["bloom", "counting"].contains(&kind));
        assert_eq!((has("counter_bits"), has("stuck")), (kind == "counting", kind == "counting"));
        if fixed {
            // Full to the plan: the rate is the requested one, within the variation of 10,000 keys,
            // and about half of the bits are set.
            assert!((number("false_positive_rate") / RATE - 1.0).abs() < 0.1, "{kind}: {info}");
            assert!((0.45..0.6).contains(&number("fill")), "{kind}: {info}");
        }
        let table = shell.done("info f", b"");
        assert!(text(&table).lines().any(|line| line.starts_with("kind") && line.ends_with(kind)));
    }
}

#[test]
fn info_tells_the_loads_and_lengths_of_d_left_filters() {
    let keys = numbered("key", 10_000);
    for kind in DLEFT {
        let shell = Shell::new();
        shell.done(&format!("build f --kind {kind} --rate 0.001 --seed 5"), &keys);
        let info = shell.json("info f", b"");
        let number = |field: &str| info[field].as_f64().unwrap_or_else(|| panic!("{field}: {info}"));
        assert_eq!(
            (&info["kind"], &info["seed"], &info["verified"]),
            (&kind.into(), &5.into(), &true.into())
        );
        assert_eq!(info["items_estimated"], false);
        // At most one in a thousand seems to exist already; the counting filter counts it anyway.
        let most_missing = if kind == "dleft" { 30.0 } else { 0.0 };
        assert!((0.0..=most_missing).contains(&(10_000.0 - number("items"))), "{kind}: {info}");
        assert!(
            number("false_positive_rate") > 0.0 && number("false_positive_rate") <= 0.001,
            "{kind}: {info}"
        );
        assert_eq!(number("bytes"), shell.read("f").len() as f64);

        let loads: Vec<u64> = serde_json::from_value(info["loads"].clone()).unwrap();
        let fingerprints: u64 = (0..).zip(&loads).map(|(load, buckets)| load * buckets).sum();
        let bucket_bits = if kind == "dleft" { 64 } else { 128 };
        assert_eq!(info["bits"], bucket_bits * loads.iter().sum::<u64>(), "{kind}: {info}");
        let lengths = info["fingerprint_lengths"].as_array().unwrap();
        let sum: u64 = lengths.iter().map(|length| length["fingerprints"].as_u64().unwrap()).sum();
        assert_eq!(sum, fingerprints, "{kind}: {info}");
        if kind == "dleft" {
            assert_eq!((fingerprints as f64, loads.len()), (number("items"), 7));
            // Four fingerprints share 60 bits, and the state encodes another bit of each.
            let sixteen = lengths.iter().find(|length| length["bits"] == 16).unwrap();
            assert_eq!(sixteen["fingerprints"], 4 * loads[4]);
        }
        let has = |field: &str| !info[field].is_null();
        assert_eq!((has("stuck"), has("counter_bits")), (kind != "dleft", kind != "dleft"));
        assert!(!has("hashes") && !has("fill") && !has("layers"));
        let table = shell.done("info f", b"");
        for name in ["buckets by load", "fingerprints by bits"] {
            assert!(text(&table).lines().any(|line| line.starts_with(name)), "{kind}: {}", text(&table));
        }
    }
    assert!(Shell::new().json("build f", &keys)["loads"].is_null());
}

#[test]
fn a_merged_d_left_filter_has_the_lines_of_all() {
    let (a, b) = (numbered("a", 3000), numbered("b", 2000));
    // Spread, and in pages: 16 pages of 4 KiB are for about 32,000 lines.
    for items in [6000, 60_000] {
        let shell = Shell::new();
        let flags = format!("--kind dleft --items {items} --bits-per-key 16");
        shell.done(&format!("build a {flags}"), &a);
        shell.done(&format!("build b {flags}"), &b);
        let merged = shell.json("merge merged a b", b"");
        let count = |name: &str| shell.json(&format!("info {name}"), b"")["items"].as_u64().unwrap();
        assert_eq!(merged["items"], count("a") + count("b"));
        let all = [&*a, &*b].concat();
        assert_eq!(shell.done("query merged", &all), all);
        let others = numbered("other", 100_000);
        let found = text(&shell.run("query merged", &others).stdout).lines().count();
        assert!(found < 100, "the rate at this size is below 5e-4: {found} of 100,000");
    }
}

#[test]
fn a_merged_line_filter_has_the_lines_of_all() {
    let (a, b) = (numbered("a", 3000), numbered("b", 2000));
    let shell = Shell::new();
    let built = shell.json("build a --kind line --items 6000 --bits-per-key 13.6", &a);
    // 160 lines of 40 slots: half of 0.94 of them.
    assert!((built["fill"].as_f64().unwrap() - 3000.0 / 6400.0).abs() < 0.005, "{built}");
    shell.done("build b --kind line --items 6000 --bits-per-key 13.6", &b);
    assert_eq!(shell.json("merge merged a b", b"")["items"], 5000);
    let all = [&*a, &*b].concat();
    assert_eq!(shell.done("query merged", &all), all);
    let others = numbered("other", 100_000);
    let found = text(&shell.run("query merged", &others).stdout).lines().count();
    // 5000 of 160 lines of 52·1024 fingerprints: 5.9e-4.
    assert!((10..100).contains(&found), "{found} of 100,000");
}

#[test]
fn a_full_filter_is_an_error_that_says_how_many_keys_are_in() {
    let shell = Shell::new();
    let keys = numbered("key", 10_000);
    for kind in limited() {
        let output = shell.run(&format!("build f --kind {kind} --items 1000"), &keys);
        let message = text(&output.stderr);
        assert_eq!(
            (output.status.code(), message.lines().take_while(|line| !line.is_empty()).count()),
            (Some(2), 1),
            "{kind}: {message}"
        );
        let (_, count) = message.split_once("f: cannot be built: it is full: with ").expect(message);
        let (count, advice) = count.split_once(" keys").expect(message);
        // More than it was made for, and fewer than came.
        let count: u64 = count.replace(',', "").parse().expect(message);
        assert!((1001..10_000).contains(&count), "{kind}: {message}");
        assert!(advice.contains("--items"), "{kind}: {message}");
        assert!(shell.snapshot().is_empty(), "{kind}");
        // The same lines fit once they are counted.
        shell.done(&format!("build f --kind {kind}"), &keys);
        fs::remove_file(shell.path().join("f")).unwrap();
        // A repeated line takes the room of one, or of few.
        shell.done(&format!("build f --kind {kind} --items 10"), &b"the same\n".repeat(1000));
        fs::remove_file(shell.path().join("f")).unwrap();
    }
}

#[test]
fn d_left_filters_that_do_not_fit_together_are_not_merged() {
    let shell = Shell::new();
    // Each is nearly full.
    for name in ["a", "b"] {
        shell.done(&format!("build {name} --kind dleft --items 1000"), &numbered(name, 1000));
    }
    let output = shell.run("merge new a b", b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--items for all lines together"), "{}", text(&output.stderr));
}

#[test]
fn flags_shape_the_filter() {
    let shell = Shell::new();
    let keys = numbered("key", 1000);
    let built = |flags: &str| shell.json(&format!("build f --force {flags}"), &keys);
    let sized = built("--bits-per-key 12");
    assert_eq!((&sized["bits"], &sized["hashes"]), (&12_000.into(), &8.into()));
    let counters = built("--kind counting --bits-per-key 48 --counter-bits 3 --hashes 5 --scheme double");
    assert_eq!((&counters["bits"], &counters["counter_bits"]), (&48_000.into(), &3.into()));
    assert_eq!((&counters["hashes"], &counters["scheme"]), (&5.into(), &"double".into()));
    let blocked = built("--kind blocked --bits-per-key 16");
    // ⌈16,000/512⌉ blocks.
    assert_eq!(blocked["bits"], 32 * 512);

    // Every scheme and number of hashes keeps the requested rate.
    for flags in
        ["", "--hashes 3", "--scheme independent-bands", "--scheme partitioned --hashes 10", "--kind blocked"]
    {
        let planned =
            built(&format!("--rate 0.001 {flags}"))["planned_false_positive_rate"].as_f64().unwrap();
        assert!(planned > 0.000_9 && planned <= 0.001, "{flags}: {planned}");
    }
}

#[test]
fn keys_are_bytes_up_to_the_newline_and_nothing_is_stripped() {
    let lines: [&[u8]; 6] = [b"plain", b"", b"\0", b"a\0b", b"\xff\xfe", b" spaces and \r"];
    let joined = lines.join(&b'\n');
    let ended = [&joined[..], b"\n"].concat();
    for kind in all_kinds() {
        let shell = Shell::new();
        let others: &[u8] = b"plai\nPLAIN\na\nspaces and\n\xff\n";
        // As low as a d-left counting filter gets; even then it finds one of the others once in
        // 2000 seeds.
        let rate = if kind == "dleft-counting" { 1e-4 } else { 1e-9 };
        shell.done(&format!("build f --rate {rate} --kind {kind}"), &joined);
        shell.done(&format!("build ended --rate {rate} --kind {kind}"), &ended);
        assert_eq!(shell.read("f"), shell.read("ended"), "{kind}: the last newline makes no difference");

        // Printed as they came, each with a newline.
        assert_eq!(shell.done("query f", &joined), ended, "{kind}");
        assert_eq!(shell.done("query f", &[others, &joined].concat()), ended, "{kind}");
        assert_eq!(shell.done("query f --invert", &[others, &joined].concat()), others, "{kind}");
    }
}

#[test]
fn nothing_in_gives_nothing_out_and_exit_code_1() {
    let shell = Shell::new();
    for kind in all_kinds() {
        let built = shell.json(&format!("build {kind} --kind {kind} --items 100"), b"");
        assert_eq!((&built["items"], &built["false_positive_rate"]), (&0.into(), &0.0.into()), "{kind}");
        assert_eq!(built["bits_per_key"], Value::Null);
        for (flags, input, code) in
            [("", &b""[..], 1), ("", b"a\n\n", 1), ("--invert", b"", 1), ("--invert", b"a", 0)]
        {
            let output = shell.run(&format!("query {kind} {flags}"), input);
            assert_eq!((output.status.code(), text(&output.stderr)), (Some(code), ""), "{kind} {flags}");
        }
    }
    shell.done("build grown --kind growing", b"");
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let shell = Shell::new();
    shell.done("build f", b"before\n");
    let before = shell.snapshot();
    for args in ["build f", "merge f f f"] {
        let output = shell.run(args, b"after\n");
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert!(text(&output.stderr).contains("--force"), "{args}");
        assert_eq!(shell.snapshot(), before, "{args}");
    }
    shell.done("merge f f f --force", b"");
    shell.done("build f --force", b"after\n");
    assert_eq!(shell.done("query f", b"before\nafter\n"), b"after\n");
    assert_eq!(shell.snapshot().len(), 1, "no temporary file stays");
}

#[test]
fn a_file_that_comes_while_the_lines_are_read_is_not_replaced() {
    use std::io::Write;
    let shell = Shell::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneread"))
        .args(["filter", "build", "f", "--items", "1000"])
        .current_dir(shell.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // More than a pipe holds, so some of it was read, which happens after the first look at `f`.
    stdin.write_all(&b"key\n".repeat(1 << 20)).expect("it reads");
    shell.write("f", b"another's");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let expected = "error: f: there already is such a file: name another one, or add --force\n";
    assert_eq!(text(&output.stderr), expected);
    assert_eq!(shell.read("f"), b"another's");
}

/// `--force` replaced a live store, whose manifest and log stayed.
#[test]
fn no_filter_takes_the_place_of_a_store() {
    use oneread_store::{Store, StoreOptions};
    let shell = Shell::new();
    shell.done("build f", b"key\n");
    let path = shell.path().join("s");
    let store = Store::create(&path, StoreOptions::new()).expect("a store");
    store.put(b"key", b"value").expect("room");
    let refused = |told: &str| {
        for args in ["build s --force", "merge s f f --force"] {
            let output = shell.run(args, b"key\n");
            assert_eq!(output.status.code(), Some(2), "{args}");
            let message = text(&output.stderr);
            assert!(message.starts_with("error: s: ") && message.contains(told), "{args}: {message}");
        }
    };
    refused("changes it: wait until it is done");
    store.close().expect("a store");
    refused("it is a store: name another file");
    let store = Store::open(&path, StoreOptions::new()).expect("a live store");
    assert_eq!(store.get(b"key").expect("a page").as_deref(), Some(&b"value"[..]));
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    shell.done("build f", b"key\n");
    shell.write("plain", b"");
    let mode = |name: &str| fs::metadata(shell.path().join(name)).expect("a file").permissions().mode();
    assert_eq!(mode("f"), mode("plain"));
}

#[test]
fn what_is_wrong_is_one_sentence_exit_code_2_and_leaves_nothing_behind() {
    let shell = Shell::new();
    shell.done("build f --items 1000", b"key\n");
    shell.done("build larger --items 2000", b"key\n");
    shell.done("build seeded --items 1000 --seed 1", b"key\n");
    shell.done("build blocked --items 1000 --kind blocked", b"key\n");
    shell.done("build grown --kind growing", b"key\n");
    shell.done("build dleft --items 1000 --kind dleft", b"key\n");
    shell.done("build more --items 2000 --kind dleft", b"key\n");
    shell.done("build removable --items 1000 --kind dleft-counting", b"key\n");
    shell.done("build paged --items 100000 --kind dleft", b"key\n");
    let mut page = shell.read("paged");
    page[8000] ^= 1;
    shell.write("page", &page);
    let whole = shell.read("f");
    let changed = |at: usize| [&whole[..at], &[whole[at] ^ 1], &whole[at + 1..]].concat();
    shell.write("text", b"some text that is no filter\n");
    shell.write("empty", b"");
    shell.write("cut", &whole[..whole.len() - 8]);
    shell.write("longer", &[&whole[..], b"12345678"].concat());
    shell.write("header", &changed(70));
    shell.write("payload", &changed(500));
    shell.write(
        "sketch",
        &CountMinSketch::with_seed(CountMinLayout::new(10, 2).unwrap(), 0).unwrap().to_bytes(),
    );
    let keyed = BloomFilter::with_digester(BloomLayout::new(100, 3).unwrap(), Keyed::with_secret([7; 16]));
    shell.write("keyed", &keyed.unwrap().to_bytes());
    fs::create_dir(shell.path().join("folder")).unwrap();
    let before = shell.snapshot();

    for (args, expected) in [
        ("build new", "no lines on stdin"),
        ("build new --kind blocked", "no lines on stdin"),
        ("build new --kind counting", "no lines on stdin"),
        ("build new --rate 0", "--rate"),
        ("build new --rate 1", "--rate"),
        ("build new --rate NaN", "--rate"),
        ("build new --rate=-0.5", "--rate"),
        ("build new --rate 1e-300", "--rate"),
        ("build new --rate much", "much"),
        ("build new --bits-per-key 0", "--bits-per-key"),
        ("build new --bits-per-key inf", "--bits-per-key"),
        ("build new --rate 0.1 --bits-per-key 8", "cannot be used with"),
        ("build new --items 0", "--items"),
        ("build new --items 1000000000000000000", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind blocked", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind counting", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind growing", "new: cannot be built"),
        ("build new --items 1000000 --bits-per-key 1e300", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind dleft", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind dleft-counting", "new: cannot be built"),
        ("build new --kind dleft --bits-per-key 10", "new: cannot be built"),
        ("build new --kind dleft-counting --bits-per-key 10", "new: cannot be built"),
        ("build new --kind dleft", "no lines on stdin"),
        ("build new --kind dleft --hashes 4", "--hashes does not go with --kind dleft"),
        (
            "build new --kind dleft-counting --counter-bits 4",
            "--counter-bits does not go with --kind dleft-counting",
        ),
        ("build new --kind cuckoo", "cuckoo"),
        ("build new --hashes 0", "--hashes"),
        ("build new --hashes 65", "--hashes"),
        ("build new --scheme random", "accelerated"),
        ("build new --counter-bits 4", "--counter-bits does not go with --kind bloom"),
        ("build new --kind counting --counter-bits 9", "--counter-bits"),
        ("build new --kind blocked --hashes 4", "--hashes does not go with --kind blocked"),
        ("build new --kind blocked --scheme double", "--scheme does not go with --kind blocked"),
        ("build new --kind growing --bits-per-key 8", "--bits-per-key does not go with --kind growing"),
        ("build nowhere/new", "nowhere/new: "),
        ("build folder", "folder: it is a directory"),
        ("build", "<FILE>"),
        ("query missing", "missing: cannot open it"),
        ("query folder", "folder: it is a directory"),
        ("query text", "text: not a file of oneread"),
        ("query empty", "empty: not a file of oneread"),
        ("query cut", "cut: expected"),
        ("query longer", "longer: expected"),
        ("query header", "header: the header is damaged"),
        ("query payload", "payload: the payload is damaged"),
        ("query page", "page: the payload is damaged"),
        ("query sketch", "sketch: it holds a Count-Min sketch"),
        ("query keyed", "keyed: it was made by a program"),
        ("info missing", "missing: cannot open it"),
        ("info text", "text: not a file of oneread"),
        ("info payload", "payload: the payload is damaged"),
        ("info header --no-verify", "header: the header is damaged"),
        ("info sketch", "sketch: it holds a Count-Min sketch"),
        ("merge new f", "<FILE>"),
        ("merge new f missing", "missing: cannot open it"),
        ("merge new f payload", "payload: the payload is damaged"),
        ("merge new f text", "text: not a file of oneread"),
        ("merge new f larger", "and larger is bloom of"),
        ("merge new f seeded", "and seeded is bloom of"),
        ("merge new f blocked", "and blocked is blocked of"),
        ("merge new dleft more", "and more is dleft of"),
        ("merge new dleft f", "dleft is dleft of"),
        ("merge new removable removable", "such filters cannot be merged: build one of all lines"),
        ("merge new paged page", "page: the page is damaged"),
        ("merge new grown f", "grown is growing from"),
        ("merge new f keyed", "keyed: it was made by a program"),
        ("merge nowhere/new f f", "nowhere/new: "),
        ("mix", "mix"),
    ] {
        let output = shell.run(args, b"");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {message}");
        assert!(output.stdout.is_empty(), "{args}");
        assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1, "{args}: {message}");
        assert!(message.starts_with("error: ") && message.contains(expected), "{args}: {message}");
        assert_eq!(shell.snapshot(), before, "{args}");
    }
}

#[test]
fn damage_is_overlooked_only_when_asked_to() {
    let shell = Shell::new();
    shell.done("build f", b"key\n");
    let mut bytes = shell.read("f");
    bytes[128] ^= 1;
    shell.write("f", &bytes);
    assert_eq!(shell.json("info f --no-verify", b"")["verified"], false);
    assert_eq!(shell.run("query f --no-verify", b"").status.code(), Some(1));
}

#[test]
fn info_describes_a_filter_whose_secret_it_does_not_know() {
    let shell = Shell::new();
    let filter = BloomFilter::with_digester(BloomLayout::new(100, 3).unwrap(), Keyed::with_secret([7; 16]));
    shell.write("f", &filter.unwrap().to_bytes());
    let info = shell.json("info f", b"");
    assert_eq!(
        (&info["digester"], &info["seed"], &info["bits"]),
        (&"keyed".into(), &Value::Null, &100.into())
    );
}

#[test]
fn a_reader_that_hangs_up_is_no_failure() {
    let shell = Shell::new();
    let keys = numbered("key", 100_000);
    shell.done("build f", &keys);
    shell.write("keys", &keys);
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneread"))
        .args(["filter", "query", "f"])
        .current_dir(shell.path())
        .stdin(File::open(shell.path().join("keys")).expect("keys"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn help_teaches_by_example() {
    let shell = Shell::new();
    for (args, example) in [
        ("--help", "oneread filter query seen.filter --invert < new.txt"),
        ("build --help", "zcat *.gz | oneread filter build"),
        ("build --help", "--kind dleft --rate 0.0004"),
        ("query --help", "Exit codes: 0 at least one line was printed, 1 none was"),
        ("merge --help", "oneread filter merge week mon tue"),
    ] {
        assert!(text(&shell.done(args, b"")).contains(example), "{args}");
    }
}
