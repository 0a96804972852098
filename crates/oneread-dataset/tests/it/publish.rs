//! Publishing while others publish and read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use oneread_dataset::{Dataset, Error, ReadOptions};

use crate::common::{build, key, probed};

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

/// Lookups while versions are published and rolled back: none fails, and no answer mixes versions.
async fn lookups_meanwhile(lookups: u64, switches: u32) {
    const KEYS: u32 = 1000;
    let (dataset, _) = probed();
    for version in ["a", "b", "c"] {
        // Other numbers of shards, so that a mixed answer would show.
        build(&dataset, version, 1 + version.len() as u32 + u32::from(version.as_bytes()[0]) % 3, KEYS)
            .await
            .unwrap();
    }
    dataset.publish("a").await.unwrap();
    let reader = Arc::new(dataset.open(&ReadOptions::new()).await.unwrap());
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::new(AtomicU64::new(0));
    let readers: Vec<_> = (0..4u32)
        .map(|task| {
            let (reader, seen) = (reader.clone(), seen.clone());
            tokio::spawn(async move {
                let mut number = task;
                let mut done = 0;
                while done < lookups / 4 {
                    let keys: Vec<_> = (0..10).map(|more| key((number + more) % KEYS)).collect();
                    let values = reader.get_many(&keys).await.unwrap();
                    let versions: Vec<_> = values.iter().map(|value| value.as_ref().unwrap()[0]).collect();
                    assert!(versions.iter().all(|version| *version == versions[0]), "{versions:?}");
                    seen.fetch_or(1 << (versions[0] - b'a'), SeqCst);
                    for key in &keys {
                        assert!(reader.get(key).await.unwrap().is_some());
                    }
                    done += 20;
                    number += 13;
                }
            })
        })
        .collect();
    let switching = {
        let (reader, dataset, ended) = (reader.clone(), dataset.clone(), ended.clone());
        tokio::spawn(async move {
            let mut switched = 0;
            while switched < switches || !ended.load(SeqCst) {
                match switched % 4 {
                    0 => _ = dataset.publish("b").await.unwrap(),
                    1 => _ = dataset.publish("c").await.unwrap(),
                    // Back to b.
                    2 => _ = dataset.rollback(None).await.unwrap(),
                    _ => _ = dataset.publish("a").await.unwrap(),
                }
                assert!(reader.refresh().await.unwrap());
                switched += 1;
            }
            switched
        })
    };
    for task in readers {
        task.await.unwrap();
    }
    ended.store(true, SeqCst);
    let switched = switching.await.unwrap();
    assert!(switched >= switches);
    assert_ne!(seen.load(SeqCst) & 0b110, 0, "no switch was seen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lookups_go_on_while_versions_change() {
    lookups_meanwhile(20_000, 100).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "half a minute: a million lookups"]
async fn a_million_lookups_go_on_while_versions_change() {
    lookups_meanwhile(1_000_000, 100).await;
}
