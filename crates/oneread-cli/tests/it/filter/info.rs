//! What `oneread filter info` tells.

use oneread::filter::BloomFilter;
use oneread::hash::Keyed;
use oneread::layout::BloomLayout;
use serde_json::Value;

use super::{DLEFT, KINDS, RATE, Shell, numbered};
use crate::shell::text;

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
