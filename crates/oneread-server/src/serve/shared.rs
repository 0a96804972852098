//! What all connections share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::metrics::Metrics;
use super::options::{Limits, Options};
use super::source::Catalog;

/// Requests up to this size take no part of the common memory.
pub(super) const SMALL_BYTES: usize = 64 << 10;

/// The unit in which memory is lent.
const UNIT: usize = 4 << 10;

/// What all connections share.
pub(super) struct Shared {
    pub(super) catalog: Catalog,
    pub(super) limits: Limits,
    pub(super) metrics: Metrics,
    pub(super) since: Instant,
    token: Option<String>,
    memory: Arc<Semaphore>,
    /// HTTP requests that are answered now.
    pub(super) requests: Arc<Semaphore>,
    /// Becomes true when the server stops.
    pub(super) stopping: watch::Receiver<bool>,
    /// Whether only programs of this machine reach the server, and need no token.
    pub(super) is_local_and_open: bool,
    clients: AtomicU64,
}

impl Shared {
    pub(super) fn new(catalog: Catalog, options: &Options, stopping: watch::Receiver<bool>) -> Self {
        let limits = options.limits;
        let is_local = options.http.iter().chain(&options.resp).all(|address| address.ip().is_loopback());
        Self {
            catalog,
            limits,
            metrics: Metrics::new(),
            since: Instant::now(),
            token: options.token.clone(),
            memory: Arc::new(Semaphore::new(limits.memory_bytes.max(limits.request_bytes).div_ceil(UNIT))),
            requests: Arc::new(Semaphore::new(limits.requests.max(1))),
            stopping,
            is_local_and_open: is_local && options.token.is_none(),
            clients: AtomicU64::new(0),
        }
    }

    /// Waits until the server stops.
    pub(super) async fn stopped(&self) {
        // An error means that the server is gone.
        _ = self.stopping.clone().wait_for(|stops| *stops).await.is_ok();
    }

    pub(super) fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Compares a client's token with the server's, in a time that does not depend on where they
    /// differ.
    pub(super) fn is_token(&self, token: &[u8]) -> bool {
        self.token.as_ref().is_some_and(|wanted| bool::from(wanted.as_bytes().ct_eq(token)))
    }

    /// Lends memory for a large request, and waits for it if much is lent already. `None` if there
    /// is none for too long.
    pub(super) async fn memory(&self, bytes: usize) -> Option<Lent> {
        if bytes <= SMALL_BYTES {
            return Some(Lent(None));
        }
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let lent = self.memory.clone().acquire_many_owned(units);
        let lent = tokio::time::timeout(Duration::from_secs(5), lent).await;
        lent.ok().and_then(Result::ok).map(|lent| Lent(Some(lent)))
    }

    /// A number for a new client.
    pub(super) fn next_client(&self) -> u64 {
        self.clients.fetch_add(1, Relaxed) + 1
    }
}

/// A part of the common memory; given back when dropped.
#[derive(Debug)]
pub(super) struct Lent(#[allow(dead_code, reason = "held until it is dropped")] Option<OwnedSemaphorePermit>);
