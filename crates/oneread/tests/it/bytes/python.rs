//! A reader in Python, written from `docs/format.md` alone, gives the same answers.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oneread::filter::{
    BlockedBloomFilter, BloomFilter, CountMinSketch, CountingBloomFilter, DLeftCountingFilter, DLeftFilter,
    GrowingDLeftCountingFilter, GrowingFilter, GrowingLineFilter, LineFilter, PlacedFilter,
};
use oneread::hash::probes::SchemeName;
use oneread::hash::{Digester, Keyed, Portable};
use oneread::layout::{
    BlockedLayout, BloomLayout, BucketBits, CountMinLayout, Counting, CountingLayout, DLeftCountingLayout,
    DLeftLayout, Division, GrowingLayout, LineLayout, Remainders, Repeats, Rows, Semisort,
};
use xxhash_rust::xxh3::xxh3_64;

use super::samples;

const SEED: u64 = 0x0123_4567_89ab_cdef;
/// Half of them are inserted.
const KEYS: u64 = 10_000;
/// Some keys of both halves, for tests that compare many files.
const FEWER: Range<u64> = 4_500..5_500;

/// Runs the reader with lines on its standard input.
fn python(arguments: &[&str], lines: &str) -> Output {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/oneread_reader.py");
    let mut child = Command::new("python3")
        .arg("-B")
        .arg(reader)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("this test runs python3 (3.8 or later, without packages) and cannot: {error}; install it")
        });
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may refuse the file before it has read the lines.
        scope.spawn(move || _ = stdin.write_all(lines.as_bytes()));
        child.wait_with_output().unwrap()
    })
}

fn answers(arguments: &[&str], lines: &str) -> Vec<String> {
    let output = python(arguments, lines);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

/// A separate file for each test.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Keys of sixteen bytes.
fn string(key: u64) -> String {
    format!("key {key:012}")
}

/// Compares every answer for numbers and for strings.
fn compare<A: ToString>(
    name: &str,
    bytes: &[u8],
    keys: Range<u64>,
    of_number: impl Fn(u64) -> A,
    of_string: impl Fn(&str) -> A,
) {
    let path = file(&format!("{name}.oneread"), bytes);
    let path = path.to_str().unwrap();
    let lines = |key: &dyn Fn(u64) -> String| keys.clone().map(|i| key(i) + "\n").collect::<String>();
    let found = answers(&["query", path, "u64"], &lines(&|key| key.to_string()));
    let expected: Vec<String> = keys.clone().map(|key| of_number(key).to_string()).collect();
    assert!(found == expected, "{name}: python differs for numbers");
    let found = answers(&["query", path, "str"], &lines(&string));
    let expected: Vec<String> = keys.clone().map(|key| of_string(&string(key)).to_string()).collect();
    assert!(found == expected, "{name}: python differs for strings");
    std::fs::remove_file(path).unwrap();
}

/// The first half of the numbers and of the strings.
fn inserted() -> (Vec<u64>, Vec<String>) {
    ((0..KEYS / 2).collect(), (0..KEYS / 2).map(string).collect())
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_bloom_filters_of_every_scheme() {
    let (numbers, strings) = inserted();
    for scheme in SchemeName::ALL {
        // Small enough that a tenth of the absent keys is found, so that they too get both answers.
        let layout = BloomLayout::new(50_000, 4).unwrap().with_scheme(scheme).unwrap();
        let mut filter = BloomFilter::with_seed(layout, SEED).unwrap();
        filter.extend(&numbers);
        filter.extend(strings.iter().map(String::as_str));
        let found = (KEYS / 2..KEYS).filter(|key| filter.contains(key)).count();
        assert!((100..2500).contains(&found), "{scheme}: {found} absent keys are found");
        compare(
            &format!("python_bloom_{scheme}"),
            &filter.to_bytes(),
            if scheme == SchemeName::default() { 0..KEYS } else { FEWER },
            |key| u8::from(filter.contains(&key)),
            |key| u8::from(filter.contains(key)),
        );
    }
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_blocked_filters() {
    let (numbers, strings) = inserted();
    let mut filter = BlockedBloomFilter::with_seed(BlockedLayout::new(117).unwrap(), SEED).unwrap();
    filter.extend(&numbers);
    filter.extend(strings.iter().map(String::as_str));
    compare(
        "python_blocked",
        &filter.to_bytes(),
        0..KEYS,
        |key| u8::from(filter.contains(&key)),
        |key| u8::from(filter.contains(key)),
    );
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_counting_filters() {
    let (numbers, strings) = inserted();
    for (width, counting, scheme) in [
        (4, Counting::EachProbe, SchemeName::Accelerated),
        (3, Counting::OncePerItem, SchemeName::Enhanced),
        (5, Counting::EachProbe, SchemeName::Partitioned),
    ] {
        let layout = CountingLayout::new(50_000, 4, width).unwrap().with_counting(counting);
        let mut filter = CountingBloomFilter::with_seed(layout.with_scheme(scheme).unwrap(), SEED).unwrap();
        filter.extend(&numbers);
        filter.extend(strings.iter().map(String::as_str));
        (0..KEYS / 4).for_each(|key| filter.remove(&key).unwrap());
        compare(
            &format!("python_counting_{width}"),
            &filter.to_bytes(),
            if width == 4 { 0..KEYS } else { FEWER },
            |key| u8::from(filter.contains(&key)),
            |key| u8::from(filter.contains(key)),
        );
    }
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_counts_and_finds_the_same_in_sketches_and_growing_filters() {
    let (numbers, strings) = inserted();
    for (name, rows) in
        [("python_count_min", Rows::Independent), ("python_count_min_two_words", Rows::TwoWords)]
    {
        let layout = CountMinLayout::new(1009, 4).unwrap().with_rows(rows);
        let mut sketch = CountMinSketch::with_seed(layout, SEED).unwrap();
        sketch.extend(&numbers);
        strings.iter().for_each(|key| sketch.add(key, 3));
        compare(name, &sketch.to_bytes(), FEWER, |key| sketch.estimate(&key), |key| sketch.estimate(key));
    }
    let mut filter = GrowingFilter::with_seed(GrowingLayout::new(500, 0.1).unwrap(), SEED).unwrap();
    filter.insert_many(&numbers).unwrap();
    strings.iter().for_each(|key| _ = filter.insert(key).unwrap());
    compare(
        "python_growing",
        &filter.to_bytes(),
        FEWER,
        |key| u8::from(filter.contains(&key)),
        |key| u8::from(filter.contains(key)),
    );
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_d_left_filters() {
    let (numbers, strings) = inserted();
    // 10,000 keys: about four per bucket, so that some of ten thousand absent keys are found.
    let layouts = [
        ("spread", DLeftLayout::uneven(&[1101, 550, 552], BucketBits::Bits64)),
        ("two", DLeftLayout::new(2, 1250, BucketBits::Bits64)),
        ("paged", DLeftLayout::paged(5, BucketBits::Bits64)),
    ];
    let mut found = 0;
    for (name, layout) in layouts {
        let mut filter = DLeftFilter::with_seed(layout.unwrap(), SEED).unwrap();
        filter.insert_many(&numbers).unwrap();
        filter.insert_many(strings.iter().map(String::as_str)).unwrap();
        let loads = filter.statistics().loads;
        let of_load = |load: usize| loads.iter().map(|loads| loads[load]).sum::<u64>();
        assert!((3..=5).all(|load| of_load(load) > 0), "{name}: {loads:?}");
        found += (KEYS / 2..KEYS).filter(|key| filter.contains(key)).count();
        compare(
            &format!("python_dleft_{name}"),
            &filter.to_bytes(),
            0..KEYS,
            |key| u8::from(filter.contains(&key)),
            |key| u8::from(filter.contains(key)),
        );
    }
    assert!((1..100).contains(&found), "{found} absent keys are found");
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_d_left_filters_of_other_buckets() {
    let (numbers, strings) = inserted();
    let (small, large) = (BucketBits::Bits64, BucketBits::Bits128);
    let spread = |each, bits| DLeftLayout::new(3, each, bits).unwrap();
    let layouts = [
        // 10,000 keys: four or a little more per bucket of 64 bits, and six or seven per bucket of
        // 128.
        ("128", spread(520, large)),
        ("128_one_bit", spread(520, large).with_semisort(Semisort::One)),
        ("128_paged", DLeftLayout::paged(7, large).unwrap()),
        ("128_grouped", spread(520, large).with_group(4).unwrap()),
        ("grouped", spread(832, small).with_group(4).unwrap()),
        ("grouped_uneven", spread(834, small).with_division(Division::Uneven).with_group(3).unwrap()),
        ("plain", spread(833, small).with_semisort(Semisort::None)),
        ("fixed", spread(833, small).with_division(Division::Fixed)),
    ];
    for (name, layout) in layouts {
        let mut filter = DLeftFilter::with_seed(layout, SEED).unwrap();
        filter.insert_many(&numbers).unwrap();
        filter.insert_many(strings.iter().map(String::as_str)).unwrap();
        compare(
            &format!("python_dleft_{name}"),
            &filter.to_bytes(),
            if name == "fixed" || layout.group() == 4 { 0..KEYS } else { FEWER },
            |key| u8::from(filter.contains(&key)),
            |key| u8::from(filter.contains(key)),
        );
    }
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_d_left_counting_filters() {
    let (numbers, strings) = inserted();
    // 10,000 keys, then 7,500: six, then four and a half per bucket.
    let layout = DLeftCountingLayout::new(4, 417).unwrap();
    let layouts = [
        ("one_size", layout),
        ("one_size_12", DLeftCountingLayout::new(3, 400).unwrap().with_capacity(12).unwrap()),
        ("fixed", layout.with_remainders(Remainders::Fixed).unwrap()),
        (
            "two_sizes",
            layout.with_repeats(Repeats::Copy).unwrap().with_remainders(Remainders::TwoSizes).unwrap(),
        ),
    ];
    for (name, layout) in layouts {
        let mut filter = DLeftCountingFilter::with_seed(layout, SEED).unwrap();
        filter.insert_many(&numbers).unwrap();
        filter.insert_many(strings.iter().map(String::as_str)).unwrap();
        (0..KEYS / 4).for_each(|key| filter.remove(&key).unwrap());
        // Some keys twice.
        (KEYS / 4..KEYS / 4 + 100).for_each(|key| _ = filter.insert(&key).unwrap());
        compare(
            &format!("python_dleft_counting_{name}"),
            &filter.to_bytes(),
            0..KEYS,
            |key| u8::from(filter.contains(&key)),
            |key| u8::from(filter.contains(key)),
        );
    }
    let mut filter =
        GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(500, 0.05).unwrap(), SEED).unwrap();
    filter.insert_many(&numbers).unwrap();
    filter.insert_many(strings.iter().map(String::as_str)).unwrap();
    (0..KEYS / 4).for_each(|key| filter.remove(&key).unwrap());
    let found = (KEYS / 2..KEYS).filter(|key| filter.contains(key)).count();
    assert!(filter.layers() > 2 && (1..250).contains(&found), "{found} absent keys are found");
    compare(
        "python_growing_dleft_counting",
        &filter.to_bytes(),
        0..KEYS,
        |key| u8::from(filter.contains(&key)),
        |key| u8::from(filter.contains(key)),
    );
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_filters_of_placed_fingerprints() {
    let (numbers, strings) = inserted();
    let digester = Portable::with_seed(SEED);
    let digests = numbers.iter().map(|key| digester.digest(key));
    let digests = digests.chain(strings.iter().map(|key| digester.digest(key.as_str())));
    let filter = PlacedFilter::from_digests(digests, 9, digester).unwrap();
    compare(
        "python_placed",
        &filter.to_bytes(),
        0..KEYS,
        |key| u8::from(filter.contains(&key)),
        |key| u8::from(filter.contains(key)),
    );
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_line_filters() {
    let (numbers, strings) = inserted();
    for bits in LineLayout::REMAINDER_BITS {
        // Nearly all slots are in use, so some fingerprints have left their homes.
        let lines = (KEYS * 100 / 97).div_ceil(u64::from(LineLayout::new(bits, 1).unwrap().slots()));
        let layout = LineLayout::new(bits, lines).unwrap();
        let mut filter = LineFilter::with_seed(layout, SEED).unwrap();
        filter.insert_many(&numbers).unwrap();
        filter.insert_many(strings.iter().map(String::as_str)).unwrap();
        (0..5).for_each(|_| numbers[..9].iter().for_each(|key| assert!(filter.insert(key).is_ok())));
        assert!(filter.lines_read() > 1.05);
        compare(
            &format!("python_line_{bits}"),
            &filter.to_bytes(),
            FEWER,
            |key| u8::from(filter.contains(&key)),
            |key| u8::from(filter.contains(key)),
        );
    }
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_finds_the_same_keys_in_growing_line_filters() {
    let (numbers, strings) = inserted();
    let mut filter = GrowingLineFilter::with_seed(GrowingLayout::new(300, 0.01).unwrap(), SEED).unwrap();
    filter.insert_many(&numbers).unwrap();
    filter.insert_many(strings.iter().map(String::as_str)).unwrap();
    (0..KEYS / 4).for_each(|key| filter.remove(&key).unwrap());
    (0..5).for_each(|_| filter.insert_many(&numbers[numbers.len() - 9..]).unwrap());
    assert!(filter.layers() > 1);
    compare(
        "python_growing_line",
        &filter.to_bytes(),
        FEWER,
        |key| u8::from(filter.contains(&key)),
        |key| u8::from(filter.contains(key)),
    );
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_has_the_published_digests_and_the_same_checksums() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/digest_vectors.tsv");
    let portable = std::fs::read_to_string(&vectors).unwrap();
    let portable = portable.lines().filter(|line| line.starts_with("portable")).count();
    assert_eq!(answers(&["vectors", vectors.to_str().unwrap()], ""), [portable.to_string()]);

    // Every short length, and long ones around the ends of stripes (64) and blocks (1024).
    let long = [1023, 1024, 1025, 1088, 1089, 2047, 2048, 2049, 5000, 10_000];
    let inputs: Vec<Vec<u8>> =
        (0..=320).chain(long).map(|n| (0..n).map(|i| (i * i / 3) as u8).collect()).collect();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines: String = inputs.iter().map(|input| hex(input) + "\n").collect();
    let expected: Vec<String> = inputs.iter().map(|input| format!("{:016x}", xxh3_64(input))).collect();
    assert_eq!(answers(&["checksum"], &lines), expected);
}

#[test]
#[ignore = "needs python3: cargo xtask test python"]
fn python_refuses_what_is_damaged() {
    let others = super::dleft_counting::samples().into_iter().chain([super::placed::sample()]);
    for (kind, bytes) in samples().into_iter().chain(others) {
        let name = format!("python_damaged_{}.oneread", kind as u16);
        let whole = file(&name, &bytes);
        assert_eq!(answers(&["query", whole.to_str().unwrap(), "u64"], "0\n").len(), 1, "{kind}");
        // One byte of each field of the header, the first and last of the payload; and the file
        // truncated and extended.
        let flip = |at: usize| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            bytes
        };
        let mut damaged: Vec<Vec<u8>> =
            [0, 8, 10, 12, 14, 16, 32, 40, 48, 56, 64, 127, 128, bytes.len() - 1].map(flip).into();
        damaged.push(bytes[..bytes.len() - 8].to_vec());
        damaged.push([&bytes[..], &[0; 8]].concat());
        // Starting the interpreter takes a while: few runs for each kind but the first.
        let step = if kind as u16 == 1 { 1 } else { 8 };
        for bytes in damaged.iter().step_by(step) {
            let path = file(&name, bytes);
            let output = python(&["query", path.to_str().unwrap(), "u64"], "0\n");
            assert_eq!(output.status.code(), Some(2), "{kind}: {output:?}");
            assert!(output.stdout.is_empty() && !output.stderr.is_empty());
            assert!(!String::from_utf8_lossy(&output.stderr).contains("Traceback"), "{output:?}");
        }
        std::fs::remove_file(whole).unwrap();
    }
    // A digester with a secret.
    let keyed =
        BloomFilter::with_digester(BloomLayout::new(99, 2).unwrap(), Keyed::with_secret([1; 16])).unwrap();
    let path = file("python_keyed.oneread", &keyed.to_bytes());
    let output = python(&["query", path.to_str().unwrap(), "u64"], "0\n");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    std::fs::remove_file(path).unwrap();
}
