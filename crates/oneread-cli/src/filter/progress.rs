//! How far a stream of lines is: on a terminal only, and on stderr.

use anyhow::Result;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// A bar up to the number of lines that is expected, or a counter where none is; gone when it is
/// dropped.
pub(super) fn lines(expected: Option<u64>) -> Result<ProgressBar> {
    let (bar, template) = match expected {
        Some(lines) => (ProgressBar::new(lines), "{bar:40} {human_pos} of {human_len} lines in {elapsed}"),
        None => (ProgressBar::new_spinner(), "{spinner} {human_pos} lines in {elapsed}"),
    };
    Ok(bar.with_style(ProgressStyle::with_template(template)?).with_finish(ProgressFinish::AndClear))
}
