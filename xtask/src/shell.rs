//! Runs other programs and reports clearly what is missing.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// `cargo` with arguments, from the user's toolchain.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

/// `cargo` of the nightly toolchain: the only one with Miri and the sanitizers.
pub(crate) fn nightly_cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = nightly("cargo");
    command.args(args);
    command
}

/// A program that calls `cargo`, with the nightly toolchain.
pub(crate) fn nightly(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    // `CARGO`, set by the cargo that runs this program, would take precedence.
    command.env("RUSTUP_TOOLCHAIN", "nightly").env_remove("CARGO");
    command
}

/// Any other program.
pub(crate) fn with_args(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

thread_local! {
    /// Takes what this thread's steps print, instead of the terminal.
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Sends what the steps of this thread print to a file.
pub(crate) fn print_to(log: File) {
    LOG.set(Some(log));
}

/// Prints a line.
pub(crate) fn say(line: &str) {
    LOG.with_borrow_mut(|log| match log {
        // A log that cannot be written loses lines, and not the outcome of a step.
        Some(log) => _ = writeln!(log, "{line}"),
        None => eprintln!("{line}"),
    });
}

/// Prints and runs a step; fails if the command fails.
pub(crate) fn step(name: &str, command: &mut Command) -> Result<()> {
    say(&format!("── {name}: {}", shown(command)));
    LOG.with_borrow(|log| {
        if let Some(log) = log {
            command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        }
        anyhow::Ok(())
    })?;
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{name} failed: {}", shown(command));
    }
    Ok(())
}

/// Whether a command succeeds; its output is discarded.
pub(crate) fn works(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A command as typed in a shell.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
