//! HTTP, as its clients see it.

use std::path::Path;

use oneread_dataset::{Column, ColumnType, Dataset, DraftOptions, Field, Schema, ShardWriter, Values};
use oneread_dataset::{WriterOptions, encode_row};
use oneread_server::serve::{Limits, Server};
use serde_json::{Value, json};

use crate::{Fixture, both, get, http};

fn batch(fixture: &Fixture, body: &Value) -> (u16, Value) {
    let to = fixture.http();
    let head = ["content-type: application/json"];
    let (status, _, body) = http(to, "POST /v1/a/batch", &head, body.to_string().as_bytes());
    (status, serde_json::from_slice(&body).unwrap())
}

#[test]
fn values_come_by_their_keys_in_any_encoding() {
    let fixture = Fixture::new();
    let to = fixture.http();
    assert_eq!(get(to, "/v1/a/key%201000").0, 404);
    assert_eq!(get(to, "/v1/a/key%2042"), (200, "value 42 of 1".to_owned()));
    // printf 'key 42' | basenc --base64url
    assert_eq!(get(to, "/v1/a/a2V5IDQy?encoding=base64url"), (200, "value 42 of 1".to_owned()));
    assert_eq!(get(to, "/v1/a/!?encoding=base64url").0, 400);
    let as_json = get(to, "/v1/a/key%2042?format=json").1;
    assert_eq!(
        serde_json::from_str::<Value>(&as_json).unwrap(),
        json!({ "key": "key 42", "value": "value 42 of 1" })
    );
    assert_eq!(get(to, "/v1/a/key%2042?formatt=json").0, 400);
    assert_eq!(get(to, "/v1/b/key%2042").0, 404);
    assert_eq!(get(to, "/elsewhere").0, 404);
    assert_eq!(get(to, "/v1").1, r#"{"names":["a"]}"#);
    assert_eq!(http(to, "HEAD /v1/a/key%2042", &[], b"").0, 200);
    fixture.server.stop();
}

#[test]
fn a_batch_has_the_values_of_its_keys_in_order() {
    let fixture = Fixture::new();
    let keys: Vec<_> = (0..2000).rev().map(|number| format!("key {number}")).collect();
    let (status, answer) = batch(&fixture, &json!({ "keys": keys }));
    assert_eq!(status, 200);
    let values = answer["values"].as_array().unwrap();
    assert_eq!(values.len(), 2000);
    for (value, number) in values.iter().zip((0..2000).rev()) {
        let wanted = json!({ "key": format!("key {number}"), "value": format!("value {number} of 1") });
        assert_eq!(value, &if number < 1000 { wanted } else { Value::Null }, "{number}");
    }
    let raw = json!({ "keys": ["a2V5IDQy", "bm9uZQ=="], "encoding": "base64url", "format": "base64url" });
    // printf 'value 42 of 1' | basenc --base64url
    assert_eq!(batch(&fixture, &raw), (200, json!({ "values": ["dmFsdWUgNDIgb2YgMQ", null] })));
    for (wrong, status) in [
        (json!({ "keys": [["a", "b"]] }), 400),
        (json!({ "keys": [1] }), 400),
        (json!({ "kees": [] }), 400),
        (json!({ "keys": vec!["k"; 10_001] }), 413),
    ] {
        let (found, answer) = batch(&fixture, &wrong);
        assert_eq!(found, status);
        assert!(answer["error"].is_string());
    }
    let other = http(fixture.http(), "POST /v1/a/batch", &["content-type: text/csv"], b"key\n");
    assert_eq!(other.0, 415);
    fixture.server.stop();
}

#[test]
fn a_description_counts_what_was_asked() {
    let fixture = Fixture::new();
    let to = fixture.http();
    for number in 990..1005 {
        get(to, &format!("/v1/a/key%20{number}"));
    }
    let told: Value = serde_json::from_str(&get(to, "/v1/a").1).unwrap();
    assert_eq!(told["kind"], "sealed");
    assert_eq!(told["items"], 1000);
    assert_eq!((&told["measured"]["hits"], &told["measured"]["misses"]), (&json!(10), &json!(5)));
    assert_eq!(told["measured"]["reads_per_hit"], 1.0);
    assert_eq!(told["planned"]["reads_per_hit"], 1.0);
    assert!(told["planned"]["reads_per_miss"].as_f64().unwrap() < 0.02);
    let metrics = get(to, "/metrics").1;
    for line in [
        r#"oneread_lookups_total{store="a",result="hit"} 10"#,
        r#"oneread_lookups_total{store="a",result="miss"} 5"#,
        r#"oneread_page_reads_total{store="a",result="hit"} 10"#,
        r#"oneread_items{store="a"} 1000"#,
        // 15 lookups and a description; the request for the metrics is not answered yet.
        r#"oneread_requests_total{protocol="http"} 16"#,
        "# EOF",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
    fixture.server.stop();
}

#[test]
fn who_has_no_token_gets_nothing_but_the_health() {
    let token = "0123456789abcdef";
    let fixture = Fixture::with(|options| options.token(token));
    let to = fixture.http();
    for path in ["/v1", "/v1/a", "/v1/a/key%201", "/metrics", "/elsewhere"] {
        let line = format!("GET {path}");
        assert_eq!(http(to, &line, &[], b"").0, 401, "{path}");
        assert_eq!(http(to, &line, &["authorization: Bearer 0123456789abcdeg"], b"").0, 401);
        assert_eq!(http(to, &line, &["authorization: Bearer 0123456789abcde"], b"").0, 401);
        assert_eq!(http(to, &line, &["authorization: Basic 0123456789abcdef"], b"").0, 401);
        assert_ne!(http(to, &line, &["authorization: bearer 0123456789abcdef"], b"").0, 401);
    }
    assert_eq!(get(to, "/healthz").0, 200);
    assert_eq!(get(to, "/readyz").0, 200);
    fixture.server.stop();
}

#[test]
fn a_page_that_names_this_machine_otherwise_is_refused() {
    let fixture = Fixture::new();
    let to = fixture.http();
    for (host, status) in [
        ("host: evil.example", 403),
        ("host: localhost.evil.example:80", 403),
        ("host: localhost:8080", 200),
        ("host: 127.0.0.1", 200),
        ("host: [::1]:80", 200),
    ] {
        assert_eq!(http(to, "GET /v1", &[host], b"").0, status, "{host}");
    }
    fixture.server.stop();
}

#[test]
fn requests_above_a_limit_are_refused_before_they_are_read() {
    let mut limits = Limits::default();
    limits.request_bytes = 1000;
    let fixture = Fixture::with(|options| options.limits(limits));
    let to = fixture.http();
    let head = ["content-type: application/json"];
    assert_eq!(http(to, "POST /v1/a/batch", &head, &[b' '; 1001]).0, 413);
    // Of unknown length, in one chunk of 0x3e9 bytes.
    let chunked = ["content-type: application/json", "transfer-encoding: chunked"];
    let body = [&b"3e9\r\n"[..], &[b' '; 1001], b"\r\n0\r\n\r\n"].concat();
    assert!(matches!(http(to, "POST /v1/a/batch", &chunked, &body).0, 400 | 413));
    assert_eq!(http(to, "POST /v1/a/batch", &head, br#"{"keys":[]}"#).0, 200);
    fixture.server.stop();
}

/// Publishes a version of rows with two key columns.
async fn publish(folder: &Path, version: u32) {
    let dataset = Dataset::in_folder(folder).unwrap();
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    let columns = vec![column("name", ColumnType::Text), column("age", ColumnType::Int64)];
    let schema =
        Schema { key: vec!["land".into(), "id".into()], values: Values::Row { columns: columns.clone() } };
    let draft = dataset.begin(&DraftOptions::new().shards(1).schema(schema)).await.unwrap();
    let mut writer = ShardWriter::new(&draft, 0, &WriterOptions::new()).unwrap();
    let mut row = Vec::new();
    encode_row(&columns, &[Field::Text("Ada"), Field::Int(version.into())], &mut row).unwrap();
    writer.insert(&Schema::key_of(&["uk/gb", "1"]), &row).unwrap();
    dataset.upload(&writer.finish().unwrap()).await.unwrap();
    dataset.commit(&draft).await.unwrap();
    dataset.publish(draft.version()).await.unwrap();
}

#[test]
fn rows_of_a_dataset_are_json_by_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let waiting = tokio::runtime::Runtime::new().unwrap();
    waiting.block_on(publish(folder.path(), 36));
    let server = Server::start(both(&[("people", folder.path())])).unwrap();
    let to = server.http().unwrap();
    assert_eq!(get(to, "/v1/people/uk/2").0, 404);
    assert_eq!(get(to, "/v1/people/uk").0, 400);
    let row = json!({ "land": "uk/gb", "id": "1", "name": "Ada", "age": 36 });
    let (status, head, body) = http(to, "GET /v1/people/uk%2fgb/1", &[], b"");
    assert_eq!((status, serde_json::from_slice::<Value>(&body).unwrap()), (200, row.clone()));
    assert!(head.contains("oneread-version: "));
    let keys = json!({ "keys": [["uk/gb", "1"], ["uk", "1"]] }).to_string();
    let (_, _, body) = http(to, "POST /v1/people/batch", &[], keys.as_bytes());
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), json!({ "values": [row, null] }));
    let told: Value = serde_json::from_str(&get(to, "/v1/people").1).unwrap();
    assert_eq!((&told["kind"], &told["items"]), (&json!("dataset"), &json!(1)));
    server.stop();
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_batches_have_keys_and_values() {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::{RecordBatch, StringArray};
    use arrow_ipc::{reader::StreamReader, writer::StreamWriter};

    let fixture = Fixture::new();
    let keys = StringArray::from_iter_values(["key 7", "none", "key 0"]);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(keys) as _)]).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let body = writer.into_inner().unwrap();
    let head = ["content-type: application/vnd.apache.arrow.stream"];
    let (status, _, answer) = http(fixture.http(), "POST /v1/a/batch", &head, &body);
    assert_eq!(status, 200);
    let batches: Vec<_> = StreamReader::try_new(&*answer, None).unwrap().map(Result::unwrap).collect();
    let values: Vec<_> = batches[0].column(1).as_binary::<i32>().iter().collect();
    assert_eq!(values, [Some(&b"value 7 of 1"[..]), None, Some(b"value 0 of 1")]);
    for cut in [0, 1, body.len() / 2] {
        assert_eq!(http(fixture.http(), "POST /v1/a/batch", &head, &body[..cut]).0, 400, "{cut}");
    }
    fixture.server.stop();
}
