//! Plots.

use super::{Shell, TEN_THOUSAND};

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
