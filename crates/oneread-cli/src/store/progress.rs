//! Progress bars: on a terminal only, on stderr.

use anyhow::Result;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// Progress by the bytes of files, or a counter if their length is not known.
pub(super) fn bytes(expected: Option<u64>) -> Result<ProgressBar> {
    let (bar, template) = match expected {
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{bar:20} {bytes}/{total_bytes}, {binary_bytes_per_sec}, {eta} left, {msg} rows",
        ),
        None => {
            (ProgressBar::new_spinner(), "{spinner} {bytes}, {binary_bytes_per_sec}, {msg} rows in {elapsed}")
        }
    };
    styled(bar.with_message("0"), template)
}

/// Progress of placing and writing records.
pub(super) fn records(expected: u64) -> Result<ProgressBar> {
    let template = "{bar:20} {human_pos}/{human_len} records written, {per_sec}, {eta} left";
    styled(ProgressBar::new(expected), template)
}

/// Progress of reading records.
pub(super) fn read(expected: u64) -> Result<ProgressBar> {
    let template = "{bar:20} {human_pos}/{human_len} records read, {per_sec}, {eta} left";
    styled(ProgressBar::new(expected), template)
}

/// Progress of checking pages.
pub(super) fn pages() -> Result<ProgressBar> {
    let template = "{bar:20} {human_pos}/{human_len} pages checked, {per_sec}, {eta} left";
    styled(ProgressBar::new(0), template)
}

/// Styles a bar; dropping it clears it.
fn styled(bar: ProgressBar, template: &str) -> Result<ProgressBar> {
    Ok(bar.with_style(ProgressStyle::with_template(template)?).with_finish(ProgressFinish::AndClear))
}
