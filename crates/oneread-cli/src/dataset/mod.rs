//! `oneread dataset`: sharded, versioned stores at a URL, one request per hit.

#[cfg(feature = "dataset")]
mod bench;
#[cfg(feature = "dataset")]
mod build;
#[cfg(feature = "dataset")]
mod get;
#[cfg(feature = "dataset")]
mod rows;
#[cfg(feature = "parquet")]
mod tables;
#[cfg(feature = "dataset")]
mod versions;

#[cfg(feature = "dataset")]
pub(crate) use with::run;

/// Says how to get the command.
#[cfg(not(feature = "dataset"))]
pub(crate) fn run(_: &crate::args::Missing) -> anyhow::Result<crate::Outcome> {
    anyhow::bail!(
        "this build has no datasets: `cargo install oneread-cli --features dataset` has them in folders, \
         `--features cloud` also in S3, Google Cloud, Azure and behind HTTP"
    )
}

#[cfg(feature = "dataset")]
mod with {
    use std::time::Duration;

    use anyhow::Result;
    use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
    use oneread_dataset::blocking::Waiting;
    use oneread_dataset::{Dataset, Snapshot};

    use super::{bench, build, get, versions};
    use crate::Outcome;
    use crate::args::dataset as args;

    /// The time between two movements of a spinner.
    const TICK: Duration = Duration::from_millis(200);

    pub(crate) fn run(command: &args::Dataset) -> Result<Outcome> {
        let done = |()| Outcome::Done;
        match command {
            args::Dataset::Build(args) => build::run(args).map(done),
            args::Dataset::Publish(args) => versions::publish(args).map(done),
            args::Dataset::Versions(args) => versions::list(args).map(done),
            args::Dataset::Rollback(args) => versions::rollback(args).map(done),
            args::Dataset::Pin(args) => versions::pin(args).map(done),
            args::Dataset::Unpin(args) => versions::unpin(args).map(done),
            args::Dataset::Gc(args) => versions::gc(args).map(done),
            args::Dataset::Get(args) => get::run(args),
            args::Dataset::Bench(args) => bench::run(args).map(done),
            args::Dataset::Verify(args) => versions::verify(args),
        }
    }

    /// Opens the dataset at a URL, and what waits for its requests.
    pub(super) fn at(url: &str) -> Result<(Dataset, Waiting)> {
        Ok((Dataset::at(url)?, Waiting::new()?))
    }

    /// Shows on a terminal, on stderr, what takes a while.
    pub(super) fn spinner(what: &'static str) -> Result<ProgressBar> {
        let spinner = ProgressBar::new_spinner().with_finish(ProgressFinish::AndClear);
        spinner.set_style(ProgressStyle::with_template("{spinner} {msg}, {elapsed}")?);
        spinner.set_message(what);
        spinner.enable_steady_tick(TICK);
        Ok(spinner)
    }

    /// Opens a version, by default the current one.
    pub(super) async fn open(
        dataset: &Dataset,
        version: Option<&str>,
        options: &oneread_dataset::ReadOptions,
    ) -> Result<std::sync::Arc<Snapshot>> {
        Ok(match version {
            Some(version) => dataset.open_version(version, options).await?.into(),
            None => dataset.open(options).await?.snapshot(),
        })
    }
}
#[cfg(feature = "dataset")]
use with::{at, open, spinner};
