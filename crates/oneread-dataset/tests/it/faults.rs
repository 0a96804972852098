//! Builds and publications whose server dies at any request.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use oneread_dataset::object_store::ObjectStore;
use oneread_dataset::object_store::memory::InMemory;
use oneread_dataset::{Dataset, Keep, ReadOptions};

use crate::common::{build, key, value};
use crate::probe::Probe;

const KEYS: u32 = 50;

/// Reads all keys of the current version, which must be whole.
async fn whole(dataset: &Dataset) -> String {
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    let version = reader.snapshot().version().to_owned();
    for number in 0..KEYS {
        assert_eq!(reader.get(&key(number)).await.unwrap().unwrap(), value(&version, number));
    }
    assert!(dataset.verify(None, |_| {}).await.unwrap().damage.is_empty());
    version
}

/// Lets the server die at each request in turn: before it is carried out, or after, so that its
/// answer is lost.
async fn deaths(loses_answer: bool) {
    let (mut died, mut news) = (0, 0);
    for fails_from in 1.. {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let sound = Dataset::new(store.clone(), "set").unwrap();
        build(&sound, "old", 2, KEYS).await.unwrap();
        sound.publish("old").await.unwrap();

        let probe = Probe::new(store);
        probe.counts.fails_from.store(fails_from, SeqCst);
        probe.counts.loses_answer.store(loses_answer, SeqCst);
        let dying = Dataset::new(Arc::new(probe.clone()), "set").unwrap();
        let done = async {
            build(&dying, "new", 3, KEYS).await?;
            dying.publish("new").await?;
            dying.rollback(None).await?;
            dying.pin("mine", "new").await?;
            dying.publish("new").await?;
            dying.unpin("mine").await?;
            dying.gc(&Keep::new().versions(1).min_age(Duration::ZERO)).await
        };
        let done = done.await;
        let now = whole(&sound).await;
        assert!(now == "old" || now == "new", "{now}");
        match &done {
            Ok(_) => assert_eq!(now, "new"),
            Err(error) => {
                died += 1;
                news += u32::from(now == "new");
                assert!(error.to_string().contains("the server died"), "{error}");
            }
        }
        // What is left does not stand in the way of the next build, and goes away.
        build(&sound, "next", 2, KEYS).await.unwrap();
        sound.publish("next").await.unwrap();
        assert_eq!(whole(&sound).await, "next");
        sound.unpin("mine").await.unwrap();
        sound.gc(&Keep::new().versions(1).min_age(Duration::ZERO)).await.unwrap();
        let left = sound.versions().await.unwrap();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(whole(&sound).await, "next");
        if done.is_ok() {
            break;
        }
    }
    // A draft, three shards, three reads of each, a manifest, and the pointer's steps.
    assert!(died > 30, "{died} requests failed");
    assert!(news > 0 && news < died, "the new version was current after {news} of {died} deaths");
}

#[tokio::test]
async fn after_a_death_at_any_request_the_dataset_is_the_old_or_the_new_one() {
    deaths(false).await;
}

#[tokio::test]
async fn after_a_lost_answer_to_any_request_the_dataset_is_the_old_or_the_new_one() {
    deaths(true).await;
}

/// A client that had no answer tries again, and meets what its first attempt wrote.
#[tokio::test]
async fn what_a_first_attempt_wrote_is_no_conflict() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let probe = Probe::new(store);
    probe.counts.puts_twice.store(true, SeqCst);
    let dataset = Dataset::new(Arc::new(probe.clone()), "set").unwrap();
    for version in ["a", "b"] {
        build(&dataset, version, 2, KEYS).await.unwrap();
        dataset.publish(version).await.unwrap();
    }
    dataset.pin("mine", "a").await.unwrap();
    assert_eq!(dataset.rollback(None).await.unwrap(), "a");
    assert_eq!(whole(&dataset).await, "a");
}
