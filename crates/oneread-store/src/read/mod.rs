//! Where the bytes of a store come from: one small trait.

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

/// Reads ranges of bytes that do not change.
///
/// All that a store asks of its medium: a lookup is one such read, or none. A file, a memory map
/// and bytes in memory have it here; a store in another place (an object store that answers ranged
/// requests, say) is opened with [`Sealed::open_in`](crate::Sealed::open_in) once its reader has
/// it.
///
/// # Example
/// ```
/// use std::io;
/// use oneread_store::{Builder, Options, ReadAt, Sealed};
///
/// /// Bytes behind a counter of requests.
/// struct Counted(Vec<u8>, std::sync::atomic::AtomicU64);
/// impl ReadAt for Counted {
///     fn len(&self) -> io::Result<u64> {
///         Ok(self.0.len() as u64)
///     }
///     fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
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
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn len(&self) -> io::Result<u64>;

    /// Whether there are no bytes.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The bytes from `offset` to `offset + length`, either where they lie, or copied to `scratch`,
    /// whose content is replaced.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if there are fewer bytes; otherwise whatever
    /// the medium answers.
    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;

    /// Keeps others from making the sealed store in these bytes a live one, as long as this reader
    /// is there. By default nothing is done: for bytes that nobody changes.
    fn hold(&self) -> Hold {
        Hold::Unprotected
    }

    /// How many reads should be under way at the same time to keep the medium busy: 1 if reads do
    /// not wait.
    fn in_flight(&self) -> usize {
        1
    }
}

/// What came of [`ReadAt::hold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The bytes stay as they are while the reader is there.
    Held,
    /// Nothing was done: nobody changes the bytes, or the medium has no locks.
    Unprotected,
    /// Somebody is making a live store of the bytes, and was not done in some seconds.
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

    fn hold(&self) -> Hold {
        (**self).hold()
    }

    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }
}
