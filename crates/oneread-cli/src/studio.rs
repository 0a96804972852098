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
    use std::io;
    use std::path::Path;

    use anyhow::{Context, Result};
    use oneread_lab::results::Results;
    use oneread_server::studio;

    use crate::args::studio::Studio;
    use crate::output::print;

    pub(crate) fn run(args: &Studio) -> Result<()> {
        let results = match &args.results {
            Some(folder) => Some(read(&folder.join("results.json"))?),
            None => Results::published().ok(),
        };
        let listening = |address| {
            print(&format!("The studio is at http://{address}/; Ctrl-C ends it.")).map_err(io::Error::other)
        };
        studio::run(args.listen, results, listening)
            .with_context(|| format!("cannot listen on {}: name another address with --listen", args.listen))
    }

    fn read(path: &Path) -> Result<Results> {
        let read = || -> Result<Results> { Ok(serde_json::from_slice(&fs::read(path)?)?) };
        read().with_context(|| format!("{}: expected results of `oneread reproduce --out`", path.display()))
    }
}
