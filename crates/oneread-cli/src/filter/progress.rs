//! The progress of a stream of lines: on a terminal only, on stderr.

use anyhow::Result;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// A bar up to the `expected` number of lines, or a counter without one. Dropping it clears it.
pub(super) fn lines(expected: Option<u64>) -> Result<ProgressBar> {
    let (bar, template) = match expected {
        Some(lines) => (ProgressBar::new(lines), "{bar:40} {human_pos} of {human_len} lines in {elapsed}"),
        None => (ProgressBar::new_spinner(), "{spinner} {human_pos} lines in {elapsed}"),
    };
    Ok(bar.with_style(ProgressStyle::with_template(template)?).with_finish(ProgressFinish::AndClear))
}
