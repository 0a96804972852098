//! Where a dataset lies: an object store and a prefix, or a local folder.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::{Error, Result, document};

/// An object store, and the prefix of a dataset in it.
#[derive(Clone)]
pub(crate) struct Location {
    pub(crate) store: Arc<dyn ObjectStore>,
    base: Path,
    /// The folder on a local disk, where no store compares and swaps.
    pub(crate) folder: Option<PathBuf>,
    url: String,
}

impl Location {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, base: Path) -> Self {
        let url = format!("{store}/{base}");
        Self { store, base, folder: None, url }
    }

    pub(crate) fn in_folder(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        let folder = std::path::absolute(&folder).map_err(Error::file("find", folder))?;
        let base = Path::from_absolute_path(&folder).map_err(|_| Error::Unsupported {
            what: format!("{} cannot be the folder of a dataset: choose a plain name", folder.display()),
        })?;
        // What was acknowledged is on the disk.
        let store = LocalFileSystem::new().with_fsync(true).with_automatic_cleanup(true);
        let url = folder.display().to_string();
        Ok(Self { store: Arc::new(store), base, folder: Some(folder), url })
    }

    /// A URL (`s3://bucket/name`, `file:///folder`), or the name of a folder.
    pub(crate) fn at(url: &str) -> Result<Self> {
        let Some((scheme, rest)) = url.split_once("://") else { return Self::in_folder(url) };
        if scheme == "file" {
            let parsed = Url::parse(url).ok().and_then(|url| url.to_file_path().ok());
            return Self::in_folder(parsed.unwrap_or_else(|| rest.into()));
        }
        Self::in_cloud(url)
    }

    #[cfg(feature = "cloud")]
    fn in_cloud(url: &str) -> Result<Self> {
        let unknown = |error: &dyn fmt::Display| Error::Unsupported {
            what: format!(
                "{url} is no place for a dataset: {error}; use s3://, gs://, az://, https:// or a folder"
            ),
        };
        let parsed = Url::parse(url).map_err(|error| unknown(&error))?;
        // As the tools of each cloud do: AWS_REGION, GOOGLE_SERVICE_ACCOUNT,
        // AZURE_STORAGE_ACCOUNT_KEY, ….
        let variables = std::env::vars().filter_map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            let known = ["aws_", "google_", "azure_"].iter().any(|start| name.starts_with(start));
            known.then_some((name, value))
        });
        let (store, base) =
            object_store::parse_url_opts(&parsed, variables).map_err(|error| unknown(&error))?;
        Ok(Self { store: store.into(), base, folder: None, url: url.to_owned() })
    }

    #[cfg(not(feature = "cloud"))]
    fn in_cloud(url: &str) -> Result<Self> {
        Err(Error::Unsupported {
            what: format!(
                "{url} needs the feature `cloud`, which this build has not: add `--features cloud`"
            ),
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn object(&self, name: &str) -> Path {
        // Names are made here, or checked by `version::check`.
        name.split('/').fold(self.base.clone(), |path, part| path.join(part))
    }

    /// The file of an object in a local folder.
    fn file(&self, object: &Path) -> Option<PathBuf> {
        let mut file = self.folder.clone()?;
        object.prefix_match(&self.base)?.for_each(|part| file.push(part.as_ref()));
        Some(file)
    }

    /// Reads a document, with its checksum and its tag.
    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        object: &Path,
    ) -> Result<(T, u64, Option<String>)> {
        let (bytes, tag) = self.whole(object, GetOptions::default()).await?;
        Ok((document::decode(object, &bytes)?, document::checksum(&bytes), tag))
    }

    /// Reads a whole object of a limited length.
    pub(crate) async fn whole(&self, object: &Path, options: GetOptions) -> Result<(Bytes, Option<String>)> {
        let got = self.store.get_opts(object, options).await.map_err(Error::remote("read", object))?;
        if got.meta.size > document::MAX_BYTES {
            return Err(Error::damaged(object, format_args!("it has {} bytes, far too many", got.meta.size)));
        }
        let tag = got.meta.e_tag.clone();
        Ok((got.bytes().await.map_err(Error::remote("read", object))?, tag))
    }

    /// Writes a document that must not exist yet. Returns its checksum, or `None` if another one
    /// exists. If the very same one exists, the answer to a first attempt was lost.
    pub(crate) async fn create(&self, object: &Path, document: &impl Serialize) -> Result<Option<u64>> {
        let written = Bytes::from(document::encode(document));
        let checksum = document::checksum(&written);
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(object, written.clone().into(), options).await {
            Ok(_) => Ok(Some(checksum)),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                let (found, _) = self.whole(object, GetOptions::default()).await?;
                Ok((found == written).then_some(checksum))
            }
            Err(error) => Err(Error::remote("write", object)(error)),
        }
    }

    /// Removes an object; it is not an error if there is none.
    pub(crate) async fn remove(&self, object: &Path) -> Result<()> {
        match self.store.delete(object).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(Error::remote("remove", object)(error)),
        }
    }

    /// Removes what writers that were killed left in a local folder, under names that no listing
    /// shows; elsewhere there are no folders.
    pub(crate) async fn remove_folder(&self, name: &str) -> Result<()> {
        let Some(folder) = self.folder.as_ref().map(|folder| folder.join(name)) else { return Ok(()) };
        let path = folder.clone();
        match tokio::task::spawn_blocking(move || std::fs::remove_dir_all(path)).await {
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Ok(removed) => removed.map_err(Error::file("remove", folder)),
            Err(lost) => Err(Error::file("remove", folder)(io::Error::other(lost))),
        }
    }

    /// The names that follow `folder/`, and the objects right in it.
    pub(crate) async fn list(&self, folder: &str) -> Result<object_store::ListResult> {
        let prefix = self.object(folder);
        self.store.list_with_delimiter(Some(&prefix)).await.map_err(Error::remote("list", &prefix))
    }

    /// All objects under a folder, with their lengths.
    pub(crate) async fn list_all(&self, folder: &str) -> Result<Vec<object_store::ObjectMeta>> {
        let prefix = self.object(folder);
        let mut objects = self.store.list(Some(&prefix));
        let mut all = Vec::new();
        while let Some(object) = objects.next().await {
            all.push(object.map_err(Error::remote("list", &prefix))?);
        }
        Ok(all)
    }

    /// Reads a range of an object that must have `size` bytes, and the tag `tag` if one is known.
    /// Returns its tag.
    pub(crate) async fn range(
        &self,
        object: &Path,
        range: std::ops::Range<u64>,
        size: u64,
        tag: Option<String>,
    ) -> Result<(Bytes, Option<String>)> {
        if let Some(file) = self.file(object) {
            let read = tokio::task::spawn_blocking(move || read_file(&file, range, size, tag.as_deref()));
            return match read.await {
                Ok(Ok((bytes, tag))) => Ok((bytes.into(), Some(tag))),
                Ok(Err(Unread::Damaged(what))) => Err(Error::damaged(object, what)),
                Ok(Err(Unread::Failed(error))) if error.kind() == io::ErrorKind::NotFound => {
                    Err(Error::Missing { object: object.to_string() })
                }
                Ok(Err(Unread::Failed(error))) => Err(Error::file("read", object.to_string())(error)),
                Err(lost) => Err(Error::file("read", object.to_string())(io::Error::other(lost))),
            };
        }
        let expected = range.end - range.start;
        let options =
            GetOptions { range: Some(GetRange::Bounded(range)), if_match: tag, ..GetOptions::default() };
        let got = self.store.get_opts(object, options).await.map_err(Error::remote("read", object))?;
        if got.meta.size != size {
            return Err(Error::damaged(object, other_size(got.meta.size, size)));
        }
        let tag = got.meta.e_tag.clone();
        let bytes = got.bytes().await.map_err(Error::remote("read", object))?;
        if bytes.len() as u64 != expected {
            let what = format!("the server sent {} bytes instead of {expected}", bytes.len());
            return Err(Error::damaged(object, what));
        }
        Ok((bytes, tag))
    }
}

fn other_size(found: u64, expected: u64) -> String {
    format!("it has {found} bytes, its manifest says {expected}")
}

/// Why a range of a file was not read.
enum Unread {
    Damaged(String),
    Failed(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads a range of a file that must have `size` bytes, and the tag `tag` if one is known. Returns
/// its tag. For whom waits, this is one step; `object_store` opens a file in one and reads it in
/// another, which takes nearly twice as long.
fn read_file(
    file: &FilePath,
    range: std::ops::Range<u64>,
    size: u64,
    tag: Option<&str>,
) -> Result<(Vec<u8>, String), Unread> {
    let mut file = File::open(file)?;
    let metadata = file.metadata()?;
    if metadata.len() != size {
        return Err(Unread::Damaged(other_size(metadata.len(), size)));
    }
    let found = tag_of(&metadata)?;
    if tag.is_some_and(|tag| tag != found) {
        return Err(Unread::Damaged("it was replaced while it was in use".to_owned()));
    }
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::with_capacity((range.end - range.start).min(size) as usize);
    file.take(range.end - range.start).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != range.end - range.start {
        return Err(Unread::Damaged(format!("it ends after {} bytes of a range", bytes.len())));
    }
    Ok((bytes, found))
}

/// What changes if a file is replaced.
fn tag_of(metadata: &Metadata) -> io::Result<String> {
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let number = 0;
    let since = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{number:x}-{:x}", since.as_nanos()))
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}
