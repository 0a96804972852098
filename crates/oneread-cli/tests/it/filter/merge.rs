//! Merged filters.

use super::{KINDS, Shell, numbered};
use crate::shell::text;

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
