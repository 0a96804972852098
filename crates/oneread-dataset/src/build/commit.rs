//! Finishes a version: checks that all shards are there, and writes the manifest.

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{GetOptions, GetRange};
use oneread_store::Guides;
use xxhash_rust::xxh3::xxh3_64;

use super::Draft;
use crate::manifest::{FORMAT, FORMAT_VERSION, Manifest, Shard, header_seed, shorten};
use crate::version::now;
use crate::{Dataset, Error, Result, shards};

/// Shards that are checked at once: their guides are in memory.
const IN_FLIGHT: usize = 4;

/// What a shard adds to the manifest.
struct Checked {
    shard: Shard,
    key_bytes: u64,
    value_bytes: u64,
    ram_bytes: u64,
    reads: (f64, f64),
}

impl Dataset {
    /// Finishes a version: checks that the guides of every shard are whole and belong to it, and
    /// writes the manifest. Nothing becomes current before [`publish`](Self::publish). Committing
    /// the same shards again changes nothing, so that a client without an answer can try again.
    ///
    /// # Errors
    /// [`Error::Missing`] or [`Error::Damaged`] names the shard that is missing or wrong;
    /// [`Error::VersionExists`] if the version is finished already, with other shards.
    pub async fn commit(&self, draft: &Draft) -> Result<Manifest> {
        let check = |shard| self.check_shard(draft, shard);
        let checked: Vec<Checked> =
            stream::iter(0..draft.shards).map(check).buffered(IN_FLIGHT).try_collect().await?;
        let sum = |of: fn(&Checked) -> u64| checked.iter().map(of).sum::<u64>();
        let items = sum(|checked| checked.shard.items);
        let mean = |of: fn(&Checked) -> f64, empty: f64| {
            let weighted: f64 = checked.iter().map(|shard| of(shard) * shard.shard.items as f64).sum();
            if items == 0 { empty } else { weighted / items as f64 }
        };
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            version: draft.version.clone(),
            created: now(),
            seed: draft.seed,
            items,
            key_bytes: sum(|checked| checked.key_bytes),
            value_bytes: sum(|checked| checked.value_bytes),
            disk_bytes: sum(|checked| checked.shard.bytes),
            ram_bytes: sum(|checked| checked.ram_bytes),
            reads_per_hit: mean(|checked| checked.reads.0, 1.0),
            reads_per_miss: mean(|checked| checked.reads.1, 0.0),
            schema: draft.schema.clone(),
            shards: checked.into_iter().map(|checked| checked.shard).collect(),
        };
        let object = self.location.object(&format!("versions/{}/manifest.json", draft.version));
        match self.location.create(&object, &manifest).await? {
            Some(_) => Ok(manifest),
            None => {
                let (found, ..) = self.location.document::<Manifest>(&object).await?;
                let is_same = Manifest { created: found.created, ..manifest } == found;
                is_same.then_some(found).ok_or(Error::VersionExists { version: draft.version.clone() })
            }
        }
    }

    /// Reads the header and the guides of a shard, and checks them.
    async fn check_shard(&self, draft: &Draft, shard: u32) -> Result<Checked> {
        let object = self.location.object(&draft.part(shard));
        let first = GetRange::Bounded(0..Guides::HEADER_BYTES as u64);
        let options = GetOptions { range: Some(first), ..GetOptions::default() };
        let got =
            self.location.store.get_opts(&object, options).await.map_err(Error::remote("read", &object))?;
        let size = got.meta.size;
        let header = got.bytes().await.map_err(Error::remote("read", &object))?;
        let damaged = |error: oneread_store::Error| Error::damaged(&object, error);
        let range = Guides::range(&header).map_err(damaged)?;
        if header_seed(&header) != shards::seed_of(draft.seed, &draft.version, shard, draft.shards) {
            return Err(Error::damaged(&object, "it is another shard, or one of another version"));
        }
        if range.end != size {
            let what = format!("it has {size} bytes, its header says {}", range.end);
            return Err(Error::damaged(&object, what));
        }
        let (section, tag) = self.location.range(&object, range, size, None).await?;
        let guides = Guides::open(&header, &section).map_err(damaged)?;
        if guides.pages() > 0 {
            // A writer that asked no `shard_of` shows on any page.
            let (page, _) = self.location.range(&object, guides.page_range(0), size, tag).await?;
            for key in guides.keys_on(0, &page).map_err(damaged)? {
                let expected = draft.shard_of(key);
                if expected != shard {
                    return Err(Error::damaged(&object, format_args!("it has keys of shard {expected}")));
                }
            }
        }
        let (key_bytes, value_bytes) = guides.raw_bytes();
        Ok(Checked {
            shard: Shard {
                items: guides.len(),
                bytes: size,
                guides_checksum: xxh3_64(&section),
                header: shorten(&header),
            },
            key_bytes,
            value_bytes,
            ram_bytes: guides.ram_bytes(),
            reads: guides.planned_reads(),
        })
    }
}
