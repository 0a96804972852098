//! Requests for ranges of shards: through the cache, and twice if the first takes long.

use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use futures_util::future::{Either, select};
use oneread_store::{Search, Step};

use super::snapshot::Snapshot;
use crate::{Error, Result};

/// One request in twenty may be sent twice.
const HEDGED: u64 = 20;

/// The most bytes that one entry of the page cache takes.
const MAX_CACHED: u64 = 64 << 10;

impl Snapshot {
    /// A range from the cache, if it is there.
    pub(crate) fn cached(&self, shard: u32, range: &Range<u64>) -> Option<Bytes> {
        let bytes = self.pages.as_ref()?.get(&(self.number, shard, range.start))?;
        self.counters.cached.fetch_add(1, Relaxed);
        Some(bytes)
    }

    /// Puts a range into the cache, after its checksum was found right.
    pub(crate) fn cache(&self, shard: u32, range: &Range<u64>, bytes: &Bytes) {
        if let Some(pages) = self.pages.as_ref().filter(|_| range.end - range.start <= MAX_CACHED) {
            // A copy, since the page may be part of a larger answer.
            pages.insert((self.number, shard, range.start), Bytes::copy_from_slice(bytes));
        }
    }

    /// Requests a range.
    pub(crate) async fn request(&self, shard: u32, range: Range<u64>) -> Result<Bytes> {
        let slot = &self.shards[shard as usize];
        let size = self.manifest.shards[shard as usize].bytes;
        self.counters.requests.fetch_add(1, Relaxed);
        let (bytes, tag) = self.location.range(&slot.object, range, size, slot.tag.get().cloned()).await?;
        self.counters.bytes.fetch_add(bytes.len() as u64, Relaxed);
        if let Some(tag) = tag.filter(|_| slot.tag.get().is_none()) {
            _ = slot.tag.set(tag);
        }
        Ok(bytes)
    }

    /// Requests a range, a second time if the first takes long.
    pub(crate) async fn request_hedged(&self, shard: u32, range: Range<u64>) -> Result<Bytes> {
        let Some(after) = self.options.hedge_after else { return self.request(shard, range).await };
        let mut first = pin!(self.request(shard, range.clone()));
        if let Ok(answer) = tokio::time::timeout(after, &mut first).await {
            return answer;
        }
        let counters = &self.counters;
        if counters.hedges.load(Relaxed) * HEDGED > counters.requests.load(Relaxed) {
            return first.await;
        }
        counters.hedges.fetch_add(1, Relaxed);
        let second = pin!(self.request(shard, range));
        match select(first, second).await {
            Either::Left((Ok(bytes), _)) | Either::Right((Ok(bytes), _)) => Ok(bytes),
            // One failed: the other may still answer.
            Either::Left((Err(_), other)) => other.await,
            Either::Right((Err(_), other)) => other.await,
        }
    }

    /// Lets a search read the bytes of its range, which are from the cache or not. If they are
    /// damaged, they are requested once more, since damage on the way is not damage of the object.
    pub(crate) async fn step(
        &self,
        shard: u32,
        search: &mut Search<'_>,
        range: Range<u64>,
        bytes: Bytes,
        is_cached: bool,
    ) -> Result<Option<Found>> {
        let object = &self.shards[shard as usize].object;
        let bytes = match search.read(&bytes) {
            Ok(step) => {
                let found = Found::of(step, &bytes);
                if !is_cached {
                    self.cache(shard, &range, &bytes);
                }
                return Ok(found);
            }
            Err(error) if error.is_damage() => self.request(shard, range.clone()).await?,
            Err(error) => return Err(Error::store(object)(error)),
        };
        let step = search.read(&bytes).map_err(Error::store(object))?;
        self.cache(shard, &range, &bytes);
        Ok(Found::of(step, &bytes))
    }
}

/// The end of a search.
#[derive(Debug)]
pub(crate) enum Found {
    Value(Bytes),
    Absent,
}

impl Found {
    /// `None` if the search goes on.
    fn of(step: Step<'_>, bytes: &Bytes) -> Option<Self> {
        match step {
            Step::Found(value) => Some(Self::Value(bytes.slice_ref(value))),
            Step::Absent => Some(Self::Absent),
            Step::More => None,
        }
    }

    pub(crate) fn value(self) -> Option<Bytes> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent => None,
        }
    }
}
