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
    use std::io::{self, IsTerminal};
    use std::path::Path;
    use std::time::Duration;

    use anyhow::{Context, Result};
    use oneread_dataset::ReadOptions;
    use oneread_server::serve::{Limits, Options, Server, Source, Tls};
    use tracing::level_filters::LevelFilter;

    use crate::args::serve::{Level, Log, Serve};

    /// Serves until the process is asked to end.
    pub(crate) fn run(args: &Serve) -> Result<()> {
        log(args);
        let server = Server::start(options(args)?)?;
        server.wait();
        tracing::info!("stopping");
        server.stop();
        Ok(())
    }

    fn options(args: &Serve) -> Result<Options> {
        let sources = args.sources.iter().map(|source| Source::parse(source)).collect::<Result<_, _>>()?;
        let mut read = ReadOptions::new();
        if let Some(folder) = &args.guides {
            read = read.guides_folder(folder);
        }
        let mut limits = Limits::default();
        limits.request_bytes = args.max_request as usize;
        limits.memory_bytes = args.max_memory as usize;
        limits.keys = args.max_keys as usize;
        limits.requests = args.max_requests as usize;
        limits.connections = args.max_connections as usize;
        limits.request_time = seconds(args.request_time)?;
        limits.idle_time = seconds(args.idle_time)?;
        let mut options = Options::new(sources)
            .http(args.listen)
            .writable(args.writable)
            .without_token(args.without_token)
            .refresh(seconds(args.refresh)?)
            .threads(args.threads.map(|threads| threads as usize))
            .cache_bytes(args.cache_bytes)
            .limits(limits)
            .read(read);
        if let Some(address) = args.resp {
            options = options.resp(address);
        }
        if let Some(file) = &args.token_file {
            options = options.token(token(file).with_context(|| file.display().to_string())?);
        }
        if let (Some(certificates), Some(key)) = (args.tls_cert.clone(), args.tls_key.clone()) {
            options = options.tls(Tls { certificates, key });
        }
        Ok(options)
    }

    fn seconds(seconds: f64) -> Result<Duration> {
        Duration::try_from_secs_f64(seconds).context("a time that long cannot be measured")
    }

    /// The first line of a file, without spaces around it.
    fn token(file: &Path) -> Result<String> {
        let text = std::fs::read_to_string(file).context("cannot read the token")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            if std::fs::metadata(file)?.permissions().mode() & 0o077 != 0 {
                tracing::warn!(file = %file.display(), "other users can read the token: `chmod 600` prevents it");
            }
        }
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    fn log(args: &Serve) {
        let level = match args.log_level {
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
        };
        let lines = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(io::stderr)
            .with_ansi(io::stderr().is_terminal());
        match args.log {
            Log::Text => lines.init(),
            Log::Json => lines.json().flatten_event(true).init(),
        }
    }
}
