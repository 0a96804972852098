//! Writes the store of a shard to its object.

use std::fs::File;
use std::io::Read;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};

use super::BuiltShard;
use crate::version::manifest;
use crate::{Dataset, Error, Result, shards};

/// The bytes of one part of a large upload: at least 5 MiB on most stores, which allow 10,000.
const PART: usize = 8 << 20;

/// The parts that stores allow.
const MAX_PARTS: u64 = 10_000;

impl Dataset {
    /// Uploads the store of a shard. Its version stays unfinished until [`commit`](Self::commit).
    ///
    /// # Errors
    /// [`Error::VersionExists`] if it is finished already: readers may use its shards. Also if the
    /// object store or the temporary file fails.
    pub async fn upload(&self, built: &BuiltShard) -> Result<()> {
        match manifest(&self.location, &built.version).await {
            Err(Error::NoVersion { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(Error::VersionExists { version: built.version.clone() }),
        }
        let object = self.location.object(&shards::part(&built.version, built.shard, built.shards));
        let path = built.file.path();
        let mut file = File::open(path).map_err(Error::file("open", path))?;
        let length = file.metadata().map_err(Error::file("read", path))?.len();
        let part = PART.max(length.div_ceil(MAX_PARTS) as usize);
        let mut next = || -> Result<Bytes> {
            let mut bytes = Vec::with_capacity(part.min(length as usize));
            (&mut file).take(part as u64).read_to_end(&mut bytes).map_err(Error::file("read", path))?;
            Ok(bytes.into())
        };
        if length <= part as u64 {
            let put = self.location.store.put(&object, PutPayload::from_bytes(next()?)).await;
            return put.map(|_| ()).map_err(Error::remote("write", &object));
        }
        let upload = self.location.store.put_multipart(&object).await;
        let mut upload = upload.map_err(Error::remote("write", &object))?;
        let written = write_parts(&object, upload.as_mut(), &mut next).await;
        if written.is_err() {
            // Else the store keeps the parts. If that fails too, the first error tells more.
            _ = upload.abort().await;
        }
        written
    }
}

/// Writes parts one after the other, so that two are in memory at most.
async fn write_parts(
    object: &Path,
    upload: &mut dyn object_store::MultipartUpload,
    next: &mut impl FnMut() -> Result<Bytes>,
) -> Result<()> {
    loop {
        let bytes = next()?;
        if bytes.is_empty() {
            break;
        }
        upload.put_part(PutPayload::from_bytes(bytes)).await.map_err(Error::remote("write", object))?;
    }
    upload.complete().await.map(|_| ()).map_err(Error::remote("write", object))
}
