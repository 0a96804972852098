//! Publishing while others publish and read.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use oneread_dataset::{Dataset, Error, Keep, ReadOptions};

use crate::common::{build, key, probed, value};

#[tokio::test]
async fn of_two_publishers_one_wins() {
    let (dataset, _) = probed();
    for version in ["a", "b", "c"] {
        build(&dataset, version, 1, 10).await.unwrap();
    }
    // First there is no pointer, then there is one.
    for _ in 0..2 {
        // Both read the pointer before one of them writes it: each request yields.
        let (one, other) = tokio::join!(dataset.publish("a"), dataset.publish("b"));
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        let winner = if one.is_ok() { "a" } else { "b" };
        assert!(matches!([one, other].into_iter().find_map(Result::err), Some(Error::Conflict { .. })));
        assert_eq!(dataset.current().await.unwrap().as_deref(), Some(winner));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn in_a_folder_no_publication_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::in_folder(folder.path()).unwrap();
    for version in ["a", "b"] {
        build(&dataset, version, 1, 10).await.unwrap();
    }
    dataset.publish("a").await.unwrap();
    let wins = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (dataset, wins) = (dataset.clone(), wins.clone());
            tokio::spawn(async move {
                for _ in 0..10 {
                    match dataset.publish(if task % 2 == 0 { "a" } else { "b" }).await {
                        Ok(_) => _ = wins.fetch_add(1, SeqCst),
                        Err(Error::Conflict { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let pointer = std::fs::read_to_string(folder.path().join("current")).unwrap();
    let pointer: serde_json::Value = serde_json::from_str(&pointer).unwrap();
    // The first publication, and each one that won.
    assert_eq!(pointer["document"]["sequence"], 1 + wins.load(SeqCst));
}

/// Lookups while versions are built, published, rolled back and removed: none fails, and no answer
/// mixes versions.
async fn lookups_meanwhile(lookups: u64, versions: u32) {
    const KEYS: u32 = 300;
    const READERS: u64 = 4;
    /// The number of a version, from a value in it.
    fn version_of(value: &[u8]) -> u32 {
        std::str::from_utf8(value).unwrap().split_once(':').unwrap().0.parse().unwrap()
    }
    let (dataset, _) = probed();
    build(&dataset, "0", 1, KEYS).await.unwrap();
    dataset.publish("0").await.unwrap();
    let reader = Arc::new(dataset.open(&ReadOptions::new()).await.unwrap());
    let (ended, newest) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let readers: Vec<_> = (0..READERS as u32)
        .map(|task| {
            let (reader, newest, ended) = (reader.clone(), newest.clone(), ended.clone());
            tokio::spawn(async move {
                let (mut number, mut done, mut seen) = (task, 0, HashSet::new());
                while done < lookups / READERS || !ended.load(SeqCst) {
                    let numbers: Vec<u32> = (0..10).map(|more| (number + 31 * more) % KEYS).collect();
                    let keys: Vec<_> = numbers.iter().map(|&number| key(number)).collect();
                    let values = reader.get_many(&keys).await.unwrap();
                    let version = version_of(values[0].as_ref().unwrap());
                    assert!(u64::from(version) <= newest.load(SeqCst));
                    seen.insert(version);
                    for (found, &number) in values.iter().zip(&numbers) {
                        assert_eq!(found.as_ref().unwrap(), &value(&version.to_string(), number));
                    }
                    for (key, &number) in keys.iter().zip(&numbers) {
                        let found = reader.get(key).await.unwrap().unwrap();
                        let version = version_of(&found);
                        assert!(u64::from(version) <= newest.load(SeqCst));
                        assert_eq!(found, value(&version.to_string(), number));
                    }
                    done += 20;
                    number += 13;
                }
                (done, seen)
            })
        })
        .collect();
    for number in 1..=versions {
        // Other numbers of shards, so that a mixed answer would show.
        let version = number.to_string();
        build(&dataset, &version, 1 + number % 4, KEYS).await.unwrap();
        newest.store(u64::from(number), SeqCst);
        dataset.publish(&version).await.unwrap();
        // A lookup that met a removed version may have been there first.
        reader.refresh().await.unwrap();
        assert_eq!(reader.snapshot().version(), version);
        if number % 3 == 0 {
            assert_eq!(dataset.rollback(None).await.unwrap(), (number - 1).to_string());
            // The readers may meet versions that are gone.
            dataset.gc(&Keep::new().versions(2).min_age(Duration::ZERO)).await.unwrap();
        }
    }
    ended.store(true, SeqCst);
    let (mut done, mut seen) = (0, HashSet::new());
    for task in readers {
        let (lookups, versions) = task.await.unwrap();
        done += lookups;
        seen.extend(versions);
    }
    assert!(done >= lookups);
    assert!(seen.len() as u32 > versions / 2, "only {} of {versions} versions were seen", seen.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lookups_go_on_while_versions_change() {
    lookups_meanwhile(20_000, 30).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: about 10 s, a million lookups"]
async fn a_million_lookups_go_on_while_a_hundred_versions_change() {
    lookups_meanwhile(1_000_000, 100).await;
}
