//! Lists, rollbacks, pins and garbage collection.

use std::time::Duration;

use oneread_dataset::{Dataset, DraftOptions, Error, Keep, ReadOptions, State};

use crate::common::{build, key, probed, value};

const NOW: Duration = Duration::ZERO;

async fn names(dataset: &Dataset) -> Vec<String> {
    dataset.versions().await.unwrap().into_iter().map(|version| version.version).collect()
}

#[tokio::test]
async fn rollback_goes_back_and_collection_keeps_what_it_must() {
    let (dataset, _) = probed();
    assert!(matches!(dataset.rollback(None).await, Err(Error::NoDataset { .. })));
    assert!(matches!(dataset.gc(&Keep::new()).await, Err(Error::NoDataset { .. })));
    for version in ["a", "b", "c", "d"] {
        build(&dataset, version, 1, 100).await.unwrap();
        dataset.publish(version).await.unwrap();
    }
    assert_eq!(dataset.rollback(None).await.unwrap(), "c");
    assert_eq!(dataset.rollback(Some("a")).await.unwrap(), "a");
    assert_eq!(dataset.current().await.unwrap().as_deref(), Some("a"));
    dataset.begin(&DraftOptions::new().version("half")).await.unwrap();

    let listed = dataset.versions().await.unwrap();
    let states: Vec<_> = listed.iter().map(|version| (version.version.as_str(), version.current)).collect();
    assert_eq!(states, [("a", true), ("b", false), ("c", false), ("d", false), ("half", false)]);
    assert_eq!(listed[4].state, State::Unfinished);
    assert_eq!((listed[0].items, listed[0].shards), (Some(100), Some(1)));

    // All are young.
    let kept = dataset.gc(&Keep::new().versions(1)).await.unwrap();
    assert_eq!(kept.removed, Vec::<String>::new());
    dataset.pin("study", "b").await.unwrap();
    assert!(dataset.pin("study", "c").await.is_err());
    assert!(matches!(dataset.pin("other", "nothing").await, Err(Error::NoVersion { .. })));
    let dry = dataset.gc(&Keep::new().versions(1).min_age(NOW).dry_run(true)).await.unwrap();
    assert_eq!(dry.removed.len(), 3);
    assert_eq!(names(&dataset).await.len(), 5);

    let held = dataset.open_version("b", &ReadOptions::new()).await.unwrap();
    let collected = dataset.gc(&Keep::new().versions(1).min_age(NOW)).await.unwrap();
    assert!(collected.bytes > 0);
    assert_eq!(names(&dataset).await, ["a", "b"]);
    assert_eq!(held.get(&key(5)).await.unwrap().unwrap(), value("b", 5));

    // What was removed cannot be published, nor rolled back to.
    assert!(dataset.publish("d").await.is_err());
    assert!(dataset.rollback(Some("c")).await.is_err());
    dataset.unpin("study").await.unwrap();
    dataset.gc(&Keep::new().versions(2).min_age(NOW)).await.unwrap();
    assert_eq!(names(&dataset).await, ["a", "b"]);
    dataset.gc(&Keep::new().versions(1).min_age(NOW)).await.unwrap();
    assert_eq!(names(&dataset).await, ["a"]);
    let error = held.get(&key(5)).await.unwrap_err();
    assert!(matches!(error, Error::Missing { .. }), "{error}");
}

#[tokio::test]
async fn a_reader_whose_version_was_removed_moves_on() {
    let (dataset, _) = probed();
    for version in ["a", "b"] {
        build(&dataset, version, 2, 100).await.unwrap();
    }
    dataset.publish("a").await.unwrap();
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    dataset.publish("b").await.unwrap();
    assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value("a", 1));
    dataset.gc(&Keep::new().versions(1).min_age(NOW)).await.unwrap();
    assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value("b", 1));
    assert_eq!(reader.snapshot().version(), "b");
}

#[tokio::test]
async fn collection_loses_against_a_publication_meanwhile() {
    let (dataset, _) = probed();
    for version in ["a", "b", "c"] {
        build(&dataset, version, 1, 10).await.unwrap();
        dataset.publish(version).await.unwrap();
    }
    let keep = Keep::new().versions(1).min_age(NOW);
    // Each request yields, so that both have read the pointer before one writes it.
    let (collected, published) = tokio::join!(dataset.gc(&keep), dataset.publish("a"));
    let current = dataset.current().await.unwrap().unwrap();
    if published.is_ok() {
        assert_eq!(current, "a");
        assert!(matches!(collected, Err(Error::Conflict { .. })) || names(&dataset).await.contains(&current));
    } else {
        assert_eq!(current, "c");
    }
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value(&current, 1));
}

#[tokio::test]
async fn a_removed_name_is_not_used_again() {
    let (dataset, _) = probed();
    for version in ["a", "b", "c"] {
        build(&dataset, version, 1, 10).await.unwrap();
        dataset.publish(version).await.unwrap();
        dataset.gc(&Keep::new().versions(1).min_age(NOW)).await.unwrap();
    }
    for gone in ["a", "b"] {
        let error = build(&dataset, gone, 1, 10).await.unwrap_err();
        assert!(error.to_string().contains("its name cannot be used again"), "{error}");
    }
    assert_eq!(names(&dataset).await, ["c"]);
}

#[tokio::test]
async fn what_killed_writers_left_in_a_folder_goes_away_and_what_is_foreign_stays() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::in_folder(folder.path()).unwrap();
    for version in ["a", "b"] {
        build(&dataset, version, 1, 10).await.unwrap();
        dataset.publish(version).await.unwrap();
    }
    let versions = folder.path().join("versions");
    // A part that was being written, as the object store names it, and a pointer.
    std::fs::write(versions.join("a/part-00000-of-00001.store#1"), "half").unwrap();
    std::fs::create_dir(versions.join("half")).unwrap();
    std::fs::write(versions.join("half/draft.json#1"), "half").unwrap();
    std::fs::write(folder.path().join("current.next"), "half").unwrap();
    std::fs::create_dir(versions.join(".snapshots")).unwrap();
    std::fs::write(versions.join(".snapshots/notes"), "mine").unwrap();
    assert_eq!(names(&dataset).await, ["a", "b", "half"]);
    dataset.gc(&Keep::new().versions(1).min_age(NOW)).await.unwrap();
    assert_eq!(names(&dataset).await, ["b"]);
    let mut left: Vec<_> =
        std::fs::read_dir(&versions).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".snapshots", "b"]);
    assert!(versions.join(".snapshots/notes").exists());
    assert!(!folder.path().join("current.next").exists());
    assert!(dataset.verify(None, |_| {}).await.unwrap().damage.is_empty());
}
