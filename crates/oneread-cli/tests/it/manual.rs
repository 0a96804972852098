//! `oneread completions` and `oneread man`: what a shell and `man` make of them.

use std::fs;
use std::process::Command;

use super::shell::{oneread, succeeded};

fn printed(args: &[&str]) -> String {
    succeeded(&oneread(args), &args.join(" ")).to_owned()
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for word in ["oneread", "store", "compact", "skip-bad", "filter", "invert"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let output = oneread(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Real completion, where there is a bash.
#[test]
fn bash_offers_what_can_follow() {
    let script = printed(&["completions", "bash"]);
    let offered = |words: &str, at: usize| {
        let program = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _oneread oneread \
             \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["--norc", "-c", &program]).output().ok()?;
        Some(String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned())
    };
    let Some(first) = offered("oneread sto", 1) else { return };
    assert_eq!(first, "store");
    assert_eq!(offered("oneread store ba", 2).unwrap(), "backup");
    assert_eq!(offered("oneread filter query --inv", 3).unwrap(), "--invert");
    assert!(offered("oneread filter build --kind d", 4).is_some_and(|words| words == "dleft dleft-counting"));
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("man1");
    printed(&["man", "--out", out.to_str().expect("UTF-8")]);
    // What help lists has a page, two levels deep.
    let mut pages = vec!["oneread".to_owned()];
    let mut at = 0;
    while at < pages.len() {
        let page = pages[at].clone();
        let mut args: Vec<_> = page.split('-').skip(1).collect();
        args.push("--help");
        let help = printed(&args);
        if let Some((_, commands)) = help.split_once("\nCommands:\n") {
            let names = commands.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
                let name = line.strip_prefix("  ")?;
                name.starts_with(|first: char| first.is_ascii_lowercase())
                    .then(|| name.split_whitespace().next().expect("a name"))
            });
            pages.extend(names.filter(|&name| name != "help").map(|name| format!("{page}-{name}")));
        }
        let file = out.join(format!("{page}.1"));
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{page}.1: {error}"));
        assert!(text.contains(".TH") && text.contains(".SH SYNOPSIS"), "{page}");
        let source = concat!("\"oneread ", env!("CARGO_PKG_VERSION"), "\"");
        assert!(text.contains(source), "{page}: {}", text.lines().take(5).collect::<String>());
        at += 1;
    }
    assert!(pages.len() > 30, "{pages:?}");
    assert!(printed(&["man"]).contains(".SH SUBCOMMANDS"));
    let file = folder.path().join("file");
    fs::write(&file, b"").expect("a file");
    let output = oneread(&["man", "--out", file.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
}

/// Colours are for terminals: `script` makes one, where it is installed.
#[test]
fn errors_are_coloured_on_a_terminal_and_plain_elsewhere() {
    let plain = oneread(&["store", "get", "no-such.store", "key"]);
    let message = String::from_utf8(plain.stderr).expect("UTF-8");
    assert!(message.starts_with("error: ") && !message.contains('\u{1b}'), "{message:?}");
    let wrong = oneread(&["stroe"]);
    let message = String::from_utf8(wrong.stderr).expect("UTF-8");
    assert!(message.contains("similar subcommand") && !message.contains('\u{1b}'), "{message:?}");

    let command = format!("{} store get no-such.store key", env!("CARGO_BIN_EXE_oneread"));
    let terminal = Command::new("script").args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").output();
    if let Ok(terminal) = terminal {
        let shown = String::from_utf8_lossy(&terminal.stdout).into_owned();
        assert!(shown.contains("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m"), "{shown:?}");
    }
}
