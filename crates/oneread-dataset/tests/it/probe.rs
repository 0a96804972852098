//! An object store that counts its requests, and fails, delays or damages some.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use oneread_dataset::object_store::path::Path;
use oneread_dataset::object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

/// What happened, and what is to happen.
#[derive(Debug, Default)]
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
        Self { inner, counts: Arc::default() }
    }

    /// Counts a request, and fails if the store has died.
    async fn request(&self) -> Result<()> {
        let number = self.counts.all.fetch_add(1, SeqCst) + 1;
        // Lets others go first, as a network does.
        tokio::task::yield_now().await;
        let from = self.counts.fails_from.load(SeqCst);
        if from > 0 && number >= from {
            return Err(Error::Generic { store: "probe", source: "the server died".into() });
        }
        Ok(())
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
        self.request().await?;
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.counts.puts.fetch_add(1, SeqCst);
        self.request().await?;
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(Upload { inner, probe: self.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let counts = &self.counts;
        if options.head { &counts.heads } else { &counts.gets }.fetch_add(1, SeqCst);
        let now = counts.in_flight.fetch_add(1, SeqCst) + 1;
        counts.most_in_flight.fetch_max(now, SeqCst);
        let answer = async {
            self.request().await?;
            if one_less(&counts.delays) {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            self.inner.get_opts(location, options).await
        };
        let answer = answer.await;
        counts.in_flight.fetch_sub(1, SeqCst);
        let answer = answer?;
        if !one_less(&counts.damages) {
            return Ok(answer);
        }
        let (meta, range): (ObjectMeta, Range<u64>) = (answer.meta.clone(), answer.range.clone());
        let mut bytes = answer.bytes().await?.to_vec();
        bytes[100] ^= 1;
        let stream = futures_util::stream::once(async move { Ok(bytes.into()) }).boxed();
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
        let checked = locations.and_then(move |path| {
            let probe = probe.clone();
            async move { probe.request().await.map(|()| path) }
        });
        self.inner.delete_stream(checked.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.counts.lists.fetch_add(1, SeqCst);
        let (probe, inner) = (self.clone(), self.inner.list(prefix));
        let first = futures_util::stream::once(async move { probe.request().await });
        first.map_ok(move |()| ()).try_filter_map(|()| async { Ok(None) }).chain(inner).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.counts.lists.fetch_add(1, SeqCst);
        self.request().await?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.request().await?;
        self.inner.copy_opts(from, to, options).await
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
        Box::pin(async move {
            probe.request().await?;
            part.await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.probe.request().await?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.probe.request().await?;
        self.inner.abort().await
    }
}
