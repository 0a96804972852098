//! `oneread store` from a user's view: round trips, and all kinds of bad input.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use oneread_store::{Builder, Options, Sealed};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;
use tempfile::TempDir;

/// `key,value`, then `a,1` and `b,2` two hundred times, as zstd 1.5 compresses it, with a checksum.
const ZSTD_GOLDEN: [u8; 37] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0xc5, 0x00, 0x00, 0x88, 0x6b, 0x65, 0x79, 0x2c, 0x76, 0x61, 0x6c,
    0x75, 0x65, 0x0a, 0x61, 0x2c, 0x31, 0x0a, 0x62, 0x2c, 0x32, 0x01, 0x00, 0x6d, 0xdc, 0x5f, 0x96, 0xd2,
    0x42, 0x13, 0xff,
];

/// A separate directory for each test, in which the command runs.
struct Shell {
    directory: TempDir,
    input: TempDir,
}

impl Shell {
    fn new() -> Self {
        let directory = || tempfile::tempdir().expect("a temporary directory");
        Self { directory: directory(), input: directory() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// `oneread store` with arguments, separated by spaces, and an input.
    fn command(&self, args: &str, input: &[u8]) -> Command {
        let file = self.input.path().join("input");
        fs::write(&file, input).expect("input");
        // The bounds of these tests are for one seed: 0, unless they name another or leave it to
        // the command.
        let makes_a_store =
            ["create ", "import ", "put ", "add "].iter().any(|command| args.starts_with(command));
        let names_seed = ["--seed", "--random"].iter().any(|flag| args.contains(flag));
        let seed: &[&str] = if makes_a_store && !names_seed { &["--seed=0"] } else { &[] };
        let (command_name, rest) = args.split_once(' ').unwrap_or((args, ""));
        let mut command = Command::new(env!("CARGO_BIN_EXE_oneread"));
        command
            .args(["store", command_name])
            .args(seed)
            .args(rest.split_whitespace().filter(|&flag| flag != "--random"))
            .current_dir(self.path())
            .stdin(File::open(&file).expect("input"));
        command
    }

    fn run(&self, args: &str, input: &[u8]) -> Output {
        self.command(args, input).output().expect("the command starts")
    }

    /// The output of a run that must succeed, with nothing on stderr.
    fn done(&self, args: &str) -> Vec<u8> {
        self.done_with(args, b"")
    }

    fn done_with(&self, args: &str, input: &[u8]) -> Vec<u8> {
        let output = self.run(args, input);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args}");
        output.stdout
    }

    fn json(&self, args: &str) -> Value {
        serde_json::from_slice(&self.done(&format!("{args} --json"))).expect("JSON")
    }

    /// The error sentence of a run that must fail.
    fn fails(&self, args: &str, input: &[u8]) -> String {
        let output = self.run(args, input);
        let message = text(&output.stderr).to_owned();
        assert_eq!(output.status.code(), Some(2), "{args}: {message}");
        assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1, "{args}: {message}");
        assert!(message.starts_with("error: "), "{args}: {message}");
        message
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).expect("a file")
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).expect("a file");
    }

    /// All pairs of a store, as the library sees them.
    fn pairs(&self, name: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let store = Sealed::open(self.path().join(name)).expect("a store");
        store.iter().map(|pair| pair.expect("a whole store")).collect()
    }

    /// The files and their contents.
    fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.path()).expect("a directory").map(|entry| entry.expect("an entry"));
        entries
            .map(|entry| {
                let name = entry.file_name().into_string().expect("UTF-8");
                (name, fs::read(entry.path()).unwrap_or_default())
            })
            .collect()
    }

    /// A store `s` of `key 0` to `value 0` and so on.
    fn numbered(count: u32) -> Self {
        let shell = Self::new();
        let rows: String = (0..count).map(|number| format!("key {number},value {number}\n")).collect();
        shell.write("rows.csv", format!("key,value\n{rows}"));
        shell.done("import s rows.csv");
        shell
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn owned<const N: usize>(pairs: [(&[u8], &[u8]); N]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    pairs.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}

#[test]
fn keys_and_values_are_columns_chosen_by_name_or_number() {
    let shell = Shell::new();
    shell.write("people.csv", "id,name,mail\r\n7,\"Curie, Marie\",m@x\r\n\r\n8,Bohr,\"b@\"\"y\"\r\n");
    shell.write("people.tsv", "name\tid\tmail\nCurie, Marie\t7\tm@x\nBohr\t8\t\"b@\"\"y\"");
    shell.write(
        "people.jsonl",
        "{\"mail\":\"m@x\",\"id\":7,\"name\":\"Curie, Marie\"}\n\n{\"id\":\"8\",\"name\":\"Bohr\",\"mail\":\"b@\\\"y\"}\n",
    );
    shell.write("plain", "7;\n");
    let names = owned([(b"7", b"Curie, Marie"), (b"8", b"Bohr")]);
    for (args, expected) in [
        ("people.csv --key id --value name", &names),
        ("people.tsv --key id --value name", &names),
        ("people.jsonl --key id --value name", &names),
        // By default the key is the first column, and the value is the rest, as a row of the same
        // format.
        ("people.csv", &owned([(b"7", b"\"Curie, Marie\",m@x"), (b"8", b"Bohr,\"b@\"\"y\"")])),
        ("people.tsv --key id", &owned([(b"7", b"Curie, Marie\tm@x"), (b"8", b"Bohr\t\"b@\"\"y\"")])),
        (
            "people.jsonl --key id",
            &owned([
                (b"7", b"{\"mail\":\"m@x\",\"name\":\"Curie, Marie\"}"),
                (b"8", b"{\"name\":\"Bohr\",\"mail\":\"b@\\\"y\"}"),
            ]),
        ),
        // Without a header the first row is data.
        (
            "people.csv --no-header --key 2 --value 3",
            &owned([(b"name", b"mail"), (b"Curie, Marie", b"m@x"), (b"Bohr", b"b@\"y")]),
        ),
        (
            "people.tsv --no-header --no-quotes --key 2 --value 3",
            &owned([(b"id", b"mail"), (b"7", b"m@x"), (b"8", b"\"b@\"\"y\"")]),
        ),
        // One column is a set of keys.
        ("plain --format tsv --no-header", &owned([(b"7;", b"")])),
        // Several files, each with its own header.
        ("people.csv people.tsv people.jsonl --key id --value name", &names),
    ] {
        shell.done(&format!("import s {args} --replace"));
        assert_eq!(&shell.pairs("s"), expected, "{args}");
    }
}

/// Pairs with all special characters.
fn strange() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut pairs = owned([
        (b"", b""),
        (b"\"", b"a\"b\",\"c"),
        (b"a,b", b"x\ty"),
        (b"two\nlines", b"\r\n"),
        (b" spaces ", b"\0\x01"),
        (b"\xef\xbb\xbfkey", b"a byte order mark"),
        (b"\xff\xfe", b"not UTF-8"),
        (b"value not UTF-8", b"\xc3\x28\xf0"),
        ("žluť".as_bytes(), "😀".as_bytes()),
        (b"{\"key\":1}", b"{\"value\": 1.0}"),
    ]);
    pairs.insert(b"long".to_vec(), vec![b'"'; 5000]);
    pairs.insert(vec![b'k'; 1024], vec![0xfe; 70_000]);
    for number in 0..3000u32 {
        pairs.insert(format!("key {number}").into_bytes(), number.to_le_bytes().to_vec());
    }
    pairs
}

#[test]
fn what_is_exported_is_imported_again_to_the_byte() {
    let shell = Shell::new();
    let mut builder = Builder::new(Options::new().seed(0)).unwrap();
    for (key, value) in strange() {
        builder.insert(&key, &value).unwrap();
    }
    builder.finish(shell.path().join("original")).unwrap();
    for format in ["csv", "tsv", "jsonl"] {
        let exported = shell.done(&format!("export original --format {format}"));
        shell.write("exported", &exported);
        shell.done(&format!("import {format} exported --format {format}"));
        assert_eq!(shell.pairs(format), strange(), "{format}");
        // The same pairs and seed give the same file.
        assert_eq!(shell.read(format), shell.read("original"), "{format}");
        assert_eq!(shell.done(&format!("export {format} --format {format}")), exported, "{format}");
    }
    let header = shell.done("export original");
    assert!(header.starts_with(b"key,value\n"), "CSV unless told");
    let lines = shell.done("export original --format jsonl");
    assert!(text(&lines).lines().any(|line| line == "{\"key_base64\":\"//4=\",\"value\":\"not UTF-8\"}"));
}

#[test]
fn compressed_files_are_known_by_their_first_bytes() {
    let shell = Shell::new();
    let (one, two) = (&b"key,value\na,1\n"[..], &b"b,2\n"[..]);
    let whole = [one, two].concat();
    let golden = ZSTD_GOLDEN.as_slice();
    // A skippable frame of three bytes.
    let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], golden].concat();
    for (name, bytes) in [
        ("plain", whole.clone()),
        ("gzip", gzip(&whole)),
        ("gzip of two members", [gzip(one), gzip(two)].concat()),
        ("zstd", zstd(&whole)),
        ("zstd of two frames", [zstd(one), zstd(b""), zstd(two)].concat()),
        ("zstd by zstd", golden.to_vec()),
        ("zstd with a skipped frame", skipped),
        ("a byte order mark", [b"\xef\xbb\xbf", &whole[..]].concat()),
        ("a byte order mark in gzip", gzip(&[b"\xef\xbb\xbf", &whole[..]].concat())),
    ] {
        // The name does not matter.
        shell.write("rows.csv", &bytes);
        shell.done("import file rows.csv --replace --key key");
        assert_eq!(shell.pairs("file"), owned([(b"a", b"1"), (b"b", b"2")]), "{name}");
        shell.done_with("import piped - --format csv --replace", &bytes);
        assert_eq!(shell.read("piped"), shell.read("file"), "{name} on stdin");
    }
    // Longer than any buffer.
    let long: String = (0..200_000).map(|number| format!("{number},{}\n", number * 7 % 1_000_003)).collect();
    shell.write("long.csv", &long);
    shell.write("long.csv.gz", gzip(long.as_bytes()));
    shell.write("long.csv.zst", zstd(long.as_bytes()));
    for name in ["long.csv", "long.csv.gz", "long.csv.zst"] {
        assert_eq!(shell.json(&format!("import {name}.s {name} --no-header"))["rows"], 200_000);
        assert_eq!(shell.read(&format!("{name}.s")), shell.read("long.csv.s"), "{name}");
    }
    assert_eq!(shell.done("get long.csv.s 123456"), b"864192\n");
}

#[test]
fn little_memory_gives_the_same_store() {
    let shell = Shell::new();
    let rows: String = (0..60_000).map(|number| format!("{number},{number:0>100}\n")).collect();
    shell.write("rows.csv", format!("{rows}long,{}\n", "x".repeat(500_000)));
    let much = shell.json("import much rows.csv --no-header");
    let little = shell.json("import little rows.csv --no-header --memory 1M");
    assert_eq!(shell.read("much"), shell.read("little"));
    // The rows are 6 MB. Enough memory holds all but the long value, which always spills.
    assert!(much["spilled_bytes"].as_u64().unwrap() < 1_000_000, "{much}");
    assert!(little["spilled_bytes"].as_u64().unwrap() > 6_000_000, "{little}");
    shell.write("rows.csv", format!("{rows}long,{}\n", "x".repeat(1_100_000)));
    let message = shell.fails("import new rows.csv --no-header --memory 1M", b"");
    assert!(message.contains("rows.csv: line 60001: the row is longer than 1 MiB"), "{message}");
    assert!(message.contains("--memory"), "{message}");
}

#[test]
fn import_tells_what_it_made() {
    // For a small store, the file size says nothing about efficiency.
    let tiny = Shell::new();
    tiny.write("rows.csv", "key,value\na,12\n");
    let table = tiny.done("import s rows.csv");
    assert!(text(&table).contains(", for 3 bytes of keys and values"), "{}", text(&table));
    assert!(!text(&tiny.done("stats s")).contains("times"));
    let large = Shell::new();
    let value = "v".repeat(1000);
    let rows: String = (0..500).map(|number| format!("{number},{value}\n")).collect();
    large.write("rows.csv", format!("key,value\n{rows}"));
    assert!(text(&large.done("import s rows.csv")).contains(" times its keys and values"));

    let shell = Shell::new();
    shell.write("rows.csv", "key,value\na,12\nb,3\na,4\n");
    let report = shell.json("import s rows.csv --rate 0.001 --seed 9");
    for (field, expected) in [("rows", 3), ("items", 2), ("replaced", 1), ("skipped", 0), ("raw_bytes", 4)] {
        assert_eq!(report[field], expected, "{field}: {report}");
    }
    assert_eq!(report["disk_bytes"], shell.read("s").len());
    assert_eq!(report["first_skipped"], Value::Null);
    for field in ["utilisation", "ram_bytes_per_key", "planned_reads_per_hit", "rows_per_second", "seconds"] {
        assert!(report[field].as_f64().unwrap() > 0.0, "{field}: {report}");
    }
    assert!(report["planned_reads_per_miss"].as_f64().unwrap() <= 0.001, "{report}");
    assert_eq!(shell.json("stats s")["seed"], 9);
    let table = shell.done("import s rows.csv --replace");
    assert!(
        text(&table).lines().any(|line| line == "replaced        1 by later rows of the same key"),
        "{}",
        text(&table)
    );
}

#[test]
fn the_last_of_equal_keys_wins_unless_they_are_refused() {
    let shell = Shell::new();
    shell.write("a.csv", "key,value\nx,1\ny,1\n");
    shell.write("b.csv", "key,value\nx,2\n");
    shell.done("import s a.csv b.csv");
    assert_eq!(shell.pairs("s"), owned([(b"x", b"2"), (b"y", b"1")]));
    let message = shell.fails("import new a.csv b.csv --duplicates error", b"");
    assert!(
        message.contains("new: the key \"x\" comes twice") && message.contains("--duplicates last"),
        "{message}"
    );
    assert!(!shell.path().join("new").exists());
    shell.done("import new a.csv --duplicates error");
}

#[test]
fn a_store_is_created_once_filled_once_and_replaced_only_when_told() {
    let shell = Shell::new();
    assert_eq!(shell.json("create s")["items"], 0);
    assert!(shell.pairs("s").is_empty());
    assert_eq!(shell.done("export s"), b"key,value\n");
    let before = shell.snapshot();
    assert!(shell.fails("create s", b"").contains("s: there already is such a file"));
    assert_eq!(shell.snapshot(), before);

    shell.write("rows.csv", "key,value\na,1\n");
    shell.done("import s rows.csv");
    let before = shell.snapshot();
    let message = shell.fails("import s rows.csv", b"");
    assert!(
        message.contains("s: there already is a store of 1 keys") && message.contains("--replace"),
        "{message}"
    );
    assert!(shell.fails("import rows.csv rows.csv", b"").contains("rows.csv: there already is such a file"));
    assert_eq!(shell.snapshot(), before);

    shell.write("rows.csv", "key,value\nb,2\n");
    shell.done("import s rows.csv --replace");
    assert_eq!(shell.pairs("s"), owned([(b"b", b"2")]));
    // A failure leaves the old store.
    shell.write("bad.csv", "key,value\nb,3\nc\n");
    shell.fails("import s bad.csv --replace", b"");
    assert_eq!(shell.pairs("s"), owned([(b"b", b"2")]));
    assert_eq!(shell.snapshot().len(), 3, "no temporary file stays");
}

#[cfg(unix)]
#[test]
fn a_new_store_has_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::numbered(1);
    let mode = |name: &str| fs::metadata(shell.path().join(name)).expect("a file").permissions().mode();
    assert_eq!(mode("s"), mode("rows.csv"));
}

#[test]
fn what_is_wrong_with_rows_is_told_by_file_and_line_and_nothing_is_made() {
    let shell = Shell::new();
    let gzipped = gzip(&b"key,value\nsome,thing\n".repeat(50));
    let compressed = zstd(&b"key,value\nsome,thing\n".repeat(50));
    // A frame with a window of 2^31 bytes, and one empty block.
    shell.write("wide.csv.zst", [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00]);
    let golden = ZSTD_GOLDEN.as_slice();
    let changed = |bytes: &[u8], from_end: usize| {
        let mut bytes = bytes.to_vec();
        let at = bytes.len() - from_end;
        bytes[at] ^= 1;
        bytes
    };
    let long_key = format!("key,value\na,1\n{},2\n", "k".repeat(1025));
    let files: [(&str, &[u8]); 24] = [
        ("good.csv", b"key,value\na,1\n"),
        ("short.csv", b"key,value,more\na,1,2\n\n\"b\n\",1\n"),
        ("long.csv", b"key,value\na,1\nb,2,3\n"),
        ("quote.csv", b"key,value\na,1\nb,\"2\nc,3\n"),
        ("key.csv", long_key.as_bytes()),
        ("empty.csv", b""),
        ("twice.csv", b"key,value,value\na,1,2\n"),
        ("cut.csv.gz", &gzipped[..gzipped.len() - 5]),
        ("crc.csv.gz", &changed(&gzipped, 7)),
        ("trailing.csv.gz", &[&gzipped[..], b"garbage after the end"].concat()),
        ("cut.csv.zst", &compressed[..compressed.len() - 5]),
        ("crc.csv.zst", &changed(golden, 2)),
        ("trailing.csv.zst", &[golden, b"garbage after the end"].concat()),
        ("utf16.csv", b"\xff\xfek\0e\0y\0"),
        ("array.jsonl", b"{\"key\":1}\n[1]\n"),
        ("open.jsonl", b"{\"key\":1}\n\n{\"key\":\n"),
        ("latin.jsonl", b"{\"key\":1}\n{\"key\":\"\xe9\"}\n"),
        ("field.jsonl", b"{\"key\":1}\n{\"id\":2}\n"),
        ("null.jsonl", b"{\"key\":null}\n"),
        ("base.jsonl", b"{\"key_base64\":\"%\"}\n"),
        ("rows.txt", b"key,value\n"),
        ("table.parquet", b"PAR1\x15\x04 and so on PAR1"),
        ("table", b"PAR1\x15\x04 and so on PAR1"),
        ("nothing.parquet", b""),
    ];
    for (name, bytes) in files {
        shell.write(name, bytes);
    }
    fs::create_dir(shell.path().join("folder.csv")).unwrap();
    let before = shell.snapshot();
    for (args, expected) in [
        ("new good.csv short.csv", "short.csv: line 4: expected 3 fields as in the header, found 2"),
        ("new short.csv --no-header", "short.csv: line 4: expected 3 fields as in the first row, found 2"),
        ("new long.csv", "long.csv: line 3: expected 2 fields as in the header, found 3"),
        ("new quote.csv", "quote.csv: line 3: a quote in this row is never closed"),
        ("new key.csv", "key.csv: line 3: expected a key of at most 1024 bytes, found 1025"),
        ("new empty.csv", "empty.csv: it is empty: expected a header"),
        ("new good.csv --key id", "good.csv: there is no column \"id\": there are \"key\", \"value\""),
        ("new good.csv --value id", "good.csv: there is no column \"id\""),
        ("new twice.csv --value value", "twice.csv: there are two columns \"value\""),
        ("new good.csv --no-header --key key", "good.csv: without a header columns have numbers"),
        ("new good.csv --no-header --key 3", "good.csv: there is no column 3: there are 2"),
        ("new good.csv --no-header --value 0", "good.csv: there is no column 0"),
        ("new cut.csv.gz", "cut.csv.gz: cannot read it: its gzip data are cut short"),
        ("new crc.csv.gz", "crc.csv.gz: cannot read it: its gzip data are damaged"),
        ("new trailing.csv.gz", "trailing.csv.gz: cannot read it: its gzip data are damaged"),
        ("new cut.csv.zst", "cut.csv.zst: cannot read it: its zstd data are cut short"),
        ("new wide.csv.zst", "its zstd window is larger than 128 MiB: compress it again without --long"),
        ("new crc.csv.zst", "crc.csv.zst: cannot read it: its zstd data are damaged"),
        ("new trailing.csv.zst", "trailing.csv.zst: cannot read it: its zstd data are damaged"),
        ("new utf16.csv", "utf16.csv: it is in UTF-16"),
        ("new array.jsonl", "array.jsonl: line 2: it is not a JSON object"),
        ("new open.jsonl", "open.jsonl: line 3: it is not a JSON object: EOF"),
        ("new latin.jsonl", "latin.jsonl: line 2: it is not UTF-8 from its byte 9 on"),
        ("new field.jsonl", "field.jsonl: line 2: it has no field \"key\": name another one by --key"),
        ("new field.jsonl --key id", "field.jsonl: line 1: it has no field \"id\""),
        (
            "new table.parquet",
            "table.parquet: it is a Parquet file, which is not read: write its rows as CSV",
        ),
        ("new table.parquet --format csv", "table.parquet: it is a Parquet file"),
        ("new table", "table: it is a Parquet file"),
        ("new nothing.parquet", "nothing.parquet: it is a Parquet file"),
        ("new null.jsonl", "null.jsonl: line 1: its key is null"),
        ("new base.jsonl", "base.jsonl: line 1: a field is not base64"),
        ("new rows.txt", "rows.txt: its name does not tell how its rows are written: add --format"),
        ("new good.csv -", "stdin: its name does not tell"),
        ("new - - --format csv", "stdin can be read only once"),
        ("new good.csv --format xml", "xml"),
        ("new folder.csv", "folder.csv: it is a directory"),
        ("new missing.csv", "missing.csv: cannot open it"),
        ("new", "<FILE>"),
        ("folder.csv good.csv --replace", "folder.csv: it is a directory"),
        ("nowhere/new good.csv", "nowhere/new: cannot make a file in nowhere"),
        ("new good.csv --rate 0", "--rate"),
        ("new good.csv --rate 4", "--rate"),
        ("new good.csv --rate NaN", "--rate"),
        ("new good.csv --memory 1K", "--memory"),
        ("new good.csv --duplicates first", "--duplicates"),
    ] {
        let message = shell.fails(&format!("import {args}"), b"");
        assert!(message.contains(expected), "{args}: {message}");
        assert_eq!(shell.snapshot(), before, "{args}");
    }
}

#[test]
fn bad_rows_are_skipped_when_told_and_counted() {
    let shell = Shell::new();
    shell.write("rows.csv", format!("key,value\na,1\nb\nc,2,3\n{},4\nd,5\n", "k".repeat(2000)));
    shell.write("rows.jsonl", b"{}\n{\"key\":\"e\",\"value\":\"6\"}\nnot JSON\n");
    let report = shell.json("import s rows.csv rows.jsonl --skip-bad");
    assert_eq!((&report["rows"], &report["skipped"], &report["items"]), (&8.into(), &5.into(), &3.into()));
    assert_eq!(report["first_skipped"], "rows.csv, line 3: expected 2 fields as in the header, found 1");
    assert_eq!(shell.pairs("s"), owned([(b"a", b"1"), (b"d", b"5"), (b"e", b"6")]));
    let table = shell.done("import s rows.csv rows.jsonl --skip-bad --replace");
    assert!(text(&table).contains("skipped         5, the first: rows.csv, line 3"), "{}", text(&table));
    // A read error is not a bad row.
    shell.write("cut.csv.gz", &gzip(b"key,value\na,1\n")[..20]);
    shell.fails("import new cut.csv.gz --skip-bad", b"");
}

#[test]
fn get_prints_values_in_the_order_of_keys() {
    let shell = Shell::numbered(5000);
    let run = |args: &[&str], input: &[u8]| {
        let output = shell.command("get s", input).args(args).output().expect("the command starts");
        let code = output.status.code().unwrap();
        assert_eq!(text(&output.stderr).contains("absent: "), code == 1, "{args:?}");
        (code, String::from_utf8(output.stdout).expect("UTF-8"))
    };
    for (args, input, code, expected) in [
        (&["key 7"][..], &b""[..], 0, "value 7\n"),
        (&["key 7", "--raw"], b"", 0, "value 7"),
        (&["key"], b"", 1, ""),
        (&["key 4999", "absent", "key 0"], b"", 1, "value 4999\nvalue 0\n"),
        (&["--with-keys", "key 2", "key 1"], b"", 0, "key 2\tvalue 2\nkey 1\tvalue 1\n"),
        (&["--hex", "6b65792037"], b"", 0, "76616c75652037\n"),
        (&["--hex", "--with-keys", "6B65792037"], b"", 0, "6b65792037\t76616c75652037\n"),
        (&["--stdin"], b"key 3\nkey 2", 0, "value 3\nvalue 2\n"),
        (&["--stdin"], b"key 3\r\n\nkey 2\n", 1, "value 2\n"),
        (&["--stdin"], b"", 0, ""),
    ] {
        assert_eq!(run(args, input), (code, expected.to_owned()), "{args:?}");
    }
    // Absent keys are named on stderr, up to a limit.
    let absent = shell.run("get s absent --stdin", b"");
    assert_eq!(absent.status.code(), Some(2));
    let absent: String = (4990..5200).map(|number| format!("key {number}\n")).collect();
    let absent = shell.run("get s --stdin", absent.as_bytes());
    let told: Vec<_> = text(&absent.stderr).lines().collect();
    assert_eq!((told.len(), told[0], told[100]), (101, "absent: key 5000", "absent: 100 more keys"));
    assert_eq!(text(&absent.stdout).lines().count(), 10);
    // Rows with the names of their columns.
    shell.write("people.csv", "id,name,city\n4711,\"Ada, L.\",London\n");
    shell.done("import people people.csv");
    let row = shell.done("get people 4711 --json --columns name,city");
    assert_eq!(text(&row), "{\"key\":\"4711\",\"name\":\"Ada, L.\",\"city\":\"London\"}\n");
    let row = shell.done("get people 4711 --json");
    assert_eq!(text(&row), "{\"key\":\"4711\",\"value\":\"\\\"Ada, L.\\\",London\"}\n");
    shell.fails("get people 4711 --columns name", b"");
    // More lines than one batch.
    let keys: String = (0..5000).rev().map(|number| format!("key {number}\n")).collect();
    let values = keys.replace("key", "value");
    assert_eq!(run(&["--stdin"], keys.as_bytes()), (0, values));

    assert!(shell.fails("get s --hex 0g", b"").contains("key 1 is not hexadecimal: \"0g\""));
    assert!(shell.fails("get s --stdin --hex", b"00\nf\n").contains("key 2 is not hexadecimal"));
    for args in ["get s", "get s key --stdin", "get s key --raw --hex"] {
        shell.fails(args, b"");
    }
}

#[test]
fn stats_tell_the_plan_and_measure_when_told() {
    let shell = Shell::numbered(50_000);
    let stats = shell.json("stats s");
    assert_eq!((&stats["items"], &stats["disk_bytes"]), (&50_000.into(), &shell.read("s").len().into()));
    // "key " and "value " with 1 to 5 digits: 10·1 + 90·2 + 900·3 + 9000·4 + 40,000·5 of them each.
    assert_eq!((&stats["key_bytes"], &stats["value_bytes"]), (&438_890.into(), &538_890.into()));
    assert_eq!((&stats["reads_per_hit"], &stats["reads_per_miss"]), (&Value::Null, &Value::Null));
    let number = |field: &str| stats[field].as_f64().unwrap_or_else(|| panic!("{field}: {stats}"));
    assert!(number("utilisation") > 0.9 && number("utilisation") <= 1.0, "{stats}");
    assert!(number("ram_bytes_per_key") > 0.5 && number("ram_bytes_per_key") < 2.0, "{stats}");
    assert!((number("ram_bytes") / 50_000.0 - number("ram_bytes_per_key")).abs() < 1e-9, "{stats}");
    assert!(number("planned_reads_per_hit") == 1.0 && number("guide_bytes") > 30.0, "{stats}");
    assert!(number("planned_reads_per_miss") <= 0.01, "{stats}");
    let levels = stats["levels"].as_array().expect("levels");
    let total = |field: &str| levels.iter().map(|level| level[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        (Value::from(total("items")), Value::from(total("pages"))),
        (stats["items"].clone(), stats["pages"].clone())
    );
    // The first level is full before a key goes on to the next.
    assert!(levels[0]["load"].as_f64().unwrap() > 0.9, "{stats}");
    for level in levels {
        assert!((0.0..=1.0).contains(&level["load"].as_f64().unwrap()), "{level}");
    }

    let measured = shell.json("stats s --measure");
    assert_eq!(measured["measured_lookups"], 100_000);
    let reads = |field: &str| measured[field].as_f64().unwrap();
    assert_eq!(reads("reads_per_hit"), 1.0, "{measured}");
    // About 1000 pages for 100,000 misses, ±200: by Chernoff's bound, 2·exp(−200²/(3·1000)),
    // exceeded for one seed in 300,000, and the seeds are fixed.
    assert!((reads("reads_per_miss") - number("planned_reads_per_miss")).abs() < 0.002, "{measured}");

    let table = shell.done("stats s --measure 1000");
    for name in ["items", "file", "memory", "reads per hit", "reads per miss", "utilisation"] {
        assert!(
            text(&table).lines().any(|line| line.starts_with(name)),
            "{name} is missing:\n{}",
            text(&table)
        );
    }
}

#[test]
fn an_empty_store_has_stats_and_can_be_verified_and_measured() {
    let shell = Shell::new();
    shell.done("create s");
    let stats = shell.json("stats s --measure 10");
    assert_eq!((&stats["items"], &stats["reads_per_hit"]), (&0.into(), &Value::Null));
    assert_eq!(stats["reads_per_miss"], 0.0);
    assert_eq!(shell.json("verify s")["whole"], true);
    assert_eq!(shell.json("bench s --lookups 10")["reads_per_hit"], Value::Null);
    shell.done("bench s --lookups 10");
    assert_eq!(shell.run("get s key", b"").status.code(), Some(1));
}

#[test]
fn bench_counts_reads_and_times_lookups() {
    let shell = Shell::numbered(20_000);
    let cold = if cfg!(target_os = "linux") { "--cold" } else { "" };
    for flags in ["", "--map", "--threads 3", cold] {
        let report = shell.json(&format!("bench s --lookups 30000 {flags}"));
        assert_eq!((&report["items"], report["reader"] == "mapped"), (&20_000.into(), flags == "--map"));
        assert!((1.0..1.01).contains(&report["reads_per_hit"].as_f64().unwrap()), "{report}");
        // About 300 pages for 30,000 misses, ±120: by Chernoff's bound, 2·exp(−120²/(3·300)),
        // exceeded for one seed in four million, and the seeds are fixed.
        let (planned, reads) = (&report["planned_reads_per_miss"], &report["reads_per_miss"]);
        assert!((reads.as_f64().unwrap() - planned.as_f64().unwrap()).abs() < 0.004, "{report}");
        let runs = report["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), if flags == "--cold" { 4 } else { 2 });
        for run in runs {
            let number = |field: &str| run[field].as_f64().unwrap_or_else(|| panic!("{field}: {run}"));
            // A tenth of the pages is read uncached, or would be by misses that read one page in a
            // hundred lookups.
            let pages = report["pages"].as_u64().unwrap();
            let expected = match (run["cache"] == "cold", run["what"] == "hit") {
                (false, _) => 30_000,
                (true, true) => pages.div_ceil(10),
                (true, false) => 10 * pages,
            };
            assert_eq!(run["lookups"], expected);
            assert_eq!(number("found"), if run["what"] == "hit" { number("lookups") } else { 0.0 });
            let times = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"].map(number);
            assert!(times.is_sorted() && times[0] > 0.0, "{run}");
            assert!(number("mean_ns") <= number("max_ns") && number("lookups_per_second") > 0.0, "{run}");
            let counted =
                run["histogram"].as_array().unwrap().iter().map(|bar| bar["lookups"].as_f64().unwrap());
            assert_eq!(counted.sum::<f64>(), number("lookups"));
        }
    }
    let table = shell.done("bench s --lookups 1000");
    assert!(text(&table).contains("reads per miss") && text(&table).contains('█'), "{}", text(&table));
}

#[test]
fn damage_is_found_told_and_confined() {
    let shell = Shell::numbered(5000);
    assert_eq!(shell.json("verify s")["whole"], true);
    assert!(text(&shell.done("verify s")).starts_with("whole: 5,000 keys on "));

    // Some byte of the first page after the header.
    let mut bytes = shell.read("s");
    bytes[5000] ^= 1;
    shell.write("page", &bytes);
    let output = shell.run("verify page", b"");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), ""));
    assert_eq!(text(&output.stdout).lines().nth(1), Some("page 0: its checksum is wrong"));
    let output = shell.run("verify page --json", b"");
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&report["whole"], &report["damage"][0]),
        (&false.into(), &"page 0: its checksum is wrong".into())
    );

    // Every key is found, or its page is reported as damaged.
    let mut lost = 0;
    for number in 0..5000 {
        if number % 50 != 0 {
            continue;
        }
        let output = shell.command("get page", b"").arg(format!("key {number}")).output().unwrap();
        match output.status.code() {
            Some(0) => assert_eq!(text(&output.stdout), format!("value {number}\n")),
            Some(2) => {
                lost += 1;
                assert!(text(&output.stderr).contains("page 0 is damaged"), "{}", text(&output.stderr));
            }
            code => panic!("{code:?} for key {number}"),
        }
    }
    // One page of about 45 keys.
    assert!(lost < 20, "{lost} of 100");

    let message = shell.fails("export page", b"");
    assert!(message.contains("page: only a part was written: page 0 is damaged"), "{message}");
    let output = shell.run("export page --skip-damaged", b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("1 damaged page"), "{}", text(&output.stderr));
    let rows = text(&output.stdout).lines().count();
    assert!((4000..5001).contains(&rows), "{rows}");
    assert!(shell.fails("bench page", b"").contains("page: page 0 is damaged"));
    assert!(shell.fails("stats page --measure", b"").contains("page: page 0 is damaged"));
    shell.done("stats page");

    shell.write("cut", &bytes[..bytes.len() - 1]);
    shell.write("header", [&bytes[..30], &[bytes[30] ^ 1], &bytes[31..]].concat());
    shell.write("text", "no store");
    shell.write("nothing", "");
    fs::create_dir(shell.path().join("folder")).unwrap();
    for (name, expected) in [
        ("cut", "cut: expected"),
        ("header", "header: the store's header is damaged"),
        ("text", "text: not a store of oneread"),
        ("nothing", "nothing: not a store of oneread"),
        ("folder", "folder: it is a directory"),
        ("missing", "missing: cannot open it"),
    ] {
        for command in ["get NAME key", "stats NAME", "export NAME", "bench NAME", "bench NAME --map"] {
            let message = shell.fails(&command.replace("NAME", name), b"");
            assert!(message.contains(expected), "{command} of {name}: {message}");
        }
        let output = shell.run(&format!("verify {name}"), b"");
        let code = if ["folder", "missing"].contains(&name) { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "verify {name}");
    }
}

#[test]
fn a_reader_that_hangs_up_is_no_failure() {
    let shell = Shell::numbered(100_000);
    let keys: String = (0..100_000).map(|number| format!("key {number}\n")).collect();
    for args in ["export s", "export s --format jsonl", "get s --stdin"] {
        let mut child = shell
            .command(args, keys.as_bytes())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args}");
    }
}

#[test]
fn help_teaches_by_example() {
    let shell = Shell::new();
    for (args, example) in [
        ("--help", "oneread store import people.store people.csv --key id"),
        ("create --help", "`oneread store import` makes the store by itself"),
        ("import --help", "zcat dump.gz | oneread store import dump.store - --format jsonl --key user"),
        ("export --help", "`key_base64`"),
        ("get --help", "Exit codes: 0 all keys are there, 1 one is not"),
        ("stats --help", "--measure"),
        ("add --help", "oneread store get old.store --stdin --with-keys < ids | oneread store add new.store"),
        ("remove --help", "oneread store remove people.store < ids"),
        ("len --help", "The number is exact"),
        ("backup --help", "oneread store backup people.store people-monday.store"),
        ("compact --help", "1.1 times their keys"),
        ("seal --help", "The log and the manifest are gone"),
        ("verify --help", "1 it is damaged"),
        ("bench --help", "oneread store bench people.store --cold --threads 32"),
    ] {
        assert!(text(&shell.done(args)).contains(example), "{args}");
    }
}

#[test]
fn a_store_changes_by_put_and_delete_and_everything_else_works_on_it() {
    let shell = Shell::new();
    let rows: String = (0..500).map(|number| format!("{number},value {number}\n")).collect();
    shell.write("rows.csv", format!("key,value\n{rows}"));
    shell.done("import a.store rows.csv");
    assert_eq!(shell.run("get a.store new", b"").status.code(), Some(1));
    shell.done("put a.store new value");
    shell.done("put a.store 7 seven");
    shell.done_with("put a.store stdin", b"from\nstdin");
    assert_eq!(shell.done("get a.store new 7"), b"value\nseven\n");
    assert_eq!(shell.done("get a.store stdin --raw"), b"from\nstdin");
    // `delete` reports whether the keys existed.
    shell.done("delete a.store 8 9");
    let again = shell.run("delete a.store 8 10", b"");
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(shell.run("get a.store 10", b"").status.code(), Some(1));
    shell.done("put a.store --hex 00ff ff00");
    assert_eq!(shell.done("get a.store --hex 00ff"), b"ff00\n");

    assert_eq!(shell.json("verify a.store")["whole"], true);
    let stats = shell.json("stats a.store");
    assert_eq!((&stats["items"], stats["buffered"].as_u64() > Some(0)), (&Value::from(500), true));
    // Three keys are new, and three are gone.
    let exported = shell.done("export a.store --format jsonl");
    assert_eq!(exported.iter().filter(|&&byte| byte == b'\n').count(), 500);

    // Rows are added to a live store; it is replaced only with `--replace`.
    shell.write("more.csv", "key,value\nnew,newer\nlast,one\n");
    shell.done("import a.store more.csv");
    assert_eq!(shell.done("get a.store new last"), b"newer\none\n");
    assert_eq!(shell.json("stats a.store")["buffered"], 0);
    shell.done("import a.store more.csv --replace");
    assert_eq!(shell.pairs("a.store"), owned([(b"last", b"one"), (b"new", b"newer")]));
    let files: Vec<_> = shell.snapshot().into_keys().collect();
    assert_eq!(files, ["a.store", "more.csv", "rows.csv"]);
    // A refused command leaves no files.
    assert!(shell.fails("put rows.csv 1 2", b"").contains("not a store"));
    assert!(shell.snapshot().into_keys().eq(files));

    // A missing store is created.
    shell.done("put b.store a 1");
    assert_eq!(shell.done("get b.store a"), b"1\n");
    assert!(shell.fails("delete c.store a", b"").contains("c.store"));
}

#[test]
fn many_pairs_and_keys_come_from_stdin() {
    let shell = Shell::new();
    let rows: String = (0..20_000).map(|number| format!("key {number}\tvalue {number}\n")).collect();
    shell.done_with("add s", rows.as_bytes());
    assert_eq!(shell.done("len s"), b"20000\n");
    let keys: String = (0..15_000).map(|number| format!("key {number}\n")).collect();
    // Absent keys are not an error.
    shell.done_with("remove s", format!("{keys}absent\n").as_bytes());
    assert_eq!(shell.json("len s")["items"], 5000);
    assert_eq!(shell.run("get s --stdin", keys.as_bytes()).status.code(), Some(1));
    shell.done_with("add s --format jsonl", b"{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",\"c\":[2]}");
    assert_eq!(shell.done("get s a b"), b"1\n{\"c\":[2]}\n");
    assert_eq!(shell.done("get s b --json"), b"{\"key\":\"b\",\"value\":{\"c\":[2]}}\n");
    shell.done_with("add s --format csv", b"a,\"x, y\"\n");
    assert_eq!(shell.done("get s a"), b"x, y\n");
    // Pairs before a failure stay.
    let message = shell.fails("add s", b"before\t1\nonly a key\nafter\t2\n");
    assert!(message.contains("stdin: line 2: expected 2 fields"), "{message}");
    assert_eq!(shell.done("get s before"), b"1\n");
    assert!(shell.fails("remove s --hex", b"6265666f7265\nzz\n").contains("key 2 is not hexadecimal"));
    assert_eq!(shell.run("get s before", b"").status.code(), Some(1));
    assert!(shell.fails("remove nothing", b"a\n").contains("nothing: "));
    assert_eq!(shell.json("verify s")["whole"], true);
}

#[test]
fn a_store_is_copied_compacted_and_sealed() {
    let shell = Shell::new();
    let rows = |round: u32| -> String {
        (0..30_000).map(|number| format!("key {number}\tvalue {number} in round {round}\n")).collect()
    };
    shell.done_with("add s", rows(1).as_bytes());
    shell.done_with("add s", rows(2).as_bytes());
    shell.done("backup s copy");
    assert!(shell.fails("backup s copy", b"").contains("copy: there already is such a file"));
    assert!(shell.fails("backup nothing other", b"").contains("nothing: "));
    let pairs = shell.pairs("copy");
    assert_eq!((pairs.len(), &pairs[&b"key 7"[..]][..]), (30_000, &b"value 7 in round 2"[..]));
    // A copy of a sealed store.
    assert_eq!(shell.json("backup copy again")["items"], 30_000);
    assert!(shell.pairs("again") == pairs);

    let compact = shell.json("compact s");
    let [before, after] = ["disk_bytes_before", "disk_bytes"].map(|name| compact[name].as_u64().unwrap());
    assert!(after < before * 2 / 3 && compact["items"] == 30_000, "{compact}");
    assert_eq!(shell.json("stats s")["items"], 30_000);
    shell.done("put s more 1");
    let sealed = shell.json("seal s");
    assert_eq!(
        (&sealed["items"], sealed["disk_bytes"].as_u64()),
        (&30_001.into(), Some(shell.read("s").len() as u64))
    );
    assert_eq!(shell.pairs("s").len(), 30_001);
    // A sealed store stays as it is.
    let file = shell.read("s");
    shell.done("seal s");
    shell.done("compact s");
    assert!(shell.read("s") == file);
    assert!(shell.snapshot().into_keys().eq(["again", "copy", "s"]));
    for args in ["seal nothing", "compact nothing"] {
        assert!(shell.fails(args, b"").contains("nothing: "), "{args}");
    }
    assert!(shell.snapshot().into_keys().eq(["again", "copy", "s"]));
}

/// Each copy is of one moment, although another process keeps writing.
#[test]
fn a_copy_is_made_while_another_process_writes() {
    let shell = Shell::new();
    let rows: String = (0..3000).map(|number| format!("key {number}\t0\n")).collect();
    shell.done_with("add s", rows.as_bytes());
    let mut writer = Command::new(env!("CARGO_BIN_EXE_oneread"))
        .args(["store", "add", "s"])
        .current_dir(shell.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = writer.stdin.take().expect("a pipe");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                let rows: String = (0..3000).map(|number| format!("key {number}\t{round:0100}\n")).collect();
                stdin.write_all(rows.as_bytes()).expect("the command reads");
                if done.load(Relaxed) {
                    break;
                }
            }
            drop(stdin);
        });
        for number in 0..6 {
            let copied = shell.run(&format!("backup s copy{number}"), b"");
            done.store(number == 5 || !copied.status.success(), Relaxed);
            assert_eq!((copied.status.code(), text(&copied.stderr)), (Some(0), ""));
            let pairs = shell.pairs(&format!("copy{number}"));
            assert_eq!(pairs.len(), 3000);
            // Rows are added in batches, in order: those of a later round come first.
            let rounds: Vec<u64> = (0..3000)
                .map(|number| text(&pairs[format!("key {number}").as_bytes()]).parse().expect("a number"))
                .collect();
            let steps = rounds.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(rounds.is_sorted_by(|a, b| a >= b) && steps <= 1, "{steps} steps");
        }
    });
    assert!(writer.wait().expect("it ends").success());
    assert_eq!(shell.json("verify s")["whole"], true);
}

/// `stats` and `verify` counted keys on pages, and ignored the changes in the log.
#[test]
fn stats_verify_export_and_bench_count_the_same_keys() {
    let shell = Shell::new();
    let rows: String = (0..500).map(|number| format!("{number},value {number}\n")).collect();
    shell.write("rows.csv", format!("key,value\n{rows}"));
    shell.done("import s rows.csv");
    shell.done("delete s 1 2 3 4 5 6 7");
    shell.done("put s 7 again");
    shell.done("put s 8 other");
    shell.done("put s new value");
    assert_eq!(shell.run("delete s absent", b"").status.code(), Some(1));
    // Seven are gone, one is back, one is new.
    let expected = Value::from(495);
    let stats = shell.json("stats s");
    assert!(stats["buffered"].as_u64() > Some(0));
    assert_eq!(stats["items"], expected);
    assert_eq!(shell.json("verify s")["items"], expected);
    assert_eq!(shell.json("bench s --lookups 10")["items"], expected);
    assert_eq!(shell.done("export s").iter().filter(|&&byte| byte == b'\n').count(), 1 + 495);
}

#[test]
fn bench_and_stats_measure_a_store_that_changes() {
    let shell = Shell::numbered(20_000);
    shell.done("put s new value");
    let cold = if cfg!(target_os = "linux") { "--cold" } else { "" };
    for flags in ["", "--threads 3", cold] {
        let report = shell.json(&format!("bench s --lookups 30000 {flags}"));
        // The new key is in the log, and counts.
        assert_eq!((&report["items"], &report["planned_reads_per_hit"]), (&20_001.into(), &Value::Null));
        // One key of 20,001 takes no read. Misses are like those of a sealed store, planned for
        // 0.01. By Chernoff's bound, 300 pages are off by 120 for one seed in four million, and the
        // seeds are fixed.
        assert!((0.99..1.01).contains(&report["reads_per_hit"].as_f64().unwrap()), "{report}");
        assert!((report["reads_per_miss"].as_f64().unwrap() - 0.01).abs() < 0.004, "{report}");
        for run in report["runs"].as_array().expect("runs") {
            let found = if run["what"] == "hit" { run["lookups"].clone() } else { 0.into() };
            assert_eq!(run["found"], found, "{run}");
        }
    }
    let stats = shell.json("stats s --measure 30000");
    assert_eq!((&stats["measured_lookups"], &stats["buffered"]), (&30_000.into(), &1.into()));
    assert!((0.99..1.01).contains(&stats["reads_per_hit"].as_f64().unwrap()), "{stats}");
    assert!((stats["reads_per_miss"].as_f64().unwrap() - 0.01).abs() < 0.004, "{stats}");
    assert_eq!(shell.json("stats s")["reads_per_hit"], Value::Null);
    let table = shell.done("bench s --lookups 1000");
    assert!(text(&table).contains("1 change in the log") && text(&table).contains('█'), "{}", text(&table));
    assert!(shell.fails("bench s --map", b"").contains("live"));
}

#[test]
fn damage_to_a_live_store_is_found() {
    let shell = Shell::new();
    for key in ["a", "b", "c"] {
        shell.done(&format!("put a.store {key} value"));
    }
    for name in ["a.store.manifest", "a.store.log1", "a.store"] {
        let whole = shell.read(name);
        let mut bytes = whole.clone();
        // In the first page, or in the last bytes written, which zeros follow.
        let last = bytes.iter().rposition(|&byte| byte != 0).expect("a byte");
        let middle = if name == "a.store" { 4096 + 12 } else { last - 8 };
        bytes[middle] ^= 1;
        shell.write(name, bytes);
        let found = shell.run("verify a.store", b"");
        assert_eq!(found.status.code(), Some(1), "{name}: {}", text(&found.stdout));
        shell.write(name, whole);
    }
    assert_eq!(shell.run("verify a.store", b"").status.code(), Some(0));
}

#[test]
fn stores_have_secret_seeds_unless_told_one() {
    // Those who know a store's seed can choose keys that share their pages.
    let shell = Shell::new();
    let seed = |name: &str| shell.json(&format!("stats {name}"))["seed"].as_u64().expect("a seed");
    for name in ["created", "another"] {
        shell.done(&format!("create --random {name}"));
    }
    shell.write("rows.csv", "key,value\na,1\n");
    shell.done("import --random imported rows.csv");
    shell.done("put --random made key value");
    // Two of four 64-bit seeds are equal once in 3e18.
    let seeds: BTreeMap<u64, &str> =
        ["created", "another", "imported", "made"].map(|name| (seed(name), name)).into();
    assert!(seeds.len() == 4 && !seeds.contains_key(&0), "{seeds:?}");
}
