//! Damaged, missing and swapped objects: a clear error that names the object.

use std::sync::Arc;

use oneread_dataset::object_store::memory::InMemory;
use oneread_dataset::object_store::path::Path;
use oneread_dataset::object_store::{ObjectStore, ObjectStoreExt};
use oneread_dataset::{Dataset, Error, ReadOptions};

use crate::common::{build, key};

async fn two_versions() -> (Arc<InMemory>, Dataset) {
    let store = Arc::new(InMemory::new());
    let dataset = Dataset::new(store.clone() as Arc<dyn ObjectStore>, "").unwrap();
    for version in ["a", "b"] {
        build(&dataset, version, 2, 500).await.unwrap();
    }
    dataset.publish("b").await.unwrap();
    (store, dataset)
}

async fn bytes(store: &InMemory, name: &str) -> Vec<u8> {
    store.get(&Path::from(name)).await.unwrap().bytes().await.unwrap().to_vec()
}

async fn put(store: &InMemory, name: &str, bytes: Vec<u8>) {
    store.put(&Path::from(name), bytes.into()).await.unwrap();
}

/// The error of opening and reading all keys, and what `verify` says.
async fn error_of(dataset: &Dataset) -> (String, Vec<String>) {
    let read = async {
        let reader = dataset.open(&ReadOptions::new()).await?;
        for number in 0..500 {
            reader.get(&key(number)).await?;
        }
        Ok::<_, Error>(())
    };
    let error = read.await.expect_err("bad objects are errors").to_string();
    let verified = dataset.verify(None, |_| {}).await;
    (error, verified.map_or_else(|error| vec![error.to_string()], |verified| verified.damage))
}

#[tokio::test]
async fn bad_objects_are_named() {
    let manifest = "versions/b/manifest.json";
    let part = "versions/b/part-00001-of-00002.store";
    for (name, change, what) in [
        ("current", "delete", "no version is published"),
        ("current", "cut", "current is damaged"),
        ("current", "empty", "current is damaged"),
        (manifest, "delete", "there is no version b"),
        (manifest, "cut", "versions/b/manifest.json is damaged"),
        (manifest, "flip", "versions/b/manifest.json is damaged, its checksum is wrong"),
        (manifest, "versions/a/manifest.json", "versions/b/manifest.json is damaged"),
        (part, "delete", "part-00001-of-00002.store is missing"),
        (part, "cut", "part-00001-of-00002.store is damaged"),
        (part, "empty", "part-00001-of-00002.store"),
        (part, "flip", "part-00001-of-00002.store is damaged"),
        (part, "versions/b/part-00000-of-00002.store", "part-00001-of-00002.store is damaged"),
        (part, "versions/a/part-00001-of-00002.store", "part-00001-of-00002.store is damaged"),
    ] {
        let (store, dataset) = two_versions().await;
        let mut before = bytes(&store, name).await;
        match change {
            "delete" => store.delete(&Path::from(name)).await.unwrap(),
            "cut" => put(&store, name, before[..before.len() - 1].to_vec()).await,
            "empty" => put(&store, name, Vec::new()).await,
            "flip" => {
                let middle = before.len() / 2;
                before[middle] ^= 1;
                put(&store, name, before).await;
            }
            other => put(&store, name, bytes(&store, other).await).await,
        }
        let (error, verified) = error_of(&dataset).await;
        assert!(error.contains(what), "{name}, {change}: {error}");
        assert!(!verified.is_empty(), "{name}, {change}: verify found nothing");
        // The other version is still there for those who know its name.
        if name != "current" {
            let other = dataset.open_version("a", &ReadOptions::new()).await.unwrap();
            assert!(other.get(&key(3)).await.unwrap().is_some());
        }
    }
}

#[tokio::test]
async fn a_shard_replaced_while_it_is_open_is_noticed() {
    let (store, dataset) = two_versions().await;
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    // The same bytes under a new tag: nobody can know that they are the same.
    let part = "versions/b/part-00001-of-00002.store";
    put(&store, part, bytes(&store, part).await).await;
    let mut errors = 0;
    for number in 0..500 {
        match reader.get(&key(number)).await {
            Ok(value) => assert!(value.is_some()),
            Err(error) => {
                assert!(
                    error.to_string().contains(part) && error.to_string().contains("replaced"),
                    "{error}"
                );
                errors += 1;
            }
        }
    }
    assert!(errors > 100, "{errors}");
}

#[tokio::test]
async fn files_that_are_bad_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::in_folder(folder.path()).unwrap();
    build(&dataset, "a", 1, 500).await.unwrap();
    dataset.publish("a").await.unwrap();
    let part = folder.path().join("versions/a/part-00000-of-00001.store");
    let sound = std::fs::read(&part).unwrap();
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    let told = |what: &'static str| {
        let reader = &reader;
        async move {
            let error = reader.get(&key(3)).await.unwrap_err();
            assert!(error.is_damage(), "{error}");
            let error = error.to_string();
            assert!(error.contains("versions/a/part-00000-of-00001.store"), "{error}");
            assert!(error.contains(what), "{what}: {error}");
        }
    };
    assert!(reader.get(&key(3)).await.unwrap().is_some());
    std::fs::write(&part, &sound[..sound.len() - 1]).unwrap();
    told("its manifest says").await;
    // The same bytes in another file.
    std::fs::remove_file(&part).unwrap();
    told("is missing").await;
    std::fs::write(folder.path().join("other"), &sound).unwrap();
    std::fs::rename(folder.path().join("other"), &part).unwrap();
    told("it was replaced while it was in use").await;
    let mut flipped = sound.clone();
    flipped[4096 + 100] ^= 1;
    std::fs::write(&part, flipped).unwrap();
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    let mut errors = 0;
    for number in 0..500 {
        if let Err(error) = reader.get(&key(number)).await {
            assert!(error.to_string().contains("its checksum is wrong"), "{error}");
            errors += 1;
        }
    }
    assert!(errors > 50, "{errors} keys of the first page are told");
}

#[tokio::test]
async fn a_pointer_to_nothing_and_newer_formats_are_told() {
    let (store, dataset) = two_versions().await;
    let pointer = String::from_utf8(bytes(&store, "current").await).unwrap();
    let forged = |from: &str, to: &str| {
        let body: serde_json::Value = serde_json::from_str(&pointer).unwrap();
        let body = serde_json::to_string(&body["document"]).unwrap().replace(from, to);
        let sum = xxhash_rust::xxh3::xxh3_64(body.as_bytes());
        format!("{{\"checksum\":\"{sum:016x}\",\"document\":{body}}}").into_bytes()
    };
    for (from, to, what) in [
        ("\"version\":\"b\"", "\"version\":\"gone\"", "there is no version gone"),
        ("\"version\":\"b\"", "\"version\":\"../..\"", "expected a name of 1 to 128"),
        ("\"version\":\"b\"", "\"version\":\"a\"", "it is not the one that current names"),
        ("\"format_version\":1", "\"format_version\":2", "use a newer one"),
        ("oneread-dataset", "another-dataset", "it is no document of a dataset"),
    ] {
        put(&store, "current", forged(from, to)).await;
        let error = dataset.open(&ReadOptions::new()).await.unwrap_err().to_string();
        assert!(error.contains(what), "{to}: {error}");
    }
}

#[tokio::test]
async fn places_without_a_feature_or_a_name_are_told() {
    for (url, what) in [("ftp://host/x", "ftp://host/x"), ("s3://bucket/x", "s3://bucket/x")] {
        if cfg!(feature = "cloud") && url.starts_with("s3") {
            continue;
        }
        let error = Dataset::at(url).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
        assert!(cfg!(feature = "cloud") || error.contains("--features cloud"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::in_folder(folder.path().join("nothing")).unwrap();
    let error = dataset.open(&ReadOptions::new()).await.unwrap_err().to_string();
    assert!(error.contains("no version is published at") && error.contains("nothing"), "{error}");
    assert!(!folder.path().join("nothing").exists());
}
