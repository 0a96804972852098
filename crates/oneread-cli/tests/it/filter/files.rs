//! The files that filters are written to.

use std::fs;
use std::process::{Command, Stdio};

use super::Shell;
use crate::shell::text;

#[test]
fn a_file_is_replaced_only_by_force() {
    let shell = Shell::new();
    shell.done("build f", b"before\n");
    let before = shell.snapshot();
    for args in ["build f", "merge f f f"] {
        let output = shell.run(args, b"after\n");
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert!(text(&output.stderr).contains("--force"), "{args}");
        assert_eq!(shell.snapshot(), before, "{args}");
    }
    shell.done("merge f f f --force", b"");
    shell.done("build f --force", b"after\n");
    assert_eq!(shell.done("query f", b"before\nafter\n"), b"after\n");
    assert_eq!(shell.snapshot().len(), 1, "no temporary file stays");
}

#[test]
fn a_file_that_comes_while_the_lines_are_read_is_not_replaced() {
    use std::io::Write;
    let shell = Shell::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneread"))
        .args(["filter", "build", "f", "--items", "1000"])
        .current_dir(shell.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // More than a pipe holds, so some of it was read, which happens after the first look at `f`.
    stdin.write_all(&b"key\n".repeat(1 << 20)).expect("it reads");
    shell.write("f", b"another's");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let expected = "error: f: there already is such a file: name another one, or add --force\n";
    assert_eq!(text(&output.stderr), expected);
    assert_eq!(shell.read("f"), b"another's");
}

/// `--force` replaced a live store, whose manifest and log stayed.
#[test]
fn no_filter_takes_the_place_of_a_store() {
    use oneread_store::{Store, StoreOptions};
    let shell = Shell::new();
    shell.done("build f", b"key\n");
    let path = shell.path().join("s");
    let store = Store::create(&path, StoreOptions::new()).expect("a store");
    store.put(b"key", b"value").expect("room");
    let refused = |told: &str| {
        for args in ["build s --force", "merge s f f --force"] {
            let output = shell.run(args, b"key\n");
            assert_eq!(output.status.code(), Some(2), "{args}");
            let message = text(&output.stderr);
            assert!(message.starts_with("error: s: ") && message.contains(told), "{args}: {message}");
        }
    };
    refused("changes it: wait until it is done");
    store.close().expect("a store");
    refused("it is a store: name another file");
    let store = Store::open(&path, StoreOptions::new()).expect("a live store");
    assert_eq!(store.get(b"key").expect("a page").as_deref(), Some(&b"value"[..]));
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    shell.done("build f", b"key\n");
    shell.write("plain", b"");
    let mode = |name: &str| fs::metadata(shell.path().join(name)).expect("a file").permissions().mode();
    assert_eq!(mode("f"), mode("plain"));
}
