//! What the server tells Prometheus.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::source::Catalog;

/// The text format that `/metrics` answers in.
pub(super) const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How a request came.
#[derive(Clone, Copy, Debug)]
pub(super) enum Protocol {
    Http,
    Resp,
}

impl Protocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Resp => "resp",
        }
    }
}

type Labels = Vec<(&'static str, String)>;

/// The server's own counters; those of lookups are with the stores.
pub(super) struct Metrics {
    registry: Registry,
    http_seconds: Histogram,
    resp_seconds: Histogram,
    http_requests: Counter,
    resp_commands: Counter,
    refused: Family<Labels, Counter>,
    connections: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Self {
        // 10 microseconds to 1.3 seconds.
        let seconds = || Histogram::new(exponential_buckets(1e-5, 2.0, 18));
        let family = Family::<Labels, Histogram, _>::new_with_constructor(seconds);
        let requests = Family::<Labels, Counter>::default();
        let labels = |protocol: Protocol| vec![("protocol", protocol.name().to_owned())];
        let mut registry = Registry::with_prefix("oneread");
        let own = Self {
            http_seconds: family.get_or_create_owned(&labels(Protocol::Http)),
            resp_seconds: family.get_or_create_owned(&labels(Protocol::Resp)),
            http_requests: requests.get_or_create_owned(&labels(Protocol::Http)),
            resp_commands: requests.get_or_create_owned(&labels(Protocol::Resp)),
            refused: Family::default(),
            connections: Gauge::default(),
            registry: Registry::default(),
        };
        let help = "Time to answer an HTTP request, or the RESP commands that arrived together";
        registry.register("request_seconds", help, family);
        registry.register("requests", "HTTP requests and RESP commands that were answered", requests);
        registry.register("refused", "Connections and requests that were refused", own.refused.clone());
        registry.register("connections", "Open connections", own.connections.clone());
        Self { registry, ..own }
    }

    /// Counts requests that were answered together, and their time.
    pub(super) fn answered(&self, protocol: Protocol, time: Duration, requests: u64) {
        let (seconds, counter) = match protocol {
            Protocol::Http => (&self.http_seconds, &self.http_requests),
            Protocol::Resp => (&self.resp_seconds, &self.resp_commands),
        };
        seconds.observe(time.as_secs_f64());
        counter.inc_by(requests);
    }

    /// Counts something that was refused.
    pub(super) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&vec![("reason", reason.to_owned())]).inc();
    }

    /// Open connections.
    pub(super) fn connections(&self) -> i64 {
        self.connections.get()
    }

    /// Counts a connection until the returned value is dropped.
    pub(super) fn connected(&self) -> impl Drop + use<> {
        struct Connected(Gauge);
        impl Drop for Connected {
            fn drop(&mut self) {
                self.0.dec();
            }
        }
        self.connections.inc();
        Connected(self.connections.clone())
    }

    /// All metrics, as text.
    pub(super) fn text(&self, catalog: &Catalog) -> String {
        let mut text = String::new();
        let of_stores = stores(catalog);
        // Writing to a string does not fail.
        _ = encode_registry(&mut text, &self.registry)
            .and_then(|()| encode_registry(&mut text, &of_stores))
            .and_then(|()| encode_eof(&mut text));
        text
    }
}

/// What the stores have counted until now.
fn stores(catalog: &Catalog) -> Registry {
    let mut registry = Registry::with_prefix("oneread");
    let counter = |registry: &mut Registry, name: &str, help: &str| {
        let family = Family::<Labels, Counter<u64, AtomicU64>>::default();
        registry.register(name, help, family.clone());
        move |labels: Labels, count: u64| {
            family.get_or_create(&labels).inc_by(count);
        }
    };
    let lookups = counter(&mut registry, "lookups", "Lookups of keys");
    let pages = counter(&mut registry, "page_reads", "Pages of 4 KiB that lookups read; stores");
    let runs = counter(&mut registry, "large_value_reads", "Large values that lookups read; stores");
    let requests = counter(&mut registry, "object_requests", "Requests to the object store; datasets");
    let bytes = counter(&mut registry, "object_request_bytes", "The bytes that requests brought; datasets");
    let cached = counter(&mut registry, "cached_pages", "Pages that were in the cache; datasets");
    let failures = counter(&mut registry, "refresh_failures", "New versions that could not be opened");
    let generation = Family::<Labels, Gauge>::default();
    let version = Family::<Labels, Gauge>::default();
    let items = Family::<Labels, Gauge<i64, AtomicI64>>::default();
    let planned = Family::<Labels, Gauge<f64, AtomicU64>>::default();
    registry.register("generation", "Versions that were opened, with the present one", generation.clone());
    registry.register("version", "1 for the present version of a dataset", version.clone());
    registry.register("items", "Keys; of live stores, ask for their description", items.clone());
    registry.register("planned_page_reads", "Planned pages per lookup", planned.clone());
    for slot in catalog.slots() {
        let of = || vec![("store", slot.name.clone())];
        let with =
            |name: &'static str, value: &str| vec![("store", slot.name.clone()), (name, value.to_owned())];
        let counts = slot.counts();
        lookups(with("result", "hit"), counts.hits);
        lookups(with("result", "miss"), counts.misses);
        let current = slot.current();
        if let Some(name) = current.name() {
            requests(of(), counts.requests);
            bytes(of(), counts.request_bytes);
            cached(of(), counts.cached);
            version.get_or_create(&with("version", name)).set(1);
        } else {
            pages(with("result", "hit"), counts.hit_pages);
            pages(with("result", "miss"), counts.miss_pages);
            runs(of(), counts.runs);
        }
        failures(of(), slot.failures.load(Relaxed));
        generation.get_or_create(&of()).set(current.generation.try_into().unwrap_or(i64::MAX));
        if let Some(count) = current.items() {
            items.get_or_create(&of()).set(count.try_into().unwrap_or(i64::MAX));
        }
        if let Some((per_hit, per_miss)) = current.planned() {
            planned.get_or_create(&with("result", "hit")).set(per_hit);
            planned.get_or_create(&with("result", "miss")).set(per_miss);
        }
    }
    registry
}
