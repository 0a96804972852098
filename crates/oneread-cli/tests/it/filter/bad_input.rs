//! What is refused, and leaves nothing behind.

use std::fs;

use oneread::filter::{BloomFilter, CountMinSketch};
use oneread::hash::Keyed;
use oneread::layout::{BloomLayout, CountMinLayout};

use super::{Shell, limited, numbered};
use crate::shell::text;

#[test]
fn a_full_filter_is_an_error_that_says_how_many_keys_are_in() {
    let shell = Shell::new();
    let keys = numbered("key", 10_000);
    for kind in limited() {
        let output = shell.run(&format!("build f --kind {kind} --items 1000"), &keys);
        let message = text(&output.stderr);
        assert_eq!(
            (output.status.code(), message.lines().take_while(|line| !line.is_empty()).count()),
            (Some(2), 1),
            "{kind}: {message}"
        );
        let (_, count) = message.split_once("f: cannot be built: it is full: with ").expect(message);
        let (count, advice) = count.split_once(" keys").expect(message);
        // More than it was made for, and fewer than came.
        let count: u64 = count.replace(',', "").parse().expect(message);
        assert!((1001..10_000).contains(&count), "{kind}: {message}");
        assert!(advice.contains("--items"), "{kind}: {message}");
        assert!(shell.snapshot().is_empty(), "{kind}");
        // The same lines fit once they are counted.
        shell.done(&format!("build f --kind {kind}"), &keys);
        fs::remove_file(shell.path().join("f")).unwrap();
        // A repeated line takes the room of one, or of few.
        shell.done(&format!("build f --kind {kind} --items 10"), &b"the same\n".repeat(1000));
        fs::remove_file(shell.path().join("f")).unwrap();
    }
}

#[test]
fn what_is_wrong_is_one_sentence_exit_code_2_and_leaves_nothing_behind() {
    let shell = Shell::new();
    shell.done("build f --items 1000", b"key\n");
    shell.done("build larger --items 2000", b"key\n");
    shell.done("build seeded --items 1000 --seed 1", b"key\n");
    shell.done("build blocked --items 1000 --kind blocked", b"key\n");
    shell.done("build grown --kind growing", b"key\n");
    shell.done("build dleft --items 1000 --kind dleft", b"key\n");
    shell.done("build more --items 2000 --kind dleft", b"key\n");
    shell.done("build removable --items 1000 --kind dleft-counting", b"key\n");
    shell.done("build paged --items 100000 --kind dleft", b"key\n");
    let mut page = shell.read("paged");
    page[8000] ^= 1;
    shell.write("page", &page);
    let whole = shell.read("f");
    let changed = |at: usize| [&whole[..at], &[whole[at] ^ 1], &whole[at + 1..]].concat();
    shell.write("text", b"some text that is no filter\n");
    shell.write("empty", b"");
    shell.write("cut", &whole[..whole.len() - 8]);
    shell.write("longer", &[&whole[..], b"12345678"].concat());
    shell.write("header", &changed(70));
    shell.write("payload", &changed(500));
    shell.write(
        "sketch",
        &CountMinSketch::with_seed(CountMinLayout::new(10, 2).unwrap(), 0).unwrap().to_bytes(),
    );
    let keyed = BloomFilter::with_digester(BloomLayout::new(100, 3).unwrap(), Keyed::with_secret([7; 16]));
    shell.write("keyed", &keyed.unwrap().to_bytes());
    fs::create_dir(shell.path().join("folder")).unwrap();
    let before = shell.snapshot();

    for (args, expected) in [
        ("build new", "no lines on stdin"),
        ("build new --kind blocked", "no lines on stdin"),
        ("build new --kind counting", "no lines on stdin"),
        ("build new --rate 0", "--rate"),
        ("build new --rate 1", "--rate"),
        ("build new --rate NaN", "--rate"),
        ("build new --rate=-0.5", "--rate"),
        ("build new --rate 1e-300", "--rate"),
        ("build new --rate much", "much"),
        ("build new --bits-per-key 0", "--bits-per-key"),
        ("build new --bits-per-key inf", "--bits-per-key"),
        ("build new --rate 0.1 --bits-per-key 8", "cannot be used with"),
        ("build new --items 0", "--items"),
        ("build new --items 1000000000000000000", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind blocked", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind counting", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind growing", "new: cannot be built"),
        ("build new --items 1000000 --bits-per-key 1e300", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind dleft", "new: cannot be built"),
        ("build new --items 1000000000000000000 --kind dleft-counting", "new: cannot be built"),
        ("build new --kind dleft --bits-per-key 10", "new: cannot be built"),
        ("build new --kind dleft-counting --bits-per-key 10", "new: cannot be built"),
        ("build new --kind dleft", "no lines on stdin"),
        ("build new --kind dleft --hashes 4", "--hashes does not go with --kind dleft"),
        (
            "build new --kind dleft-counting --counter-bits 4",
            "--counter-bits does not go with --kind dleft-counting",
        ),
        ("build new --kind cuckoo", "cuckoo"),
        ("build new --hashes 0", "--hashes"),
        ("build new --hashes 65", "--hashes"),
        ("build new --scheme random", "accelerated"),
        ("build new --counter-bits 4", "--counter-bits does not go with --kind bloom"),
        ("build new --kind counting --counter-bits 9", "--counter-bits"),
        ("build new --kind blocked --hashes 4", "--hashes does not go with --kind blocked"),
        ("build new --kind blocked --scheme double", "--scheme does not go with --kind blocked"),
        ("build new --kind growing --bits-per-key 8", "--bits-per-key does not go with --kind growing"),
        ("build nowhere/new", "nowhere/new: "),
        ("build folder", "folder: it is a directory"),
        ("build", "<FILE>"),
        ("query missing", "missing: cannot open it"),
        ("query folder", "folder: it is a directory"),
        ("query text", "text: not a file of oneread"),
        ("query empty", "empty: not a file of oneread"),
        ("query cut", "cut: expected"),
        ("query longer", "longer: expected"),
        ("query header", "header: the header is damaged"),
        ("query payload", "payload: the payload is damaged"),
        ("query page", "page: the payload is damaged"),
        ("query sketch", "sketch: it holds a Count-Min sketch"),
        ("query keyed", "keyed: it was made by a program"),
        ("info missing", "missing: cannot open it"),
        ("info text", "text: not a file of oneread"),
        ("info payload", "payload: the payload is damaged"),
        ("info header --no-verify", "header: the header is damaged"),
        ("info sketch", "sketch: it holds a Count-Min sketch"),
        ("merge new f", "<FILE>"),
        ("merge new f missing", "missing: cannot open it"),
        ("merge new f payload", "payload: the payload is damaged"),
        ("merge new f text", "text: not a file of oneread"),
        ("merge new f larger", "and larger is bloom of"),
        ("merge new f seeded", "and seeded is bloom of"),
        ("merge new f blocked", "and blocked is blocked of"),
        ("merge new dleft more", "and more is dleft of"),
        ("merge new dleft f", "dleft is dleft of"),
        ("merge new removable removable", "such filters cannot be merged: build one of all lines"),
        ("merge new paged page", "page: the payload is damaged"),
        ("merge new grown f", "grown is growing from"),
        ("merge new f keyed", "keyed: it was made by a program"),
        ("merge nowhere/new f f", "nowhere/new: "),
        ("mix", "mix"),
    ] {
        let output = shell.run(args, b"");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {message}");
        assert!(output.stdout.is_empty(), "{args}");
        assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1, "{args}: {message}");
        assert!(message.starts_with("error: ") && message.contains(expected), "{args}: {message}");
        assert_eq!(shell.snapshot(), before, "{args}");
    }
}

#[test]
fn damage_is_overlooked_only_when_asked_to() {
    let shell = Shell::new();
    shell.done("build f", b"key\n");
    let mut bytes = shell.read("f");
    bytes[128] ^= 1;
    shell.write("f", &bytes);
    assert_eq!(shell.json("info f --no-verify", b"")["verified"], false);
    assert_eq!(shell.run("query f --no-verify", b"").status.code(), Some(1));
}
