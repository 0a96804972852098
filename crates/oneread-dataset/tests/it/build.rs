//! Builds in pieces, and what they refuse.

use std::sync::Arc;

use oneread_dataset::{
    Column, ColumnType, Dataset, DraftOptions, Duplicates, Element, Error, Field, ReadOptions, Schema,
    ShardWriter, Splitter, SplitterOptions, Values, encode_row, encode_vector,
};

use crate::common::{build, build_in_pieces, key, probed, value, writer_options};

#[tokio::test]
async fn pieces_make_the_same_dataset_as_one_process() {
    let (dataset, _) = probed();
    build_in_pieces(&dataset, "pieces", 5, 2000).await.unwrap();
    let snapshot = dataset.open_version("pieces", &ReadOptions::new()).await.unwrap();
    for number in 0..2000 {
        assert_eq!(snapshot.get(&key(number)).await.unwrap().unwrap(), value("pieces", number));
    }
    assert!(!snapshot.contains(b"absent").await.unwrap());
    assert_eq!(snapshot.manifest().items, 2000);
    assert!(dataset.verify(Some("pieces"), |_| {}).await.unwrap().damage.is_empty());
}

#[tokio::test]
async fn a_version_without_all_its_shards_is_not_finished() {
    let (dataset, _) = probed();
    let draft = dataset.begin(&DraftOptions::new().version("v").shards(3)).await.unwrap();
    for shard in [0, 2] {
        let writer = ShardWriter::new(&draft, shard, &writer_options()).unwrap();
        dataset.upload(&writer.finish().unwrap()).await.unwrap();
    }
    let error = dataset.commit(&draft).await.unwrap_err();
    let missing = "some/where/versions/v/part-00001-of-00003.store is missing";
    assert!(error.to_string().starts_with(missing), "{error}");
    assert!(matches!(dataset.publish("v").await, Err(Error::NoVersion { .. })));

    let writer = ShardWriter::new(&draft, 1, &writer_options()).unwrap();
    dataset.upload(&writer.finish().unwrap()).await.unwrap();
    let manifest = dataset.commit(&draft).await.unwrap();
    assert_eq!((manifest.items, manifest.shard_count()), (0, 3));
    // Again, as a client without an answer would do.
    assert_eq!(dataset.commit(&draft).await.unwrap(), manifest);
    // Readers may use the shards from now on.
    let mut writer = ShardWriter::new(&draft, 1, &writer_options()).unwrap();
    let one = (0..).map(key).find(|key| draft.shard_of(key) == 1).unwrap();
    writer.insert(&one, b"late").unwrap();
    let late = dataset.upload(&writer.finish().unwrap()).await;
    assert!(matches!(late, Err(Error::VersionExists { .. })), "{late:?}");
    dataset.publish("v").await.unwrap();
    // No keys at all is a dataset too.
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    assert_eq!(reader.get(b"key").await.unwrap(), None);
}

#[tokio::test]
async fn shards_of_others_are_refused() {
    use oneread_dataset::object_store::memory::InMemory;
    use oneread_dataset::object_store::path::Path;
    use oneread_dataset::object_store::{ObjectStore, ObjectStoreExt};
    let store = Arc::new(InMemory::new());
    let dataset = Dataset::new(store.clone() as Arc<dyn ObjectStore>, "").unwrap();
    let draft = dataset.begin(&DraftOptions::new().version("v").shards(2)).await.unwrap();
    for shard in 0..2 {
        let mut writer = ShardWriter::new(&draft, shard, &writer_options()).unwrap();
        for number in (0..100).filter(|&number| draft.shard_of(&key(number)) == shard) {
            writer.insert(&key(number), b"value").unwrap();
        }
        let foreign = (0..100).map(key).find(|key| draft.shard_of(key) != shard).unwrap();
        let refused = writer.insert(&foreign, b"value");
        assert!(matches!(refused, Err(Error::WrongShard { expected, found }) if expected != found));
        dataset.upload(&writer.finish().unwrap()).await.unwrap();
    }
    let part = |number: u32| Path::from(format!("versions/v/part-0000{number}-of-00002.store"));
    let first = store.get(&part(0)).await.unwrap().bytes().await.unwrap();
    let second = store.get(&part(1)).await.unwrap().bytes().await.unwrap();
    store.put(&part(0), second.into()).await.unwrap();
    let error = dataset.commit(&draft).await.unwrap_err();
    assert!(error.to_string().contains("it is another shard"), "{error}");
    store.put(&part(0), first.slice(..first.len() - 1).into()).await.unwrap();
    let error = dataset.commit(&draft).await.unwrap_err();
    assert!(error.to_string().contains("its header says"), "{error}");
    store.put(&part(0), first.into()).await.unwrap();
    dataset.commit(&draft).await.unwrap();
}

#[tokio::test]
async fn bad_arguments_are_errors() {
    let (dataset, _) = probed();
    let option = |options: DraftOptions| {
        let dataset = &dataset;
        async move { matches!(dataset.begin(&options).await, Err(Error::Option { .. })) }
    };
    assert!(option(DraftOptions::new().shards(0)).await);
    assert!(option(DraftOptions::new().shards(65_537)).await);
    assert!(option(DraftOptions::new().miss_rate(0.0)).await);
    assert!(option(DraftOptions::new().miss_rate(f64::NAN)).await);
    assert!(option(DraftOptions::new().version("../x")).await);
    let twice = Schema { key: vec!["a".into(), "a".into()], values: Values::None };
    assert!(option(DraftOptions::new().schema(twice)).await);

    let draft = dataset.begin(&DraftOptions::new().version("v")).await.unwrap();
    let again = dataset.begin(&DraftOptions::new().version("v")).await;
    assert!(matches!(again, Err(Error::VersionExists { .. })));
    assert!(matches!(ShardWriter::new(&draft, 1, &writer_options()), Err(Error::Option { .. })));
    let mut splitter = Splitter::new(&draft, &SplitterOptions::new(writer_options()));
    let error = splitter.insert(&[0; 1025], b"").unwrap_err();
    assert!(error.to_string().contains("expected a key of at most 1024 bytes, found 1025"), "{error}");
    splitter.insert(&[0; 1024], b"").unwrap();

    let options = writer_options().duplicates(Duplicates::Refuse);
    let mut splitter = Splitter::new(&draft, &SplitterOptions::new(options));
    splitter.insert(b"a", b"1").unwrap();
    splitter.insert(b"a", b"2").unwrap();
    let error = splitter.finish(&dataset, |_| {}).await.unwrap_err();
    assert!(error.to_string().contains("the key \"a\" came twice"), "{error}");
    assert!(matches!(dataset.publish("v").await, Err(Error::NoVersion { .. })));
}

#[tokio::test]
async fn sets_vectors_and_rows_come_back_by_their_schema() {
    let (dataset, probe) = probed();
    let vector = Values::Vector { name: "v".into(), element: Element::F32, dimension: 3 };
    let columns = vec![
        Column { name: "name".into(), kind: ColumnType::Text },
        Column { name: "age".into(), kind: ColumnType::Int64 },
    ];
    let mut numbers = Vec::new();
    encode_vector(Element::F32, &[0.5, -1.0, 2.0], &mut numbers).unwrap();
    let mut row = Vec::new();
    encode_row(&columns, &[Field::Text("Ada"), Field::Null], &mut row).unwrap();
    for (version, values, value, wrong, json) in [
        ("set", Values::None, vec![], Some(&b"x"[..]), r#"{"id":"k"}"#),
        ("vector", vector, numbers, Some(&b"xy"[..]), r#"{"id":"k","v":[0.5,-1.0,2.0]}"#),
        ("row", Values::Row { columns }, row, None, r#"{"id":"k","name":"Ada","age":null}"#),
        ("json", Values::Json, br#"{"a":[1.50]}"#.to_vec(), None, r#"{"id":"k","a":[1.50]}"#),
        ("bytes", Values::Bytes, b"plain".to_vec(), None, r#"{"id":"k","value":"plain"}"#),
    ] {
        let schema = Schema { key: vec!["id".into()], values };
        let draft = dataset.begin(&DraftOptions::new().version(version).schema(schema)).await.unwrap();
        let mut splitter = Splitter::new(&draft, &SplitterOptions::new(writer_options()));
        splitter.insert(b"k", &value).unwrap();
        if let Some(wrong) = wrong {
            assert!(matches!(splitter.insert(b"other", wrong), Err(Error::Row { .. })));
        }
        splitter.finish(&dataset, |_| {}).await.unwrap();
        let snapshot = dataset.open_version(version, &ReadOptions::new()).await.unwrap();
        probe.take();
        let found = snapshot.get(b"k").await.unwrap().unwrap();
        assert_eq!(probe.take()[0], 1);
        assert_eq!(snapshot.schema().to_json(b"k", &found).unwrap(), json);
    }
}

/// Ten thousand keys in pieces of a few shards use little more memory than their buffers; the peak
/// is measured by the command line's figures.
#[tokio::test]
async fn splitting_spills_and_keeps_the_last_value() {
    let (dataset, _) = probed();
    let draft = dataset.begin(&DraftOptions::new().version("v").shards(16)).await.unwrap();
    let options = writer_options().memory_bytes(64 << 10);
    let mut splitter = Splitter::new(&draft, &SplitterOptions::new(options));
    for round in 0..3 {
        for number in 0..10_000 {
            splitter.insert(&key(number), format!("{round}").as_bytes()).unwrap();
        }
    }
    assert_eq!(splitter.len(), 30_000);
    let mut last = 0;
    let manifest = splitter.finish(&dataset, |progress| {
        assert!(progress.done >= last && progress.total == 30_000);
        last = progress.done;
    });
    assert_eq!(manifest.await.unwrap().items, 10_000);
    assert_eq!(last, 30_000);
    let snapshot = dataset.open_version("v", &ReadOptions::new()).await.unwrap();
    assert_eq!(snapshot.get(&key(77)).await.unwrap().unwrap(), &b"2"[..]);
    assert!(matches!(build(&dataset, "v", 1, 1).await, Err(Error::VersionExists { .. })));
}

/// A process may have 256 files open on some systems: neighbouring shards share one.
#[tokio::test]
async fn many_shards_need_few_files() {
    let (dataset, _) = probed();
    let draft = dataset.begin(&DraftOptions::new().version("v").shards(600)).await.unwrap();
    let mut splitter = Splitter::new(&draft, &SplitterOptions::new(writer_options()));
    for number in 0..3000 {
        splitter.insert(&key(number), &value("v", number)).unwrap();
    }
    #[cfg(target_os = "linux")]
    {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
        // Other tests run at the same time, with a few files each.
        assert!(files < 600, "{files} files are open");
    }
    let manifest = splitter.finish(&dataset, |_| {}).await.unwrap();
    assert_eq!((manifest.items, manifest.shard_count()), (3000, 600));
    let snapshot = dataset.open_version("v", &ReadOptions::new()).await.unwrap();
    for number in 0..3000 {
        assert_eq!(snapshot.get(&key(number)).await.unwrap().unwrap(), value("v", number));
    }
    assert!(dataset.verify(Some("v"), |_| {}).await.unwrap().damage.is_empty());
}
