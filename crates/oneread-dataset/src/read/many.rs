//! Many lookups at once.

use std::collections::BTreeSet;
use std::ops::Range;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use oneread_store::Search;

use super::request::Found;
use super::snapshot::Snapshot;
use crate::Result;

/// A lookup that is not done yet.
struct Waiting<'k> {
    /// The position of its key.
    at: usize,
    shard: u32,
    range: Range<u64>,
    search: Search<'k>,
}

/// A range that some lookups, sorted by their own ranges, are waiting for.
struct Request<'k> {
    shard: u32,
    range: Range<u64>,
    waiting: Vec<Waiting<'k>>,
}

impl Snapshot {
    /// Returns the values of many keys, in order. Keeps requests in flight, fetches neighbouring
    /// pages together, and each page once.
    ///
    /// # Errors
    /// The first error; see [`get`](Self::get).
    pub async fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        let mut values: Vec<Option<Bytes>> = vec![None; keys.len()];
        let mut searches = Vec::with_capacity(keys.len());
        if self.options.lazy {
            let shards: BTreeSet<u32> = keys.iter().map(|key| self.manifest.shard_of(key.as_ref())).collect();
            self.load_all(shards.into_iter()).await?;
        }
        for (at, key) in keys.iter().enumerate() {
            let key = key.as_ref();
            let shard = self.manifest.shard_of(key);
            searches.push((at, shard, self.guides(shard).await?.search(key)));
        }
        // Each round reads one range per key; almost all keys need one.
        while !searches.is_empty() {
            let (mut waiting, mut next) = (Vec::new(), Vec::new());
            for (at, shard, mut search) in searches {
                let Some(range) = search.range() else { continue };
                let Some(bytes) = self.cached(shard, &range) else {
                    waiting.push(Waiting { at, shard, range, search });
                    continue;
                };
                match self.step(shard, &mut search, range, bytes, true).await? {
                    Some(found) => values[at] = found.value(),
                    None => next.push((at, shard, search)),
                }
            }
            let mut requests = self.merged(waiting).into_iter();
            let first = requests.by_ref().take(self.options.in_flight);
            let mut answers: FuturesUnordered<_> = first.map(|request| self.answer(request)).collect();
            while let Some(answer) = answers.next().await {
                answers.extend(requests.next().map(|request| self.answer(request)));
                for (waiting, found) in answer? {
                    match found {
                        Some(found) => values[waiting.at] = found.value(),
                        None => next.push((waiting.at, waiting.shard, waiting.search)),
                    }
                }
            }
            searches = next;
        }
        values.iter().for_each(|value| self.counters.found(value.is_some()));
        Ok(values)
    }

    /// Joins ranges that overlap or are close to each other.
    fn merged<'k>(&self, mut waiting: Vec<Waiting<'k>>) -> Vec<Request<'k>> {
        waiting.sort_by_key(|waiting| (waiting.shard, waiting.range.start, waiting.range.end));
        let mut requests: Vec<Request<'k>> = Vec::new();
        for waiting in waiting {
            let (shard, range) = (waiting.shard, waiting.range.clone());
            let last = requests.last_mut().filter(|last| {
                let is_close = last.shard == shard && range.start <= last.range.end + self.options.merge_gap;
                let joined = last.range.end.max(range.end) - last.range.start;
                // A range within another needs no request of its own, however large that one is.
                is_close && (joined <= self.options.merge_bytes || range.end <= last.range.end)
            });
            match last {
                Some(last) => {
                    last.range.end = last.range.end.max(range.end);
                    last.waiting.push(waiting);
                }
                None => requests.push(Request { shard, range, waiting: vec![waiting] }),
            }
        }
        requests
    }

    /// Requests a range, and lets the lookups read their parts of it.
    async fn answer<'k>(&self, request: Request<'k>) -> Result<Vec<(Waiting<'k>, Option<Found>)>> {
        let all = self.request_hedged(request.shard, request.range.clone()).await?;
        let is_one = request.waiting.len() == 1;
        let mut answers = Vec::with_capacity(request.waiting.len());
        for mut waiting in request.waiting {
            let start = (waiting.range.start - request.range.start) as usize;
            let end = (waiting.range.end - request.range.start) as usize;
            let bytes = all.slice(start..end);
            let range = waiting.range.clone();
            let found = self.step(waiting.shard, &mut waiting.search, range, bytes, false).await?;
            // A small value must not keep a large answer in memory.
            let found = match found {
                Some(Found::Value(value)) if !is_one => Some(Found::Value(Bytes::copy_from_slice(&value))),
                found => found,
            };
            answers.push((waiting, found));
        }
        Ok(answers)
    }
}
