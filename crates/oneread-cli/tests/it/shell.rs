//! What these tests share: runs of the command, and what it must say.

use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

pub(crate) fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_oneread"))
}

pub(crate) fn oneread(args: &[&str]) -> Output {
    command().args(args).output().expect("the command starts")
}

/// Runs the command in a folder, with arguments separated by spaces and nothing on stdin.
pub(crate) fn run_in(folder: &Path, args: &str) -> Output {
    let mut command = command();
    command.args(args.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command.output().expect("the command starts")
}

/// The output of a run that must succeed with nothing on stderr.
#[track_caller]
pub(crate) fn succeeded<'a>(output: &'a Output, args: &str) -> &'a str {
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args}");
    text(&output.stdout)
}

/// Asserts that a command whose reader hangs up before it reads anything does not fail.
#[track_caller]
pub(crate) fn survives_a_reader_that_hangs_up(command: &mut Command) {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}
