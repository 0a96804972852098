//! `oneread dataset` from a user's view: builds, versions, rows, and bad input.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

fn oneread(folder: &TempDir, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oneread"));
    command.arg("dataset").args(args.split_whitespace()).current_dir(folder.path());
    command.output().expect("the command starts")
}

fn error_of(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(not(feature = "dataset"))]
#[test]
fn a_build_without_datasets_says_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.csv"), "id\n1\n").unwrap();
    for args in ["build set rows.csv --key id", "get set 1", "versions --json s3://bucket/set"] {
        let (code, error) = error_of(&oneread(&folder, args));
        assert_eq!(code, Some(2));
        assert!(error.contains("--features dataset") && error.contains("--features cloud"), "{error}");
    }
}

#[cfg(feature = "dataset")]
mod with {
    use serde_json::{Value, json};

    use super::*;

    const PEOPLE: &str = "id,name,city\n1,Ada,London\n2,\"Lovelace, A.\",\n3,Žofie,Brno\n";

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn done(folder: &TempDir, args: &str) -> String {
        let output = oneread(folder, args);
        assert_eq!(error_of(&output), (Some(0), String::new()), "{args}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn rows(folder: &TempDir, args: &str) -> Vec<Value> {
        done(folder, args).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn fails(folder: &TempDir, args: &str, what: &str) {
        let (code, error) = error_of(&oneread(folder, args));
        assert_eq!(code, Some(2), "{args}: {error}");
        assert!(error.contains(what), "{args}: {error}");
    }

    #[test]
    fn a_table_becomes_rows_and_versions_come_and_go() {
        let folder = folder(&[("people.csv", PEOPLE), ("later.csv", "id,name,city\n1,Ada,Paris\n")]);
        fails(&folder, "get set 1", "no version is published");
        let built = done(&folder, "build set people.csv --key id --shards 3 --version one --publish --json");
        let built: Value = serde_json::from_str(&built).unwrap();
        assert_eq!(
            (&built["items"], &built["shards"], &built["published"]),
            (&json!(3), &json!(3), &json!(true))
        );
        let expected = [
            json!({"id": "2", "name": "Lovelace, A.", "city": ""}),
            json!({"id": "3", "name": "Žofie", "city": "Brno"}),
        ];
        assert_eq!(rows(&folder, "get set 2 3"), expected);
        let output = oneread(&folder, "get set 1 9");
        assert_eq!(error_of(&output), (Some(1), "absent: 9\n".to_owned()));
        assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);

        done(&folder, "build set later.csv --key id --version two");
        assert_eq!(rows(&folder, "get set 1")[0]["city"], "London");
        assert_eq!(rows(&folder, "get set 1 --version two")[0]["city"], "Paris");
        done(&folder, "publish set two");
        assert_eq!(rows(&folder, "get set 1")[0]["city"], "Paris");
        done(&folder, "rollback set");
        assert_eq!(rows(&folder, "get set 1")[0]["city"], "London");
        let versions: Value = serde_json::from_str(&done(&folder, "versions set --json")).unwrap();
        assert_eq!(versions[0]["current"], true);
        assert_eq!(versions[1]["version"], "two");
        done(&folder, "pin set mine two");
        let kept: Value = serde_json::from_str(&done(&folder, "gc set --keep 1 --min-age 0 --json")).unwrap();
        assert_eq!(kept["removed"], json!([]));
        done(&folder, "unpin set mine");
        done(&folder, "gc set --keep 1 --min-age 0");
        assert!(done(&folder, "versions set").contains("current"));
        fails(&folder, "publish set two", "there is no version two");
        assert!(done(&folder, "verify set").contains("version one is whole: 3 shards, 3 keys"));
        let bench: Value = serde_json::from_str(&done(&folder, "bench set --lookups 100 --json")).unwrap();
        assert_eq!(bench["requests_per_hit"], 1.0);

        let shard = folder.path().join("set/versions/one/part-00001-of-00003.store");
        let mut bytes = fs::read(&shard).unwrap();
        bytes[5000] ^= 1;
        fs::write(&shard, bytes).unwrap();
        let output = oneread(&folder, "verify set");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("part-00001-of-00003.store: page 0"));
    }

    #[test]
    fn sets_vectors_json_and_several_key_columns() {
        let folder = folder(&[
            ("words.csv", "one\ntwo\n"),
            ("v.jsonl", "{\"id\":1,\"v\":[0.5,-2]}\n"),
            ("text.jsonl", "{\"id\":1,\"v\":\"x\"}\n"),
            ("days.tsv", "user\tday\tclicks\nab\tc\t5\na\tbc\t6\n"),
            ("any.jsonl", "{\"key\":\"k\",\"a\":[1,{\"b\":null}],\"c\":1.50}\n"),
        ]);
        done(&folder, "build words words.csv --no-header --set --publish");
        assert_eq!(rows(&folder, "get words one"), [json!({"1": "one"})]);
        done(&folder, "build v v.jsonl --key id --value v --vector f16 --dimension 2 --publish");
        assert_eq!(rows(&folder, "get v 1"), [json!({"id": "1", "v": [0.5, -2.0]})]);
        fails(
            &folder,
            "build v v.jsonl --key id --value v --vector f16 --dimension 3",
            "expected a vector of 3 numbers, found 2",
        );
        fails(
            &folder,
            "build v text.jsonl --key id --value v --vector f16 --dimension 1",
            "text.jsonl: line 1: its vector is no list of numbers",
        );
        done(&folder, "build days days.tsv --key user,day --publish");
        assert_eq!(rows(&folder, "get days a,bc"), [json!({"user": "a", "day": "bc", "clicks": "6"})]);
        fails(&folder, "get days a", "expected a key of 2 columns (user,day)");
        done(&folder, "build any any.jsonl --publish");
        assert_eq!(rows(&folder, "get any k"), [json!({"key": "k", "a": [1, {"b": null}], "c": 1.5})]);
    }

    #[test]
    fn bad_input_is_told_with_its_file_and_row() {
        let folder = folder(&[
            ("people.csv", PEOPLE),
            ("other.csv", "id,age\n7,8\n"),
            ("short.csv", "id,name\n1\n"),
            ("twice.csv", "id,name\n1,a\n1,b\n"),
            ("empty.csv", ""),
            ("long.csv", &format!("id,name\n{},a\n", "x".repeat(1025))),
            ("bad.jsonl", "{\"key\":1}\n{\"key\":null}\n"),
        ]);
        for (args, what) in [
            ("build set people.csv --key nothing", "people.csv: there is no column \"nothing\""),
            ("build set people.csv other.csv --key id", "other.csv: its columns are others"),
            ("build set short.csv", "short.csv: line 2: expected 2 fields, found 1"),
            ("build set twice.csv --duplicates error", "the key \"1\" comes twice"),
            ("build set empty.csv", "empty.csv: it is empty"),
            ("build set long.csv", "expected a key of at most 1024 bytes, found 1025"),
            ("build set bad.jsonl", "bad.jsonl: line 2: its key \"key\" is null"),
            ("build set absent.csv", "absent.csv"),
            ("build set people.csv --shards 0", "0 is not in"),
            ("build set people.csv --version a/b", "expected a name of 1 to 128"),
            ("get set 1", "no version is published"),
            ("gc set --min-age soon", "expected a time"),
        ] {
            fails(&folder, args, what);
        }
        if !cfg!(feature = "cloud") {
            fails(&folder, "versions s3://bucket/set", "--features cloud");
        }
        fs::write(folder.path().join("t.parquet"), "PAR1 and nothing else").unwrap();
        let what = if cfg!(feature = "parquet") { "it is no Parquet file" } else { "--features parquet" };
        fails(&folder, "build set t.parquet", what);
    }

    #[test]
    fn every_command_prints_one_document_with_json() {
        let folder = folder(&[("people.csv", PEOPLE)]);
        done(&folder, "build set people.csv --key id --version one --publish --json");
        let document = |args: &str| -> Value {
            let output = oneread(&folder, args);
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args}: {error}"))
        };
        let ada = json!({"id": "1", "name": "Ada", "city": "London"});
        assert_eq!(document("get set 1 9 1 --json"), json!([ada, null, ada]));
        assert_eq!(oneread(&folder, "get set 1 9 --json").status.code(), Some(1));
        assert_eq!(document("get set 9 --json"), json!([null]));
        assert_eq!(document("pin set mine one --json"), json!({"pin": "mine", "version": "one"}));
        assert_eq!(document("versions set --json")[0]["pins"], json!(["mine"]));
        assert_eq!(document("unpin set mine --json"), json!({"removed": "mine"}));
        assert_eq!(document("publish set one --json"), json!({"current": "one", "before": "one"}));
        done(&folder, "build set people.csv --key id --version two --publish");
        assert_eq!(document("rollback set --json"), json!({"current": "one", "before": "two"}));
        assert_eq!(document("gc set --keep 1 --min-age 0 --json")["removed"], json!(["two"]));
        assert_eq!(document("verify set --json")["damage"], json!([]));
        let bench = document("bench set --lookups 100 --json");
        assert_eq!(bench["requests_per_hit"], 1.0);
        assert!(bench["ram_bytes_per_key"].as_f64().unwrap() > 0.0);
        fails(&folder, "build set people.csv --key id --version two", "its name cannot be used again");
    }

    /// Builds that are killed at any moment: of the old version or the new one, one is current and
    /// whole, and nothing is left behind after `gc`.
    #[test]
    fn a_killed_build_leaves_the_old_version_or_the_new_one() {
        let rows: String = (0..3000).map(|number| format!("{number},{}\n", number * 7)).collect();
        let folder = folder(&[("rows.csv", &format!("id,value\n{rows}"))]);
        let args = |version: &str| {
            let rest = "build set rows.csv --key id --shards 4 --publish --memory 1M --temporary . --version";
            format!("{rest} {version}")
        };
        let start = std::time::Instant::now();
        done(&folder, &args("v0"));
        let whole = start.elapsed();
        let mut current = "v0".to_owned();
        let (mut old, mut new) = (0, 0);
        const KILLS: u32 = 24;
        for kill in 1..=KILLS {
            let version = format!("v{kill}");
            let mut command = Command::new(env!("CARGO_BIN_EXE_oneread"));
            command.arg("dataset").args(args(&version).split_whitespace()).current_dir(folder.path());
            command.stdout(std::process::Stdio::null());
            let mut child = command.spawn().unwrap();
            // Spread over the time of a whole build, and a little more.
            std::thread::sleep(whole * kill / (KILLS * 4 / 5));
            child.kill().unwrap();
            child.wait().unwrap();
            let versions: Value = serde_json::from_str(&done(&folder, "versions set --json")).unwrap();
            let listed = versions.as_array().unwrap();
            let now = listed.iter().find(|version| version["current"] == true).unwrap();
            let now = now["version"].as_str().unwrap().to_owned();
            assert!(now == current || now == version, "{now} after {current} and {version}");
            if now == version {
                new += 1;
            } else {
                old += 1;
            }
            current = now;
            assert!(done(&folder, "verify set").contains("is whole: 4 shards, 3,000 keys"));
            assert_eq!(rows_of(&folder, "get set 2999"), json!({"id": "2999", "value": "20993"}));
        }
        assert!(old > 0, "no build was killed in time");
        println!("{old} builds were killed before they published, {new} after");
        done(&folder, &args("last"));
        done(&folder, "gc set --keep 1 --min-age 0");
        let names = |of: &str| -> Vec<String> {
            let entries = fs::read_dir(folder.path().join(of)).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names("set/versions"), ["last"]);
        assert_eq!(names("set"), ["current", "current.lock", "versions"]);
    }

    fn rows_of(folder: &TempDir, args: &str) -> Value {
        rows(folder, args).remove(0)
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn changed_parquet_and_arrow_files_are_errors_or_rows() {
        use std::sync::Arc;

        use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, StructArray};
        use arrow_schema::{DataType, Field as Column};

        let nested = StructArray::from(vec![(
            Arc::new(Column::new("a", DataType::Int32, true)),
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef,
        )]);
        let batch = RecordBatch::try_from_iter([
            ("id", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef),
            ("name", Arc::new(StringArray::from(vec![Some("x"), None, Some("z")]))),
            ("nested", Arc::new(nested)),
        ])
        .unwrap();
        let folder = folder(&[]);
        let mut parquet = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let mut arrow = Vec::new();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut arrow, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        for (name, bytes) in [("t.parquet", &parquet), ("t.arrow", &arrow)] {
            fs::write(folder.path().join(name), bytes).unwrap();
            done(&folder, &format!("build {name}-set {name} --key id --publish"));
            assert_eq!(
                rows(&folder, &format!("get {name}-set 2 3")),
                [
                    json!({"id": "2", "name": null, "nested": {"a": null}}),
                    json!({"id": "3", "name": "z", "nested": {"a": 3}})
                ]
            );
            fails(
                &folder,
                &format!("build bad {name} --key nested"),
                "the column \"nested\" is of type Struct",
            );
            fails(&folder, &format!("build bad {name} --key nested.a"), "there is no column \"nested.a\"");
            fails(&folder, &format!("build bad {name} --key name"), "row 2: its key \"name\" is null");
            // A changed byte is an error or another row: no panic, which would exit with 101.
            let step = bytes.len() / 60;
            for at in (0..bytes.len()).step_by(step.max(1)) {
                let mut changed = bytes.clone();
                changed[at] ^= 0x55;
                fs::write(folder.path().join("changed"), changed).unwrap();
                let format = name.split_once('.').unwrap().1;
                let output =
                    oneread(&folder, &format!("build changed-set changed --key id --format {format}"));
                let (code, error) = error_of(&output);
                assert!(matches!(code, Some(0 | 2)), "byte {at} of {name}: {error}");
                assert!(code == Some(0) || error.contains("changed"), "byte {at} of {name}: {error}");
            }
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_and_arrow_keep_names_and_types() {
        use std::sync::Arc;

        use arrow_array::builder::{Float32Builder, ListBuilder};
        use arrow_array::{
            ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array, Int32Array, RecordBatch,
            StringArray,
        };

        let mut lists = ListBuilder::new(Float32Builder::new());
        for number in 0..3 {
            lists.append_value([Some(number as f32), Some(0.5)]);
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int32Array::from(vec![-1, 20, 300]))),
            ("name", Arc::new(StringArray::from(vec![Some("Ada"), None, Some("Žofie")]))),
            ("score", Arc::new(Float64Array::from(vec![0.5, 1e300, -1.0]))),
            ("is_new", Arc::new(BooleanArray::from(vec![true, false, true]))),
            ("raw", Arc::new(BinaryArray::from(vec![&b"\xff"[..], b"b", b""]))),
            ("day", Arc::new(Date32Array::from(vec![0, 1, 20_000]))),
            ("list", Arc::new(lists.finish())),
            ("holes", Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let folder = folder(&[]);
        let file = |name: &str| fs::File::create(folder.path().join(name)).unwrap();
        let mut parquet =
            parquet::arrow::ArrowWriter::try_new(file("t.parquet"), batch.schema(), None).unwrap();
        parquet.write(&batch).unwrap();
        parquet.close().unwrap();
        let mut arrow = arrow_ipc::writer::FileWriter::try_new(file("t.arrow"), &batch.schema()).unwrap();
        arrow.write(&batch).unwrap();
        arrow.finish().unwrap();
        let mut stream = arrow_ipc::writer::StreamWriter::try_new(file("t.arrows"), &batch.schema()).unwrap();
        stream.write(&batch).unwrap();
        stream.finish().unwrap();
        for name in ["t.parquet", "t.arrow", "t.arrows"] {
            done(&folder, &format!("build {name}-set {name} --key id --publish"));
            let row = rows(&folder, &format!("get {name}-set 20"));
            let expected = json!({
                "id": "20", "name": null, "score": 1e300, "is_new": false, "raw": "b", "day": "1970-01-02",
                "list": [1.0, 0.5], "holes": null,
            });
            assert_eq!(row, [expected], "{name}");
        }
        done(&folder, "build v t.parquet --key id --value list --vector f32 --dimension 2 --publish");
        assert_eq!(rows(&folder, "get v 300"), [json!({"id": "300", "list": [2.0, 0.5]})]);
        fails(&folder, "build bad t.parquet --key list", "the column \"list\" is of type List");
        fails(&folder, "build bad t.parquet --key score", "a key is text, bytes, a whole number");
        fails(&folder, "build bad t.parquet --key holes", "row 2: its key \"holes\" is null");
        let cut = fs::read(folder.path().join("t.parquet")).unwrap();
        fs::write(folder.path().join("cut.parquet"), &cut[..cut.len() / 2]).unwrap();
        fails(&folder, "build bad cut.parquet --key id", "it is no Parquet file");
    }
}
