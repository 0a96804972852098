//! `oneread studio`: the planner as pages on loopback.

#[cfg(feature = "server")]
pub(crate) use with::run;

/// Says how to get the command.
#[cfg(not(feature = "server"))]
pub(crate) fn run(_: &crate::args::Missing) -> anyhow::Result<()> {
    anyhow::bail!("this build has no studio: `cargo install oneread-cli --features server` has one")
}

#[cfg(feature = "server")]
mod with {
    use std::fs;
    use std::path::Path;

    use anyhow::{Context, Result};
    use oneread_lab::results::Results;
    use oneread_server::studio;
    use tokio::net::TcpListener;
    use tokio::runtime::Builder;
    use tokio::signal::ctrl_c;

    use crate::args::studio::Studio;
    use crate::output::print;

    pub(crate) fn run(args: &Studio) -> Result<()> {
        let results = match &args.results {
            Some(folder) => Some(read(&folder.join("results.json"))?),
            None => Results::published().ok(),
        };
        // Calculations have threads of their own.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind(args.listen).await;
            let listener = listener.with_context(|| {
                format!("cannot listen on {}: name another address with --listen", args.listen)
            })?;
            print(&format!("The studio is at http://{}/; Ctrl-C ends it.", listener.local_addr()?))?;
            let end = async { ctrl_c().await.unwrap_or_else(|_| ()) };
            studio::serve(listener, results, end).await.context("the studio ended")
        })?;
        // Nobody waits for a calculation that is still going on.
        runtime.shutdown_background();
        Ok(())
    }

    fn read(path: &Path) -> Result<Results> {
        let read = || -> Result<Results> { Ok(serde_json::from_slice(&fs::read(path)?)?) };
        read().with_context(|| format!("{}: expected results of `oneread reproduce --out`", path.display()))
    }
}
