//! Filters from bytes: loaded, or queried in place.

use oneread::bytes::{Kind, LoadError, Saved, View, Viewed};
use oneread::filter::{
    BlockedView, BloomView, CountingView, DLeftCountingView, DLeftView, GrowingLineView, GrowingView,
    LineView,
};
use pyo3::{PyErr, PyResult};

use super::any::{InPlace, Name, Owned};
use super::file::Mapped;
use crate::errors;

impl Owned {
    pub(super) fn load_bytes(bytes: &[u8]) -> PyResult<Self> {
        let load = || {
            Ok(match filter_kind(bytes)? {
                Name::Bloom => Self::Bloom(Saved::from_bytes(bytes)?),
                Name::Blocked => Self::Blocked(Saved::from_bytes(bytes)?),
                Name::Counting => Self::Counting(Saved::from_bytes(bytes)?),
                Name::DLeft => Self::DLeft(Box::new(Saved::from_bytes(bytes)?)),
                Name::DLeftCounting => Self::DLeftCounting(Box::new(Saved::from_bytes(bytes)?)),
                Name::Line => Self::Line(Box::new(Saved::from_bytes(bytes)?)),
                Name::Growing => Self::Growing(Saved::from_bytes(bytes)?),
                Name::GrowingLine => Self::GrowingLine(Saved::from_bytes(bytes)?),
            })
        };
        load().map_err(Unread::into_error)
    }
}

impl InPlace {
    /// Opens a filter over bytes; reads all of them only to verify the checksum.
    pub(super) fn open(bytes: &Mapped, verify: bool) -> PyResult<Self> {
        let open = || {
            let (kind, bytes) = (filter_kind((**bytes).as_ref())?, bytes.clone());
            Ok(match kind {
                Name::Bloom => Self::Bloom(checked(BloomView::open_owned(bytes), verify)?),
                Name::Blocked => Self::Blocked(checked(BlockedView::open_owned(bytes), verify)?),
                Name::Counting => Self::Counting(checked(CountingView::open_owned(bytes), verify)?),
                Name::DLeft => Self::DLeft(Box::new(checked(DLeftView::open_owned(bytes), verify)?)),
                Name::DLeftCounting => {
                    Self::DLeftCounting(Box::new(checked(DLeftCountingView::open_owned(bytes), verify)?))
                }
                Name::Line => Self::Line(Box::new(checked(LineView::open_owned(bytes), verify)?)),
                Name::Growing => Self::Growing(checked(GrowingView::open_owned(bytes), verify)?),
                Name::GrowingLine => Self::GrowingLine(checked(GrowingLineView::open_owned(bytes), verify)?),
            })
        };
        open().map_err(Unread::into_error)
    }
}

/// The structure of a view, which was verified if `verify` says so.
pub(super) fn checked<F: Viewed<'static> + Clone>(
    view: Result<View<'static, F>, LoadError>,
    verify: bool,
) -> Result<F, LoadError> {
    let view = view?;
    if verify {
        view.verify()?;
    }
    Ok((*view).clone())
}

/// Bytes that hold no filter: damaged, or something else.
enum Unread {
    Load(LoadError),
    Other(Kind),
}

impl From<LoadError> for Unread {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl Unread {
    fn into_error(self) -> PyErr {
        match self {
            Self::Load(error) => errors::load(error),
            Self::Other(kind) => errors::CorruptError::new_err(format!("expected a filter, found {kind}")),
        }
    }
}

fn filter_kind(bytes: &[u8]) -> Result<Name, Unread> {
    Ok(match Kind::of(bytes)? {
        Kind::Bloom => Name::Bloom,
        Kind::Blocked => Name::Blocked,
        Kind::Counting => Name::Counting,
        Kind::DLeft => Name::DLeft,
        Kind::DLeftCounting => Name::DLeftCounting,
        Kind::Line => Name::Line,
        Kind::Growing => Name::Growing,
        Kind::GrowingLine => Name::GrowingLine,
        other => return Err(Unread::Other(other)),
    })
}
