//! `oneread filter add` and `remove`, against exact sets; two at once lose nothing.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use super::{Shell, all_kinds, limited, numbered};
use crate::shell::text;

/// The kinds that can remove lines.
const REMOVING: [&str; 3] = ["counting", "dleft-counting", "line"];

#[test]
fn added_lines_are_found_beside_the_old_ones() {
    for kind in all_kinds() {
        let shell = Shell::new();
        shell.done(&format!("build f --kind {kind} --items 4000"), &numbered("old", 1000));
        let report = shell.json("add f", &numbered("new", 2000));
        assert_eq!((&report["kind"], &report["lines"]), (&kind.into(), &2000.into()), "{kind}");
        assert!(report.get("absent").is_none(), "{kind}: {report}");
        for (name, count) in [("old", 1000), ("new", 2000)] {
            let keys = numbered(name, count);
            assert_eq!(shell.done("query f", &keys), keys, "{kind} forgets {name} lines");
        }
        // The same lines in another order are the same filter, unless its kind packs by order.
        shell.done("add f", b"");
        assert_eq!(shell.snapshot().len(), 1, "{kind} leaves files");
    }
}

#[test]
fn removed_lines_are_gone_and_the_others_stay() {
    for kind in REMOVING {
        let shell = Shell::new();
        let (stay, go) = (numbered("stay", 3000), numbered("go", 2000));
        shell.done(
            &format!("build f --kind {kind} --items 5000 --rate 0.001"),
            &[stay.clone(), go.clone()].concat(),
        );
        let report = shell.json("remove f", &go);
        assert_eq!((&report["lines"], &report["absent"]), (&2000.into(), &0.into()), "{kind}");
        assert_eq!(shell.done("query f", &stay), stay, "{kind} forgets lines");
        // Two of 2000 are expected at the rate that was asked for; 20 or more are seen once in
        // 10^13 (a Poisson tail), and the seed is fixed.
        let left = text(&shell.run("query f", &go).stdout).lines().count();
        assert!(left < 20, "{kind} keeps {left} removed lines");
        // A second time nearly none is there.
        let absent = shell.json("remove f", &go)["absent"].as_u64().unwrap();
        assert!(absent > 1980, "{kind}: {absent}");
        let table = shell.done("remove f", b"nobody\n");
        assert!(text(&table).contains("of them absent"), "{kind}: {}", text(&table));
    }
}

#[test]
fn a_filter_that_cannot_change_as_asked_stays_as_it_was() {
    let shell = Shell::new();
    for kind in all_kinds() {
        shell.done(&format!("build {kind} --kind {kind} --items 100"), &numbered("key", 100));
    }
    shell.write("text", b"not a filter");
    let before = shell.snapshot();
    let mut refused: Vec<(String, Vec<u8>, &str)> = all_kinds()
        .filter(|kind| !REMOVING.contains(kind))
        .map(|kind| (format!("remove {kind}"), numbered("key", 1), "cannot remove lines: build it with"))
        .collect();
    refused
        .extend(limited().map(|kind| (format!("add {kind}"), numbered("more", 50_000), "it is full: with ")));
    refused.extend([
        ("add text".to_owned(), vec![], "make a filter with `oneread filter build`"),
        ("add missing".to_owned(), vec![], "missing: it stays as it was: cannot open it"),
        ("remove .".to_owned(), vec![], "it is a directory"),
    ]);
    for (args, input, expected) in refused {
        let output = shell.run(&args, &input);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {message}");
        assert!(message.contains(expected) && message.lines().count() == 1, "{args}: {message}");
    }
    assert_eq!(shell.snapshot(), before);
}

/// A command that has locked its filter, and waits for more lines.
fn waiting(shell: &Shell, args: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneread"))
        .arg("filter")
        .args(args.split_whitespace())
        .current_dir(shell.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    // The pipe holds far fewer lines than these: once they are written, the command reads them.
    let lines = numbered("slow", 100_000);
    child.stdin.as_mut().expect("a pipe").write_all(&lines).expect("the command reads");
    child
}

#[test]
fn what_one_command_adds_no_other_command_loses() {
    let shell = Shell::new();
    shell.done("build f --kind growing", &numbered("old", 10));
    shell.done("build other --kind growing", &numbered("old", 10));
    let mut slow = waiting(&shell, "add f");
    let meanwhile = ["add f", "remove f", "build f --force", "merge f other other --force"];
    for args in meanwhile {
        let output = shell.run(args, b"quick\n");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {message}");
        assert!(message.contains("wait until it is done"), "{args}: {message}");
    }
    // Readers are not in the way.
    assert_eq!(shell.done("query f", b"old 1\n"), b"old 1\n");
    drop(slow.stdin.take());
    assert!(slow.wait().expect("an end").success());
    let slow = numbered("slow", 100_000);
    assert_eq!(shell.done("query f", &slow), slow);
    shell.done("add f", b"quick\n");
    assert_eq!(shell.done("query f", b"quick\n"), b"quick\n");
    assert_eq!(shell.snapshot().len(), 2, "no lock file stays");
}

#[test]
fn a_killed_command_leaves_the_filter_as_it_was() {
    let shell = Shell::new();
    shell.done("build f --kind growing", &numbered("old", 10));
    let before = shell.read("f");
    let mut slow = waiting(&shell, "add f");
    slow.kill().expect("a process of ours");
    slow.wait().expect("an end");
    assert_eq!(shell.read("f"), before);
    // The lock went with its process.
    shell.done("add f", b"new\n");
    assert_eq!(shell.done("query f", b"new\n"), b"new\n");
}

/// A killed command used to leave a file of another name each time.
#[test]
fn the_next_command_removes_what_a_killed_one_left() {
    let shell = Shell::new();
    shell.done("build f", b"old\n");
    for command in ["add f", "build f --force"] {
        shell.write("f.unfinished", b"a part");
        shell.done(command, b"new\n");
        let names: Vec<_> = shell.snapshot().into_iter().map(|(name, _)| name).collect();
        assert!(!names.contains(&"f.unfinished".to_owned()), "{command}: {names:?}");
        assert_eq!(shell.done("query f", b"new\n"), b"new\n");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let shell = Shell::new();
    shell.done("build f", b"old\n");
    std::os::unix::fs::symlink("f", shell.path().join("link")).expect("a link");
    shell.done("add link", b"new\n");
    assert!(fs::symlink_metadata(shell.path().join("link")).expect("a link").is_symlink());
    assert_eq!(shell.done("query f", b"old\nnew\n"), b"old\nnew\n");
}

#[cfg(unix)]
#[test]
fn a_changed_filter_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    shell.done("build f", b"old\n");
    let path = shell.path().join("f");
    for mode in [0o600, 0o664] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a file of ours");
        shell.done("add f", b"new\n");
        let permissions = fs::metadata(&path).expect("a file").permissions();
        assert_eq!(permissions.mode() & 0o777, mode);
    }
}
