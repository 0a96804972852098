//! `oneread simulate`: tries out designs before they are built.

use anyhow::Result;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use oneread_planner::Simulated;

use crate::output::print;

pub(crate) fn run(question: &Simulated) -> Result<()> {
    let style =
        ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} trials in {elapsed}, {eta} left")?;
    let progress =
        ProgressBar::new(question.trials()).with_style(style).with_finish(ProgressFinish::AndClear);
    let outcome = question.run(|| progress.inc(1))?;
    progress.finish_and_clear();
    print(&outcome.text()?)
}
