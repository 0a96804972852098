//! Structures in serde's formats: JSON, which has no bytes, and a binary one, which has.

use ::serde::Serialize;
use ::serde::de::DeserializeOwned;
use oneread::bytes::Saved;

use super::{blocked, bloom, count_min, counting, dleft, growing};

fn comes_back<F: Saved + PartialEq + Serialize + DeserializeOwned>(structure: &F) {
    let bytes = structure.to_bytes();
    let json = serde_json::to_string(structure).unwrap();
    assert!(json.starts_with("[137,111,110,101,"), "bytes as numbers: {}", &json[..40]);
    assert!(serde_json::from_str::<F>(&json).unwrap() == *structure);

    let binary = postcard::to_stdvec(structure).unwrap();
    // Its length comes first, in one to three bytes, and nothing else.
    assert!(binary.ends_with(&bytes) && binary.len() <= bytes.len() + 3);
    assert!(postcard::from_bytes::<F>(&binary).unwrap() == *structure);
}

fn is_checked<F: Saved + Serialize + DeserializeOwned>(structure: &F) {
    let error = |json: &str| serde_json::from_str::<F>(json).err().unwrap().to_string();
    assert!(error("[137,111]").contains("not a file of oneread"), "{}", error("[137,111]"));
    assert!(error("{}").contains("the bytes of a saved structure"), "{}", error("{}"));
    assert!(error("\"text\"").contains("not a file of oneread"), "{}", error("\"text\""));
    assert!(error("[256]").contains("256"), "{}", error("[256]"));
    let mut damaged = postcard::to_stdvec(structure).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(postcard::from_bytes::<F>(&damaged).is_err());
}

#[test]
fn every_kind_comes_back_through_json_and_a_binary_format() {
    comes_back(&bloom());
    comes_back(&blocked());
    comes_back(&counting());
    comes_back(&count_min());
    comes_back(&growing());
    comes_back(&dleft());
}

#[test]
fn what_is_not_a_structure_is_an_error() {
    is_checked(&bloom());
    is_checked(&blocked());
    is_checked(&counting());
    is_checked(&count_min());
    is_checked(&growing());
    is_checked(&dleft());
}
