//! `oneread plan` from a user's view: the papers' numbers, the forms of its output, and all kinds
//! of bad input.
//!
//! Expected numbers come from an independent program in extended precision, and are exact to the
//! given digits.

mod bad_input;
mod layouts;
mod output;
mod papers;
mod plots;

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::shell::{run_in, succeeded, text};

/// The table of Kirsch and Mitzenmacher for ten thousand items, and the one for a hundred thousand.
const TEN_THOUSAND: &str = "--items 10000 --levels 40000,10000,5000,2500,2500";
const HUNDRED_THOUSAND: &str = "--items 100000 --levels 400000,100000,50000,25000,12500,12500";

/// A separate directory for each test, in which the command runs.
struct Shell(TempDir);

impl Shell {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The output of a run that must succeed with nothing on stderr.
    fn done(&self, args: &str) -> String {
        succeeded(&run(self.0.path(), args), args).to_owned()
    }

    fn json(&self, args: &str) -> Value {
        serde_json::from_str(&self.done(&format!("{args} --json"))).expect("JSON")
    }
}

/// Runs `oneread plan` with arguments, separated by spaces.
fn run(directory: &Path, args: &str) -> Output {
    run_in(directory, &format!("plan {args}"))
}

fn json(args: &str) -> Value {
    Shell::new().json(args)
}

/// Checks that a field has the expected digits: `printed` has `digits` of them.
#[track_caller]
fn assert_digits(document: &Value, field: &str, expected: f64, digits: i32) {
    let found = document[field].as_f64().unwrap_or_else(|| panic!("{field} is no number in {document}"));
    let error = (found / expected - 1.0).abs();
    assert!(error < 0.51 * 10f64.powi(1 - digits), "{field}: found {found:e}, expected {expected:e}");
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// Runs a command that must fail quickly with one sentence.
#[track_caller]
fn refused(shell: &Shell, args: &str, expected: &str) {
    let start = Instant::now();
    let output = run(shell.0.path(), args);
    let elapsed = start.elapsed();
    assert_eq!(output.status.code(), Some(2), "{args}");
    assert!(output.stdout.is_empty(), "{args}");
    let message = text(&output.stderr);
    assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1, "{args}: {message}");
    assert!(message.contains(expected), "{args}: {message}");
    // It takes milliseconds, or more on a busy machine; a search would take minutes.
    assert!(elapsed < Duration::from_secs(60), "{args} took {elapsed:?}");
}
