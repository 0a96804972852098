//! Two processes at once: one of them stops before each of its requests in turn, while the other
//! one does all its work.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use oneread_dataset::object_store::ObjectStore;
use oneread_dataset::object_store::memory::InMemory;
use oneread_dataset::{Dataset, Error, Keep, ReadOptions, Result, State};

use crate::common::{build, key, value};
use crate::probe::Probe;

const KEYS: u32 = 20;

type Work = fn(Dataset) -> Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// What processes do. Before, the versions from a to c were published, and d was not.
const WORK: [(&str, Work); 6] = [
    ("publish", |dataset| Box::pin(async move { dataset.publish("a").await.map(|_| ()) })),
    ("first publish", |dataset| Box::pin(async move { dataset.publish("d").await.map(|_| ()) })),
    ("rollback", |dataset| Box::pin(async move { dataset.rollback(None).await.map(|_| ()) })),
    ("pin", |dataset| Box::pin(async move { dataset.pin("mine", "a").await })),
    ("gc", |dataset| {
        Box::pin(async move {
            let keep = Keep::new().versions(1).min_age(Duration::ZERO);
            dataset.gc(&keep).await.map(|_| ())
        })
    }),
    ("build", |dataset| {
        Box::pin(async move {
            build(&dataset, "e", 2, KEYS).await?;
            dataset.publish("e").await.map(|_| ())
        })
    }),
];

async fn whole(dataset: &Dataset, version: &str) {
    let snapshot = dataset.open_version(version, &ReadOptions::new()).await.unwrap();
    for number in 0..KEYS {
        assert_eq!(snapshot.get(&key(number)).await.unwrap().unwrap(), value(version, number));
    }
}

#[tokio::test]
async fn no_order_of_requests_loses_the_current_version_or_a_pinned_one() {
    let template: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let dataset = Dataset::new(template.clone(), "set").unwrap();
    for version in ["a", "b", "c", "d"] {
        build(&dataset, version, 2, KEYS).await.unwrap();
    }
    for version in ["a", "b", "c"] {
        dataset.publish(version).await.unwrap();
    }
    let (mut conflicts, mut orders) = (0, 0);
    for (one, first) in WORK {
        for (other, second) in WORK {
            for pauses_at in 1.. {
                let store = copy_of(&template).await;
                let probe = Probe::new(store.clone());
                probe.counts.pauses_at.store(pauses_at, SeqCst);
                let sound = Dataset::new(store, "set").unwrap();
                let mut paused = tokio::spawn(first(Dataset::new(Arc::new(probe.clone()), "set").unwrap()));
                let is_paused = tokio::select! {
                    biased;
                    ended = &mut paused => { ended.unwrap().unwrap(); false }
                    permit = probe.counts.is_paused.acquire() => { permit.unwrap().forget(); true }
                };
                if !is_paused {
                    break;
                }
                let second = second(sound.clone()).await;
                probe.resume();
                let first = paused.await.unwrap();
                orders += 1;

                let what = format!("{one} stopped at {pauses_at} for {other}: {first:?}, {second:?}");
                let current = sound.current().await.unwrap().expect(&what);
                whole(&sound, &current).await;
                let listed = sound.versions().await.unwrap();
                for version in listed.iter().filter(|version| !version.pins.is_empty()) {
                    assert_eq!(version.state, State::Finished, "{what}");
                    whole(&sound, &version.version).await;
                }
                let is_pinned = listed.iter().any(|version| !version.pins.is_empty());
                let pins = [(one, &first), (other, &second)]
                    .iter()
                    .any(|(work, done)| *work == "pin" && done.is_ok());
                assert_eq!(is_pinned, pins, "{what}");
                for (work, done) in [(one, first), (other, second)] {
                    match done {
                        Err(Error::Conflict { .. }) => conflicts += 1,
                        // What was removed meanwhile cannot be published, pinned or finished.
                        Err(
                            Error::Held { .. }
                            | Error::NoVersion { .. }
                            | Error::Missing { .. }
                            | Error::VersionExists { .. }
                            | Error::Option { .. },
                        ) => {}
                        Err(error) => panic!("{work} of {what}: {error}"),
                        Ok(()) => {}
                    }
                }
                // No version that lost a part can be published.
                for version in listed {
                    if sound.publish(&version.version).await.is_ok() {
                        whole(&sound, &version.version).await;
                    }
                }
            }
        }
    }
    assert!(orders > 300 && conflicts > 10, "{orders} orders, {conflicts} conflicts");
}

/// A copy of all objects.
async fn copy_of(store: &Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
    use futures_util::TryStreamExt;
    use oneread_dataset::object_store::ObjectStoreExt;
    let copy = InMemory::new();
    let objects: Vec<_> = store.list(None).try_collect().await.unwrap();
    for object in objects {
        let bytes = store.get(&object.location).await.unwrap().bytes().await.unwrap();
        copy.put(&object.location, bytes.into()).await.unwrap();
    }
    Arc::new(copy)
}
