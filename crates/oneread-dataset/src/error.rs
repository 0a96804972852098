//! What can go wrong, and what to do about it.

use std::fmt;

use object_store::path::Path;

/// An error of building, publishing or reading a dataset. It names the object that it is about.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The object store refused or failed, after its retries.
    Remote {
        /// The operation that failed.
        what: &'static str,
        /// The object, or the prefix.
        object: String,
        /// The store's error.
        source: object_store::Error,
    },
    /// Nothing was published here.
    NoDataset {
        /// Where.
        url: String,
    },
    /// There is no such version, or it was never finished.
    NoVersion {
        /// The version.
        version: String,
    },
    /// An object that the manifest names is missing: the version was removed, or lost a part.
    Missing {
        /// The object.
        object: String,
    },
    /// An object is not what its version needs: truncated, replaced, damaged, or of another one.
    Damaged {
        /// The object.
        object: String,
        /// What is wrong with it.
        what: String,
    },
    /// Somebody else published, rolled back or collected garbage at the same time.
    Conflict {
        /// The pointer.
        object: String,
    },
    /// A version of this name exists already.
    VersionExists {
        /// The version.
        version: String,
    },
    /// The version is being removed, or is held by a pin.
    Held {
        /// The version.
        version: String,
        /// By what.
        what: String,
    },
    /// A key was given to the wrong shard.
    WrongShard {
        /// The shard of the key.
        expected: u32,
        /// The shard it was given to.
        found: u32,
    },
    /// An argument is out of its range.
    Option {
        /// The name of the argument.
        what: &'static str,
        /// The values that it accepts.
        expected: String,
    },
    /// This build cannot read or write such a place.
    Unsupported {
        /// The problem, and the remedy.
        what: String,
    },
    /// A row does not have the columns of the schema.
    Row {
        /// What is wrong.
        what: String,
    },
    /// A store of a shard could not be built.
    Store {
        /// The shard's object.
        object: String,
        /// The store's error.
        source: oneread_store::Error,
    },
    /// A local file failed.
    File {
        /// The operation that failed.
        what: &'static str,
        /// The file or folder.
        path: std::path::PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Names the object in an error of the object store.
    pub(crate) fn remote(what: &'static str, object: &Path) -> impl FnOnce(object_store::Error) -> Self {
        let object = object.to_string();
        move |source| match source {
            object_store::Error::NotFound { .. } => Self::Missing { object },
            object_store::Error::Precondition { .. } => {
                Self::Damaged { object, what: "it was replaced while it was in use".to_owned() }
            }
            source => Self::Remote { what, object, source },
        }
    }

    pub(crate) fn retired(version: &str) -> Self {
        let what = "was removed by `gc`, or is being removed: its name cannot be used again".to_owned();
        Self::Held { version: version.to_owned(), what }
    }

    pub(crate) fn damaged(object: &Path, what: impl fmt::Display) -> Self {
        Self::Damaged { object: object.to_string(), what: what.to_string() }
    }

    pub(crate) fn store(object: &Path) -> impl FnOnce(oneread_store::Error) -> Self {
        let object = object.to_string();
        move |source| {
            if source.is_damage() {
                return Self::Damaged { object, what: source.to_string() };
            }
            Self::Store { object, source }
        }
    }

    pub(crate) fn file(
        what: &'static str,
        path: impl Into<std::path::PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    pub(crate) fn option(what: &'static str, expected: impl fmt::Display) -> Self {
        Self::Option { what, expected: expected.to_string() }
    }

    /// Reports whether an object is missing or damaged, so that trying again does not help.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Damaged { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { what, object, source } => match source {
                object_store::Error::PermissionDenied { .. }
                | object_store::Error::Unauthenticated { .. } => {
                    write!(f, "cannot {what} {object}, access was denied: check the credentials ({source})")
                }
                source => write!(f, "cannot {what} {object}: {source}"),
            },
            Self::NoDataset { url } => {
                write!(f, "no version is published at {url}: publish one with `publish`")
            }
            Self::NoVersion { version } => {
                write!(f, "there is no version {version}, or it was never finished: list the versions")
            }
            Self::Missing { object } => {
                write!(f, "{object} is missing: its version was removed, or lost a part")
            }
            Self::Damaged { object, what } => {
                write!(f, "{object} is damaged, {what}: restore it, or build the version again")
            }
            Self::Conflict { object } => {
                write!(
                    f,
                    "{object} changed meanwhile, somebody else published: look at the versions and try again"
                )
            }
            Self::VersionExists { version } => {
                write!(f, "the version {version} exists already: choose another name, or remove it with `gc`")
            }
            Self::Held { version, what } => write!(f, "the version {version} {what}"),
            Self::WrongShard { expected, found } => {
                write!(f, "the key belongs to shard {expected}, not to shard {found}: ask `shard_of`")
            }
            Self::Option { what, expected } => write!(f, "expected {expected} for `{what}`"),
            Self::Unsupported { what } => f.write_str(what),
            Self::Row { what } => write!(f, "the row does not fit the schema: {what}"),
            Self::Store { object, source } => write!(f, "{object}: {source}"),
            Self::File { what, path, source } => write!(f, "cannot {what} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already contains the source.
        None
    }
}
