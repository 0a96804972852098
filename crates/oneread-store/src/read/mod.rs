//! The source of a store's bytes: one small trait.

pub(crate) mod counters;
pub(crate) mod file;
pub(crate) mod many;
mod map;
mod memory;
pub(crate) mod scratch;

pub use counters::Reads;
pub use file::FileReader;
pub use map::MapReader;

use std::io;

/// Reads ranges of immutable bytes; each read can fail with any I/O error of the medium.
///
/// This is all that a store needs of its medium: a lookup is one such read, or none. Files, memory
/// maps and bytes in memory implement it. To open a store elsewhere, such as in an object store
/// with ranged requests, implement it and use [`Sealed::open_in`](crate::Sealed::open_in).
///
/// # Example
/// ```
/// use std::io;
/// use oneread_store::{Builder, Options, ReadAt, Sealed};
///
/// /// Counts the requests for some bytes.
/// struct Counted(Vec<u8>, std::sync::atomic::AtomicU64);
/// impl ReadAt for Counted {
///     fn len(&self) -> io::Result<u64> {
///         Ok(self.0.len() as u64)
///     }
///     fn read_at<'a>(
///         &'a self,
///         offset: u64,
///         length: usize,
///         scratch: &'a mut Vec<u8>,
///     ) -> io::Result<&'a [u8]> {
///         self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         self.0.read_at(offset, length, scratch)
///     }
/// }
///
/// let mut builder = Builder::new(Options::new().seed(1))?;
/// builder.insert(b"key", b"value")?;
/// let store = Sealed::open_in(Counted(builder.finish_in_memory()?.0, 0.into()))?;
/// let opening = store.reader().1.load(std::sync::atomic::Ordering::Relaxed);
/// assert_eq!(store.get(b"key")?.as_deref(), Some(&b"value"[..]));
/// assert_eq!(store.reader().1.load(std::sync::atomic::Ordering::Relaxed), opening + 1);
/// # Ok::<(), oneread_store::Error>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> io::Result<u64>;

    /// Reports whether there are no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns the bytes from `offset` to `offset + length`, either in place, or copied to
    /// `scratch`, replacing its content.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if there are fewer bytes; otherwise any I/O
    /// error of the medium.
    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;

    /// Returns a page that the reader [keeps](Self::keep) in memory. Its checksum is not verified
    /// again. Keeps none by default.
    fn kept(&self, _offset: u64) -> Option<&[u8]> {
        None
    }

    /// Offers a page, whose checksum is right, to a reader that keeps pages in memory. Does nothing
    /// by default.
    fn keep(&self, _offset: u64, _page: &[u8]) {}

    /// Keeps others from making the sealed store in these bytes live while this reader exists. Does
    /// nothing by default: for bytes that nobody changes.
    fn hold(&self) -> Hold {
        Hold::Unprotected
    }

    /// How many concurrent reads keep the medium busy: 1 if reads do not wait.
    fn in_flight(&self) -> usize {
        1
    }
}

/// The result of [`ReadAt::hold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The bytes do not change while the reader exists.
    Held,
    /// Nothing was done: nobody changes the bytes, or the medium has no locks.
    Unprotected,
    /// The bytes are becoming a live store, and that took longer than a few seconds.
    Refused,
}

impl<R: ReadAt + ?Sized> ReadAt for &R {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        (**self).read_at(offset, length, scratch)
    }

    #[inline]
    fn kept(&self, offset: u64) -> Option<&[u8]> {
        (**self).kept(offset)
    }

    fn keep(&self, offset: u64, page: &[u8]) {
        (**self).keep(offset, page);
    }

    fn hold(&self) -> Hold {
        (**self).hold()
    }

    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }
}

impl<R: ReadAt + ?Sized> ReadAt for Box<R> {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        (**self).read_at(offset, length, scratch)
    }

    #[inline]
    fn kept(&self, offset: u64) -> Option<&[u8]> {
        (**self).kept(offset)
    }

    fn keep(&self, offset: u64, page: &[u8]) {
        (**self).keep(offset, page);
    }

    fn hold(&self) -> Hold {
        (**self).hold()
    }

    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }
}
