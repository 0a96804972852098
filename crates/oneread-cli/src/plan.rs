//! `oneread plan`: computes the odds of a layout before anything is built.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use oneread_planner::Question;

use crate::output::print;
use crate::replace::write_text;

pub(crate) fn run(question: Question) -> Result<()> {
    let rows = ProgressStyle::with_template("{bar:40} {pos} of {len} plans in {elapsed}")?;
    let answer = patiently(|bar| {
        question.answer(&mut |done, of| {
            if bar.length() != Some(of as u64) {
                bar.set_length(of as u64);
                bar.set_style(rows.clone());
            }
            bar.set_position(done as u64);
        })
    })?;
    for (path, text) in &answer.files {
        write_text(path, text)?;
    }
    print(&answer.text()?)
}

/// Calculates. If that takes longer than a second, says so on a terminal, on stderr.
fn patiently<T>(calculate: impl FnOnce(&ProgressBar) -> Result<T>) -> Result<T> {
    const PATIENCE: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(100);
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} calculating: {elapsed}")?);
    let (calculating, end) = channel::<()>();
    thread::scope(|scope| {
        let ticking = &bar;
        scope.spawn(move || {
            if end.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                ticking.tick();
            }
        });
        let calculated = calculate(&bar);
        drop(calculating);
        bar.finish_and_clear();
        calculated
    })
}
