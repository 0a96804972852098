//! `oneread serve`: stores and datasets over HTTP and the Redis protocol.

#[cfg(feature = "server")]
pub(crate) use with::run;

/// Says how to get the command.
#[cfg(not(feature = "server"))]
pub(crate) fn run(_: &crate::args::Missing) -> anyhow::Result<()> {
    anyhow::bail!(
        "this build has no server: `cargo install oneread-cli --features server` has one, and with `--features \
         server,cloud` it also serves datasets in S3, Google Cloud, Azure and behind HTTP"
    )
}

#[cfg(feature = "server")]
mod with {
    use anyhow::Result;

    use crate::args::serve::Serve;

    pub(crate) fn run(_: &Serve) -> Result<()> {
        anyhow::bail!("nothing to serve")
    }
}
