//! A filter larger than memory, queried from where it is stored.

use alloc::vec;
use alloc::vec::Vec;
use std::io;

use super::bucket64;
use super::choices::{self, Choices};
use super::codec::{Codec, is_usual};
use super::saved::{PADDING_BYTES, PAGE_WORDS, decode_layout, page_checksum};
use crate::bytes::{Identified, Kind, LoadError, read_header};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::DLeftLayout;

/// A paged [`DLeftFilter`](super::DLeftFilter) that stays where it was saved: each lookup reads one page of 4096 bytes.
///
/// `read` fills a buffer with the bytes from a position on: a file, a range of an object, a disk. A page is checked when it is read; a damaged
/// one is an error for its keys, and for them alone.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate.
///
/// # Example
/// ```
/// use oneread::filter::{DLeftFilter, DLeftPages};
/// use oneread::layout::{BucketBits, DLeftLayout};
///
/// let mut filter = DLeftFilter::new(DLeftLayout::paged(10, BucketBits::Bits64)?)?;
/// filter.insert("key")?;
/// let stored = filter.to_bytes();
///
/// let pages: DLeftPages<_> = DLeftPages::open(|at: u64, buffer: &mut [u8]| {
///     let at = at as usize;
///     buffer.copy_from_slice(stored.get(at..at + buffer.len()).ok_or(std::io::ErrorKind::UnexpectedEof)?);
///     Ok(())
/// })?;
/// assert!(pages.contains("key")?);
/// assert!(!pages.contains("another key")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DLeftPages<R, D = Portable> {
    layout: DLeftLayout,
    choices: Choices,
    codec: Option<Codec>,
    digester: D,
    read: R,
}

impl<R: Fn(u64, &mut [u8]) -> io::Result<()>, D: Identified> DLeftPages<R, D> {
    /// Reads the header, and nothing else, and takes the digester that it names.
    ///
    /// # Errors
    /// If reading fails, if it is not the header of a paged d-left filter, or if the digester has a secret.
    pub fn open(read: R) -> Result<Self, LoadError> {
        Self::open_as(read, None)
    }

    /// The same for a filter that was made with this digester.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`LoadError::Digester`] if another digester or seed made it.
    pub fn open_with(read: R, digester: D) -> Result<Self, LoadError> {
        Self::open_as(read, Some(digester))
    }

    fn open_as(read: R, digester: Option<D>) -> Result<Self, LoadError> {
        let mut header = [0; 128];
        read(0, &mut header).map_err(LoadError::Io)?;
        let (digester, block, length) = read_header(&header, Kind::DLeft, digester)?;
        let layout = decode_layout(&block)?;
        if layout.pages().is_none() {
            return Err(LoadError::Invalid {
                what: "the filter has no pages; load it, or open a view of it",
            });
        }
        let (expected, found) = (layout.byte_len() + PADDING_BYTES, length);
        if expected != found {
            return Err(LoadError::Length { expected, found });
        }
        let codec = (!is_usual(layout)).then(|| Codec::new(layout));
        Ok(Self { layout, choices: Choices::new(layout), codec, digester, read })
    }
}

impl<R: Fn(u64, &mut [u8]) -> io::Result<()>, D> DLeftPages<R, D> {
    /// The layout of the filter.
    pub fn layout(&self) -> DLeftLayout {
        self.layout
    }

    /// Whether a key may be in the set; `false` is certain. Reads one page.
    ///
    /// # Errors
    /// If reading fails, or if the page is damaged.
    pub fn contains<Q: ?Sized>(&self, key: &Q) -> Result<bool, LoadError>
    where
        D: Digester<Q>,
    {
        self.contains_digest(self.digester.digest(key))
    }

    /// Whether the key of a digest may be in the set; `false` is certain. Reads one page.
    ///
    /// # Errors
    /// If reading fails, or if the page is damaged.
    pub fn contains_digest(&self, digest: Digest) -> Result<bool, LoadError> {
        let Choices::Paged { pages, bucket_bits } = self.choices else {
            return Err(LoadError::Invalid { what: "the filter has no pages" });
        };
        let choice = choices::paged(digest, pages, bucket_bits);
        let in_page = choices::page_buckets(self.layout.bucket_bits());
        let number = choice.buckets.0[0] / in_page;
        let page = self.page(number as u64)?;
        let has = |bucket: usize| match &self.codec {
            None => bucket64::matches(page[bucket], choice.fingerprint) != 0,
            Some(codec) => {
                let width = codec.group_words();
                codec.contains(&page[bucket * width..][..width], 0, choice.fingerprint)
            }
        };
        Ok(choice.buckets.0.into_iter().any(|bucket| has(bucket % in_page)))
    }

    /// Reads a page and checks it.
    fn page(&self, number: u64) -> Result<Vec<u64>, LoadError> {
        let mut bytes = vec![0; PAGE_WORDS * 8];
        // After the header's page.
        (self.read)((number + 1) * DLeftLayout::PAGE_BYTES, &mut bytes).map_err(LoadError::Io)?;
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let (expected, found) = (words[PAGE_WORDS - 2], page_checksum(&bytes, number));
        if expected == found { Ok(words) } else { Err(LoadError::Checksum { part: "page", expected, found }) }
    }
}

impl<R, D> core::fmt::Debug for DLeftPages<R, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DLeftPages").field("layout", &self.layout).finish_non_exhaustive()
    }
}
