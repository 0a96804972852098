//! Bytes in memory.

use std::io;

use super::ReadAt;

/// Returns a range of bytes, or an error if it ends outside.
#[inline]
pub(super) fn range(bytes: &[u8], offset: u64, length: usize) -> io::Result<&[u8]> {
    let start = usize::try_from(offset).ok();
    let end = start.and_then(|start| start.checked_add(length));
    start.zip(end).and_then(|(start, end)| bytes.get(start..end)).ok_or(io::ErrorKind::UnexpectedEof.into())
}

impl ReadAt for [u8] {
    fn len(&self) -> io::Result<u64> {
        Ok(<[u8]>::len(self) as u64)
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        range(self, offset, length)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.as_slice().len() as u64)
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        range(self, offset, length)
    }
}
