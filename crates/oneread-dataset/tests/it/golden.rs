//! A dataset of every version of the format is read in all later versions: `tests/golden`.

use std::path::{Path, PathBuf};

use oneread_dataset::{
    Column, ColumnType, Dataset, DraftOptions, Field, ReadOptions, Schema, Splitter, SplitterOptions, Values,
    encode_row,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::common::writer_options;

const ROWS: u32 = 60;

/// A key of two columns and a row of every type, with nulls.
fn row(number: u32) -> (Vec<u8>, Vec<u8>, serde_json::Value) {
    let (user, day) = (format!("user {}", number % 7), number.to_string());
    let name = format!("name-{number}");
    let json = format!("{{\"n\":[{number}]}}");
    let fields = [
        Field::Text(&name),
        if number.is_multiple_of(3) { Field::Null } else { Field::Int(-i64::from(number)) },
        Field::Uint(u64::MAX - u64::from(number)),
        Field::Float(f64::from(number) / 4.0),
        Field::Bool(number.is_multiple_of(2)),
        Field::Bytes(&[0xff, number as u8]),
        Field::Text(&json),
    ];
    let mut value = Vec::new();
    encode_row(&columns(), &fields, &mut value).unwrap();
    let shown = serde_json::json!({
        "user": user, "day": day, "text": name,
        "int": if number.is_multiple_of(3) { None } else { Some(-i64::from(number)) },
        "uint": u64::MAX - u64::from(number), "float": f64::from(number) / 4.0, "bool": number.is_multiple_of(2),
        "bytes": [0xff, number], "json": {"n": [number]},
    });
    (Schema::key_of(&[user, day]), value, shown)
}

fn columns() -> Vec<Column> {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    vec![
        column("text", ColumnType::Text),
        column("int", ColumnType::Int64),
        column("uint", ColumnType::Uint64),
        column("float", ColumnType::Float64),
        column("bool", ColumnType::Bool),
        column("bytes", ColumnType::Bytes),
        column("json", ColumnType::Json),
    ]
}

async fn make(folder: &Path) {
    let dataset = Dataset::in_folder(folder).unwrap();
    let schema =
        Schema { key: vec!["user".into(), "day".into()], values: Values::Row { columns: columns() } };
    let options = DraftOptions::new().version("first").shards(2).seed(7).schema(schema);
    let draft = dataset.begin(&options).await.unwrap();
    let mut splitter = Splitter::new(&draft, &SplitterOptions::new(writer_options()));
    for number in 0..ROWS {
        let (key, value, _) = row(number);
        splitter.insert(&key, &value).unwrap();
    }
    splitter.finish(&dataset, |_| {}).await.unwrap();
    dataset.pin("mine", "first").await.unwrap();
    dataset.publish("first").await.unwrap();
}

/// The dataset of format version 1. `ONEREAD_BLESS=1 cargo test` writes it if it is missing, and
/// never changes an existing one.
async fn golden() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    if std::env::var_os("ONEREAD_BLESS").is_some() && !folder.exists() {
        make(&folder).await;
        std::fs::remove_file(folder.join("current.lock")).unwrap();
    }
    folder
}

#[tokio::test]
async fn a_dataset_of_version_1_is_read() {
    let folder = golden().await;
    let dataset = Dataset::in_folder(&folder).unwrap();
    assert!(dataset.verify(None, |_| {}).await.unwrap().damage.is_empty());
    let listed = dataset.versions().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].version.as_str(), listed[0].current), ("first", true));
    assert_eq!(listed[0].pins, ["mine"]);
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    for number in 0..ROWS {
        let (key, value, shown) = row(number);
        assert_eq!(reader.get(&key).await.unwrap().as_deref(), Some(&value[..]));
        let json = reader.snapshot().schema().to_json(&key, &value).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), shown);
    }
    assert_eq!(reader.get(b"user 1").await.unwrap(), None);
}

#[tokio::test]
async fn the_same_rows_are_written_as_the_same_shards() {
    let golden = golden().await;
    let folder = tempfile::tempdir().unwrap();
    make(folder.path()).await;
    for shard in ["part-00000-of-00002.store", "part-00001-of-00002.store"] {
        let of = |folder: &Path| std::fs::read(folder.join("versions/first").join(shard)).unwrap();
        assert!(of(folder.path()) == of(&golden), "{shard}: the format or the placement has changed");
    }
}

/// The documents, read as `docs/format.md` describes them and not by the code under test.
#[tokio::test]
async fn documents_are_what_the_format_says() {
    let folder = golden().await;
    for name in ["current", "versions/first/draft.json", "versions/first/manifest.json", "pins/mine"] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let whole: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let sum = xxh3_64(&bytes[42..bytes.len() - 1]);
        assert_eq!(whole["checksum"], format!("{sum:016x}"), "{name}");
        assert_eq!(whole["document"]["format"], "oneread-dataset", "{name}");
        assert_eq!(whole["document"]["format_version"], 1, "{name}");
        assert_eq!(whole["document"]["version"], "first", "{name}");
    }
    let manifest = std::fs::read(folder.join("versions/first/manifest.json")).unwrap();
    let pointer = std::fs::read(folder.join("current")).unwrap();
    let pointer: serde_json::Value = serde_json::from_slice(&pointer).unwrap();
    let sum = xxh3_64(&manifest[42..manifest.len() - 1]);
    assert_eq!(pointer["document"]["manifest_checksum"], format!("{sum:016x}"));
}
