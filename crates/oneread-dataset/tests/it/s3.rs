//! A real server of the S3 protocol, on loopback: `cargo xtask test dataset` starts it.

#![cfg(feature = "cloud")]

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use oneread_dataset::object_store::ObjectStore;
use oneread_dataset::object_store::aws::AmazonS3Builder;
use oneread_dataset::{Dataset, Error, Keep, ReadOptions};

use crate::common::{build, key, value};
use crate::probe::Probe;

const BUCKET: &str = "oneread";

/// The server's address, which the chore passes on; it also made the bucket.
fn server() -> String {
    std::env::var("ONEREAD_S3").expect("ONEREAD_S3 names the server: run `cargo xtask test dataset`")
}

fn store() -> Arc<dyn ObjectStore> {
    let store = AmazonS3Builder::new()
        .with_endpoint(server())
        .with_allow_http(true)
        .with_bucket_name(BUCKET)
        .with_region("us-east-1")
        .with_access_key_id("test")
        .with_secret_access_key("test");
    Arc::new(store.build().unwrap())
}

#[tokio::test]
#[ignore = "needs the server that `cargo xtask test dataset` starts"]
async fn s3_serves_one_request_per_hit_and_publishes_once() {
    const KEYS: u32 = 2000;
    let probe = Probe::new(store());
    let dataset = Dataset::new(Arc::new(probe.clone()), "requests").unwrap();
    build(&dataset, "one", 4, KEYS).await.unwrap();
    assert_eq!(dataset.publish("one").await.unwrap(), None);
    probe.take();
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    let [gets, heads, lists, _] = probe.take();
    assert!(gets <= 2 + 4, "{gets} requests to open");
    assert_eq!([heads, lists], [0, 0]);
    for number in 0..KEYS {
        assert_eq!(reader.get(&key(number)).await.unwrap().unwrap(), value("one", number));
    }
    assert_eq!(probe.take(), [u64::from(KEYS), 0, 0, 0]);
    // More than 0.011 requests per miss lie 4.5 deviations above the planned 0.01.
    const MISSES: u32 = 200_000;
    for number in 0..MISSES {
        assert_eq!(reader.get(&key(KEYS + number)).await.unwrap(), None);
    }
    let [gets, heads, lists, _] = probe.take();
    assert!(gets as f64 <= 0.011 * f64::from(MISSES), "{gets} requests");
    assert_eq!([heads, lists], [0, 0]);
    let keys: Vec<_> = (0..KEYS).map(key).collect();
    let values = reader.get_many(&keys).await.unwrap();
    assert!(values.iter().zip(0..).all(|(found, number)| found.as_deref() == Some(&value("one", number)[..])));

    build(&dataset, "two", 3, 100).await.unwrap();
    let (one, other) = tokio::join!(dataset.publish("two"), dataset.publish("one"));
    assert!(one.is_ok() || other.is_ok(), "{one:?} {other:?}");
    for error in [one, other].into_iter().filter_map(Result::err) {
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
    }
    dataset.publish("two").await.unwrap();
    assert!(reader.refresh().await.unwrap());
    assert!(!reader.refresh().await.unwrap());
    assert_eq!(dataset.rollback(None).await.unwrap(), "one");
    assert!(dataset.verify(None, |_| {}).await.unwrap().damage.is_empty());
    let collected = dataset.gc(&Keep::new().versions(1).min_age(Duration::ZERO)).await.unwrap();
    assert_eq!(collected.removed, ["two"]);
    assert_eq!(probe.counts.heads.load(SeqCst), 0);
}

#[tokio::test]
#[ignore = "needs the server that `cargo xtask test dataset` starts"]
async fn s3_errors_name_the_object() {
    let dataset = Dataset::new(store(), "nothing").unwrap();
    assert!(matches!(dataset.open(&ReadOptions::new()).await, Err(Error::NoDataset { .. })));
    let stale = AmazonS3Builder::new()
        .with_endpoint(server())
        .with_allow_http(true)
        .with_bucket_name("no-such-bucket")
        .with_region("us-east-1")
        .with_access_key_id("test")
        .with_secret_access_key("test");
    let dataset = Dataset::new(Arc::new(stale.build().unwrap()), "set").unwrap();
    let error = build(&dataset, "one", 1, 1).await.unwrap_err();
    assert!(error.to_string().contains("set/versions/one"), "{error}");
}
