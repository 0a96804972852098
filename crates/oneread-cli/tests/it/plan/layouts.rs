//! Layouts in files.

use std::fs;

use super::{Shell, refused};

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
