//! An object store that counts its requests, and fails, delays or damages some.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use oneread_dataset::object_store::path::Path;
use oneread_dataset::object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    UploadPart,
};
use tokio::sync::Semaphore;

/// What happened, and what is to happen.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) gets: AtomicU64,
    pub(crate) heads: AtomicU64,
    pub(crate) lists: AtomicU64,
    pub(crate) puts: AtomicU64,
    pub(crate) all: AtomicU64,
    in_flight: AtomicU64,
    pub(crate) most_in_flight: AtomicU64,
    /// The number of the first request that fails, as all later ones do; 0 if none does.
    pub(crate) fails_from: AtomicU64,
    /// Whether that first request is carried out, and only its answer is lost.
    pub(crate) loses_answer: AtomicBool,
    /// Whether each `PUT` is carried out twice, as if the first answer had been lost.
    pub(crate) puts_twice: AtomicBool,
    /// The number of the request that waits for [`Probe::resume`] before it is carried out; 0 if
    /// none does.
    pub(crate) pauses_at: AtomicU64,
    pub(crate) is_paused: Semaphore,
    pub(crate) resumed: Semaphore,
    /// The number of requests to refuse from now on, since the credentials are wrong.
    pub(crate) refuses: AtomicU64,
    /// The number of `GET`s whose answers break off from now on.
    pub(crate) breaks: AtomicU64,
    /// The number of `GET`s to damage from now on.
    pub(crate) damages: AtomicU64,
    /// The number of `GET`s to delay from now on.
    pub(crate) delays: AtomicU64,
}

#[derive(Clone, Debug)]
pub(crate) struct Probe {
    inner: Arc<dyn ObjectStore>,
    pub(crate) counts: Arc<Counts>,
}

impl Probe {
    pub(crate) fn new(inner: Arc<dyn ObjectStore>) -> Self {
        let new = || AtomicU64::new(0);
        let counts = Counts {
            gets: new(),
            heads: new(),
            lists: new(),
            puts: new(),
            all: new(),
            in_flight: new(),
            most_in_flight: new(),
            fails_from: new(),
            loses_answer: AtomicBool::new(false),
            puts_twice: AtomicBool::new(false),
            pauses_at: new(),
            is_paused: Semaphore::new(0),
            resumed: Semaphore::new(0),
            refuses: new(),
            breaks: new(),
            damages: new(),
            delays: new(),
        };
        Self { inner, counts: Arc::new(counts) }
    }

    /// Counts a request and carries it out, unless the store has died.
    async fn request<T>(&self, act: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let counts = &self.counts;
        let number = counts.all.fetch_add(1, SeqCst) + 1;
        // Lets others go first, as a network does.
        tokio::task::yield_now().await;
        if number == counts.pauses_at.load(SeqCst) {
            counts.is_paused.add_permits(1);
            counts.resumed.acquire().await.unwrap().forget();
        }
        if one_less(&counts.refuses) {
            return Err(Error::PermissionDenied { path: "there".into(), source: "no such user".into() });
        }
        let from = counts.fails_from.load(SeqCst);
        if from == 0 || number < from {
            return act.await;
        }
        if number == from && counts.loses_answer.load(SeqCst) {
            act.await?;
        }
        Err(Error::Generic { store: "probe", source: "the server died".into() })
    }

    /// Lets the request go on that waits.
    pub(crate) fn resume(&self) {
        self.counts.resumed.add_permits(1);
    }

    pub(crate) fn take(&self) -> [u64; 4] {
        let counts = &self.counts;
        [&counts.gets, &counts.heads, &counts.lists, &counts.puts].map(|counter| counter.swap(0, SeqCst))
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.inner)
    }
}

fn one_less(counter: &AtomicU64) -> bool {
    counter.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
}

#[async_trait]
impl ObjectStore for Probe {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.counts.puts.fetch_add(1, SeqCst);
        if self.counts.puts_twice.load(SeqCst) {
            _ = self.inner.put_opts(location, payload.clone(), opts.clone()).await;
        }
        self.request(self.inner.put_opts(location, payload, opts)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.counts.puts.fetch_add(1, SeqCst);
        let inner = self.request(self.inner.put_multipart_opts(location, opts)).await?;
        Ok(Box::new(Upload { inner, probe: self.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let counts = &self.counts;
        if options.head { &counts.heads } else { &counts.gets }.fetch_add(1, SeqCst);
        let now = counts.in_flight.fetch_add(1, SeqCst) + 1;
        counts.most_in_flight.fetch_max(now, SeqCst);
        let answer = async {
            if one_less(&counts.delays) {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            self.inner.get_opts(location, options).await
        };
        let answer = self.request(answer).await;
        counts.in_flight.fetch_sub(1, SeqCst);
        let answer = answer?;
        let breaks = one_less(&counts.breaks);
        if !breaks && !one_less(&counts.damages) {
            return Ok(answer);
        }
        let (meta, range): (ObjectMeta, Range<u64>) = (answer.meta.clone(), answer.range.clone());
        let mut bytes = answer.bytes().await?.to_vec();
        let broken = Error::Generic { store: "probe", source: "the connection broke".into() };
        let parts = if breaks {
            vec![Ok(bytes[..bytes.len() / 2].to_vec().into()), Err(broken)]
        } else {
            bytes[100] ^= 1;
            vec![Ok(bytes.into())]
        };
        let stream = futures_util::stream::iter(parts).boxed();
        Ok(GetResult {
            payload: GetResultPayload::Stream(stream),
            meta,
            range,
            attributes: Attributes::default(),
            extensions: Default::default(),
        })
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let probe = self.clone();
        let deleted = locations.and_then(move |path| {
            let probe = probe.clone();
            async move {
                probe.request(probe.inner.delete(&path)).await?;
                Ok(path)
            }
        });
        deleted.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.counts.lists.fetch_add(1, SeqCst);
        let (probe, inner) = (self.clone(), self.inner.list(prefix));
        let first = futures_util::stream::once(async move { probe.request(async { Ok(()) }).await });
        first.map_ok(move |()| ()).try_filter_map(|()| async { Ok(None) }).chain(inner).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.counts.lists.fetch_add(1, SeqCst);
        self.request(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.request(self.inner.copy_opts(from, to, options)).await
    }
}

#[derive(Debug)]
struct Upload {
    inner: Box<dyn MultipartUpload>,
    probe: Probe,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (probe, part) = (self.probe.clone(), self.inner.put_part(data));
        Box::pin(async move { probe.request(part).await })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.probe.clone().request(self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.probe.clone().request(self.inner.abort()).await
    }
}
