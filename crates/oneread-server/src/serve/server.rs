//! Starts a server, and stops it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::time::MissedTickBehavior;

use super::error::Error;
use super::listen::{Speaks, accept, bind};
use super::options::Options;
use super::shared::Shared;
use super::source::{Catalog, Slot};
use super::{http, tls};

/// Threads for lookups that wait for disks.
const WAITING_THREADS: usize = 64;

/// The least time to close the sources.
const CLOSE: Duration = Duration::from_secs(1);

/// A server that runs, on threads of its own.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    http: Option<SocketAddr>,
    resp: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    /// One permit for each connection that may be open.
    open: Arc<Semaphore>,
    connections: u32,
    grace: Duration,
}

impl Server {
    /// Opens the sources, and listens.
    ///
    /// # Errors
    /// If the options are not safe, a source cannot be opened, or an address is taken.
    pub fn start(options: Options) -> Result<Self, Error> {
        options.check()?;
        let mut runtime = Builder::new_multi_thread();
        if let Some(threads) = options.threads {
            runtime.worker_threads(threads.max(1));
        }
        let runtime = runtime
            .enable_all()
            .max_blocking_threads(WAITING_THREADS)
            .thread_name("oneread-serve")
            .build()
            .map_err(|error| Error::option("threads", format_args!("a system that starts them ({error})")))?;
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let connections = allow_files(options.limits.connections);
        let open = Arc::new(Semaphore::new(connections));
        let (stop, stopping) = watch::channel(false);
        let started = runtime.block_on(async {
            let catalog = Catalog::open(&options).await?;
            let shared = Arc::new(Shared::new(catalog, &options, stopping));
            let mut addresses = [None, None];
            let both =
                [(options.http, Speaks::Http(http::router(shared.clone()))), (options.resp, Speaks::Resp)];
            for ((address, speaks), bound) in both.into_iter().zip(&mut addresses) {
                let Some(address) = address else { continue };
                let listener = bind(address).await?;
                let local = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
                *bound = Some(local);
                tokio::spawn(accept(listener, speaks, tls.clone(), shared.clone(), open.clone()));
            }
            for slot in shared.catalog.slots() {
                tokio::spawn(refresh(slot.clone(), options.refresh));
            }
            Ok(addresses)
        });
        let [http, resp] = started?;
        if options.tls.is_none() && http.iter().chain(&resp).any(|address| !address.ip().is_loopback()) {
            tracing::warn!(
                "values and tokens cross the network as they are: --tls-cert and --tls-key encrypt them"
            );
        }
        tracing::info!(http = shown(http), resp = shown(resp), "listening");
        Ok(Self {
            runtime,
            http,
            resp,
            stop,
            open,
            connections: connections as u32,
            grace: options.limits.grace,
        })
    }

    /// The address for HTTP.
    #[must_use]
    pub fn http(&self) -> Option<SocketAddr> {
        self.http
    }

    /// The address for RESP.
    #[must_use]
    pub fn resp(&self) -> Option<SocketAddr> {
        self.resp
    }

    /// Waits until the process is asked to end, by Ctrl-C or a signal.
    pub fn wait(&self) {
        self.runtime.block_on(asked_to_end());
    }

    /// Takes no more connections, lets open requests finish for the time of the limits, and closes
    /// the sources.
    pub fn stop(self) {
        let start = Instant::now();
        // Listeners and connections look at it.
        self.stop.send_replace(true);
        let all = self.open.acquire_many(self.connections);
        let is_done = self.runtime.block_on(async { tokio::time::timeout(self.grace, all).await.is_ok() });
        if !is_done {
            tracing::warn!("some requests were not answered in time");
        }
        // Live stores close when their last user is gone.
        self.runtime.shutdown_timeout(self.grace.saturating_sub(start.elapsed()).max(CLOSE));
    }
}

fn shown(address: Option<SocketAddr>) -> Option<String> {
    address.map(|address| address.to_string())
}

/// Looks for a newer version of a source, again and again.
async fn refresh(slot: Arc<Slot>, interval: Duration) {
    let mut ticks = tokio::time::interval(interval.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        slot.refresh().await;
    }
}

async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    _ = tokio::signal::ctrl_c().await;
}

/// Raises the limit of open files as far as the system lets us; returns how many connections it
/// leaves room for.
fn allow_files(connections: usize) -> usize {
    /// For stores, logs, listeners and the runtime.
    const OTHERS: usize = 64;
    let connections = connections.clamp(1, 1 << 20);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = (connections + OTHERS) as u64;
        let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        let mut allowed = limit.current.unwrap_or(u64::MAX);
        if allowed < raised
            && setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }).is_ok()
        {
            allowed = raised;
        }
        let room = usize::try_from(allowed).unwrap_or(usize::MAX).saturating_sub(OTHERS).max(1);
        if room < connections {
            tracing::warn!(room, connections, "the system allows fewer open files than connections");
        }
        connections.min(room)
    }
    #[cfg(not(target_os = "linux"))]
    connections
}
